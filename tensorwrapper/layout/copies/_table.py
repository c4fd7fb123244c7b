"""Steps of copy plans, which yield strided blocks, many at a time, as arrays."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import repeat
from typing import ClassVar, TypeAlias, final

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.layout.copies._block import BlockRow
from tensorwrapper.typing import IntArray

_ROWS = 512  # blocks that become Python integers at a time
_KEYS = 1 << 32  # numbers of forms that can be multiplied once more

Planes: TypeAlias = Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]
"""Of source and target each: the places of a plane of runs; then the starts of its copies of each."""

ElementRuns: TypeAlias = Iterator[tuple[IntArray, int]]
"""Places of single elements, and where the first of them goes; the others follow it."""


@final
@frozen
class CopyCost:
    """Work of a copy: the numbers of blocks and runs, and the lengths of runs."""

    blocks: int
    runs: int
    shortest: int
    longest: int


@final
@frozen(eq=False)
class CopyTable:
    """Row k is one block, as a `StridedCopy` is, with its modes (some of extent 1) from widest to narrowest.

    ``extents``, ``source_strides`` and ``target_strides`` are (n, modes), ``source`` and ``target`` (n,).
    """

    extents: IntArray
    source: IntArray
    source_strides: IntArray
    target: IntArray
    target_strides: IntArray

    def __len__(self) -> int:
        return len(self.source)

    def joined(self) -> "CopyTable":
        """Return the same copies with merged modes: `join_modes` of every row at once.

        The remaining modes are at the end, those of extent 1 before them.
        """
        counts, steps = self.extents, self.target_strides
        if counts.shape[1] == 1 and not (steps < 0).any():
            return self
        source, from_steps, target = self.source, self.source_strides, self.target
        turned = (steps < 0) & (counts > 1)
        if turned.any():
            back = np.where(turned, counts - 1, 0)
            source = source + (back * from_steps).sum(axis=1)
            target = target + (back * steps).sum(axis=1)
            from_steps = np.where(turned, -from_steps, from_steps)
        to_steps = np.abs(steps)
        # Unused steps come first, where they do not matter.
        wide = np.where(counts > 1, to_steps, np.iinfo(np.int64).max)
        if (wide[:, 1:] > wide[:, :-1]).any():
            order = np.argsort(-wide, axis=1, kind="stable")
            counts, from_steps, to_steps = [
                np.take_along_axis(side, order, axis=1) for side in (counts, from_steps, to_steps)
            ]
        return _merged(CopyTable(counts, source, from_steps, target, to_steps))

    def run_lengths(self) -> IntArray:
        """Return per block how many elements are consecutive on both sides, if it is `joined`."""
        if not self.extents.shape[1]:
            return np.ones(len(self), dtype=np.int64)
        together = (self.source_strides[:, -1] == 1) & (self.target_strides[:, -1] == 1)
        return np.where(together, self.extents[:, -1], 1)

    def run_counts(self) -> IntArray:
        """Return how many runs each block has, if it is `joined`."""
        counts: IntArray = self.extents.prod(axis=1, dtype=np.int64) // self.run_lengths()
        return counts

    def size(self) -> int:
        """Return how many elements are copied."""
        return int(self.extents.prod(axis=1, dtype=np.int64).sum())

    def moves_nothing(self) -> bool:
        """Tell whether every element has one place on both sides, if it is `joined`."""
        taken = self.extents > 1
        same_steps = (self.source_strides == self.target_strides) | ~taken
        return bool((self.source == self.target).all() and same_steps.all())

    def part(self, rows: slice | IntArray) -> "CopyTable":
        """Return some of the blocks."""
        return CopyTable(
            self.extents[rows],
            self.source[rows],
            self.source_strides[rows],
            self.target[rows],
            self.target_strides[rows],
        )

    def rows(self, unit: int = 1) -> Iterator[BlockRow]:
        """Return an iterator over the blocks, in Python integers; an offset of 1 becomes `unit`."""
        for first in range(0, len(self), _ROWS):
            part = self.part(slice(first, first + _ROWS))
            # Tuples, made as they are needed: so many lists would be gone through by the collector.
            yield from zip(
                _tuples(part.extents),
                (part.source * unit).tolist(),
                _tuples(part.source_strides * unit),
                (part.target * unit).tolist(),
                _tuples(part.target_strides * unit),
                strict=True,
            )

    def are_runs(self) -> bool:
        """Tell whether every block is one run on both sides, if it is `joined`."""
        return self.extents.shape[1] == 1 and bool((self.run_lengths() == self.extents[:, 0]).all())

    def runs_of_rows(self) -> Iterator[tuple[int, int, int]]:
        """Return an iterator over blocks that are runs: how many elements, from where, and to where."""
        for first in range(0, len(self), _ROWS):
            rows = slice(first, first + _ROWS)
            columns = self.extents[rows, 0], self.source[rows], self.target[rows]
            yield from zip(*[own.tolist() for own in columns], strict=True)

    def groups(self) -> tuple[IntArray, IntArray]:
        """Return the rows sorted by the form of their blocks, and where each form begins (and an end).

        Blocks of one form have the same extents and the same steps on both sides.
        """
        whole = np.concatenate([self.extents, self.source_strides, self.target_strides], axis=1)
        key, columns = np.zeros(len(self), dtype=np.int64), 1
        for column in whole.T:
            least, greatest = int(column.min()), int(column.max())
            if greatest == least:
                continue
            if columns * (greatest - least + 1) > _KEYS:
                # Numbered anew, so that the products fit.
                key, columns = np.unique(key, return_inverse=True)[1], len(self)
            if columns * (greatest - least + 1) > _KEYS:
                numbers, least, greatest = np.unique(column, return_inverse=True)[1], 0, len(self) - 1
            else:
                numbers = column - least
            key = key * (greatest - least + 1) + numbers
            columns *= greatest - least + 1
        # Numbers of 16 bits are sorted in time in proportion to their number.
        order = np.argsort(key.astype(np.uint16) if columns <= 1 << 16 else key, kind="stable")
        lying = key[order]
        changes = np.flatnonzero(lying[1:] != lying[:-1]) + 1
        return order, np.concatenate([[0], changes, [len(self)]])

    def runs(self, batch: int) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
        """Return an iterator over the runs: where they come from, where they go, and their lengths.

        At most `batch` come at a time; the table must be `joined`.
        """
        ends, lengths, modes = splits_of(self.run_counts()), self.run_lengths(), self.extents.shape[1]
        # A run of the whole last mode moves at once.
        modes -= bool(modes) and bool((lengths == self.extents[:, -1]).all())
        for start in range(0, int(ends[-1]), batch):
            stop = min(start + batch, int(ends[-1]))
            low, high = np.searchsorted(ends, [start, stop - 1], "right").tolist()
            marks = ends[low - 1 : high + 1].clip(start, stop)
            # Repeated, which takes a third of looking up the row of each run.
            part, times = self.part(slice(low - 1, high)), np.diff(marks)
            own = lengths[low - 1 : high]
            left = np.arange(start, stop, dtype=np.int64) - np.repeat(ends[low - 1 : high], times)
            source, target = np.repeat(part.source, times), np.repeat(part.target, times)
            for mode in range(modes - 1, -1, -1):
                places = left
                if mode:
                    counts = part.extents[:, mode]
                    if mode == self.extents.shape[1] - 1:
                        # The elements of a run are not positions: it moves as a whole.
                        counts = np.where(own > 1, 1, counts)
                    left, places = np.divmod(left, np.repeat(counts, times))
                source += places * np.repeat(part.source_strides[:, mode], times)
                target += places * np.repeat(part.target_strides[:, mode], times)
            yield source, target, np.repeat(own, times)


def _tuples(table: IntArray) -> Iterator[tuple[int, ...]]:
    if not table.shape[1]:
        return repeat((), len(table))
    return zip(*table.T.tolist(), strict=True)


def _merged(table: CopyTable) -> CopyTable:
    """Return a table of sorted modes with neighbours put together, at the end of each row."""
    counts, from_steps, to_steps = table.extents, table.source_strides, table.target_strides
    rows, modes = counts.shape
    if not modes:
        return table
    made = np.ones_like(counts), np.zeros_like(counts), np.zeros_like(counts)
    number, slot = np.arange(rows, dtype=np.int64), np.full(rows, modes - 1)
    joint = counts[:, -1], from_steps[:, -1], to_steps[:, -1]
    for mode in range(modes - 2, -1, -1):
        extent, from_step, to_step = joint
        outer = counts[:, mode], from_steps[:, mode], to_steps[:, mode]
        same = (outer[1] == extent * from_step) & (outer[2] == extent * to_step) | (outer[0] == 1)
        for column, values in zip(made, joint, strict=True):
            column[number, slot] = values
        joint = (
            np.where(same, extent * outer[0], outer[0]),
            np.where(same, from_step, outer[1]),
            np.where(same, to_step, outer[2]),
        )
        # Where they differ, the next mode is written one place before; else over the one that it joins.
        slot -= ~same
    for column, values in zip(made, joint, strict=True):
        column[number, slot] = values
    return CopyTable(made[0], table.source, made[1], table.target, made[2])


class CopySteps(ABC):
    """Steps of a copy. `blocks` is abstract; other methods have defaults for steps without a special rule."""

    __slots__ = ()

    is_one_block: ClassVar[bool] = False
    """Whether this is one block, which `in_bytes` gives."""

    source_reach: tuple[int, int] | None = None
    """Numbers between which offsets of the source are known to lie, where bounds would be searched for."""

    @abstractmethod
    def blocks(self) -> Iterator[CopyTable]:
        """Return an iterator over the blocks, some at a time, none of them empty."""

    def tables(self) -> Iterator[CopyTable]:
        """Return an iterator over the blocks, `joined`."""
        return (table.joined() for table in self.blocks())

    def in_bytes(self, size: int) -> BlockRow | None:  # noqa: ARG002 - several blocks have no such form
        """Return the one block in bytes, of elements with `size` bytes each; None if there are several."""
        return None

    def planes(self) -> Planes | None:
        """Return planes of runs that come again, if that is the quicker way."""
        return None

    def elements(self) -> ElementRuns | None:
        """Return single elements that go one after the other, if there are no others."""
        return None

    def runs(self) -> tuple[IntArray, IntArray, int] | None:
        """Return where runs begin, where they go (and an end), and what is added to that; None if unknown."""
        return None

    @property
    def run_length(self) -> int:
        """Number of elements of a run of `planes`."""
        return 1

    def cost(self) -> CopyCost:
        """Return what there is to do; O(blocks)."""
        blocks = runs = longest = 0
        shortest = MAX_INT64
        for table in self.tables():
            lengths = table.run_lengths()
            blocks += len(table)
            runs += int(table.run_counts().sum())
            shortest, longest = min(shortest, int(lengths.min())), max(longest, int(lengths.max()))
        return CopyCost(blocks, runs, shortest, longest)

    def moves_nothing(self) -> bool:
        """Tell whether every element has one place on both sides."""
        return all(table.moves_nothing() for table in self.tables())
