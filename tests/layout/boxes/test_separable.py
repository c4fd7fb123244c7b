"""Selections of two copies of 0 to 8 as 3 x 3, by integers, runs and all: values, strides, density."""

import math

import pytest

from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape

TWO = Layout(Shape(2, 3, 3))
ALL = slice(None)


@pytest.mark.parametrize(
    ("key", "values", "extents", "dense", "strides", "offset"),
    [
        pytest.param((ALL, ALL, slice(1, 3)), [1, 2, 4, 5, 7, 8] * 2, (2, 3, 2), False, (9, 3, 1), 1),
        pytest.param((ALL, ALL, slice(2, 3)), [2, 5, 8] * 2, (2, 3, 1), False, (9, 3, 1), 2),
        pytest.param((ALL, ALL, 2), [2, 5, 8] * 2, (2, 3), False, (9, 3), 2),
        pytest.param((ALL, slice(1, 3), ALL), [3, 4, 5, 6, 7, 8] * 2, (2, 2, 3), False, (9, 3, 1), 3),
        pytest.param((ALL, slice(2, 3), ALL), [6, 7, 8] * 2, (2, 1, 3), False, (9, 3, 1), 6),
        pytest.param((ALL, 0, ALL), [0, 1, 2] * 2, (2, 3), False, (9, 1), 0),
        pytest.param((slice(1, 2), slice(1, 2), ALL), [3, 4, 5], (1, 1, 3), True, (9, 3, 1), 12),
        pytest.param((1, 1, ALL), [3, 4, 5], (3,), True, (1,), 12),
        pytest.param((1, ALL, 2), [2, 5, 8], (3,), False, (3,), 11),
    ],
    ids=lambda value: str(value) if isinstance(value, tuple) else None,
)
def test_selections(key, values, extents, dense, strides, offset):
    part = TWO[key]

    # Both planes hold 0 to 8, so that a value is its place within a plane.
    assert (part.to_numpy().ravel() % 9).tolist() == values
    assert part.shape == Shape(*extents)
    assert part.is_contiguous is dense
    assert (part.strides, part.offset) == (strides, offset)
    assert part.is_exhaustive is (dense or math.prod(extents) == part.span)


@pytest.mark.parametrize(
    ("mode", "positions", "key"),
    [
        (2, [1, 2], (ALL, ALL, slice(1, 3))),
        (2, [2], (ALL, ALL, slice(2, 3))),
        (1, [2, 0], (ALL, slice(2, None, -2))),
    ],
)
def test_positions_at_one_distance_are_the_slice(mode, positions, key):
    chosen = TWO.gather(mode, positions)

    assert chosen.is_strided
    assert chosen.to_numpy().tolist() == TWO[key].to_numpy().tolist()
    assert [s for s, n in zip(chosen.strides, chosen.shape.extents, strict=True) if n > 1] == [
        s for s, n in zip(TWO[key].strides, chosen.shape.extents, strict=True) if n > 1
    ]


def test_several_gathers_are_an_outer_product():
    chosen = TWO[0].gather(0, [2, 0]).gather(1, [1, 1, 0])

    assert chosen.to_numpy().tolist() == [[7, 7, 6], [1, 1, 0]]


def test_a_range_from_an_offset_is_strided_and_an_integer_drops_the_mode():
    row = Layout(Shape(10))

    assert row.gather(0, range(2, 6)) == row[2:6] == Layout(Shape(4), strides=(1,), offset=2)
    assert row[3].shape.rank == 0
    assert row[3:4].shape == Shape(1)
