"""Cells that interleave as tiles of one grid: found out, and looked up, without trying each."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.layout.cells._cells import Cells, grid_of


@st.composite
def cells(draw):
    """Boxes with the same strides: tiles of a grid, some of them moved or cut."""
    width = draw(st.integers(1, 2))
    wide = draw(st.sampled_from([1, 4, 6, 7]))
    strides = draw(st.permutations([wide * 10, wide][:width] if draw(st.booleans()) else [wide, 1][:width]))
    strides = tuple(s * draw(st.sampled_from([1, -1])) for s in strides)
    count = draw(st.integers(1, 6))
    sizes = st.tuples(*[st.integers(1, 3)] * width)
    size = draw(sizes)
    extents = [draw(sizes) if draw(st.integers(0, 4)) == 0 else size for _ in range(count)]
    numbers = draw(st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=count, max_size=count))
    moved = [draw(st.integers(0, 3)) if draw(st.integers(0, 3)) == 0 else 0 for _ in range(count)]
    least = [
        more + sum(k * n * abs(s) for k, n, s in zip(number, size, strides, strict=True))
        for more, number in zip(moved, numbers, strict=True)
    ]
    return np.array(least), np.array(extents), strides


def places_of(least, extents, strides):
    steps = [range(0, n * abs(s), abs(s)) for n, s in zip(extents, strides, strict=True)]
    return {int(least) + sum(k) for k in itertools.product(*steps)}


@given(cells())
def test_a_grid_tells_what_trying_each_cell_tells(case):
    least, extents, strides = case
    held = [places_of(a, n, strides) for a, n in zip(least, extents, strict=True)]
    grid = grid_of(np.arange(len(least)), least, extents, strides)
    if grid is None:
        return
    for one, other in itertools.combinations(held, 2):
        assert one == other or not one & other
    for place in range(int(least.min()) - 3, max(map(max, held)) + 4):
        first = next((k for k, places in enumerate(held) if place in places), -1)
        assert grid.cells_at(np.array([place])).tolist() == [first]


def test_tiles_of_a_matrix_are_a_grid_and_tiles_that_wrap_or_overlap_are_not():
    def found(least, extents, strides):
        numbers = np.arange(len(least))
        return grid_of(numbers, np.array(least), np.array(extents), strides) is not None

    assert found([0, 2, 12, 14], [(2, 2)] * 4, (6, 1))
    assert found([0, 2, 12, 14], [(2, 2)] * 4, (-6, 1))
    assert found([14, 0], [(2, 2)] * 2, (6, 1))
    assert found([0, 1], [(1, 2)] * 2, (0, 2))
    # The second tile reaches over the end of a row of memory.
    assert not found([0, 5], [(2, 2)] * 2, (6, 1))
    # Rows 0 to 1 and rows 1 to 2.
    assert not found([0, 8], [(2, 2)] * 2, (6, 1))
    # One tile is taller than its neighbour.
    assert not found([0, 2], [(3, 2), (2, 2)], (6, 1))


@pytest.mark.parametrize("table", [np.empty((0, 0), np.int64), np.arange(10).reshape(5, 2)[:, :0]])
def test_cells_of_no_modes_are_single_elements(table):
    numbers = np.arange(len(table))
    cells = Cells(table, numbers, table)
    assert cells.filled().tolist() == [True] * len(table)
    assert cells.is_packed(0, numbers)
    assert cells.run(0, 0).filled().tolist() == []
