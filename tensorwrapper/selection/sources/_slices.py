"""Outer selections in slices: a few of them for each mode."""

from types import EllipsisType
from typing import Any, TypeAlias

import numpy as np

from tensorwrapper.selection.sources._outer import Positions
from tensorwrapper.typing import Array

__all__ = ["Run", "count_chunks", "key_of", "part_of", "runs_of"]

Run: TypeAlias = "tuple[slice, slice, slice | Array]"
"""Its positions, the slice to read for them, and their places in the result of the read."""


def key_of(positions: Positions, move: int = 0) -> "slice | Array":
    """Return positions as a key that other libraries take: a slice if they are evenly spaced."""
    if not isinstance(positions, range):
        return positions + move if move else positions
    return _slice_of(positions, move)


def _slice_of(positions: range, move: int = 0) -> slice:
    step = positions.step if len(positions) > 1 else 1
    stop = positions[-1] + 1 if positions else positions.start
    return slice(positions.start + move, stop + move, step)


def part_of(array: Array, places: tuple[slice, ...]) -> Array:
    """Return the part of an array at these places; also of an array of rank 0."""
    key: tuple[slice | EllipsisType, ...] = (*places, ...)
    return array[key]


def runs_of(positions: Positions, gap: int) -> list[Run]:
    """Return slices that have all positions: those at most `gap` from one another are in one slice."""
    if isinstance(positions, range):
        return [(slice(0, len(positions)), _slice_of(positions), slice(None))] if positions else []
    cuts = (np.flatnonzero(np.diff(positions) > gap) + 1).tolist()
    runs: list[Run] = []
    for start, stop in zip([0, *cuts], [*cuts, len(positions)], strict=True):
        first, last = positions.item(start), positions.item(stop - 1)
        whole = last - first == stop - start - 1
        picked: Any = slice(None) if whole else positions[start:stop] - first
        runs.append((slice(start, stop), slice(first, last + 1), picked))
    return runs


def count_chunks(positions: Positions, chunk: int) -> int:
    """Return how many chunks of a mode have any of these positions; O(1) if the steps are short."""
    if not len(positions):
        return 0
    if isinstance(positions, range) and positions.step <= chunk:
        return positions[-1] // chunk - positions[0] // chunk + 1
    if isinstance(positions, range):
        return len(positions)
    return 1 + int(np.count_nonzero(np.diff(positions // chunk)))
