"""Tensors from arrays of every layout, from buffers, nested lists and strangers' objects."""

import array
import ctypes
import datetime as dt

import dask.array as da
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import xarray as xr

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import (
    BufferSizeError,
    ConversionError,
    DTypeError,
    LayoutError,
    RankError,
    ReadOnlyError,
    SizeOverflowError,
)
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import as_tensor, from_buffer, jagged

BASE = np.arange(120.0).reshape(4, 5, 6)
MIXED = np.zeros((3, 4), dtype=[("a", "i1"), ("b", "f8"), ("c", "f4")])
ALIGNED = np.zeros((3, 4), dtype=[("a", "f8"), ("b", "f8")])


def unaligned():
    raw = np.zeros(6 * 8 + 1, dtype=np.uint8)
    return raw[1:].view(np.float64).reshape(2, 3)


ARRAYS = {
    "row-major": BASE,
    "column-major": np.asfortranarray(BASE),
    "transposed": BASE.transpose(2, 0, 1),
    "sliced": BASE[1:3, ::2, 5:0:-2],
    "reversed": BASE[::-1, ::-1, ::-1],
    "reversed rows of columns": np.asfortranarray(BASE)[::-1, 1:, ::-3],
    "broadcast": np.broadcast_to(BASE[:, :1], (2, 4, 5, 6)),
    "rank 0": np.array(3.5),
    "rank 0 of a view": BASE[1, 2, 3, ...],
    "one element": BASE[2:3, 4:5, 5:6],
    "no element": BASE[:, :0],
    "no element, strided": BASE[::2, 3:3, ::-1],
    "new modes": BASE[:, None, ::2],
    "field of a structure": ALIGNED["b"],
    "reversed field": ALIGNED["a"][::-1, ::2],
    "big-endian": np.arange(6, dtype=">i4").reshape(2, 3)[:, ::-1],
    "unaligned": unaligned(),
    "unaligned, strided": unaligned()[::-1, ::2],
    "bool": np.array([True, False, True])[::2],
    "complex": np.arange(6).astype(np.complex64)[::-1],
    "half": np.arange(6).astype(np.float16)[1::2],
    "dates": np.arange(6).astype("datetime64[D]")[::-1],
    "durations": np.arange(6).astype("timedelta64[ns]").reshape(2, 3).T,
    "long double": np.arange(6, dtype=np.longdouble)[::-2],
}


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_any_layout_is_viewed_and_not_copied(name):
    x = ARRAYS[name]
    with count_copies() as count:
        t = as_tensor(x, copy=False)
    assert count.nbytes == 0
    assert t.dtype == x.dtype
    assert (t.shape, t.rank, t.size, t.nbytes) == (Shape(*x.shape), x.ndim, x.size, x.nbytes)
    y = np.asarray(t)
    assert np.array_equal(y, x)
    assert y.dtype == x.dtype
    assert np.shares_memory(y, x) == bool(x.size)
    assert y.flags.writeable == x.flags.writeable
    assert t.is_readonly == (not x.flags.writeable)
    if x.size:
        assert y.__array_interface__["data"][0] == x.__array_interface__["data"][0]
        least, greatest = t.layout.bounds()
        assert (least, greatest) == (0, len(t._buffer.flat) - 1)


@pytest.mark.parametrize("name", ARRAYS)
def test_copy_true_gives_memory_of_its_own(name):
    x = ARRAYS[name]
    with count_copies() as count:
        t = as_tensor(x, copy=True)
    assert (count.nbytes, count.copies) == (x.nbytes, 1)
    assert np.array_equal(np.asarray(t), x)
    assert not np.shares_memory(np.asarray(t), x)
    assert not t.is_readonly
    assert t.layout.is_contiguous


def test_steps_that_are_no_multiple_of_the_element_are_copied_or_refused():
    x = MIXED["b"]
    assert x.strides == (52, 13)
    with count_copies() as count:
        t = as_tensor(x)
    assert count.nbytes == x.nbytes
    assert not np.shares_memory(np.asarray(t), MIXED)
    with pytest.raises(ConversionError, match="pass a copy"):
        as_tensor(x, copy=False)
    # The step of a mode with one index is never taken.
    assert np.shares_memory(np.asarray(as_tensor(x[:1, :1], copy=False)), MIXED)
    vectors = np.zeros(3, dtype=[("a", "i1"), ("v", "f8", (6,))])["v"][:1, ::-2]
    assert vectors.strides == (49, -16)
    vectors[...] = [[1, 2, 3]]
    assert as_tensor(vectors, copy=False).tolist() == [[1.0, 2.0, 3.0]]


def test_read_only_arrays_make_read_only_tensors():
    x = np.arange(3.0)
    x.flags.writeable = False
    t = as_tensor(x)
    assert t.is_readonly
    with pytest.raises(ReadOnlyError, match="read-only"):
        t[0] = 1.0
    y = as_tensor(x, copy=True)
    y[0] = 7.0
    assert (x[0], y.tolist()) == (0.0, [7.0, 1.0, 2.0])


def test_a_tensor_is_returned_as_it_is():
    t = as_tensor(BASE)
    assert as_tensor(t) is t
    assert as_tensor(t, copy=False) is t
    copied = as_tensor(t, copy=True)
    assert copied.array_equal(t)
    assert not np.shares_memory(np.asarray(copied), BASE)
    rows = jagged([[1], [2, 3]])
    assert as_tensor(rows) is rows


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        ([[1, 2], [3, 4]], np.int64),
        (((1.5, 2), (3, 4)), np.float64),
        ([True, False], np.bool_),
        ([1j], np.complex128),
        (3, np.int64),
        (2.5, np.float64),
        (np.float32(2.5), np.float32),
        ([], np.float64),
        ([[], []], np.float64),
        (range(3), np.int64),
        ([np.arange(2), np.arange(2)], np.int64),
    ],
)
def test_numbers_and_nested_lists_are_copied(value, dtype):
    t = as_tensor(value)
    assert t.dtype == dtype
    assert t.tolist() == np.asarray(value).tolist()
    assert as_tensor(value, copy=True).array_equal(t)
    with pytest.raises(ConversionError, match="no memory to share"):
        as_tensor(value, copy=False)


BUFFERS = [
    b"abc",
    bytearray(b"abc"),
    memoryview(b"abc"),
    memoryview(np.arange(12.0).reshape(3, 4))[::2],
    array.array("i", [1, 2, 3]),
    (ctypes.c_double * 3)(1.0, 2.0, 3.0),
]


@pytest.mark.parametrize("buffer", BUFFERS, ids=lambda b: type(b).__name__)
def test_buffers_are_viewed(buffer):
    view = np.asarray(memoryview(buffer))
    for copy in (None, False):
        t = as_tensor(buffer, copy=copy)
        assert np.array_equal(np.asarray(t), view)
        assert np.shares_memory(np.asarray(t), view)
        assert t.is_readonly == memoryview(buffer).readonly
    assert not np.shares_memory(np.asarray(as_tensor(buffer, copy=True)), view)


class Producer:
    """Something that exports memory by DLPack alone."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class Legacy:
    """Something with ``__array__``."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype=dtype, copy=copy)


@pytest.mark.parametrize("wrap", [Producer, Legacy])
@pytest.mark.parametrize("x", [BASE, BASE[::2, ::-1], BASE.T, BASE[:, :0]], ids=["C", "steps", "F", "empty"])
def test_memory_of_strangers_is_shared(wrap, x):
    for copy in (None, False):
        t = as_tensor(wrap(x), copy=copy)
        assert np.array_equal(np.asarray(t), x)
        assert np.shares_memory(np.asarray(t), x) == bool(x.size)
    assert not np.shares_memory(np.asarray(as_tensor(wrap(x), copy=True)), x)


def test_subclasses_of_arrays_become_plain_arrays(tmp_path):
    m = np.memmap(tmp_path / "m", dtype=np.float64, mode="w+", shape=(2, 3))
    t = as_tensor(m)
    assert type(np.asarray(t)) is np.ndarray
    t[0, 0] = 5.0
    assert m[0, 0] == 5.0


@pytest.mark.parametrize(
    "value",
    [
        np.array([object()]),
        np.array(["a"]),
        np.array([b"a"]),
        MIXED,
        np.zeros(2, "V4"),
        ["a", "b"],
        [2**70],
        object(),
        {1: 2},
    ],
    ids=["objects", "words", "bytes", "records", "void", "list", "large", "object", "dict"],
)
def test_elements_that_tensors_cannot_hold_are_refused(value):
    for copy in (None, True):
        with pytest.raises(DTypeError, match="not supported: allowed are"):
            as_tensor(value, copy=copy)


def test_nulls_alone_have_no_type():
    for value in ([None], [[None], [None]]):
        with pytest.raises(DTypeError, match="nullable"):
            as_tensor(value)


def test_masked_arrays_are_refused_where_there_are_no_nulls():
    masked = np.ma.masked_array([1, 2, 3], mask=[0, 1, 0])
    for call in (
        lambda: from_buffer(masked, (3,)),
        lambda: jagged([masked]),
    ):
        with pytest.raises(ConversionError, match="lose its mask"):
            call()


def test_ragged_lists_name_jagged():
    with pytest.raises(ConversionError, match=r"jagged\(\)"):
        as_tensor([[1], [2, 3]])


# From buffers.


def test_from_buffer_views_elements_in_row_major_order():
    flat = np.arange(13.0)
    shape = Shape.from_cells((2,), [(2, 2), (3, 3)])
    with count_copies() as count:
        t = from_buffer(flat, shape)
    assert count.copies == 0
    assert t[1].tolist() == [[4.0, 5.0, 6.0], [7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]
    t[0][1, 1] = 99.0
    assert flat[3] == 99.0
    assert from_buffer(np.arange(6), Shape(2, 3, origin=(1, 1))).shape == Shape(2, 3, origin=(1, 1))
    assert from_buffer(np.arange(0), (0, 3)).tolist() == []
    assert from_buffer(np.array([5]), ()).item() == 5


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda b: array.array("B", b)])
def test_from_buffer_reads_bytes_as_any_type(wrap):
    raw = np.arange(6, dtype=">i2").tobytes()
    t = from_buffer(wrap(raw), (2, 3), dtype=">i2")
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]]
    assert t.dtype == np.dtype(">i2")
    assert from_buffer(wrap(raw), (12,)).dtype == np.uint8
    assert from_buffer(wrap(b""), (0,), dtype="f8").tolist() == []
    assert t.is_readonly == memoryview(wrap(raw)).readonly


def test_from_buffer_reads_typed_memoryviews_by_their_bytes():
    x = np.arange(6, dtype=">f8").reshape(2, 3)
    assert from_buffer(memoryview(x), (6,), dtype=">f8").tolist() == x.ravel().tolist()
    assert from_buffer(memoryview(np.empty((0, 2))), (0,), dtype="f8").size == 0


def test_from_buffer_takes_a_layout_that_fits():
    flat = np.arange(10)
    shape = Shape(2, 3)
    t = from_buffer(flat, shape, layout=Layout(shape, strides=(-3, 1), offset=5))
    assert t.tolist() == [[5, 6, 7], [2, 3, 4]]
    assert np.shares_memory(np.asarray(t), flat)
    tiling = Tiling([1, 1], [2, 1])
    boxes = from_buffer(flat, tiling.shape, layout=Layout(shape, offset=4).as_tiled(tiling))
    assert boxes[1, 0].tolist() == [[7, 8]]
    assert from_buffer(flat, (0, 3), layout=Layout(Shape(0, 3), offset=10**9)).size == 0


def test_a_layout_that_repeats_makes_a_read_only_tensor():
    flat = np.arange(4.0)
    shape = Shape(3, 2)
    t = from_buffer(flat, shape, layout=Layout(shape, strides=(1, 1)))
    assert t.tolist() == [[0.0, 1.0], [1.0, 2.0], [2.0, 3.0]]
    for view in (t, t[0], t[:, 1], t.permute((1, 0))[1]):
        assert view.is_readonly
        with pytest.raises(ReadOnlyError):
            view[...] = 1.0
        assert not np.asarray(view).flags.writeable
    assert flat.flags.writeable


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: from_buffer(np.arange(5), (2, 3)), BufferSizeError, "6 elements, but the buffer has 5"),
        (lambda: from_buffer(np.arange(7), (2, 3)), BufferSizeError, "the buffer has 7"),
        (lambda: from_buffer(b"123", (1,), dtype="i4"), BufferSizeError, "3 bytes do not divide"),
        (
            lambda: from_buffer(np.arange(5), (2, 3), layout=Layout(Shape(2, 3))),
            BufferSizeError,
            "offsets 0 to 5; the buffer has 5",
        ),
        (
            lambda: from_buffer(np.arange(9), (2, 3), layout=Layout(Shape(2, 3), strides=(-3, 1))),
            BufferSizeError,
            "offsets -3 to 2",
        ),
        (lambda: from_buffer(np.arange(6), (2, 3), layout=Layout(Shape(3, 2))), ConversionError, "not over"),
        (lambda: from_buffer(np.arange(6).reshape(2, 3), (2, 3)), ConversionError, "one mode and no gaps"),
        (lambda: from_buffer(np.arange(6)[::2], (3,)), ConversionError, "one mode and no gaps"),
        (lambda: from_buffer(np.arange(6), (6,), dtype="f8"), DTypeError, "not float64"),
        (lambda: from_buffer(np.array([None]), (1,)), DTypeError, "object"),
        (lambda: from_buffer(b"12345678", (1,), dtype=object), DTypeError, "object"),
        (lambda: from_buffer(b"12345678", (1,), dtype="i4,i4"), DTypeError, "allowed are"),
        (lambda: from_buffer(memoryview(b"123456")[::2], (3,)), ConversionError, "without gaps"),
        (lambda: from_buffer([1, 2], (2,)), ConversionError, "not a buffer"),
        (lambda: from_buffer("ab", (2,)), ConversionError, "not a buffer"),
    ],
)
def test_from_buffer_refuses_what_does_not_fit(call, error, text):
    with pytest.raises(error, match=text):
        call()


@pytest.mark.parametrize(
    "value",
    [
        [[1], [2, 3]],
        [np.ones(2), np.ones(3)],
        [[[1]], [[2, 3], []]],
        [tw.as_tensor([1]), tw.as_tensor([2, 3])],
        [sel.as_view([1]), sel.as_view([2, 3])],
        [pa.array([1]), pa.array([2, 3])],
        [pd.Series([1]), pd.Series([2, 3])],
        [xr.DataArray([1]), xr.DataArray([2, 3])],
        [da.ones(2), da.ones(3)],
        np.array([[1], [2, 3]], dtype=object),
        [np.array([[1], [2, 3]], dtype=object), [[4]]],
    ],
    ids=[
        "lists",
        "arrays",
        "deep",
        "tensors",
        "views",
        "Arrow",
        "pandas",
        "xarray",
        "Dask",
        "objects",
        "mixed",
    ],
)
def test_what_an_error_recommends_works(value):
    with pytest.raises((ConversionError, DTypeError), match=r"use jagged\(\)"):
        tw.as_tensor(value)
    assert tw.jagged(value).shape.kind == "jagged"


@pytest.mark.parametrize(
    "value",
    [[[1], 2], [["a"], ["b", "c"]], [[1], [None, "a"]], np.array([1, "a"], object)],
    ids=["depths", "text", "None", "objects"],
)
def test_jagged_is_recommended_only_where_it_works(value):
    with pytest.raises((ConversionError, DTypeError)) as found:
        tw.as_tensor(value)
    assert "use jagged()" not in str(found.value)


def test_jagged_tensors_beside_lists_are_rows_of_one_tensor():
    rows = tw.jagged([[1.5], [2.5, 3]])
    assert tw.jagged([rows, [[1.5]], [], np.zeros((1, 2))]).tolist() == [
        [[1.5], [2.5, 3.0]],
        [[1.5]],
        [],
        [[0.0, 0.0]],
    ]
    deep = tw.jagged([[[1]], [[2, 3], []]])
    assert tw.jagged([[[[4]], []], deep, []]).tolist() == [[[[4]], []], deep.tolist(), []]


@pytest.mark.parametrize(
    ("given", "ranks"),
    [
        ([tw.jagged([[1], [2, 3]]), [1]], r"row 0 has rank 2, and row 1 rank 1"),
        ([tw.jagged([[1], [2, 3]]), [[1]], [[[1]]]], r"row 0 has rank 2, and row 2 rank 3"),
        ([[1], [[2]]], r"row 0 has rank 1, and row 1 rank 2"),
    ],
)
def test_rows_of_different_ranks_are_named(given, ranks):
    with pytest.raises(RankError, match=ranks):
        tw.jagged(given)


def test_windows_that_become_cells_stay_where_they_were():
    matrix = tw.as_tensor(np.arange(64).reshape(8, 8))
    cells = Shape.jagged([Shape(3, 2, origin=(3, 0)), Shape(3, 1, origin=(3, 2))])
    made = tw.jagged([matrix.window(box) for _, box in cells.cells()])
    assert made.shape == cells
    back = made.scatter(Shape(8, 8))
    assert np.array_equal(np.asarray(back)[3:6, :3], np.asarray(matrix)[3:6, :3])
    assert tw.jagged([matrix.window(box) for _, box in cells.cells()], dtype="f4").shape == cells
    with pytest.raises(LayoutError, match=r"jagged\(\[t.window\(box\)"):
        matrix.window(cells)


def test_odd_arguments_of_libraries_are_refused_or_read():
    assert tw.jagged(memoryview(bytes(range(6))).cast("B", (2, 3))).tolist() == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(ConversionError, match="a scalar of Arrow"):
        tw.strings(pa.scalar(None, pa.list_(pa.string())))
    day = dt.timedelta(1)
    for make in (
        lambda: tw.full((1,), day, dtype="m8"),
        lambda: tw.nullable(np.array([5], "m8"), [False]).fill_null(day),
    ):
        with pytest.raises(DTypeError, match="a unit"):
            make()


BIG = 2**63 + 1


@pytest.mark.parametrize(
    "items", [[BIG, 1], [1, BIG], [np.uint64(BIG), 1], [BIG, np.int8(1)], [np.uint64(BIG), BIG]]
)
def test_integers_of_lists_beyond_int64_are_exact(items):
    """NumPy makes floats of them, and rounds them."""
    wanted = list(map(int, items))
    nested = [[items], [[1]]]
    for made in (tw.as_tensor(items), tw.jagged([items])[0], sel.as_view(items), tw.jagged(nested)[0, 0]):
        assert (made.tolist(), made.dtype) == (wanted, np.uint64)
    target = tw.zeros((2,), dtype=np.uint64)
    target[:] = items
    assert target.tolist() == wanted
    assert (target == items).tolist() == [True, True]
    assert tw.as_tensor([*items, None]).tolist() == [*wanted, None]
    assert tw.jagged([[BIG, None], [1]]).tolist() == [[BIG, None], [1]]
    with pytest.raises(SizeOverflowError):
        tw.zeros((2,), dtype=np.int64).assign(items)
    below = [*items, -1]
    for make in (tw.as_tensor, lambda given: tw.jagged([given]), lambda given: tw.jagged([[given], [[-1]]])):
        with pytest.raises(DTypeError, match=r"np\.array\(x, dtype=float\)"):
            make(below)
    assert tw.as_tensor(np.array(below, dtype=float)).dtype == np.float64


def test_floats_of_lists_stay_floats():
    assert tw.as_tensor([2.0**63, 1]).dtype == tw.as_tensor([[2.0**64], [-(2.0**70)]]).dtype == np.float64
    assert tw.as_tensor([float("nan"), 2.0**63]).dtype == np.float64


@pytest.mark.parametrize(
    ("rows", "wanted"),
    [
        ([[1, None], np.array([3])], [[1, None], [3]]),
        ([np.array([3]), [None]], [[3], [None]]),
        ([tw.as_tensor([1, None]), [None, 2], np.array([4])], [[1, None], [None, 2], [4]]),
        ([tw.as_tensor([5]), [None], tw.as_tensor([None, 2])], [[5], [None], [None, 2]]),
        ([[[1, None]], [np.array([3])]], [[[1, None]], [[3]]]),
    ],
)
def test_rows_with_none_stand_beside_arrays(rows, wanted):
    assert tw.jagged(rows).tolist() == wanted


def test_rows_with_none_take_the_type_of_arrays():
    assert tw.jagged([np.array([3], np.int8), [None]]).dtype == np.int8
    with pytest.raises(ConversionError, match="a null row"):
        tw.as_tensor([np.array([1]), None])
    assert tw.as_tensor([np.array([1]), None], null_rows="empty").tolist() == [[1], []]


def test_dates_without_a_unit_take_on_that_of_other_rows():
    none, day = np.datetime64("NaT"), np.datetime64(5, "s")
    assert jagged([[none], [day]]).tolist() == [[None], [day.item()]]
    assert jagged([np.array([none]), [day]]).dtype == day.dtype
    with pytest.raises(DTypeError, match="count no unit"):
        jagged([[none]])


HIDDEN = np.ma.masked_array([7, 8], [1, 0])
ROWS = {
    "a mask": HIDDEN,
    "Arrow's null": pa.array([1, None]),
    "pandas' null": pd.Series([1, None], dtype="Int64"),
    "a null": tw.as_tensor([1, None]),
}


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("deep", [False, True])
def test_no_row_of_a_list_loses_its_mask_or_its_nulls(row, place, deep):
    rows = [[1, 2], [3, 4]]
    rows[place] = ROWS[row]
    for call in (tw.as_tensor, sel.as_view, lambda given: tw.as_tensor([[1, 2], [3, 4]]) + given):
        with pytest.raises(ConversionError):
            call([rows, rows] if deep else rows)
    if row == "a mask":
        with pytest.raises(ConversionError, match="would lose its mask"):
            tw.jagged(rows)
    else:
        wanted = [[1, 2], [3, 4]]
        wanted[place] = [1, None]
        assert tw.jagged(rows).tolist() == wanted


def test_the_masked_constant_is_no_number():
    for given in ([1.5, np.ma.masked], [[HIDDEN[0], 1], [2, 3]]):
        with pytest.raises((ConversionError, UserWarning)):
            tw.as_tensor(given)
    assert np.isnan(tw.as_tensor([[1.5, np.nan]]).elements()).tolist() == [False, True]


@pytest.mark.parametrize(
    "row",
    [
        range(2),
        pa.array([0, 1]),
        pd.Series([0, 1]),
        np.arange(2),
        tw.as_tensor([0, 1]),
        (0, 1),
        ROWS["a null"],
    ],
    ids=lambda row: type(row).__name__,
)
def test_rows_of_every_form_stand_beside_rows_with_nulls(row):
    listed = row.tolist() if hasattr(row, "tolist") else [*row]
    assert tw.as_tensor([[1, None], row]).tolist() == [[1, None], listed]
    assert tw.jagged([[1, None, 2], row, []]).tolist() == [[1, None, 2], listed, []]
    assert tw.jagged([[[1, None], row], []]).tolist() == [[[1, None], listed], []]


def test_tensors_of_rank_0_stand_beside_nulls():
    one = tw.as_tensor(1)
    assert tw.as_tensor([one, None]).tolist() == [1, None]
    assert tw.jagged([[one, None], [2]]).tolist() == [[1, None], [2]]
    assert np.add(tw.as_tensor([1, 2]), [one, None]).tolist() == [2, None]
