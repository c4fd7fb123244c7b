"""Memory of a table of cells: contiguous runs, sizes and alignment, by arithmetic.

A strided box is a table of one cell; a jagged layout has one row per cell. Everything here takes memory and
time in proportion to the cells, never to their elements.
"""

import math
from abc import ABC, abstractmethod
from typing import Any, TypeAlias, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.layout.boxes._common import LayoutCommon, fits_int64
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.shape import Jagged, Rows
from tensorwrapper.typing import Index, IntArray

_Numbers: TypeAlias = npt.NDArray[Any]
"""int64, or Python integers where those of one box leave 64 bits."""


@final
@frozen
class BlockFacts:
    """Memory of separate blocks: the elements under prefixes of one length. Empty ones do not count."""

    filled: int
    least: int
    greatest: int
    runs: int
    alignment: int


class MemoryFacts(ABC):
    """Properties of the memory of a nonempty layout. All methods below are abstract."""

    __slots__ = ()

    @abstractmethod
    def order(self) -> Index:
        """Return the modes, the one whose neighbours lie closest together first."""

    @abstractmethod
    def row_runs(self) -> int:
        """Return into how many runs of consecutive places all elements fall in row-major order."""

    @abstractmethod
    def blocks(self, modes: int) -> BlockFacts:
        """Return how the blocks under prefixes of `modes` indices lie."""


@final
@frozen(eq=False)
class CellFacts(MemoryFacts):
    """Cells that have elements, in row-major order, and which of them lie under each prefix."""

    layout: LayoutCommon
    rows: Rows | None
    """The shape of the modes that lead to cells; None if there are none, and so one cell."""
    depth: int
    kept: IntArray
    """The numbers of the cells with elements, among all."""
    extents: _Numbers
    strides: _Numbers
    firsts: _Numbers
    """The place of the first element of each cell."""

    @property
    def lows(self) -> _Numbers:
        """The least place of each cell."""
        return self.firsts + _sum(np.minimum((self.extents - 1) * self.strides, 0))

    def _highs(self) -> _Numbers:
        return self.lows + _sum((self.extents - 1) * np.abs(self.strides))

    def row_runs(self) -> int:
        joints = _joints(self.extents, self.strides)
        lasts = self.firsts + _sum((self.extents - 1) * self.strides)
        joined = int(np.count_nonzero(self.firsts[1:] == lasts[:-1] + 1))
        return int((_product(self.extents) - joints).sum()) - joined

    def order(self) -> Index:
        # The stride of a mode of one position of a box says how it would go on.
        near = self._distances() if self.depth else np.abs(self.strides[0]).tolist()
        return tuple(sorted(range(len(near)), key=lambda mode: (near[mode], -mode)))

    def _distances(self) -> list[float]:
        """Return the average distance in memory of neighbours along each mode; inf if there are none."""
        cells = [_mean(self.strides[n > 1, mode]) for mode, n in enumerate(self.extents.T)]
        if (self.lows[1:] > self._highs()[:-1]).all():
            # One cell after the other: row-major, and slower than all that a cell has.
            return [math.inf] * self.depth + cells
        prefixes = self._prefixes()
        found: list[float] = []
        for mode in range(self.depth):
            others = [column for other, column in enumerate(prefixes.T) if other != mode]
            lying = np.lexsort([prefixes[:, mode], *others])
            near = np.ones(len(lying) - 1, dtype=np.bool_)
            for column in others:
                near &= column[lying[1:]] == column[lying[:-1]]
            found.append(_mean(np.diff(self.firsts[lying])[near]))
        return found + cells

    def _prefixes(self) -> IntArray:
        """Return the indices that lead to each cell."""
        rows = self.rows
        if rows is None:
            return np.empty((len(self.kept), 0), dtype=np.int64)
        if self.depth > rows.outer_rank:
            return Jagged(rows).indices_at(self.kept)
        return rows.prefixes_of(self.depth, rows.leaves[0] + self.kept)

    def blocks(self, modes: int) -> BlockFacts:
        return self._inside(modes - self.depth) if modes > self.depth else self._over(modes)

    def _inside(self, pinned: int) -> BlockFacts:
        """Return the facts of blocks that are parts of cells, with so many of their modes pinned."""
        counts, sizes = _product(self.extents[:, :pinned]), _product(self.extents[:, pinned:])
        starts = [self.lows]
        starts += [self.strides[self.extents[:, mode] > 1, mode] for mode in range(pinned)]
        return BlockFacts(
            int(counts.sum()),
            int(sizes.min()),
            int(sizes.max()),
            int((counts * self._runs(pinned)).sum()),
            math.gcd(*[int(np.gcd.reduce(numbers)) for numbers in starts if len(numbers)]),
        )

    def _runs(self, pinned: int) -> _Numbers:
        """Return the runs of each cell with its first modes pinned, gone through upwards in memory."""
        steps = np.abs(self.strides[:, pinned:])
        # A mode that repeats its elements adds no place.
        extents = np.where(steps, self.extents[:, pinned:], 1)
        # Modes of one position have a step that is never taken.
        slowest_first = np.argsort(np.where(extents > 1, -steps, 0), axis=1, kind="stable")
        extents = np.take_along_axis(extents, slowest_first, axis=1)
        return _product(extents) - _joints(extents, np.take_along_axis(steps, slowest_first, axis=1))

    def _over(self, modes: int) -> BlockFacts:
        """Return the facts of blocks that consist of whole cells.

        The runs of their cells are counted, and joined where a cell begins right behind the one before it in
        memory.
        """
        group, lows, highs = self._groups(modes), self.lows, self._highs()
        together = group[1:] == group[:-1]
        if (together & (lows[1:] < lows[:-1])).any():
            lying = np.lexsort((lows, group))
            joined = together & (lows[lying[1:]] == highs[lying[:-1]] + 1)
        else:
            joined = together & (lows[1:] == highs[:-1] + 1)
        marks = np.flatnonzero(np.diff(group, prepend=-1))
        runs = np.add.reduceat(self._runs(0), marks)
        runs -= np.add.reduceat(np.append(joined, [False]).astype(np.int64), marks)
        sizes = np.add.reduceat(_product(self.extents), marks)
        starts = np.minimum.reduceat(lows, marks)
        # Cells that interleave may fill a run together.
        full = (runs > 1) & (np.maximum.reduceat(highs, marks) - starts + 1 == sizes)
        if full.any() and self.layout.is_injective:
            runs[full] = 1
        return BlockFacts(
            len(marks), int(sizes.min()), int(sizes.max()), int(runs.sum()), abs(int(np.gcd.reduce(starts)))
        )

    def _groups(self, modes: int) -> IntArray:
        """Return for each cell the number of its prefix of this many modes."""
        rows = self.rows
        if rows is None or not modes:
            return np.zeros(len(self.kept), dtype=np.int64)
        start, stop = rows.run(min(modes, rows.outer_rank))
        marks: IntArray = np.arange(start, stop + 1)
        for depth in range(rows.depth + modes, rows.columns.depth):
            marks = rows.columns.splits[depth - 1][marks]
        if self.depth > rows.outer_rank:
            # Every element is a cell.
            befores = rows.cell_offsets()
            marks = (
                befores[marks - marks[0]]
                if modes < self.depth
                else np.arange(int(befores[-1]) + 1, dtype=np.int64)
            )
        return np.searchsorted(marks - marks[0], self.kept, side="right") - 1


def cell_facts(layout: LayoutCommon) -> CellFacts | None:
    """Return a layout as a table of cells; None if it is not one."""
    own = layout.mode_strides
    if own is not None:
        box = layout.shape.extents, own, (layout.offset,)
        wide = max(map(abs, (*box[1], layout.shape.size, *layout.bounds(), layout.offset))) > MAX_INT64 // 2
        extents, strides, firsts = [np.array(row, dtype=object if wide else np.int64) for row in box]
        return _table(layout, None, 0, extents[np.newaxis], strides[np.newaxis], firsts)
    if layout.tiled is not None and not fits_int64(layout, layout.offset):
        return None
    table = layout.cell_table()
    if table is None:
        return None
    (starts, steps), rows = table, rows_of(layout.shape)
    width = steps.shape[1]
    sizes = rows.columns.leaf_extents(*rows.leaves) if width else steps
    return _table(layout, rows, layout.shape.rank - width, sizes, steps, starts)


def _table(
    layout: LayoutCommon,
    rows: Rows | None,
    depth: int,
    extents: _Numbers,
    strides: _Numbers,
    firsts: _Numbers,
) -> CellFacts:
    kept = np.flatnonzero((extents > 0).all(axis=1))
    return CellFacts(layout, rows, depth, kept, extents[kept], strides[kept], firsts[kept])


def _product(table: _Numbers) -> _Numbers:
    product: _Numbers = np.multiply.reduce(table, axis=1, dtype=table.dtype)
    return product


def _sum(table: _Numbers) -> _Numbers:
    total: _Numbers = np.add.reduce(table, axis=1, dtype=table.dtype)
    return total


def _mean(steps: _Numbers) -> float:
    return float(np.abs(steps).mean()) if len(steps) else math.inf


def _joints(extents: _Numbers, steps: _Numbers) -> _Numbers:
    """Return how often, in row-major order, the next element of a cell directly follows the one before.

    Mode m advances by one when all later modes return from their end: a jump of its step minus their span. It
    does so for every position of the modes before it.
    """
    found = np.zeros(len(extents), dtype=extents.dtype)
    reach = np.zeros(len(extents), dtype=extents.dtype)
    for mode in range(extents.shape[1] - 1, -1, -1):
        count, step = extents[:, mode], steps[:, mode]
        jumps = _product(extents[:, :mode]) * (count - 1)
        found = found + np.where(step - reach == 1, jumps, 0)
        reach = reach + (count - 1) * step
    return found
