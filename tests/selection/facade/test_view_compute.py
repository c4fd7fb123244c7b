"""Views as arrays, lists and numbers: what is over the memory of a source, and what is new."""

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import (
    ConversionError,
    DTypeError,
    ExportError,
    ExtentMismatchError,
    TensorWrapperError,
)

X = np.arange(12.0).reshape(3, 4)

STRIDED = {
    "whole": lambda v: v,
    "sliced": lambda v: v[::-1, 1::2],
    "permuted": lambda v: v.permute((1, 0)),
    "chip": lambda v: v[1],
    "split": lambda v: v.reshape((3, 2, 2)),
}
COMPUTED = {
    "rotated": lambda v: v.rotate((0, 1)),
    "positions": lambda v: v.gather(1, [3, 1, 0]),
    "joined": lambda v: sel.concat([v, v]),
    "cast": lambda v: v.astype("f4"),
    "reshaped across": lambda v: v.permute((1, 0)).reshape((12,)),
}


@pytest.mark.parametrize("name", STRIDED)
def test_an_array_is_over_the_memory_of_one_source_where_strides_say_it(name):
    t = tw.as_tensor(X.copy())
    view = STRIDED[name](sel.as_view(t))
    for array in (np.asarray(view), view.to_numpy(), np.array(view, copy=False)):
        assert np.shares_memory(array, t.to_numpy())
        assert array.flags.writeable
        np.testing.assert_array_equal(array, np.asarray(STRIDED[name](sel.as_view(X)).compute()))
    assert not np.shares_memory(np.array(view, copy=True), t.to_numpy())


def test_an_array_of_repeated_elements_is_read_only():
    array = np.asarray(sel.as_view(tw.as_tensor(X.copy()))[:1].broadcast((3, 4)))
    assert not array.flags.writeable


@pytest.mark.parametrize("name", COMPUTED)
def test_an_array_of_other_views_is_new(name):
    t = tw.as_tensor(X.copy())
    view = COMPUTED[name](sel.as_view(t))
    array = np.asarray(view)
    assert not np.shares_memory(array, t.to_numpy())
    assert array.flags.writeable
    np.testing.assert_array_equal(array, np.asarray(view.compute()))
    with pytest.raises(ConversionError, match="copy=False"):
        np.array(view, copy=False)


@pytest.mark.parametrize("view", [STRIDED["permuted"], COMPUTED["joined"]])
def test_an_array_of_another_type_is_a_cast_copy(view):
    v = view(sel.as_view(X))
    array = np.asarray(v, dtype="f4")
    assert array.dtype == np.float32
    np.testing.assert_array_equal(array, np.asarray(v).astype("f4"))
    with pytest.raises(ConversionError, match="copy=False"):
        v.__array__(np.dtype("f4"), copy=False)


def test_elements_are_flat_and_over_the_memory_where_they_follow_one_another():
    t = tw.as_tensor(X.copy())
    v = sel.as_view(t)
    assert np.shares_memory(v[1:].elements(), t.to_numpy())
    assert v[:, ::2].elements().tolist() == X[:, ::2].reshape(-1).tolist()
    assert not np.shares_memory(v[:, ::2].elements(), t.to_numpy())
    assert sel.concat([v, v]).elements().shape == (24,)


def test_a_copy_is_a_tensor_of_its_own():
    t = tw.as_tensor(X.copy())
    copy = sel.as_view(t).copy()
    assert isinstance(copy, tw.Tensor)
    assert not np.shares_memory(copy.to_numpy(), t.to_numpy())


def test_one_element_is_a_number():
    v = sel.concat([X, X])[4, 3]
    assert v.item() == float(v) == int(v) == 7
    assert bool(v)
    assert complex(v) == 7
    assert sel.as_view(tw.strings(["ab"]))[0].item() == "ab"
    with pytest.raises(ConversionError, match="one element"):
        sel.as_view(X).item()


def test_numpy_functions_take_views():
    v = sel.concat([X, X])
    assert np.sum(v) == 2 * X.sum()
    np.testing.assert_array_equal(X @ np.asarray(sel.as_view(X).permute((1, 0))), X @ X.T)


def test_views_are_compared_element_by_element_with_views_and_tensors():
    v = sel.concat([X[:1], X[1:]])
    assert v.array_equal(tw.as_tensor(X))
    assert v.array_equal(sel.as_view(X))
    assert not v.array_equal(sel.as_view(X + 1))
    assert not v.array_equal(v[1:])
    nan = sel.as_view(np.array([np.nan]))
    assert not nan.array_equal(nan)
    assert nan.array_equal(nan, equal_nan=True)


def test_membership_looks_at_elements():
    v = sel.concat([X, X])
    assert 5.0 in v
    assert 99.0 not in v


def test_strings_become_arrays_and_lists():
    s = tw.strings(["a", "bb"])
    v = sel.concat([s, s])
    assert np.asarray(v).tolist() == v.tolist() == ["a", "bb", "a", "bb"]
    assert np.asarray(sel.as_view(s)[::-1]).tolist() == ["bb", "a"]
    assert v.array_equal(tw.strings(["a", "bb", "a", "bb"]))


def test_jagged_views_say_why_they_are_no_array():
    v = sel.as_view(tw.jagged([[1, 2, 3], [4]]))
    assert v.tolist() == [[1, 2, 3], [4]]
    assert v.elements().tolist() == [1, 2, 3, 4]
    with pytest.raises(ConversionError, match="to_padded"):
        np.asarray(v)


def test_computed_buffers_are_read():
    t = tw.from_buffer(tw.buffer.constant(1.5, 12), tw.Shape(3, 4))
    assert np.asarray(sel.as_view(t)[:, ::2]).tolist() == [[1.5, 1.5]] * 3
    assert np.asarray(sel.concat([t, X])).shape == (6, 4)


def test_a_view_of_memory_is_handed_over_without_a_copy_and_others_name_the_call_that_works():
    x = np.arange(24.0).reshape(4, 6)
    view = sel.as_view(x)[1:, ::2]

    assert np.shares_memory(np.from_dlpack(view), x)
    assert np.from_dlpack(view).tolist() == x[1:, ::2].tolist()
    assert view.__dlpack_device__() == (1, 0)
    np.from_dlpack(view)[0, 0] = 99
    assert x[1, 0] == 99
    for other in (sel.concat([x, x]), view.gather(0, [2, 0, 0]), sel.pad(x, [(1, 1), (0, 0)])):
        with pytest.raises(ExportError, match=r"compute\(\)"):
            np.from_dlpack(other)
        assert np.from_dlpack(other.compute()).tolist() == other.tolist()
    with pytest.raises(BufferError, match="to_padded"):
        np.from_dlpack(sel.as_view(tw.jagged([[1], [2, 3]])))


class Spoken:
    """What speaks DLPack over memory of NumPy, as tensors of other libraries do, and is no array."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_what_speaks_dlpack_is_written_into():
    v = sel.as_view(np.arange(6.0).reshape(2, 3))
    memory = np.zeros((2, 6), "f4")
    given = Spoken(memory[:, ::2])
    found = v.compute(out=given)
    assert np.array_equal(memory[:, ::2], v.compute())
    assert not memory[:, 1::2].any()
    assert np.shares_memory(np.asarray(found), memory)
    with pytest.raises(ExtentMismatchError):
        v.compute(out=Spoken(np.zeros((3, 2))))
    fixed = np.zeros((2, 3))
    fixed.flags.writeable = False
    with pytest.raises(TensorWrapperError):
        v.compute(out=Spoken(fixed))
    for other in (v, tw.as_tensor([1.0]).tolist()):
        with pytest.raises(ConversionError, match="a view is assigned to"):
            v.compute(out=other)


def test_computed_tiles_have_the_names_of_the_view():
    names = ("a", "b", "c", "d")
    tiles = tw.as_tensor(np.arange(12.0).reshape(3, 4)).tiled(tw.Tiling([1, 2], [2, 2]))
    of_names = tiles.named(*names)
    views = [
        sel.minimum(tiles, 3).named(*names),
        sel.minimum(of_names, 3),
        sel.as_view(of_names).astype("f4"),
        sel.as_view(of_names)[::-1],
        tw.concat([of_names, of_names]),
    ]
    with tw.serve({"t": of_names}) as server, tw.connect(server.address) as remote:
        for view in [*views, remote["t"], remote["t"][1:]]:
            assert view.shape.names == view.compute().shape.names == names


def test_a_masked_array_is_no_target_and_the_advice_is_one():
    view = sel.as_view(tw.as_tensor([10, 20, 30]))
    out = np.ma.array([0, 0, 0], mask=[0, 1, 0])
    with pytest.raises(DTypeError, match=r"out\.data"):
        view.compute(out=out)
    assert out.data.tolist() == [0, 0, 0]
    assert view.compute(out=out.data).tolist() == [10, 20, 30]
