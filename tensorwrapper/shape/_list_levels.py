"""Rows given as lists of lists, of which each level may hold more than is used of it.

A level that was sliced, or gathered, leaves elements of the level below out. What is used is a run of rows
as long as lists follow one another; where they do not, the level below must be alike everywhere.
"""

from collections.abc import Sequence
from typing import TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape._row_partition import RowPartition
from tensorwrapper.shape._row_partitions import RowPartitions
from tensorwrapper.typing import IntArray

__all__ = ["ListLevel", "Lists", "Views", "rows_of_levels"]


@final
@attrs.frozen(eq=False)
class Lists:
    """Lists that follow one another: list k is ``offsets[k]`` up to ``offsets[k + 1]``."""

    offsets: IntArray


@final
@attrs.frozen(eq=False)
class Views:
    """Lists anywhere: list k is ``starts[k]`` up to ``stops[k]``."""

    starts: IntArray
    stops: IntArray


ListLevel: TypeAlias = Lists | Views | int
"""One level of lists; an integer is the length of all of them."""


def rows_of_levels(levels: Sequence[ListLevel], length: int, inner: tuple[int, ...] = ()) -> RowPartitions:
    """Return the rows of `length` lists, whose elements are lists of the next level; O(lists).

    `inner` are the extents of the elements of the last level.
    """
    first, last = 0, length
    found: list[RowPartition] = []
    for number, level in enumerate(levels):
        if isinstance(level, int):
            found.append(RowPartition.from_uniform_row_length(level, last - first))
            first, last = first * level, last * level
            if last > MAX_INT64:
                raise SizeOverflowError(f"the lists of level {number} have more elements than 64 bits count")
            continue
        starts, stops = _bounds(level, first, last, number)
        found.append(RowPartition.from_row_lengths(stops - starts))
        run = _run_of(starts, stops)
        if run is None:
            if any(not isinstance(below, int) for below in levels[number + 1 :]):
                raise ConversionError(
                    f"the lists of level {number} do not follow one another, so that those below would have "
                    "to be gathered: pack the array first"
                )
            # All elements are alike, so that it does not matter which they are.
            run = 0, found[-1].nvals
        first, last = run
    return RowPartitions(found, (last - first, *inner))


def _bounds(level: Lists | Views, first: int, last: int, number: int) -> tuple[IntArray, IntArray]:
    """Return where the lists `first` to `last` start and stop, once they are lists."""
    count = len(level.offsets) - 1 if isinstance(level, Lists) else min(len(level.starts), len(level.stops))
    if last > max(count, 0):
        raise OutOfBoundsError(f"level {number} has {max(count, 0)} lists, but {last} are asked for")
    if isinstance(level, Lists):
        # No lists need no offsets.
        starts, stops = level.offsets[first:last], level.offsets[first + 1 : last + 1]
    else:
        starts, stops = level.starts[first:last], level.stops[first:last]
    wrong = (starts < 0) | (stops < starts)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ExtentError(
            f"list {first + k} of level {number} goes from {starts[k]} to {stops[k]}, but lists start at 0 "
            "or above, and stop after they start"
        )
    return starts, stops


def _run_of(starts: IntArray, stops: IntArray) -> tuple[int, int] | None:
    """Return the run of elements that lists cover one after the other, ``None`` if they do not."""
    if not (starts[1:] == stops[:-1]).all():
        # Lists without elements may lie anywhere.
        some = stops > starts
        starts, stops = starts[some], stops[some]
        if not (starts[1:] == stops[:-1]).all():
            return None
    return (int(starts[0]), int(stops[-1])) if len(starts) else (0, 0)
