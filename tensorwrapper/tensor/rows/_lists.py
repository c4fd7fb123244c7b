"""Nested lists of Python numbers from the cells of a jagged tensor."""

from itertools import pairwise
from typing import Any

from tensorwrapper._arrays import splits_of
from tensorwrapper.shape import Rows


def rows_of(numbers: list[Any], rows: Rows) -> list[Any]:
    """Return one list per cell of rank 1, cut out of all numbers."""
    return [numbers[start:end] for start, end in pairwise(rows.cell_offsets().tolist())]


def nest(cells: list[Any], rows: Rows) -> list[Any]:
    """Return the cells in lists as deep as there are unrolled modes; O(cells), one level at a time."""
    for mode in range(rows.outer_rank - 1, 0, -1):
        ends = splits_of(rows.ranges(mode)[0]).tolist()
        cells = [cells[start:end] for start, end in pairwise(ends)]
    return cells
