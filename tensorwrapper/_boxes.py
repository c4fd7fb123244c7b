"""Boxes within boxes, for every floor: cut into blocks, made up of runs, left of others. It knows no shapes.

Blocks and runs are in row-major order. Subtracting boxes from a box returns a table of boxes: each subtracted
box cuts all that it meets at once, in array operations. So work and memory grow with the number of boxes,
never with the indices in them.
"""

from collections.abc import Iterator
from copy import copy
from itertools import product
from math import prod
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.typing import Extents, Index, IntArray

_Side: TypeAlias = npt.NDArray[Any]
"""int64, or Python integers where these do not suffice; a row per mode, a column per box."""

_Window: TypeAlias = "tuple[slice, ...]"
"""One slice of step 1 per mode, both ends given and counted from the first index."""


@final
class BoxTable:
    """Disjoint boxes within one of rank 1 at least; at first that one, unless it is empty.

    Parameters
    ----------
    first, last
        Where the box starts, and the index behind its last.
    most
        The greatest number, apart from its sign, of all boxes that are to be taken away.
    """

    __slots__ = ("_count", "_high", "_low")

    def __init__(self, first: Index, last: Index, most: int) -> None:
        # Half the range of 64 bits, so that extents fit, too; beyond that the arrays hold Python integers.
        dtype = np.int64 if most < MAX_INT64 // 2 else object
        # Columns from the count on are free.
        self._low: _Side = np.array(first, dtype=dtype)[:, np.newaxis]
        self._high: _Side = np.array(last, dtype=dtype)[:, np.newaxis]
        self._count = int(all(a < b for a, b in zip(first, last, strict=True)))

    def __len__(self) -> int:
        return self._count

    def copy(self) -> "BoxTable":
        """Return a copy of the table with new memory."""
        twin = copy(self)
        twin._low, twin._high = self._low.copy(), self._high.copy()
        return twin

    @property
    def nbytes(self) -> int:
        """Number of bytes of the table, with its free capacity."""
        return self._low.nbytes + self._high.nbytes

    def boxes(self) -> list[tuple[Index, Extents]]:
        """Return first indices and extents of the boxes, in the row-major order of their first indices."""
        low, high = self._low[:, : self._count], self._high[:, : self._count]
        starts: list[list[int]] = low.T.tolist()
        sizes: list[list[int]] = (high - low).T.tolist()
        return sorted([(tuple(a), tuple(n)) for a, n in zip(starts, sizes, strict=True)])

    def find(self, first: Index, last: Index) -> IntArray:
        """Return the numbers of the boxes that have an index in common with another one."""
        low, high = self._low[:, : self._count], self._high[:, : self._count]
        hit = np.flatnonzero((low[0] < last[0]) & (high[0] > first[0]))
        for mode in range(1, len(low)):
            hit = hit[(low[mode, hit] < last[mode]) & (high[mode, hit] > first[mode])]
        return hit

    def volume(self, hit: IntArray, first: Index, last: Index) -> int:
        """Return how many indices boxes have in common with another one: they are disjoint, so it adds up."""
        ends = np.array(first)[:, np.newaxis], np.array(last)[:, np.newaxis]
        shared = np.minimum(self._high[:, hit], ends[1]) - np.maximum(self._low[:, hit], ends[0])
        return int(np.multiply.reduce(shared, axis=0).sum())

    def common(self, hit: IntArray, first: Index, last: Index) -> list[tuple[Index, Index]]:
        """Return the intersections of boxes with another one: first indices, and those behind the last."""
        ends = np.array(first)[:, np.newaxis], np.array(last)[:, np.newaxis]
        low, high = np.maximum(self._low[:, hit], ends[0]), np.minimum(self._high[:, hit], ends[1])
        return [(tuple(a), tuple(b)) for a, b in zip(low.T.tolist(), high.T.tolist(), strict=True)]

    def growth(self, hit: IntArray) -> int:
        """Return how many bytes at most the table takes more when another box is taken from these."""
        rank, room = self._low.shape
        # One box before and one behind in every mode. Memory is at least doubled when it does not suffice.
        more = 2 * rank * len(hit)
        return 0 if self._count + more <= room else max(more * 16 * rank, self.nbytes)

    def take(self, hit: IntArray, first: Index, last: Index, *, keep: bool = False) -> None:
        """Take another box away from those that it meets, or only cut these along its faces."""
        low, high = self._low[:, hit], self._high[:, hit]
        lows: list[_Side] = []
        highs: list[_Side] = []
        for mode, (start, stop) in enumerate(zip(first, last, strict=True)):
            # Keep the parts before and behind in this mode; the rest is cut in the next.
            under, over = low[mode] < start, high[mode] > stop
            lows += [low[:, under], low[:, over]]
            highs += [high[:, under], high[:, over]]
            highs[-2][mode], lows[-1][mode] = start, stop
            low[mode, under], high[mode, over] = start, stop
        if keep:
            lows.append(low)
            highs.append(high)
        self._replace(hit, np.concatenate(lows, axis=1), np.concatenate(highs, axis=1))

    def _replace(self, hit: IntArray, lows: _Side, highs: _Side) -> None:
        """Put boxes where others were, more of them at the end, and the last ones where places are left."""
        fitting, before = min(len(hit), lows.shape[1]), self._count
        count = self._count = before + lows.shape[1] - len(hit)
        if count > self._low.shape[1]:
            more = np.empty((len(lows), max(count, 2 * before) - self._low.shape[1]), dtype=self._low.dtype)
            self._low = np.concatenate([self._low, more], axis=1)
            self._high = np.concatenate([self._high, more], axis=1)
        holes = hit[fitting:]
        last = np.setdiff1d(cast("IntArray", np.arange(count, before)), holes)
        for side, new in ((self._low, lows), (self._high, highs)):
            side[:, hit[:fitting]] = new[:, :fitting]
            side[:, before:count] = new[:, fitting:]
            side[:, holes[holes < count]] = side[:, last]


def cut_box(extents: Extents, most: int, grain: Extents | None = None) -> Iterator[_Window]:
    """Return an iterator over blocks of a box in row-major order, of at most so many elements each.

    A block has all positions of the last modes, some of the one before, and one of those before that. Where a
    grain is given it is cut only between multiples of that, and may have more elements than `most`.
    """
    inner = 1
    mode = len(extents)
    while mode and inner * extents[mode - 1] <= most:
        mode -= 1
        inner *= extents[mode]
    if not mode:
        yield _whole(extents)
        return
    mode -= 1
    least = (1,) * len(extents) if grain is None else grain
    step = max(most // inner // least[mode], 1) * least[mode]
    tail = _whole(extents[mode + 1 :])
    starts = range(0, extents[mode], step)
    lead = zip(extents[:mode], least[:mode], strict=True)
    for places in product(*[range(0, extent, own) for extent, own in lead]):
        ends = zip(places, least[:mode], extents[:mode], strict=True)
        head = tuple([slice(n, min(n + own, extent)) for n, own, extent in ends])
        for start in starts:
            yield (*head, slice(start, min(start + step, extents[mode])), *tail)


def _whole(extents: Extents) -> _Window:
    return tuple([slice(0, extent) for extent in extents])


def boxes_of_run(extents: Extents, start: int, stop: int) -> Iterator[tuple[_Window, int]]:
    """Return boxes that make up a run of places in row-major order, and how many places lie before each.

    At most two for each mode but the last, of which there is one.
    """
    yield from _boxes(extents, start, stop, (), 0)


def _boxes(
    extents: Extents, start: int, stop: int, lead: _Window, done: int
) -> Iterator[tuple[_Window, int]]:
    if start >= stop:
        return
    if not extents:
        yield lead, done
        return
    row = prod(extents[1:])
    first, last = -(-start // row), stop // row
    if first > last:
        # Both ends lie in one row.
        inner = start - last * row, stop - last * row
        yield from _boxes(extents[1:], *inner, (*lead, slice(last, first)), done)
        return
    if start < first * row:
        yield from _boxes(extents[1:], start - (first - 1) * row, row, (*lead, slice(first - 1, first)), done)
        done += first * row - start
    if first < last:
        yield (*lead, slice(first, last), *_whole(extents[1:])), done
        done += (last - first) * row
    if last * row < stop:
        yield from _boxes(extents[1:], 0, stop - last * row, (*lead, slice(last, last + 1)), done)
