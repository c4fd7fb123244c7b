"""Points of an array that is read in slices: those that lie in one cell of a grid are in one slice."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["count_cells", "read_cells"]

_Box: TypeAlias = "tuple[slice, ...]"


def _cell_numbers(indices: tuple[IntArray, ...], cells: Extents) -> IntArray:
    """Return a number for the cell of each point; equal where the cells are."""
    grid = [own // cell for own, cell in zip(indices, cells, strict=True)]
    counts = [int(own.max(initial=0)) + 1 for own in grid]
    found: IntArray = np.zeros(len(indices[0]), dtype=np.int64)
    for own, count in zip(grid, counts, strict=True):
        # Only which are alike counts, so that no product of extents can be too great.
        found = np.unique(found * count + own, return_inverse=True)[1]
    return found


def count_cells(indices: tuple[IntArray, ...], cells: Extents) -> int:
    """Return how many cells of a grid have any of these points."""
    return int(_cell_numbers(indices, cells).max(initial=-1)) + 1


def read_cells(
    indices: tuple[IntArray, ...], cells: Extents, read: Callable[[_Box], Array], target: Array
) -> None:
    """Read points into an array of rank 1: the box around those of each cell at once, and pick them there.

    O(points log points), and a read for each cell.
    """
    numbers = _cell_numbers(indices, cells)
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers))
    for start, stop in zip((ends - np.diff(ends, prepend=0)).tolist(), ends.tolist(), strict=True):
        own = order[start:stop]
        points = [mode[own] for mode in indices]
        lows = [int(mode.min()) for mode in points]
        highs = [int(mode.max()) + 1 for mode in points]
        found = read(tuple([slice(a, b) for a, b in zip(lows, highs, strict=True)]))
        target[own] = found[tuple([mode - low for mode, low in zip(points, lows, strict=True)])]
