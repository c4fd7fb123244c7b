"""Rows of elements with one common step, as two arrays: the form of most jagged layouts.

Rows are many and short, so they are processed some rows at a time, in memory that stays in the cache. Only
arrays of the result have the length of the rows.
"""

from collections.abc import Iterator
from typing import final

import numpy as np

from tensorwrapper._arrays import frozen_array, last_run
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.layout.boxes._keys import is_whole
from tensorwrapper.layout.cells._keys import resolve_slice
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import Columns, Origins, tidy_origins, wrap
from tensorwrapper.typing import IntArray, PositionalItem

_ROWS = 1 << 15  # rows at a time
_ELEMENTS = 1 << 16  # elements at a time: their places stay in a cache


@final
@frozen(eq=False)
class Lists:
    """Row k has its elements at ``starts[k] + step * j`` for j below ``splits[k + 1] - splits[k]``."""

    splits: IntArray
    """How many elements come before each row, and the total; the first may be any number."""
    starts: IntArray
    """Any number for a row without elements."""
    step: int

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.splits.item(-1) - self.splits.item(0)

    def ends(self) -> tuple[int, int]:
        """Return the first and the last row with elements, one at least. O(log rows)."""
        splits = self.splits
        last = int(splits.searchsorted(splits.item(-1), "left")) - 1
        return last_run(splits, splits.item(0)), last

    def is_packed(self) -> bool:
        """Tell whether the elements, one at least, lie one after the other; most lists differ at the ends."""
        first, last = self.ends()
        splits, starts = self.splits, self.starts
        if starts.item(last) - starts.item(first) != splits.item(last) - splits.item(first):
            return False
        move = starts.item(first) - splits.item(first)
        for low in range(first, last + 1, _ROWS):
            high = min(low + _ROWS, last + 1)
            before, after = splits[low:high], splits[low + 1 : high + 1]
            if ((starts[low:high] - before != move) & (after > before)).any():
                return False
            if self.step != 1 and (after - before > 1).any():
                return False
        return True

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest place; (0, -1) if there is no element. O(rows)."""
        lows: list[int] = []
        highs: list[int] = []
        for low in range(0, len(self.starts), _ROWS):
            starts = self.starts[low : low + _ROWS]
            splits = self.splits[low : low + _ROWS + 1]
            counts = splits[1:] - splits[:-1]
            if not counts.all():
                filled = counts > 0
                starts, counts = starts[filled], counts[filled]
            if not len(starts):
                continue
            lasts = starts
            if self.step:
                counts -= 1
                counts *= self.step
                counts += starts
                lasts = counts
            least, greatest = (starts, lasts) if self.step >= 0 else (lasts, starts)
            lows.append(int(least.min()))
            highs.append(int(greatest.max()))
        return (min(lows), max(highs)) if lows else (0, -1)

    def batches(self, first: int = 0, last: int | None = None) -> Iterator[IntArray]:
        """Return an iterator over the places of a run of elements in order, at most 2^16 at a time."""
        splits, low = self.splits, self.splits.item(0)
        high = splits.item(-1) if last is None else low + last
        low += first
        row = last_run(splits, low) if low < high else len(self.starts)
        ramp = np.arange(min(_ELEMENTS, high - low), dtype=np.int64)
        if self.step != 1:
            ramp *= self.step
        while low < high:
            end = min(row + _ROWS, len(self.starts))
            if splits.item(end) > low + _ELEMENTS:
                end = row + last_run(splits[row : end + 1], low + _ELEMENTS)
            if end == row:
                # A row that is longer than what is made at a time.
                count = min(high, splits.item(row + 1), low + _ELEMENTS) - low
                yield ramp[:count] + (self.starts.item(row) + self.step * (low - splits.item(row)))
                low += count
                row += low == splits.item(row + 1)
                continue
            places = self._places(row, end, low, high, ramp)
            if len(places):
                yield places
            low, row = splits.item(end), end

    def _places(self, row: int, end: int, low: int, high: int, ramp: IntArray) -> IntArray:
        """Return the places of whole rows, but for elements before `low` and from `high` on."""
        splits, starts = self.splits[row : end + 1], self.starts[row:end]
        if splits.item(0) < low:
            starts = starts.copy()
            starts[0] += self.step * (low - splits.item(0))
        if splits.item(0) < low or splits.item(-1) > high:
            splits = splits.clip(low, high)
        counts, count = splits[1:] - splits[:-1], splits.item(-1) - splits.item(0)
        if count <= len(starts) and (not count or int(counts.max()) == 1):
            return starts if count == len(starts) else starts[counts > 0]
        shift = splits[:-1] - splits[0]
        if self.step != 1:
            shift *= self.step
        np.subtract(starts, shift, out=shift)
        places: IntArray = np.repeat(shift, counts)
        places += ramp[:count]
        return places


def seen_starts(shape: Shape, starts: IntArray, width: int) -> IntArray:
    """Return where the first cells, of so many modes, start, with 0 for those without elements."""
    if not width:
        return starts
    befores = rows_of(shape).cell_offsets()[: len(starts) + 1]
    return np.where(befores[1:] > befores[:-1], starts, 0)


def sliced_lists(
    shape: Shape, offset: int, head: tuple[int, int, int], tail: PositionalItem, mode: int
) -> tuple[Shape, Lists] | None:
    """Return the same slice of some of the rows of packed lists; None if they are not lists.

    Parameters
    ----------
    shape, offset
        Those of the packed layout.
    head
        The first row, counted from 0, the step and the number of rows.
    tail
        The slice of each row.
    mode
        The number of the mode of the rows in errors.
    """
    rows = rows_of(shape)
    columns, (first, step, count) = rows.columns, head
    leaf = columns.leaf
    if rows.outer_rank > 1 or leaf.ndim > 1 or not count or not isinstance(tail, slice):
        return None
    step = step if count > 1 else 1
    begins, ends = (
        _every(leaf, rows.start + first, step, count),
        _every(leaf, rows.start + first + 1, step, count),
    )
    splits = np.empty(count + 1, dtype=np.int64)
    splits[0] = 0
    move = offset - leaf.item(rows.start)
    if is_whole(tail):
        np.subtract(ends, begins, out=splits[1:])
        starts, inner = begins + move if move else begins, 1
    else:
        starts, inner = _cut(begins, ends, tail, mode, splits[1:])
        if move:
            starts = starts + move if starts is begins else np.add(starts, move, out=starts)
    np.cumsum(splits[1:], out=splits[1:])
    return _shape_of(splits, 0), Lists(splits, starts, inner)


def _every(leaf: IntArray, first: int, step: int, count: int) -> IntArray:
    stop = first + step * (count - 1) + (1 if step > 0 else -1)
    # A slice that runs down to place 0 has no end that a number could say.
    return leaf[first : stop if stop >= 0 else None : step]


def _cut(begins: IntArray, ends: IntArray, tail: slice, mode: int, counts: IntArray) -> tuple[IntArray, int]:
    """Return where rows start that a slice cuts, and its step; how many elements each has is in `counts`."""
    step = 1
    starts: IntArray | None = None
    for low in range(0, len(begins), _ROWS):
        part = slice(low, low + _ROWS)
        places, own, kept = resolve_slice(tail, ends[part] - begins[part], mode)
        counts[part] = kept
        if own != 1 and int(kept.max()) > 1:
            # A step that is never taken is 1.
            step = own
        if starts is None and places.strides[0] and places.any():
            starts = np.empty(len(begins), dtype=np.int64)
            starts[:low] = begins[:low]
        if starts is not None:
            np.add(begins[part], places, out=starts[part])
    return begins if starts is None else starts, step


def gathered_lists(shape: Shape, offset: int, nodes: IntArray) -> tuple[Shape, Lists, bool] | None:
    """Return these rows of packed lists, and whether they are distinct.

    None if rows are not lists of elements, do not exist, or exceed 64 bits.
    """
    rows = rows_of(shape)
    columns, leaf = rows.columns, rows.columns.leaf
    if rows.outer_rank > 1 or leaf.ndim > 1 or not len(nodes) or shape.size * len(nodes) > MAX_INT64:
        return None
    least, greatest = int(nodes.min()), int(nodes.max())
    if least < -rows.count or greatest >= rows.count:
        return None
    splits, starts = np.empty(len(nodes) + 1, dtype=np.int64), np.empty(len(nodes), dtype=np.int64)
    splits[0] = 0
    seen = np.zeros(rows.stop, dtype=np.bool_)
    for low in range(0, len(nodes), _ROWS):
        part = nodes[low : low + _ROWS]
        if least < 0:
            part = np.where(part < 0, part + rows.count, part)
        if rows.start:
            part = part + rows.start
        seen[part] = True
        # They are inside: "clip" saves another check of each. The neighbours are in the cache.
        begins = starts[low : low + _ROWS]
        leaf.take(part, mode="clip", out=begins)
        np.subtract(leaf.take(part + 1, mode="clip"), begins, out=splits[low + 1 : low + 1 + len(part)])
    np.cumsum(splits[1:], out=splits[1:])
    move = offset - leaf.item(rows.start)
    if move:
        starts += move
    origin = columns.leaf_origins[0]
    if not isinstance(origin, int):
        places = np.where(nodes < 0, nodes + rows.count, nodes) + rows.start
        origin = tidy_origins(origin[places])
    return _shape_of(splits, origin), Lists(splits, starts, 1), bool(np.count_nonzero(seen) == len(nodes))


def _shape_of(splits: IntArray, origin: Origins) -> Shape:
    return wrap(Jagged(Rows.whole(Columns((), frozen_array(splits), (0,), (origin,)))))
