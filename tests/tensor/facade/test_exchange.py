"""Exchange with NumPy, DLPack and pickle; copies are counted."""

import copy
import pickle

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import ConversionError, TensorWrapperError
from tensorwrapper.selection import as_view
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import as_tensor, from_buffer, jagged

X = np.arange(24.0).reshape(4, 6)
T = as_tensor(X)
NUMPY_PASSES_REQUESTS_ON = np.lib.NumpyVersion(np.__version__) >= "2.1.0"
"""NumPy 2.0 copies by itself what is asked of it, and takes every DLPack tensor for read-only."""

VIEWS = {
    "row-major": (T, X),
    "sliced": (T[1:3, ::2], X[1:3, ::2]),
    "reversed": (T.reverse(), X[::-1, ::-1]),
    "permuted": (T.permute((1, 0)), X.T),
    "row": (T[1], X[1]),
    "rank 0": (T[1, 2], X[1, 2, ...]),
    "window": (T.window(Shape(4, 6)[1:3, 2:]), X[1:3, 2:]),
    "broadcast": (T.broadcast((2, 4, 6)), np.broadcast_to(X, (2, 4, 6))),
    "empty": (T[:, 6:], X[:, 6:]),
    "new mode": (T[:, None], X[:, None]),
    "cell": (jagged([[1.0, 2.0], [3.0]])[0], np.array([1.0, 2.0])),
    "tile": (T.tiled(Tiling([1, 3], [6])).tile((1, 0)), X[1:]),
}


@pytest.mark.parametrize("name", VIEWS)
def test_asarray_is_a_view(name):
    t, x = VIEWS[name]
    with count_copies() as count:
        for y in (
            np.asarray(t),
            t.to_numpy(),
            np.asarray(t, copy=False),
            np.asarray(t, dtype="f8", copy=False),
        ):
            assert np.array_equal(y, x)
            assert y.dtype == x.dtype
            assert type(y) is np.ndarray
            assert y.flags.writeable == (not t.is_readonly)
            assert not x.size or np.shares_memory(y, t._buffer.flat)
    assert count.copies == 0


@pytest.mark.parametrize("name", VIEWS)
def test_dlpack_is_a_view_of_every_strided_tensor(name):
    t, x = VIEWS[name]
    if t.is_readonly and not NUMPY_PASSES_REQUESTS_ON:
        with pytest.raises(BufferError):
            np.from_dlpack(t)
        return
    with count_copies() as count:
        y = np.from_dlpack(t)
        assert np.array_equal(y, x)
        assert not x.size or np.shares_memory(y, t._buffer.flat)
        if NUMPY_PASSES_REQUESTS_ON:
            assert y.flags.writeable == (not t.is_readonly)
    assert count.copies == 0
    assert t.__dlpack_device__() == (1, 0)
    if NUMPY_PASSES_REQUESTS_ON:
        assert not np.shares_memory(np.from_dlpack(t, copy=True), t._buffer.flat)


@pytest.mark.parametrize("name", VIEWS)
def test_copies_on_request_are_counted_once(name):
    t, x = VIEWS[name]
    calls = [lambda: t.__array__(copy=True)]
    if NUMPY_PASSES_REQUESTS_ON:
        calls += [lambda: np.array(t), lambda: np.asarray(t, copy=True)]
    for call in calls:
        with count_copies() as count:
            y = call()
        assert np.array_equal(y, x)
        assert (count.copies, count.nbytes) == (1, x.nbytes)
        assert not np.shares_memory(y, t._buffer.flat)
        assert y.flags.writeable


def test_another_dtype_needs_a_copy():
    with count_copies() as count:
        y = np.asarray(T, dtype=np.float32)
    assert (y.dtype, count.nbytes) == (np.dtype(np.float32), X.size * 4)
    assert np.array_equal(y, X)
    assert np.asarray(T, dtype=">f8").dtype == np.dtype(">f8")
    with pytest.raises(ConversionError, match="only by a copy"):
        np.asarray(T, dtype=np.float32, copy=False)


def test_numpy_functions_read_tensors():
    assert np.array_equal(np.einsum("ij->i", np.asarray(T)), X.sum(axis=1))
    assert np.concatenate([T, T]).shape == Shape(8, 6)
    assert np.sum(np.asarray(T[1:3])) == X[1:3].sum()


def test_dlpack_refuses_streams():
    with pytest.raises(ConversionError, match="no streams"):
        T.__dlpack__(stream=1)


@pytest.mark.parametrize(
    "t",
    [
        jagged([[1.0], [2.0, 3.0]]),
        jagged([[[1.0]], []]),
        T.tiled(Tiling([1, 3], [6])),
        T.tiled(Tiling([4], [6])),
        from_buffer(np.arange(24.0), Tiling([1, 3], [6]).shape),
    ],
    ids=["rows", "deep", "tiles", "one tile", "packed tiles"],
)
def test_nothing_that_is_no_box_is_made_an_array_without_being_asked(t):
    for call in (
        lambda: np.asarray(t),
        lambda: np.array(t),
        lambda: np.asarray(t, dtype=object),
        lambda: np.asarray([t, t]),
        t.to_numpy,
        lambda: np.from_dlpack(t),
    ):
        with pytest.raises(ConversionError, match=r"to_padded\(\).*cells\(\)"):
            call()
    assert t.to_padded().size >= t.size
    assert sum(cell.size for _, cell in t.cells()) == t.size


# Pickle and copy.

TENSORS = {name: t for name, (t, _) in VIEWS.items()} | {
    "jagged": jagged([[1.0], [2.0, 3.0]]),
    "jagged rows": jagged([[1.0], [2.0, 3.0], [4.0]])[1:],
    "tiled": T.tiled(Tiling([1, 3], [6])),
    "tiled window": T.tiled(Tiling([1, 2, 1], [4, 2])).window(Shape.tiled([1, 2, 1], [4, 2])[1:, 1:]),
    "tiled columns": as_tensor(np.asfortranarray(X)).tiled(Tiling([1, 3], [6])),
    "dates": as_tensor(np.arange(3).astype("M8[D]")),
}


@pytest.mark.parametrize("name", TENSORS)
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_tensors_pickle(name, protocol):
    t = TENSORS[name]
    again = pickle.loads(pickle.dumps(t, protocol=protocol))
    assert again.shape == t.shape
    assert again.dtype == t.dtype
    assert again.array_equal(t)
    assert again.layout.is_tiled == t.layout.is_tiled
    assert again.tolist() == t.tolist()


@pytest.mark.parametrize("name", ["row-major", "row", "jagged", "jagged rows", "tiled"])
def test_out_of_band_pickles_share_the_memory(name):
    t = TENSORS[name]
    buffers = []
    with count_copies() as count:
        data = pickle.dumps(t, protocol=5, buffer_callback=buffers.append)
        again = pickle.loads(data, buffers=buffers)
    assert count.copies == 0
    assert len(data) < 2000
    assert again.array_equal(t)
    assert np.shares_memory(again.elements(), t._buffer.flat)


def test_a_pickled_part_takes_its_own_elements_alone():
    t = as_tensor(np.zeros((1000, 10)))
    assert len(pickle.dumps(t[5])) < 2000
    assert len(pickle.dumps(t[:, 3][:5])) < 2000


@pytest.mark.parametrize("name", TENSORS)
def test_copy_shares_and_deepcopy_copies(name):
    t = TENSORS[name]
    with count_copies() as count:
        shallow = copy.copy(t)
    assert count.copies == 0
    assert shallow.shape == t.shape
    assert shallow.array_equal(t)
    assert shallow._buffer is t._buffer
    with count_copies() as count:
        deep = copy.deepcopy(t)
    assert (count.copies, count.nbytes) == (1, t.nbytes)
    assert deep.shape == t.shape
    assert deep.array_equal(t)
    assert not np.shares_memory(deep._buffer.flat, t._buffer.flat)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (lambda: as_tensor(np.ones(2, "M8[s]")), "astype"),
        (lambda: as_tensor(np.ones(2, ">f8")), "astype"),
        (lambda: as_tensor(np.ones(2, pytest.importorskip("ml_dtypes").bfloat16)), "to_torch"),
        (lambda: jagged([[1], [2, 3]]), "to_padded"),
    ],
)
def test_dlpack_refuses_by_the_call_that_works(tensor, words):
    with pytest.raises(BufferError, match=words) as found:
        tensor().__dlpack__()
    assert isinstance(found.value, ConversionError)


def test_dlpack_of_old_refuses_memory_that_is_read_only():
    x = np.arange(3.0)
    x.flags.writeable = False
    with pytest.raises(BufferError, match="copy"):
        as_tensor(x).__dlpack__()
    assert as_tensor(x).copy().__dlpack__()


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ([300], "i1"),
        ([np.nan], "i8"),
        ([1e300], "f4"),
        ([1 + 2j], "f8"),
        (np.array([-(2**63)]), "M8[s]"),
        (np.array(["NaT"], "M8[s]"), "i8"),
    ],
)
def test_arrays_of_another_type_lose_no_value(values, dtype):
    """As `astype`: NumPy would wrap, or make NaT of a number."""
    t = as_tensor(np.asarray(values))
    for given in (t, as_view(t)):
        for make in (np.asarray, np.array):
            with pytest.raises(TensorWrapperError):
                make(given, dtype=dtype)


def test_layers_are_no_brackets_of_an_array_wherever_the_elements_are(tmp_path):
    nested = tw.from_buffer(np.arange(24.0), tw.Shape.nested(tw.Shape(2, 3, 4), layers=(1, 2)))
    tw.save(tmp_path / "a.tens", {"x": nested}, piece_bytes=64)
    with tw.open(tmp_path / "b.tens", "w") as file:
        file.extend("x", nested)
        file.extend("x", nested)
    expected = np.arange(24.0).reshape(2, 3, 4)
    with tw.open(tmp_path / "a.tens") as file, tw.open(tmp_path / "b.tens") as other:
        for given in (nested, tw.nullable(nested), file["x"]):
            for key in (slice(None), slice(None, None, -1), slice(1, None)):
                np.testing.assert_array_equal(np.asarray(given[key]), expected[key])
                np.testing.assert_array_equal(np.asarray(given[key], dtype="f4"), expected[key].astype("f4"))
        np.testing.assert_array_equal(np.asarray(other["x"]), np.concatenate([expected, expected]))
