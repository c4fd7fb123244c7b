"""Pins of any mode, slices of slices, ellipses and clipping, in shapes of several levels.

A mode can be pinned exactly where the index lies inside it under every prefix that is left.
"""

import pytest

from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.shape import Jagged, JaggedView, Shape, as_shape

ROWS = Shape.jagged([10, 20])
DEEP = Shape.jagged([[[10], [20, 30]], [[10, 30], [20], [10, 20, 30]]])
CELLS = Shape.from_cells((2, 2), [(2, 3), (3, 4), (2, 5), (4, 4)], origins=[(0, 5), (1, 5), (0, 6), (1, 6)])
EVEN = Shape(3, 4, 5, origin=(1, 2, 3)).as_jagged()
ALL = slice(None)


def forms(shape):
    """The same shape as a value, as a view, and under a pin of a larger one."""
    start = shape.origin_at(())
    zeros = (0,) * shape.rank
    larger = Shape.jagged([shape[start:start], shape], origin=(7, *zeros))
    return shape, shape[...], as_shape(Jagged(shape.implementation.rows)), larger[8]


@pytest.mark.parametrize(
    ("shape", "key", "expected"),
    [
        (ROWS, 0, Shape(10)),
        (ROWS, slice(0, 1), Shape.jagged([10])),
        (ROWS, (slice(0, 1), slice(2, 8)), Shape.jagged([6], origin=(0, 2))),
        (ROWS, (slice(1, 2), slice(4, 9)), Shape.jagged([5], origin=(1, 4))),
        (ROWS, (ALL, 3), Shape(2)),
        (ROWS, (slice(1, 2), 15), Shape(1, origin=(1,))),
        (DEEP, 0, Shape.jagged([[10], [20, 30]])),
        (DEEP, (1, 2), Shape.jagged([10, 20, 30])),
        (DEEP, (1, 2, 1), Shape(20)),
        (DEEP, (1, 2, 1, 19), Shape()),
        (DEEP, (ALL, 1), Shape.jagged([[20, 30], [20]])),
        (DEEP, (ALL, 0, 0), Shape.jagged([10, 10])),
        (DEEP, (ALL, ALL, 0), Shape.jagged([[10, 20], [10, 20, 10]])),
        (DEEP, (ALL, ALL, ALL, 5), Shape.jagged([[1, 2], [2, 1, 3]])),
        (DEEP, (ALL, 0, ALL, 9), Shape.jagged([1, 2])),
        (DEEP, (ALL, 1, 0, 3), Shape(2)),
        (DEEP, (0, ALL, 0), Shape.jagged([10, 20])),
        (DEEP, (0, ALL, 0, 9), Shape(2)),
        (DEEP, (1, slice(1, 3), 0), Shape.jagged([20, 10], origin=(1, 0))),
        (DEEP, (slice(1, 2), slice(2, 3), 2), Shape.jagged([[30]], origin=(1, 2, 0))),
        (CELLS, (0, 1), Shape(3, 4, origin=(1, 5))),
        (CELLS, (0, 1, 3), Shape(4, origin=(5,))),
        (CELLS, (0, 1, ALL, 7), Shape(3, origin=(1,))),
        (
            CELLS,
            (ALL, 0),
            Shape.jagged([Shape(2, 3, origin=(0, 5)), Shape(2, 5, origin=(0, 6))]),
        ),
        (
            CELLS,
            (ALL, ALL, 1),
            Shape.from_cells((2, 2), [(3,), (4,), (5,), (4,)], origins=[(5,), (5,), (6,), (6,)]),
        ),
        (
            CELLS,
            (ALL, ALL, ALL, 7),
            Shape.from_cells((2, 2), [(2,), (3,), (2,), (4,)], origins=[(0,), (1,), (0,), (1,)]),
        ),
        (CELLS, (ALL, ALL, 1, 7), Shape.jagged([2, 2])),
        (CELLS, (ALL, 1, 3, 8), Shape(2)),
        (EVEN, (2, 3), Shape(5, origin=(3,))),
        (EVEN, (ALL, 3), Shape.jagged([5, 5, 5], origin=(1, 3))),
        (EVEN, (ALL, ALL, 7), Shape.jagged([4, 4, 4], origin=(1, 2))),
        (EVEN, (ALL, 2, 3), Shape(3, origin=(1,))),
        (EVEN, (slice(2, 3), slice(4, 6), 3), Shape.jagged([2], origin=(2, 4))),
    ],
)
def test_pins(shape, key, expected):
    for form in forms(shape):
        assert form[key] == expected
        assert form[key].kind == expected.kind


@pytest.mark.parametrize(
    ("shape", "key", "match"),
    [
        (ROWS, (ALL, 10), r"index 10 is outside \[0, 10\) of mode 1 under the prefix \(0,\)"),
        (ROWS, (slice(1, 2), 20), r"index 20 is outside \[0, 20\) of mode 1 under the prefix \(1,\)"),
        (DEEP, (ALL, 2), r"index 2 is outside \[0, 2\) of mode 1 under the prefix \(0,\)"),
        (DEEP, (ALL, 1, 1), r"index 1 is outside \[0, 1\) of mode 2 under the prefix \(1, 1\)"),
        (DEEP, (ALL, ALL, 1), r"index 1 is outside \[0, 1\) of mode 2 under the prefix \(0, 0\)"),
        (DEEP, (slice(1, 2), ALL, 2), r"index 2 is outside \[0, 2\) of mode 2 under the prefix \(1, 0\)"),
        (DEEP, (ALL, slice(1, 2), 0, 20), r"mode 3 under the prefix \(0, 1, 0\)"),
        (DEEP, (ALL, ALL, ALL, 10), r"index 10 is outside \[0, 10\) of mode 3 under the prefix \(0, 0, 0\)"),
        (DEEP, (1, ALL, ALL, 15), r"\[0, 10\) of mode 3 under the prefix \(1, 0, 0\)"),
        (DEEP, (1, 2, ALL, 25), r"\[0, 10\) of mode 3 under the prefix \(1, 2, 0\)"),
        (CELLS, (ALL, ALL, 0), r"index 0 is outside \[1, 4\) of mode 2 under the prefix \(0, 1\)"),
        (CELLS, (ALL, ALL, ALL, 5), r"index 5 is outside \[6, 11\) of mode 3 under the prefix \(1, 0\)"),
        (CELLS, (slice(0, 1), ALL, ALL, 8), r"\[5, 8\) of mode 3 under the prefix \(0, 0\)"),
        (EVEN, (ALL, ALL, 8), r"index 8 is outside \[3, 8\) of mode 2 under the prefix \(1,\)"),
    ],
)
def test_a_pin_that_a_prefix_lacks_is_refused_by_the_first_such_prefix(shape, key, match):
    with pytest.raises(OutOfBoundsError, match=match):
        shape[key]
    with pytest.raises(OutOfBoundsError, match=match):
        shape[...][key]


def test_no_prefix_lacks_anything_where_none_is_left():
    assert DEEP[0:0, 99] == Shape.jagged([], rank=3)
    assert DEEP[0:0, :, 99] == Shape.jagged([], rank=3)
    assert Shape.jagged([[], []], rank=3)[:, :, 99] == Shape.jagged([0, 0])
    assert Shape.jagged([Shape(0, 5), Shape(0, 3)])[:, :, 4] == Shape.jagged([0, 0])


@pytest.mark.parametrize(
    ("key", "same"),
    [
        (..., (ALL, ALL, ALL, ALL)),
        ((1, ...), (1, ALL, ALL, ALL)),
        ((..., 3), (ALL, ALL, ALL, 3)),
        ((1, ..., 3), (1, ALL, ALL, 3)),
        ((..., 0, 3), (ALL, ALL, 0, 3)),
        ((1, 2, ..., 1, 3), (1, 2, 1, 3)),
        ((1, 2, 1, 3, ...), (1, 2, 1, 3)),
        ((slice(0, 1), ..., slice(0, 10)), (slice(0, 1), ALL, ALL, slice(0, 10))),
        ((), ...),
        (ALL, ...),
    ],
)
def test_an_ellipsis_stands_for_whole_modes(key, same):
    assert DEEP[key] == DEEP[same]
    assert DEEP[...][key] == DEEP[same]


def test_a_key_has_one_ellipsis_and_no_more_entries_than_modes():
    for key, match in (
        ((..., 0, ...), "one ellipsis"),
        ((0, 0, 0, 0, 0), "5 indices"),
        ((0,) * 5 + (...,), "5"),
    ):
        with pytest.raises(RankError, match=match):
            DEEP[key]


@pytest.mark.parametrize(
    ("outer", "inner", "once"),
    [
        (slice(0, 2), slice(1, 2), slice(1, 2)),
        ((ALL, slice(1, 2)), (ALL, slice(1, 2), slice(0, 1)), (ALL, slice(1, 2), slice(0, 1))),
        ((1, ALL), (slice(1, 3),), (1, slice(1, 3))),
        ((1, slice(1, 3)), (ALL, slice(0, 1)), (1, slice(1, 3), slice(0, 1))),
        ((ALL, ALL, ALL, slice(2, 9)), (ALL, ALL, ALL, slice(3, 5)), (ALL, ALL, ALL, slice(3, 5))),
        ((ALL, ALL, ALL, slice(2, 9)), (1, 2, 1), (1, 2, 1, slice(2, 9))),
        ((ALL, ALL, 0, slice(2, 9)), (1, slice(1, 3), 4), (1, slice(1, 3), 0, 4)),
    ],
)
def test_a_slice_of_a_slice_has_the_indices_of_the_whole(outer, inner, once):
    assert DEEP[outer][inner] == DEEP[once]
    with pytest.raises(OutOfBoundsError, match=r"\[0, 10\) is outside \[2, 9\)"):
        DEEP[:, :, :, 2:9][:, :, :, 0:10]


def test_open_bounds_end_where_each_row_ends():
    assert DEEP[:, :, :, 5:] == Shape.jagged(
        [[[5], [15, 25]], [[5, 25], [15], [5, 15, 25]]], origin=(0, 0, 0, 5)
    )
    assert DEEP[:, 1:] == Shape.jagged(
        [Shape.jagged([[20, 30]], origin=(1, 0, 0)), Shape.jagged([[20], [10, 20, 30]], origin=(1, 0, 0))]
    )
    assert CELLS[:, :, :2].cell_table().extents.tolist() == [[2, 3], [1, 4], [2, 5], [1, 4]]
    with pytest.raises(OutOfBoundsError, match=r"\[15, 10\) is outside \[0, 10\) .*\(0, 0, 0\)"):
        DEEP[:, :, :, 15:]


@pytest.mark.parametrize(
    ("shape", "first", "last", "expected"),
    [
        (ROWS, (0, 5), (2, 15), Shape.jagged([Shape(5, origin=(5,)), Shape(10, origin=(5,))])),
        (ROWS, (-3, -3), (9, 99), ROWS),
        (ROWS, (0, 15), (2, 16), Shape.jagged([Shape(0, origin=(10,)), Shape(1, origin=(15,))])),
        (ROWS, (5, 0), (9, 9), Shape.jagged([], rank=2, origin=(2, 0))),
        (DEEP, (0, 1, 1, 25), (2, 2, 9, 99), Shape.jagged([[[5]], [[]]], origin=(0, 1, 1, 25))),
        (EVEN, (0, 4, 0), (3, 99, 5), Shape(2, 2, 2, origin=(1, 4, 3)).as_jagged()),
    ],
)
def test_clip_cuts_each_row_short_and_keeps_the_empty_ones(shape, first, last, expected):
    assert shape.slice(first, last, clip=True) == expected
    with pytest.raises(OutOfBoundsError, match="outside"):
        shape.slice(first, last)


def test_runs_of_rows_and_leading_pins_are_views_and_other_parts_are_not():
    for key in (slice(0, 1), (slice(0, 1), ALL), 1, (1, 2), (1, slice(0, 1))):
        assert type(DEEP[key].implementation) is JaggedView
    for key in ((ALL, 1), (ALL, slice(1, 2)), (1, ALL, 0)):
        assert type(DEEP[key].implementation) is Jagged
