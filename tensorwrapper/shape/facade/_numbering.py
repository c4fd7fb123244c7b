"""Numberings: which place every index of a shape has in one order of going over them.

Row-major places are the ordinals of the shape itself. With the first mode fastest, those of a box are the
row-major places of its mirror image; those of a jagged shape have to be found.
"""

import itertools
import operator
import sys
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import tuples_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.shape.boxes._common import BATCH
from tensorwrapper.shape.boxes._smooth import SmoothCommon, product_of
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.rows._f_order import FOrderPart, f_order_limit, f_order_part, f_order_parts
from tensorwrapper.typing import Index, IntArray, Order


class Numbering(ABC):
    """Abstract: `index`, `place`, `tables` and `walk`."""

    __slots__ = ()

    @abstractmethod
    def index(self, place: int) -> Index:
        """Return the index at a place, which must be one."""

    @abstractmethod
    def place(self, index: Index) -> int:
        """Return the place of an index, which must be in the shape."""

    @abstractmethod
    def tables(self, places: range, length: int) -> Iterator[IntArray]:
        """Return an iterator over tables of the indices at `places`, `length` in each but the last."""

    @abstractmethod
    def walk(self, places: range) -> Iterator[Index]:
        """Return an iterator over the indices at `places`."""


def numbering_of(shape: Flat, order: Order) -> Numbering:
    """Return the numbering of a shape in an order."""
    if order == "C" or shape.rank < 2:
        return _RowMajor(shape)
    if isinstance(shape, JaggedCommon):
        box = shape.one_box()
        if box is None:
            return SortedParts(shape, f_order_limit(shape.outer().size))
        shape = box
    return _MirroredBox(_RowMajor(shape.permute(range(shape.rank - 1, -1, -1))))


def length_of(places: range) -> int:
    """Return how many places there are: Python's own ``len`` stops at 64 bits."""
    return max(0, -((places.start - places.stop) // places.step))


def fits_arrays(shape: Flat) -> bool:
    """Tell whether int64 holds every entry of an index; those of jagged shapes always fit."""
    if not isinstance(shape, SmoothCommon):
        return True
    low, high = (0, *shape.origin), (0, *map(operator.add, shape.origin, shape.extents))
    return min(low) >= -MAX_INT64 and max(high) <= MAX_INT64


@final
@frozen(eq=False)
class _RowMajor(Numbering):
    shape: Flat

    def index(self, place: int) -> Index:
        return self.shape.index(place)

    def place(self, index: Index) -> int:
        return self.shape.ordinal(index)

    def tables(self, places: range, length: int) -> Iterator[IntArray]:
        shape = self.shape
        if isinstance(shape, SmoothCommon) and abs(places.step) == 1:
            return (_box_table(shape, piece) for piece in _pieces(places, length))
        if self._has_ordinals:
            return (shape.indices_at(_array_of(piece, 0)) for piece in _pieces(places, length))
        return _tables_of(self.walk(places), shape.rank, length)

    @property
    def _has_ordinals(self) -> bool:
        """Return True if arrays can hold the ordinals and the indices of the shape."""
        return self.shape.size <= MAX_INT64 and fits_arrays(self.shape)

    def walk(self, places: range) -> Iterator[Index]:
        shape = self.shape
        if places == range(shape.size):
            return shape.walk("C")
        if places and isinstance(shape, SmoothCommon) and abs(places.step) == 1:
            return _walk_box(shape, places)
        if self._has_ordinals:
            return tuples_of(self.tables(places, BATCH))
        return map(shape.index, places)


@final
@frozen(eq=False)
class _MirroredBox(Numbering):
    mirror: _RowMajor

    def index(self, place: int) -> Index:
        return self.mirror.index(place)[::-1]

    def place(self, index: Index) -> int:
        return self.mirror.place(index[::-1])

    def tables(self, places: range, length: int) -> Iterator[IntArray]:
        return (table[:, ::-1] for table in self.mirror.tables(places, length))

    def walk(self, places: range) -> Iterator[Index]:
        turned = operator.itemgetter(*range(self.mirror.shape.rank - 1, -1, -1))
        return map(turned, self.mirror.walk(places))


@final
@frozen(eq=False)
class SortedParts(Numbering):
    """A jagged shape with the first mode fastest, up to `limit` indices sorted at a time."""

    shape: JaggedCommon
    limit: int
    # The part of the last answer: questions that come one after another ask for neighbours.
    _part: FOrderPart | None = attrs.field(default=None, init=False)
    _rows: JaggedCommon | None = attrs.field(default=None, init=False)

    def index(self, place: int) -> Index:
        part = self._part
        if part is None or not part[0] <= place < part[0] + len(part[1]):
            part = self._keep(f_order_part(*self._source, place, self._cells))
        before, table = part
        return tuple(table[place - before].tolist())

    def place(self, index: Index) -> int:
        wanted, part = np.array(index, dtype=np.int64), self._part
        found = -1 if part is None else _row_of(part[1], wanted)
        if part is None or found < 0:
            part = self._keep(f_order_part(*self._source, index, self._cells))
            found = _row_of(part[1], wanted)
        return part[0] + found

    @property
    def _source(self) -> tuple[JaggedCommon, int]:
        rows = self._rows
        if rows is None:
            rows = self.shape.in_rows()
            object.__setattr__(self, "_rows", rows)
        return rows, self.limit

    @property
    def _cells(self) -> int:
        return self.shape.outer().size

    def _keep(self, part: FOrderPart) -> FOrderPart:
        object.__setattr__(self, "_part", part)
        return part

    def tables(self, places: range, length: int) -> Iterator[IntArray]:
        parts = f_order_parts(*self._source, places, self._cells)
        return _rebatched((_chosen(places, *part) for part in parts), length)

    def walk(self, places: range) -> Iterator[Index]:
        if places == range(self.shape.size):
            return self.shape.walk("F")
        return tuples_of(self.tables(places, BATCH))


def _row_of(table: IntArray, index: IntArray) -> int:
    """Return the number of the row that `index` is, or -1."""
    rows = np.flatnonzero((table == index).all(axis=1))
    return int(rows[0]) if len(rows) else -1


def _chosen(places: range, before: int, table: IntArray) -> IntArray:
    """Return the rows of `table` whose places, which begin at `before`, are among `places`."""
    ends = (before, before + len(table)) if places.step > 0 else (before + len(table) - 1, before - 1)
    first, last = (max(0, -((places.start - end) // places.step)) for end in ends)
    return table[_array_of(places[first:last], before)]


def _rebatched(tables: Iterable[IntArray], length: int) -> Iterator[IntArray]:
    """Return an iterator over the rows of all `tables`, `length` of them at a time."""
    waiting: list[IntArray] = []
    count = 0
    for table in tables:
        waiting.append(table)
        count += len(table)
        if count >= length:
            joined = np.concatenate(waiting)
            whole = count - count % length
            yield from (joined[start : start + length] for start in range(0, whole, length))
            waiting, count = [joined[whole:]], count - whole
    if count:
        yield np.concatenate(waiting)


def _pieces(places: range, length: int) -> Iterator[range]:
    """Return an iterator over runs of `places`, `length` of them in each but the last."""
    return (places[start : start + length] for start in range(0, length_of(places), length))


def _array_of(places: range, first: int) -> IntArray:
    """Return `places`, counted from `first`, as an array, whatever number comes after the last."""
    count = length_of(places)
    # A step may be longer than arrays hold, but not if it is ever taken.
    step = places.step if count > 1 else 1
    return (places.start - first) + step * np.arange(count, dtype=np.int64)


def _tables_of(indices: Iterator[Index], rank: int, length: int) -> Iterator[IntArray]:
    """Return an iterator over tables of `length` indices, for places that no array holds."""
    count = min(length, sys.maxsize)
    while rows := list(itertools.islice(indices, count)):
        yield np.array(rows, dtype=np.int64).reshape(len(rows), rank)


def _box_table(box: SmoothCommon, places: range) -> IntArray:
    """Return the indices of a box at consecutive places, up or down, as a table.

    Each mode is filled for whole lines at once, which is much faster than divisions.
    """
    ascending = places if places.step > 0 else places[::-1]
    first, last = ascending.start, ascending.start + length_of(ascending)
    lines: list[tuple[int, int, int, int]] = []
    for start, extent in zip(reversed(box.origin), reversed(box.extents), strict=True):
        lines.append((start, extent, first, last))
        first, last = first // extent, -(-last // extent)
    table = np.empty((last - first, 0), dtype=np.int64)
    for line in reversed(lines):
        table = _with_mode(table, *line)
    return table[:: places.step]


def _with_mode(heads: IntArray, start: int, extent: int, first: int, last: int) -> IntArray:
    """Return the table of places `first` to `last` from the table of their lines."""
    rank, skipped, count = heads.shape[1], first % extent, last - first
    if extent <= count:
        table = np.empty((len(heads), extent, rank + 1), dtype=np.int64)
        table[..., :-1] = heads[:, np.newaxis]
        table[..., -1] = np.arange(start, start + extent)
        return table.reshape(-1, rank + 1)[skipped : skipped + count]
    # Two lines at most, and neither as a whole: they may be longer than memory.
    table = np.empty((count, rank + 1), dtype=np.int64)
    cut = min(extent - skipped, count)
    table[:cut, :-1], table[cut:, :-1] = heads[0], heads[-1]
    table[:cut, -1] = np.arange(start + skipped, start + skipped + cut)
    table[cut:, -1] = np.arange(start, start + count - cut)
    return table


def _walk_box(box: SmoothCommon, places: range) -> Iterator[Index]:
    """Walk from one place of a box to another, index after index, up or down."""
    ranges = [range(start, start + extent) for start, extent in zip(box.origin, box.extents, strict=True)]
    if places.step < 0:
        ranges = [numbers[::-1] for numbers in ranges]
    walk = itertools.chain.from_iterable(_pieces_from(ranges, box.index(places[0])))
    # More than `sys.maxsize` indices count as all of them: no program reaches the last.
    count = length_of(places)
    return itertools.islice(walk, count) if count <= sys.maxsize else walk


def _pieces_from(ranges: list[range], first: Index) -> Iterator[Iterator[Index]]:
    """Yield the pieces of the product of `ranges` from `first` on: the rest of its line, of its plane ..."""
    heads = [range(i, i + 1) for i in first]
    if not ranges:
        yield iter((cast("Index", ()),))
    for mode in range(len(ranges) - 1, -1, -1):
        place = ranges[mode].index(first[mode]) + (mode < len(ranges) - 1)
        yield product_of([*heads[:mode], ranges[mode][place:], *ranges[mode + 1 :]])
