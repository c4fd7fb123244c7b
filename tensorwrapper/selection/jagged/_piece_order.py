"""Order of pieces of operands: listed one by one, or in rows that existing row splits describe.

Rows are short and many, and each takes five numbers or more as a piece. Most operations on rows take all
rows of each operand in their order. The splits of the shapes already describe that, and they become pieces
only on request.

The splits determine where rows begin. So a block of rows reads one run of each operand, and no table of all
rows is made: only places in the result, a block at a time.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements, assign_indexed, write_elements
from tensorwrapper.selection.runners._leaves import BLOCK, Runner, Window
from tensorwrapper.selection.runners._pieces import are_long, elements_at
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["ConcatenatedRows", "Filled", "Form", "PieceTable", "RowsRunner", "Spread", "listed"]

_ROWS = 1 << 14  # rows at a time

Lines: TypeAlias = "tuple[Runner, ...]"

PieceTable: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""For each piece its operand, its start there, and its number of elements, at least one."""


def listed(count: int, sources: IntArray, starts: IntArray, lengths: IntArray) -> PieceTable:
    """Return the pieces of so many operands that have elements."""
    # One or two bytes a piece instead of eight; and so few digits are sorted in linear time.
    sources = cast("IntArray", sources.astype(np.min_scalar_type(-count), copy=False))
    filled = lengths > 0
    if not filled.all():
        sources, starts, lengths = sources[filled], starts[filled], lengths[filled]
    return sources, starts, lengths


class Form(ABC):
    """Abstract: rows that elements of operands make; every method but `runner`, `size` and `around`.

    `lines` are the runners of the operands' elements, in the order in which `runner` requests them.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def rows(self) -> int:
        """Number of rows."""

    @abstractmethod
    def begin(self, row: int) -> int:
        """Return where a row begins, counted from anywhere; of the number of rows, where the last ends."""

    @abstractmethod
    def part(self, first: int, last: int) -> "Form":
        """Return a run of the rows. O(operands)."""

    @abstractmethod
    def table(self) -> PieceTable:
        """Return the same as pieces. O(rows)."""

    @property
    @abstractmethod
    def begins(self) -> IntArray:
        """Starts of all rows, counted from any origin, and the end."""

    @abstractmethod
    def write(self, lines: "Lines", first: int, last: int, out: Array) -> None:
        """Write whole rows that are short."""

    @abstractmethod
    def write_within(self, lines: "Lines", row: int, low: int, high: int, out: Array) -> None:
        """Write a run of the elements of one row."""

    @abstractmethod
    def write_points(self, lines: "Lines", rows: IntArray, within: IntArray, out: Array) -> None:
        """Write elements of rows, given by their positions in them."""

    @abstractmethod
    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        """Return the runner of the rows, one element at least, from the lines of operands with elements."""

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.begin(self.rows) - self.begin(0)

    def around(self, first: int, count: int) -> tuple[int, int]:
        """Return the first of the rows that hold a run of elements, one at least, and behind the last."""
        low = first + self.begin(0)
        row = bisect_right(range(self.rows), low, key=self.begin) - 1
        return row, bisect_right(range(row, self.rows), low + count - 1, key=self.begin) + row


@final
@frozen(eq=False)
class ConcatenatedRows(Form):
    """Rows that have the elements of the same row of several operands, one operand after the other."""

    splits: tuple[IntArray, ...]
    """Row splits of each operand, all of the same length."""

    @property
    def rows(self) -> int:
        return len(self.splits[0]) - 1

    def begin(self, row: int) -> int:
        return sum([own.item(row) for own in self.splits])

    def part(self, first: int, last: int) -> "ConcatenatedRows":
        return ConcatenatedRows(tuple([own[first : last + 1] for own in self.splits]))

    def table(self) -> PieceTable:
        starts = np.stack([own[:-1] for own in self.splits], axis=1)
        lengths = np.stack([np.diff(own) for own in self.splits], axis=1)
        sources = np.broadcast_to(np.arange(len(self.splits), dtype=np.int64), starts.shape)
        return listed(len(self.splits), sources.ravel(), starts.ravel(), lengths.ravel())

    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        used = [k for k, own in enumerate(self.splits) if own.item(-1) > own.item(0)]
        return RowsRunner(ConcatenatedRows(tuple([self.splits[k] for k in used])), tuple(map(line, used)))

    @property
    def begins(self) -> IntArray:
        total: IntArray = np.add.reduce(self.splits, dtype=np.int64)
        return total

    def write(self, lines: Lines, first: int, last: int, out: Array) -> None:
        # Before the elements of a line are those of the rows before, and those of the lines before it.
        moves: IntArray = np.add.reduce([own[first:last] for own in self.splits], dtype=np.int64)
        moves -= moves[0]
        ramp = _ramp(len(out))
        for line, splits in zip(lines, self.splits, strict=True):
            own = splits[first : last + 1]
            low, high = own.item(0), own.item(-1)
            counts = own[1:] - own[:-1]
            if high > low:
                moves -= own[:-1]
                moves += low
                places = np.repeat(moves, counts)
                places += ramp[: high - low]
                moves += own[:-1]
                moves -= low
                assign_indexed(out, (places,), line.part((slice(low, high),)))
            moves += counts

    def write_within(self, lines: Lines, row: int, low: int, high: int, out: Array) -> None:
        done = 0
        for line, splits in zip(lines, self.splits, strict=True):
            start, count = splits.item(row), splits.item(row + 1) - splits.item(row)
            a, b = max(low, done), min(high, done + count)
            if a < b:
                line.fill((slice(start + a - done, start + b - done),), out[a - low : b - low])
            done += count

    def write_points(self, lines: Lines, rows: IntArray, within: IntArray, out: Array) -> None:
        for line, splits in zip(lines, self.splits, strict=True):
            starts = splits[rows]
            counts = splits[rows + 1] - starts
            inside = (within >= 0) & (within < counts)
            if inside.any():
                out[inside] = elements_at(line, starts[inside] + within[inside])
            within = within - counts


@final
@frozen(eq=False)
class Filled(Form):
    """Rows of the first operand, of each so many elements from its start on, then the one of the second."""

    splits: IntArray
    """Row splits of the operand."""
    kept: IntArray
    """Number of kept elements of the operand before each row; `splits` itself if all are kept."""
    wanted: IntArray
    """Row splits of the result."""

    @property
    def rows(self) -> int:
        return len(self.splits) - 1

    def begin(self, row: int) -> int:
        return self.wanted.item(row)

    def part(self, first: int, last: int) -> "Filled":
        rows = slice(first, last + 1)
        splits = self.splits[rows]
        kept = splits if self.kept is self.splits else self.kept[rows]
        return Filled(splits, kept, self.wanted[rows])

    def table(self) -> PieceTable:
        kept = np.diff(self.kept)
        starts = np.stack([self.splits[:-1], np.zeros_like(kept)], axis=1)
        lengths = np.stack([kept, np.diff(self.wanted) - kept], axis=1)
        sources = np.broadcast_to(np.arange(2, dtype=np.int16), starts.shape)
        return listed(2, cast("IntArray", sources.ravel()), starts.ravel(), lengths.ravel())

    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        kept = self.kept.item(-1) - self.kept.item(0)
        lines = (line(0),) if kept == self.size else (line(0) if kept else line(1), line(1))
        return RowsRunner(self, lines)

    @property
    def begins(self) -> IntArray:
        return self.wanted

    def write(self, lines: Lines, first: int, last: int, out: Array) -> None:
        kept, wanted, splits = [own[first : last + 1] for own in (self.kept, self.wanted, self.splits)]
        before, count = kept[:-1] - kept[0], kept.item(-1) - kept.item(0)
        if count < len(out):
            assign_elements(out, lines[1].part((slice(0, 1),)))
        if not count:
            return
        counts, ramp = kept[1:] - kept[:-1], _ramp(count)
        if self.kept is self.splits:
            values = lines[0].part((slice(splits.item(0), splits.item(-1)),))
        else:
            places = np.repeat(splits[:-1] - before, counts)
            places += ramp
            values = elements_at(lines[0], places)
        places = np.repeat(wanted[:-1] - wanted[0] - before, counts)
        places += ramp
        assign_indexed(out, (places,), values)

    def write_within(self, lines: Lines, row: int, low: int, high: int, out: Array) -> None:
        start, count = self.splits.item(row), self.kept.item(row + 1) - self.kept.item(row)
        end = min(high, count)
        if low < end:
            lines[0].fill((slice(start + low, start + end),), out[: end - low])
        if end < high:
            write_elements(out[max(end - low, 0) :], lines[1].part((slice(0, 1),)))

    def write_points(self, lines: Lines, rows: IntArray, within: IntArray, out: Array) -> None:
        inside = within < self.kept[rows + 1] - self.kept[rows]
        if not inside.all():
            out[...] = lines[1].part((slice(0, 1),))
        if inside.any():
            out[inside] = elements_at(lines[0], self.splits[rows[inside]] + within[inside])


@final
@frozen(eq=False)
class Spread(Form):
    """Rows that have one element of the operand each, again and again."""

    splits: IntArray
    """Row splits of the result."""
    first: int = 0
    """The element of the first row."""

    @property
    def rows(self) -> int:
        return len(self.splits) - 1

    def begin(self, row: int) -> int:
        return self.splits.item(row)

    def part(self, first: int, last: int) -> "Spread":
        return Spread(self.splits[first : last + 1], self.first + first)

    def table(self) -> PieceTable:
        numbers = np.arange(self.first, self.first + self.rows, dtype=np.int64)
        return listed(1, np.zeros_like(numbers), numbers, np.diff(self.splits))

    def runner(self, line: "Callable[[int], Runner]") -> "RowsRunner":
        return RowsRunner(self, (line(0),))

    @property
    def begins(self) -> IntArray:
        return self.splits

    def _values(self, lines: Lines, first: int, last: int) -> Array:
        return lines[0].part((slice(self.first + first, self.first + last),))

    def write(self, lines: Lines, first: int, last: int, out: Array) -> None:
        own = self.splits[first : last + 1]
        write_elements(out, np.repeat(self._values(lines, first, last), own[1:] - own[:-1]))

    def write_within(self, lines: Lines, row: int, low: int, high: int, out: Array) -> None:  # noqa: ARG002 - all are alike
        write_elements(out, self._values(lines, row, row + 1))

    def write_points(self, lines: Lines, rows: IntArray, within: IntArray, out: Array) -> None:  # noqa: ARG002
        out[...] = elements_at(lines[0], rows + self.first)


@final
@frozen(eq=False)
class RowsRunner(Runner):
    """Rows of a form over the elements of its operands."""

    form: Form
    lines: Lines

    @property
    def extents(self) -> Extents:
        return (self.form.size,)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.lines[0].dtype

    @property
    def has_places(self) -> bool:
        return all(own.has_places for own in self.lines)

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        form, lines = self.form, self.lines
        begin_of, rows = form.begin, form.rows
        base = begin_of(0)
        low, high = window[0].start + base, window[0].stop + base
        start = low
        row = bisect_right(range(rows), low, key=begin_of) - 1
        while low < high:
            begin, end = begin_of(row), begin_of(row + 1)
            last = row + 1
            if begin == low and end <= min(high, low + BLOCK):
                most = min(high, low + BLOCK)
                last += bisect_right(range(last + 1, min(row + _ROWS, rows) + 1), most, key=begin_of)
                end = begin_of(last)
            stop = min(end, high)
            target = out[low - start : stop - start]
            if last == row + 1 or are_long(stop - low, (last - row) * len(lines)):
                for number in range(row, last):
                    begin, end = max(begin_of(number), low), min(begin_of(number + 1), stop)
                    first = begin_of(number)
                    form.write_within(
                        lines, number, begin - first, end - first, target[begin - low : end - low]
                    )
            elif stop > low:
                form.write(lines, row, last, target)
            low, row = stop, last

    def points(self, places: tuple[IntArray, ...]) -> Array:
        (own,) = places
        begins = self.form.begins
        rows = cast("IntArray", np.searchsorted(begins, own + begins[0], "right") - 1)
        within = own - (begins[rows] - begins[0])
        found: Array = np.empty(own.shape, self.dtype)
        self.form.write_points(self.lines, rows, within, found)
        return found


def _ramp(count: int) -> IntArray:
    return np.arange(count, dtype=np.int64)
