"""What writes rows that several lines make: in turns, filled up, or one element for each.

Where rows begin is known from the splits of the lines. So what comes from a line for a block of rows is one
run of it, and nothing as long as the rows is made: only places in the result, a block at a time.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from typing import Any, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements, assign_indexed, write_elements
from tensorwrapper.selection.runners._blocks import BLOCK, Window
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.selection.runners._pieces import elements_at
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["FilledRunner", "RowsRunner", "SpreadRunner", "TurnsRunner"]

_ROWS = 1 << 14  # rows at a time
_LONG = 256  # elements of a row for each line, on average, from which rows are copied as runs


class RowsRunner(Runner, ABC):
    """Abstract: `rows`, `begin`, `lines`, and how whole rows and parts of one are written, and points."""

    __slots__ = ()

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def begin(self, row: int) -> int:
        """Return where a row begins, counted from anywhere; of the number of rows, where the last ends."""

    @property
    @abstractmethod
    def lines(self) -> tuple[Runner, ...]:
        """What has the elements."""

    @abstractmethod
    def _write(self, first: int, last: int, out: Array) -> None:
        """Write whole rows that are short."""

    @abstractmethod
    def _within(self, row: int, low: int, high: int, out: Array) -> None:
        """Write a run of the elements of one row."""

    @abstractmethod
    def _points(self, rows: IntArray, within: IntArray, out: Array) -> None:
        """Write elements of rows, given by their positions in them."""

    @property
    def extents(self) -> Extents:
        return (self.begin(self.rows) - self.begin(0),)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.lines[0].dtype

    @property
    def has_places(self) -> bool:
        return all(own.has_places for own in self.lines)

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        base = self.begin(0)
        low, high = window[0].start + base, window[0].stop + base
        start = low
        row = bisect_right(range(self.rows), low, key=self.begin) - 1
        while low < high:
            begin, end = self.begin(row), self.begin(row + 1)
            last = row + 1
            if begin == low and end <= min(high, low + BLOCK):
                most = min(high, low + BLOCK)
                last += bisect_right(range(last + 1, min(row + _ROWS, self.rows) + 1), most, key=self.begin)
                end = self.begin(last)
            stop = min(end, high)
            target = out[low - start : stop - start]
            if last == row + 1 or stop - low >= _LONG * (last - row) * len(self.lines):
                for number in range(row, last):
                    begin, end = max(self.begin(number), low), min(self.begin(number + 1), stop)
                    first = self.begin(number)
                    self._within(number, begin - first, end - first, target[begin - low : end - low])
            elif stop > low:
                self._write(row, last, target)
            low, row = stop, last

    def points(self, places: tuple[IntArray, ...]) -> Array:
        (own,) = places
        begins = self._begins()
        rows = cast("IntArray", np.searchsorted(begins, own + begins[0], "right") - 1)
        within = own - (begins[rows] - begins[0])
        found: Array = np.empty(own.shape, self.dtype)
        self._points(rows, within, found)
        return found

    @abstractmethod
    def _begins(self) -> IntArray:
        """Return where all rows begin, and the end."""


def _ramp(count: int) -> IntArray:
    return np.arange(count, dtype=np.int64)


@final
@frozen(eq=False)
class TurnsRunner(RowsRunner):
    """Rows that have the elements of the same row of several lines, one line after the other."""

    lines: tuple[Runner, ...]  # pyright: ignore[reportIncompatibleMethodOverride]
    splits: tuple[IntArray, ...]
    """For each line where its rows begin, and the end of the last."""

    @property
    def rows(self) -> int:
        return len(self.splits[0]) - 1

    def begin(self, row: int) -> int:
        return sum([own.item(row) for own in self.splits])

    def _begins(self) -> IntArray:
        total: IntArray = np.add.reduce(self.splits, dtype=np.int64)
        return total

    def _write(self, first: int, last: int, out: Array) -> None:
        # Before the elements of a line are those of the rows before, and those of the lines before it.
        moves: IntArray = np.add.reduce([own[first:last] for own in self.splits], dtype=np.int64)
        moves -= moves[0]
        ramp = _ramp(len(out))
        for line, splits in zip(self.lines, self.splits, strict=True):
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

    def _within(self, row: int, low: int, high: int, out: Array) -> None:
        done = 0
        for line, splits in zip(self.lines, self.splits, strict=True):
            start, count = splits.item(row), splits.item(row + 1) - splits.item(row)
            a, b = max(low, done), min(high, done + count)
            if a < b:
                line.fill((slice(start + a - done, start + b - done),), out[a - low : b - low])
            done += count

    def _points(self, rows: IntArray, within: IntArray, out: Array) -> None:
        for line, splits in zip(self.lines, self.splits, strict=True):
            starts = splits[rows]
            counts = splits[rows + 1] - starts
            inside = (within >= 0) & (within < counts)
            if inside.any():
                out[inside] = elements_at(line, starts[inside] + within[inside])
            within = within - counts


@final
@frozen(eq=False)
class FilledRunner(RowsRunner):
    """Rows of a line, of each so many elements from its start on, and then one element again and again."""

    lines: tuple[Runner, ...]  # pyright: ignore[reportIncompatibleMethodOverride]
    """The rows; and what they are filled with, if one of them is."""
    splits: IntArray
    """Where the rows begin in the line, and the end of the last."""
    kept: IntArray
    """How many elements of the line come before each row; `splits` itself if all of them do."""
    wanted: IntArray
    """Where the rows begin in the result."""

    @property
    def rows(self) -> int:
        return len(self.splits) - 1

    def begin(self, row: int) -> int:
        return self.wanted.item(row)

    def _begins(self) -> IntArray:
        return self.wanted

    def _write(self, first: int, last: int, out: Array) -> None:
        kept, wanted, splits = [own[first : last + 1] for own in (self.kept, self.wanted, self.splits)]
        before, count = kept[:-1] - kept[0], kept.item(-1) - kept.item(0)
        if count < len(out):
            assign_elements(out, self.lines[1].part((slice(0, 1),)))
        if not count:
            return
        counts, ramp = kept[1:] - kept[:-1], _ramp(count)
        if self.kept is self.splits:
            values = self.lines[0].part((slice(splits.item(0), splits.item(-1)),))
        else:
            places = np.repeat(splits[:-1] - before, counts)
            places += ramp
            values = elements_at(self.lines[0], places)
        places = np.repeat(wanted[:-1] - wanted[0] - before, counts)
        places += ramp
        assign_indexed(out, (places,), values)

    def _within(self, row: int, low: int, high: int, out: Array) -> None:
        start, count = self.splits.item(row), self.kept.item(row + 1) - self.kept.item(row)
        end = min(high, count)
        if low < end:
            self.lines[0].fill((slice(start + low, start + end),), out[: end - low])
        if end < high:
            write_elements(out[max(end - low, 0) :], self.lines[1].part((slice(0, 1),)))

    def _points(self, rows: IntArray, within: IntArray, out: Array) -> None:
        inside = within < self.kept[rows + 1] - self.kept[rows]
        if not inside.all():
            out[...] = self.lines[1].part((slice(0, 1),))
        if inside.any():
            out[inside] = elements_at(self.lines[0], self.splits[rows[inside]] + within[inside])


@final
@frozen(eq=False)
class SpreadRunner(RowsRunner):
    """Rows that have one element of a line each, again and again."""

    lines: tuple[Runner, ...]  # pyright: ignore[reportIncompatibleMethodOverride]
    first: int
    """The element of the first row."""
    splits: IntArray

    @property
    def rows(self) -> int:
        return len(self.splits) - 1

    def begin(self, row: int) -> int:
        return self.splits.item(row)

    def _begins(self) -> IntArray:
        return self.splits

    def _values(self, first: int, last: int) -> Array:
        return self.lines[0].part((slice(self.first + first, self.first + last),))

    def _write(self, first: int, last: int, out: Array) -> None:
        own = self.splits[first : last + 1]
        write_elements(out, np.repeat(self._values(first, last), own[1:] - own[:-1]))

    def _within(self, row: int, low: int, high: int, out: Array) -> None:  # noqa: ARG002 - all are alike
        write_elements(out, self._values(row, row + 1))

    def _points(self, rows: IntArray, within: IntArray, out: Array) -> None:  # noqa: ARG002
        out[...] = elements_at(self.lines[0], rows + self.first)
