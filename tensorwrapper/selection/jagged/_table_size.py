"""Predict the number of rows in tables, on all levels, before an operation makes more of them."""

import math

import numpy as np

from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray

__all__ = ["held_rows", "held_under", "indices_of"]


def held_rows(shape: Shape) -> int:
    """Return how many rows there are, of all levels, and extents of cells; of a box how many lines it has.

    A grid of tiles counts each tile, although they stay a product until something moves them. O(modes).
    """
    flat = shape.flatten()
    if flat.is_box:
        return sum([math.prod(flat.extents[:mode]) for mode in range(1, flat.rank)])
    counts = [indices_of(flat, mode) for mode in range(flat.outer_rank)]
    return sum(counts) + counts[-1] * (flat.rank - flat.outer_rank - 1)


def indices_of(shape: Shape, mode: int) -> int:
    """Return how many indices a mode has under all prefixes, or a bound of that within cells. O(modes)."""
    flat = shape.flatten()
    if flat.is_box:
        return math.prod(flat.extents[: mode + 1])
    if mode == flat.rank - 1 == flat.outer_rank:
        return flat.size
    count = 1
    for own in range(min(mode + 1, flat.outer_rank)):
        count = count * flat.extent(own) if _is_even(flat, own) else int(flat.splits(own)[-1])
    return count * math.prod([flat.extent_bounds(own)[1] for own in range(flat.outer_rank, mode + 1)])


def held_under(shape: Shape, mode: int) -> IntArray:
    """Return for each index of a mode before cells how many rows are under it, itself too. O(rows)."""
    flat = shape.flatten()
    count = indices_of(flat, mode)
    held: IntArray = np.ones(count, dtype=np.int64)
    starts: IntArray = np.arange(count + 1, dtype=np.int64)
    for inner in range(mode + 1, flat.outer_rank):
        starts = starts * flat.extent(inner) if _is_even(flat, inner) else flat.splits(inner)[starts]
        held += np.diff(starts)
    held += np.diff(starts) * (flat.rank - flat.outer_rank - 1)
    return held


def _is_even(shape: Shape, mode: int) -> bool:
    return not shape.dependencies(mode)
