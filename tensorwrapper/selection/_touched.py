"""How many elements a block of indices touches: fewer than the box around them, where boxes leave gaps."""

import math

import numpy as np

from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.selection._index_map import IndexMap
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Extents, Index

__all__ = ["count_touched"]

_GRID = 1 << 26  # elements that are counted one by one


def count_touched(index_map: IndexMap, extents: Extents, index: Extents, spans: Extents) -> int:
    """Return how many elements are in the box of at least one index.

    Parameters
    ----------
    index_map, extents
        Those of the projection.
    index
        The extents of the index range; none is zero.
    spans
        The extents of the box around all that is touched.
    """
    if 0 in extents:
        return 0
    moving = [c for c, n in enumerate(index) if n > 1]
    moved = [[d for d, row in enumerate(index_map.matrix) if row[c]] for c in moving]
    if all(len(modes) < 2 for modes in moved):
        # Each input moves one mode: what is touched is a product over the modes.
        counts = [
            _count_line(extent, [(abs(row[c]), index[c]) for c in moving if row[c]])
            for row, extent in zip(index_map.matrix, extents, strict=True)
        ]
        known = [count for count in counts if count is not None]
        if len(known) == len(counts):
            return math.prod(known)
    return _count_on_grid(index_map, extents, index, spans)


def _count_line(extent: int, steps: list[tuple[int, int]]) -> int | None:
    """Return how many places runs of one extent cover that are repeated by steps; ``None`` if undecided."""
    count = span = extent
    for step, times in sorted(steps):
        if step < span and count < span:
            return None
        # Runs without gaps stay so if they touch; others lie side by side, gaps and all.
        count = span + step * (times - 1) if step <= span == count else count * times
        span += step * (times - 1)
    return count


def _count_on_grid(index_map: IndexMap, extents: Extents, index: Extents, spans: Extents) -> int:
    most = max(math.prod(spans), math.prod(index))
    if most > _GRID:
        raise SizeOverflowError(
            f"what the map {index_map} touches is counted one by one, and {most} elements are over {_GRID}"
        )
    relative = IndexMap(index_map.matrix, _start(index_map, index), input_rank=index_map.input_rank)
    places = relative.apply_many(Shape.smooth(index).indices_at(np.arange(math.prod(index))))
    count = np.zeros([span + 1 for span in spans], dtype=np.int64)
    count[tuple(places.T)] = 1
    for mode, extent in enumerate(extents):
        # Each place becomes a run: the sum of all before it, less those that have ended.
        total = np.cumsum(count, axis=mode)
        count = total.copy()
        later, earlier = [slice(None)] * count.ndim, [slice(None)] * count.ndim
        later[mode], earlier[mode] = slice(extent, None), slice(None, -extent)
        count[tuple(later)] -= total[tuple(earlier)]
    return int(np.count_nonzero(count))


def _start(index_map: IndexMap, index: Extents) -> Index:
    """Return the offset with which the least result is zero in every mode."""
    origin = IndexMap(index_map.matrix, input_rank=index_map.input_rank)
    low, _ = origin._bounds([0] * len(index), [n - 1 for n in index])
    return tuple([-a for a in low])
