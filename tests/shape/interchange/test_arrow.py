"""Shapes as lists of Arrow, with pyarrow as the judge."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest
from dask.base import tokenize
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape import ArrowList, Shape
from tensorwrapper.testing import shapes

KINDS = ["list", "large_list", "list_view", "large_list_view"]
ARRAYS = {
    "list": pa.ListArray,
    "large_list": pa.LargeListArray,
    "list_view": pa.ListViewArray,
    "large_list_view": pa.LargeListViewArray,
}


def array_of(shape, kind):
    """Return an Arrow array of int64 with the elements counted."""
    array = pa.array(np.arange(shape.size))
    for level in reversed(shape.arrow_lists(kind)):
        if level.type == "fixed_size_list":
            array = pa.FixedSizeListArray.from_arrays(array, level.list_size)
        elif level.sizes is None:
            array = ARRAYS[kind].from_arrays(pa.array(level.offsets), array)
        else:
            array = ARRAYS[kind].from_arrays(pa.array(level.offsets), pa.array(level.sizes), array)
    array.validate(full=True)
    return array


def levels_of(array):
    """Return the levels of an Arrow array, as its buffers have them."""
    found = []
    while isinstance(array, (pa.FixedSizeListArray, *ARRAYS.values())):
        if isinstance(array, pa.FixedSizeListArray):
            found.append(ArrowList("fixed_size_list", list_size=array.type.list_size))
            array = array.values[array.offset * array.type.list_size :]
            continue
        kind = next(k for k, v in ARRAYS.items() if isinstance(array, v))
        offsets = np.asarray(array.offsets)
        sizes = np.asarray(array.sizes) if "view" in kind else None
        found.append(ArrowList(kind, offsets, sizes))
        array = array.values
    return found


@pytest.mark.parametrize("kind", KINDS)
@given(shape=shapes().filter(lambda s: s.rank and s.size and 0 not in s.as_smooth().extents))
def test_arrow_reads_our_lists_and_we_read_its(kind, shape):
    array = array_of(shape, kind)
    count = shape.extent_bounds(0)[1]
    assert len(array) == count
    assert sum(1 for _ in _flat(array.to_pylist())) == shape.size
    assert list(_flat(array.to_pylist())) == list(range(shape.size))
    expected = Shape.from_row_partitions(shape.to_row_partitions())
    assert Shape.from_arrow(levels_of(array), count).same_elements(expected)
    if shape.kind == "jagged":
        assert [len(row) for row in array.to_pylist()] == shape.lengths(1).tolist()


def _flat(values):
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        else:
            yield value


@given(st.lists(st.lists(st.lists(st.integers(0, 9), max_size=3), max_size=3), max_size=5), st.data())
def test_a_slice_of_an_arrow_array_has_the_shape_of_its_lists(rows, data):
    array = pa.array(rows, pa.large_list(pa.list_(pa.int64())))
    start = data.draw(st.integers(0, len(rows)))
    part = array[start:]
    expected = Shape.jagged([[len(cell) for cell in row] for row in rows[start:]], rank=3)
    assert Shape.from_arrow(levels_of(part), len(part)) == expected


def test_views_may_overlap_and_come_in_any_order():
    offsets, sizes = [4, 0, 4], [3, 1, 2]
    array = pa.ListViewArray.from_arrays(
        pa.array(offsets, pa.int32()), pa.array(sizes, pa.int32()), np.arange(9)
    )
    assert Shape.from_arrow(levels_of(array), 3) == Shape.jagged([len(row) for row in array.to_pylist()])
    with pytest.raises(ConversionError, match="level 0 do not follow one another"):
        Shape.from_arrow([ArrowList("list_view", offsets, sizes), ArrowList("list", range(10))], 3)


@pytest.mark.parametrize(("kind", "dtype"), list(zip(KINDS, ["i4", "i8", "i4", "i8"], strict=True)))
def test_offsets_have_the_width_of_the_type(kind, dtype):
    (level,) = Shape.jagged([3, 1, 2]).arrow_lists(kind)
    assert (level.type, level.offsets.dtype) == (kind, np.dtype(dtype))
    assert level.offsets.tolist() == ([0, 3, 4, 6] if "view" not in kind else [0, 3, 4])
    assert not level.offsets.flags.writeable
    if "view" in kind:
        assert (level.sizes.tolist(), level.sizes.dtype) == ([3, 1, 2], np.dtype(dtype))


def test_a_box_is_lists_of_one_size():
    assert Shape(2, 3, 4).arrow_lists() == (
        ArrowList("fixed_size_list", list_size=3),
        ArrowList("fixed_size_list", list_size=4),
    )
    assert Shape(5).arrow_lists() == ()
    assert Shape.from_arrow((), 5) == Shape(5)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: Shape().arrow_lists(), RankError, "has a mode"),
        (lambda: Shape(2).arrow_lists("map"), ConversionError, "one of list, large_list.*not 'map'"),
        (
            lambda: Shape.jagged([2**31, 1]).arrow_lists("list"),
            SizeOverflowError,
            "64 bits: large_list, not list",
        ),
        (lambda: Shape(2, 2**31).arrow_lists(), SizeOverflowError, "at most 2\\*\\*31 - 1 elements"),
        (lambda: Shape.from_arrow([[0, 1]], 1), ConversionError, "of the class ArrowList"),
        (
            lambda: Shape.from_arrow([ArrowList("list")], 1),
            ConversionError,
            "level 0 is a 'list' and needs offsets",
        ),
        (lambda: Shape.from_arrow([ArrowList("set", [0])], 1), ConversionError, "level 0 is a 'set'"),
        (lambda: Shape.from_arrow([ArrowList("fixed_size_list")], 1), ExtentError, "needs a list_size"),
        (lambda: Shape.from_arrow([ArrowList("list", [0, 2])], 2), OutOfBoundsError, "has 1 lists, but 2"),
        (lambda: Shape.from_arrow([ArrowList("list_view", [0, 2], [1])], 2), ExtentError, "a size for each"),
        (lambda: Shape.from_arrow([ArrowList("list_view", [0], [-1])], 1), ExtentError, "goes from 0 to -1"),
        (
            lambda: Shape.from_arrow([ArrowList("list_view", [2**63 - 1], [1])], 1),
            SizeOverflowError,
            "ends beyond 64 bits",
        ),
        (
            lambda: Shape.from_arrow([ArrowList("fixed_size_list", list_size=2**40)] * 2, 1),
            SizeOverflowError,
            "level 1 have more elements",
        ),
        (lambda: ArrowList("list", [0.5]), ConversionError, "offsets"),
        (lambda: ArrowList("list", np.zeros((2, 2), int)), ConversionError, "one-dimensional"),
    ],
)
def test_what_makes_no_lists_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_lists_are_values():
    for value in (ArrowList("list_view", [0, 3], [3, 1]), ArrowList("fixed_size_list", list_size=3)):
        for back in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value)):
            assert back == value
            assert hash(back) == hash(value)
            assert tokenize(back) == tokenize(value)
    assert ArrowList("list", [0, 3]) != ArrowList("list", [0, 4])


def test_a_list_does_not_change_with_the_array_that_it_was_made_of():
    offsets = np.array([0, 3, 4])
    level = ArrowList("large_list", offsets)
    offsets[1] = 1
    assert level.offsets.tolist() == [0, 3, 4]
    offsets.flags.writeable = False
    assert np.shares_memory(ArrowList("large_list", offsets).offsets, offsets)
