"""Nested lists of Python numbers from the cells of a jagged tensor."""

from itertools import pairwise
from typing import Any

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper.shape import Rows
from tensorwrapper.typing import Extents

__all__ = ["nest", "nest_box", "rows_of"]


def rows_of(numbers: list[Any], rows: Rows) -> list[Any]:
    """Return one list per cell of rank 1, cut out of all numbers."""
    return [numbers[start:end] for start, end in pairwise(rows.cell_offsets().tolist())]


def nest_box(items: list[Any], extents: Extents) -> Any:  # noqa: ANN401 - an item, or lists of them
    """Return items in lists as deep as there are extents; just one if there are none."""
    if not extents:
        return items[0]
    if not items:
        return np.empty(extents, dtype=np.object_).tolist()
    for extent in reversed(extents[1:]):
        items = [items[start : start + extent] for start in range(0, len(items), extent)]
    return items


def nest(cells: list[Any], rows: Rows) -> list[Any]:
    """Return the cells in lists as deep as there are unrolled modes; O(cells), one level at a time."""
    for mode in range(rows.outer_rank - 1, 0, -1):
        ends = splits_of(rows.ranges(mode)[0]).tolist()
        cells = [cells[start:end] for start, end in pairwise(ends)]
    return cells
