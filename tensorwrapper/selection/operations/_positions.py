"""Positions counted from zero, as int64 arrays whose last mode has one entry per mode of a box."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.typing import Extents, IntArray

__all__ = ["grouped", "inserted", "ranks_of", "unravel", "with_column"]


def ranks_of(positions: IntArray, extents: Extents) -> IntArray:
    """Return the rank of each position in row-major order."""
    if math.prod(extents) > MAX_INT64:
        raise SizeOverflowError(f"the ranks of the positions of {extents} leave 64 bits")
    ranks = np.zeros(positions.shape[:-1], dtype=np.int64)
    for mode, extent in enumerate(extents):
        ranks *= extent
        ranks += positions[..., mode]
    return ranks


def unravel(ranks: IntArray, extents: Extents) -> IntArray:
    """Return the position of each rank in row-major order."""
    positions = np.empty((*ranks.shape, len(extents)), dtype=np.int64)
    for mode in reversed(range(len(extents))):
        ranks, positions[..., mode] = np.divmod(ranks, extents[mode])
    return positions


def grouped(numbers: IntArray) -> Iterator[tuple[int, IntArray]]:
    """Return each number that occurs, ascending, and its places, ascending. O(n log n)."""
    if not len(numbers):
        return
    # Short numbers are sorted by their digits, in linear time.
    few = int(numbers.min()) >= 0 and int(numbers.max()) <= np.iinfo(np.int16).max
    order = np.argsort(numbers.astype(np.int16) if few else numbers, kind="stable")
    ascending = numbers[order]
    marks = [0, *(np.flatnonzero(np.diff(ascending)) + 1).tolist(), len(order)]
    firsts: list[int] = ascending[marks[:-1]].tolist()
    for number, start, stop in zip(firsts, marks[:-1], marks[1:], strict=True):
        yield number, order[start:stop]


def with_column(positions: IntArray, mode: int, column: IntArray) -> IntArray:
    """Return positions of which those in one mode are others."""
    changed = positions.copy()
    changed[..., mode] = column
    return changed


def inserted(positions: IntArray, modes: Sequence[int], value: int) -> IntArray:
    """Return positions with more modes, which are `modes` of the result, in ascending order."""
    kept = [m for m in range(positions.shape[-1] + len(modes)) if m not in modes]
    wider = np.full((*positions.shape[:-1], len(kept) + len(modes)), value, dtype=np.int64)
    wider[..., kept] = positions
    return wider
