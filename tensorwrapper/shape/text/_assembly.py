"""Jagged shapes assembled, mode by mode, from the numbers of an untrusted text or JSON.

Every number is checked before memory depends on it: allocations are bounded by the length of the input, plus
`MAX_SPREAD` numbers.
"""

from typing import Self, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._arrays import shared_table, splits_of, tidy_table
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import ExtentError, RankError, SizeOverflowError
from tensorwrapper.shape.kinds._jagged import Jagged
from tensorwrapper.shape.rows._columns import Columns, Origins, check_int64, tidy_origins
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.shape.rows._written_numbers import MAX_SPREAD
from tensorwrapper.typing import Index, IntArray

Numbers: TypeAlias = int | IntArray
"""The numbers of one mode: one that stands for all, or one per prefix."""


@final
@attrs.define
class Assembly:
    """A jagged shape under way: first `unroll` for each unrolled mode, then cells, then `build`.

    All methods raise `TensorWrapperError` for numbers that make no shape; the text says of which mode.
    """

    prefixes: int
    """How many prefixes lead to the next mode."""
    _extents: list[Numbers]
    _splits: list[IntArray]
    _leaf: IntArray | None = None
    _absent: Index = ()
    _room: int = MAX_SPREAD

    @classmethod
    def of_rows(cls, count: int) -> Self:
        """Return the assembly of a shape with `count` rows."""
        return cls(_checked(count, 0), [count], [])

    @property
    def _mode(self) -> int:
        return len(self._extents)

    def unroll(self, extents: Numbers) -> None:
        """Add an unrolled mode."""
        with memory_for(self.prefixes, "rows"):
            splits = splits_of(self._spread(extents, self._mode))
        self._extents.append(extents)
        self._splits.append(splits)
        self.prefixes = splits.item(-1)

    def _spread(self, extents: Numbers, mode: int) -> IntArray:
        """Return one extent for each prefix."""
        n = self.prefixes
        if isinstance(extents, int):
            self._check_prefix(_checked(extents, mode), mode)
            if n > self._room:
                raise SizeOverflowError(
                    f"the extent {extents} of mode {mode} stands for {n} prefixes, but single numbers may "
                    f"stand for {MAX_SPREAD} in all: write the others out"
                )
            self._room -= n
            return np.full(n, extents, dtype=np.int64)
        _check_count(extents, n, f"extents of mode {mode}")
        if n and int(extents.min()) < 0:
            raise ExtentError(f"an extent must not be negative, but one of mode {mode} is {extents.min()}")
        return extents

    def _check_prefix(self, extent: int, mode: int) -> None:
        if not self.prefixes:
            raise ExtentError(
                f"no prefix leads to mode {mode}, so that it has no extent, but {extent} is given"
            )

    def even_cells(self, extents: Index) -> None:
        """Add cells that all have these extents: O(1), however many they are."""
        for inner, extent in enumerate(extents):
            _checked(extent, self._mode + inner)
        if not self.prefixes and any(extents):
            self._absent = extents
        self._leaf = shared_table(extents, self.prefixes)
        self._extents += extents

    def table_of_cells(self, table: IntArray) -> None:
        """Add cells of rank s with the extents of an (n, s) table."""
        mode, inner = self._mode, table.shape[1]
        what = f"extents of mode {mode}" if inner == 1 else f"cells of modes {mode} to {mode + inner - 1}"
        _check_count(table, self.prefixes, what)
        if table.size and int(table.min()) < 0:
            raise ExtentError(f"an extent must not be negative, but one of a cell is {table.min()}")
        if len(table) > 1 and (table == table[0]).all():
            # Not by splits: rows that are all alike may have more elements than 64 bits count.
            self._leaf = shared_table(tuple(table[0].tolist()), len(table))
        else:
            self._leaf = splits_of(table[:, 0]) if inner == 1 else tidy_table(table)
        self._extents += list(table.T)

    def cells(self, columns: list[Numbers]) -> None:
        """Add cells with the extents of one mode each."""
        if all(isinstance(column, int) for column in columns):
            self.even_cells(tuple([column for column in columns if isinstance(column, int)]))
            return
        mode = self._mode
        spread = [self._spread(column, mode + inner) for inner, column in enumerate(columns)]
        self.table_of_cells(spread[0][:, np.newaxis] if len(spread) == 1 else np.stack(spread, axis=1))

    def build(self, origins: list[Numbers] | None) -> Jagged:
        """Return the shape that starts here; zeros if no origins are given."""
        rank, outer = self._mode, len(self._splits) + 1
        if self._leaf is None:
            raise RankError("a jagged shape has cells")
        starts: list[Origins] = [0] * rank
        if origins is not None:
            if len(origins) != rank:
                raise RankError(f"a shape of rank {rank} has {rank} origins, not {len(origins)}")
            starts = self._starts(origins, outer)
        first, inner = tuple(starts[:outer]), tuple(starts[outer:])
        columns = Columns(tuple(self._splits), self._leaf, first, inner, self._absent)
        return Jagged(Rows.whole(columns))

    def _starts(self, origins: list[Numbers], outer: int) -> list[Origins]:
        """Return the origins of every mode; a range that leaves 64 bits raises, if a prefix leads there."""
        if not isinstance(origins[0], int):
            raise RankError("mode 0 has one origin")
        if all(type(numbers) is int and not numbers for numbers in origins):
            return [0] * self._mode
        found: list[Origins] = []
        reached: IntArray = np.ones((), dtype=np.int64)
        for mode, (numbers, extents) in enumerate(zip(origins, self._extents, strict=True)):
            lengths = np.asarray(extents, dtype=np.int64)
            if mode >= outer:
                lengths = lengths * reached
                reached = np.minimum(lengths, 1)
            n = self.prefixes if mode >= outer else len(self._splits[mode - 1]) - 1 if mode else 1
            found.append(_start(mode, numbers, lengths, n))
        return found


def _start(mode: int, starts: Numbers, lengths: IntArray, n: int) -> Origins:
    """Return the origins of a mode at `n` prefixes."""
    if isinstance(starts, int):
        if starts:
            check_int64(mode, starts, int(lengths.max(initial=0)))
        return starts
    _check_count(starts, n, f"origins of mode {mode}")
    beyond = (starts > MAX_INT64 - lengths) | (starts < -MAX_INT64)
    if beyond.any():
        place = int(np.argmax(beyond))
        check_int64(mode, starts.item(place), np.broadcast_to(lengths, n).item(place))
    return tidy_origins(starts)


def _checked(extent: int, mode: int) -> int:
    if extent < 0:
        raise ExtentError(f"an extent must not be negative, but that of mode {mode} is {extent}")
    if extent > MAX_INT64:
        raise SizeOverflowError(
            f"the extents of jagged shapes must fit into 64 bits, but mode {mode} has {extent}"
        )
    return extent


def _check_count(numbers: IntArray, n: int, what: str) -> None:
    if len(numbers) != n:
        raise ExtentError(f"there are {len(numbers)} {what}, but {n} prefixes lead there")
