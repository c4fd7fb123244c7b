"""How many rows a shape holds, against what its indices say."""

import itertools

import numpy as np
import pytest
from hypothesis import given

from tensorwrapper import Shape
from tensorwrapper.selection.jagged._rows import held_rows, held_under, indices_of
from tensorwrapper.testing import shapes


def nodes(shape, mode):
    """Return all indices of the first modes, found one by one."""
    found = [()]
    for _ in range(mode + 1):
        found = [(*prefix, k) for prefix in found for k in range(shape.extent_at(prefix))]
    return found


@given(shapes())
def test_rows_are_those_of_all_levels(shape):
    flat = shape.flatten().translate_to((0,) * shape.rank) if shape.flatten().is_box else shape.flatten()
    if flat.is_box or any(flat.origin_at(()) for _ in "1"):
        return
    try:
        levels = [nodes(flat, mode) for mode in range(flat.outer_rank)]
    except (IndexError, ValueError):
        return  # Modes that begin elsewhere.
    assert [indices_of(flat, mode) for mode in range(flat.outer_rank)] == [len(own) for own in levels]
    width = flat.rank - flat.outer_rank - 1
    assert held_rows(flat) == sum(map(len, levels)) + len(levels[-1]) * width
    for mode, own in enumerate(levels):
        below = list(itertools.chain(*levels[mode:], *[levels[-1]] * width))
        expected = [sum(index[: mode + 1] == prefix for index in below) for prefix in own]
        assert held_under(flat, mode).tolist() == expected


@pytest.mark.parametrize(
    ("shape", "held"),
    [
        (Shape(), 0),
        (Shape(5), 0),
        (Shape(5, 6, 0), 5 + 30),
        (Shape.jagged([3, 1, 2]), 3),
        (Shape.from_offsets([0, 100], [0] * 101), 101),
        (Shape.tiled([2, 3], [4, 4, 4]), 2 + 6 + 6),
        (Shape.tiled([1] * 10_000, [1] * 10_000), 10_000 + 2 * 10**8),
        (Shape.nested(Shape.jagged([2, 2]), layers=(1, 1)), 2),
    ],
)
def test_rows_of_some_shapes(shape, held):
    assert held_rows(shape) == held


def test_lines_of_boxes_are_counted_by_their_extents():
    assert held_rows(Shape(2**40, 2**40, 3)) == 2**40 + 2**80
    assert indices_of(Shape(7, 0), 1) == 0
    assert np.array_equal(held_under(Shape.jagged([1, 0, 2]), 0), [1, 1, 1])
