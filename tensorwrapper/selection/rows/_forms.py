"""How pieces of operands follow one another: listed one by one, or by rows, as splits say that are there.

Rows are short and many, and as pieces each takes five numbers and more. What puts rows together mostly takes
all rows of each operand in their order; that is said by splits that shapes have already, and made into pieces
only for whoever asks for those.
"""

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Callable
from typing import TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.selection.runners._row_runners import FilledRunner, RowsRunner, SpreadRunner, TurnsRunner
from tensorwrapper.typing import IntArray

__all__ = ["Filled", "Form", "PieceTable", "Spread", "Turns", "listed"]

_SHORT = 1 << 15  # operands whose numbers have two bytes

PieceTable: TypeAlias = tuple[IntArray, IntArray, IntArray]
"""For each piece of which operand it is, where it starts there, and its number of elements, at least one."""


def listed(count: int, sources: IntArray, starts: IntArray, lengths: IntArray) -> PieceTable:
    """Return the pieces of so many operands that have elements."""
    if count <= _SHORT:
        # Two bytes a piece instead of eight; and so few digits are sorted in linear time.
        sources = cast("IntArray", sources.astype(np.int16, copy=False))
    filled = lengths > 0
    if not filled.all():
        sources, starts, lengths = sources[filled], starts[filled], lengths[filled]
    return sources, starts, lengths


class Form(ABC):
    """Abstract: `rows`, `begin`, `part`, `table` and `runner`. Rows that elements of operands make."""

    __slots__ = ()

    @property
    @abstractmethod
    def rows(self) -> int:
        """How many rows there are."""

    @abstractmethod
    def begin(self, row: int) -> int:
        """Return where a row begins, counted from anywhere; of the number of rows, where the last ends."""

    @abstractmethod
    def part(self, first: int, last: int) -> "Form":
        """Return a run of the rows. O(operands)."""

    @abstractmethod
    def table(self) -> PieceTable:
        """Return the same as pieces. O(rows)."""

    @abstractmethod
    def runner(self, line: Callable[[int], Runner]) -> RowsRunner:
        """Return what writes the rows, one element at least, by the lines of the operands that have some."""

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self.begin(self.rows) - self.begin(0)

    def around(self, first: int, count: int) -> tuple[int, int]:
        """Return the first of the rows that hold a run of elements, one at least, and behind the last."""
        low = first + self.begin(0)
        row = bisect_right(range(self.rows), low, key=self.begin) - 1
        return row, bisect_right(range(row, self.rows), low + count - 1, key=self.begin) + row


@final
@frozen(eq=False)
class Turns(Form):
    """Rows that have the elements of the same row of several operands, one operand after the other."""

    splits: tuple[IntArray, ...]
    """For each operand where its rows begin, and the end of the last: as many for each."""

    @property
    def rows(self) -> int:
        return len(self.splits[0]) - 1

    def begin(self, row: int) -> int:
        return sum([own.item(row) for own in self.splits])

    def part(self, first: int, last: int) -> "Turns":
        return Turns(tuple([own[first : last + 1] for own in self.splits]))

    def table(self) -> PieceTable:
        starts = np.stack([own[:-1] for own in self.splits], axis=1)
        lengths = np.stack([np.diff(own) for own in self.splits], axis=1)
        sources = np.broadcast_to(np.arange(len(self.splits), dtype=np.int64), starts.shape)
        return listed(len(self.splits), sources.ravel(), starts.ravel(), lengths.ravel())

    def runner(self, line: Callable[[int], Runner]) -> TurnsRunner:
        used = [k for k, own in enumerate(self.splits) if own.item(-1) > own.item(0)]
        return TurnsRunner(tuple(map(line, used)), tuple([self.splits[k] for k in used]))


@final
@frozen(eq=False)
class Filled(Form):
    """Rows of the first operand, of each so many elements from its start on, then the one of the second."""

    splits: IntArray
    """Where the rows begin in the operand, and the end of the last."""
    kept: IntArray
    """How many elements of the operand come before each row; `splits` itself if all of them do."""
    wanted: IntArray
    """Where the rows begin here."""

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

    def runner(self, line: Callable[[int], Runner]) -> FilledRunner:
        kept = self.kept.item(-1) - self.kept.item(0)
        lines = (line(0),) if kept == self.size else (line(0) if kept else line(1), line(1))
        return FilledRunner(lines, self.splits, self.kept, self.wanted)


@final
@frozen(eq=False)
class Spread(Form):
    """Rows that have one element of the operand each, again and again."""

    splits: IntArray
    """Where the rows begin here."""
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

    def runner(self, line: Callable[[int], Runner]) -> SpreadRunner:
        return SpreadRunner((line(0),), self.first, self.splits)
