"""The fewest modes with the same offsets in row-major order: a table of the reference, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper import Layout, Shape, Tiling
from tensorwrapper.layout import make_layout
from tests.support.layout.copies import places, repeated, separable, strided, tile_major


def of(extents, strides):
    return Layout(Shape(*extents), strides=strides)


TWICE = [*range(16), *range(32, 48)] * 2
ROTATED = [1, 2, 3, 0, 5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12]
REVERSED = [3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12]

# Layout, extents and strides of the result (None where a mode is no stride), and the offsets.
TABLE = {
    "two of three": (of((2, 4, 4), (32, 4, 1)), (2, 16), (32, 1), [*range(16), *range(32, 48)]),
    "listed inside": (
        of((2, 4, 4), (32, 4, 1)).gather(2, [3, 2, 1, 0]),
        (2, 4, 4),
        (32, 4, -1),
        REVERSED + [32 + i for i in REVERSED],
    ),
    "listed outside": (
        of((2, 4, 4), (32, 4, 1)).gather(0, [1, 0]),
        (2, 16),
        (-32, 1),
        [*range(32, 48), *range(16)],
    ),
    "repeated with a gap": (of((2, 4, 4), (32, 4, 1)).repeat([2, 1, 1]), (4, 16), None, TWICE),
    "repeated without": (of((2, 4, 4), (16, 4, 1)).repeat([2, 1, 1]), (64,), None, [*range(32)] * 2),
    "rotated inside": (
        of((2, 4, 4), (32, 4, 1)).rotate([0, 0, -1]).repeat([2, 1, 1]),
        (4, 4, 4),
        None,
        (ROTATED + [32 + i for i in ROTATED]) * 2,
    ),
    "rotated twice": (
        of((4, 4), (4, 1)).rotate([-1, -1]),
        (4, 4),
        None,
        [5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0],
    ),
    "packed, 2 modes": (Layout(Shape(4, 4)), (16,), (1,), list(range(16))),
    "packed, 3 modes": (Layout(Shape(2, 2, 4)), (16,), (1,), list(range(16))),
    "packed, 4 modes": (Layout(Shape(2, 2, 2, 2)), (16,), (1,), list(range(16))),
}


@pytest.mark.parametrize("row", TABLE)
def test_reduction_of_modes(row):
    layout, extents, strides, offsets = TABLE[row]
    simple = layout.simplify()

    assert simple.shape == Shape(*extents)
    assert simple.is_strided == (strides is not None)
    if strides is not None:
        assert simple.strides == strides
    assert places(layout).tolist() == places(simple).tolist() == offsets


MORE = {
    "one element": (of((1, 1), (5, 7)), ()),
    "no element": (of((3, 0), (5, 7)), (0,)),
    "a rank of zero": (Layout(Shape()), ()),
    "both descend": (Layout(Shape(3, 4), ascend=(False, False)), (12,)),
    "one descends": (Layout(Shape(3, 4), ascend=(False, True)), (3, 4)),
    "broadcast modes": (of((3, 4, 5), (0, 0, 1)), (12, 5)),
    "an outer rotation": (Layout(Shape(4, 3)).rotate([1, 0]), (12,)),
    "an outer rotation, backwards": (Layout(Shape(4, 3)).rotate([1, 0]).reverse(), (12,)),
    "repeated positions": (Layout(Shape(3, 4)).repeat_each(1, 2), (24,)),
    "a table outside": (Layout(Shape(4, 3, 2)).gather(0, [2, 0, 3]), (3, 6)),
    "modes between": (Layout(Shape(2, 1, 3)).rotate([0, 0, 1]), (2, 3)),
}


@pytest.mark.parametrize("row", MORE)
def test_more_reductions(row):
    layout, extents = MORE[row]

    assert layout.simplify().shape == Shape(*extents)
    assert places(layout.simplify()).tolist() == places(layout).tolist()


@given(
    st.lists(st.integers(0, 5), max_size=4).flatmap(
        lambda n: st.one_of(strided(n), separable(n), repeated(n))
    )
)
def test_the_offsets_in_row_major_order_stay(layout):
    simple = layout.simplify()

    assert places(simple).tolist() == places(layout).tolist()
    assert simple.shape.origin == (0,) * simple.shape.rank
    assert simple.simplify() == simple
    assert 1 not in simple.shape.extents


@given(st.lists(st.integers(1, 5), max_size=4).flatmap(strided))
def test_no_two_neighbours_of_a_strided_layout_can_be_joined(layout):
    simple = layout.simplify()

    assert simple.is_strided
    for mode in range(simple.shape.rank - 1):
        steps = simple.strides[mode : mode + 2]
        assert steps[0] != steps[1] * simple.shape.extents[mode + 1]


@given(st.lists(st.integers(0, 4), max_size=3).flatmap(tile_major))
def test_tile_major_storage_becomes_one_mode_where_it_is_contiguous(layout):
    simple = layout.simplify()

    assert places(simple).tolist() == places(layout).tolist()
    if layout.is_contiguous:
        assert simple == Layout(Shape(layout.shape.size), offset=layout.offset)
    else:
        assert simple == layout


def test_other_kinds_become_one_mode_if_they_are_contiguous():
    rows = Shape.jagged([3, 0, 2])
    nested = Layout(Shape.nested(Shape(2, 3), layers=(1, 1)))
    tiled = Layout(Shape(4, 4)).as_tiled(Tiling([2, 2], [4]))
    colex = make_layout((2, 3), (1, 2), order="colex")

    assert Layout(rows, offset=7).simplify() == Layout(Shape(5), offset=7)
    assert Layout.padded(rows).simplify() == Layout.padded(rows)
    assert nested.simplify() == Layout(Shape(6))
    assert tiled.simplify() == Layout(Shape(16))
    assert colex.simplify() == Layout(Shape(2, 3), order="F")


def test_extents_and_strides_may_be_of_any_size():
    huge = Layout(Shape(10**20, 10**20))

    assert huge.simplify().shape.extents == (10**40,)
    assert np.array_equal(huge[::-1, ::-1].simplify().strides, [-1])
