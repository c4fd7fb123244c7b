"""Copies by tables of offsets: one table per mode and side, so that memory is the sum of the extents."""

import math
from collections.abc import Iterator
from typing import final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.layout.axes._axis import AxisMap, Stride
from tensorwrapper.layout.axes._tables import sum_table
from tensorwrapper.layout.copies._block import join_modes
from tensorwrapper.layout.copies._table import CopyCost, CopySteps, CopyTable, Planes
from tensorwrapper.typing import IntArray

_BATCH = 1 << 16  # runs at a time: their offsets stay in cache


@final
@frozen(eq=False)
class GatherCopy(CopySteps):
    """Runs of one length, at the sums of one entry per table.

    Element ``(j..., e)`` of run j goes from ``source + sum(tables[m][0][j_m]) + e`` to the like of `target`.
    """

    source: int
    target: int
    tables_of_modes: tuple[tuple[IntArray, IntArray], ...]
    length: int

    @property
    def run_length(self) -> int:
        return self.length

    @property
    def count(self) -> int:
        """The number of runs."""
        return math.prod([len(table) for table, _ in self.tables_of_modes])

    def planes(self) -> Planes:
        """Return an iterator over the runs: where planes of them lie from a start, and all the starts.

        Of source and target each: the places of a plane of runs, then those of its copies to the first of
        which they are relative. A run of the one comes from each sum of one place of either.
        """
        extents = [len(table) for table, _ in self.tables_of_modes]
        inner, size = len(extents), 1
        while inner and size * extents[inner - 1] <= _BATCH:
            inner -= 1
            size *= extents[inner]
        trailing = self._sums(range(inner, len(extents)))
        if not inner:
            yield *trailing, np.array([self.source]), np.array([self.target])
            return
        # The next mode is cut, so that planes are large whatever the extents are.
        leads = self._sums(range(inner - 1))
        starts = leads[0] + self.source, leads[1] + self.target
        step = max(_BATCH // size, 1)
        for first in range(0, extents[inner - 1], step):
            own = [table[first : first + step] for table in self.tables_of_modes[inner - 1]]
            planes = [np.add.outer(a, b).reshape(-1) for a, b in zip(own, trailing, strict=True)]
            yield planes[0], planes[1], *starts

    def cost(self) -> CopyCost:
        return CopyCost(self.count, self.count, self.run_length, self.run_length)

    def _sums(self, modes: range) -> tuple[IntArray, IntArray]:
        tables = [self.tables_of_modes[mode] for mode in modes]
        source = sum_table(0, [table for table, _ in tables]).reshape(-1)
        return source, sum_table(0, [table for _, table in tables]).reshape(-1)

    def blocks(self) -> Iterator[CopyTable]:
        for source, target, starts, goals in self.planes():
            for start, goal in zip(starts.tolist(), goals.tolist(), strict=True):
                yield self._table(source + start, target + goal)

    def _table(self, source: IntArray, target: IntArray) -> CopyTable:
        lengths = np.broadcast_to(np.int64(self.run_length), (len(source), 1))
        ones = np.broadcast_to(np.int64(1), (len(source), 1))
        return CopyTable(lengths, source, ones, target, ones)


def gather_copy(base: tuple[int, int], axes: list[tuple[AxisMap, AxisMap]]) -> GatherCopy:
    """Return the copy between two layouts of one box, given by their bases and by their maps per mode.

    Modes that are strides on both sides are put together first; the narrowest is a run if it can be.
    """
    strided = [(s.extent, s.step, t.step) for s, t in axes if isinstance(s, Stride) and isinstance(t, Stride)]
    modes, from_source, from_target = join_modes(strided)
    length = 1
    if modes and modes[-1][1:] == (1, 1):
        length = modes.pop()[0]
    entries: list[tuple[int, tuple[IntArray, IntArray]]] = []
    for count, source, target in modes:
        places = np.arange(count, dtype=np.int64)
        entries.append((target, (places * source, places * target)))
    for s, t in axes:
        if not (isinstance(s, Stride) and isinstance(t, Stride)):
            entries.append((t.gap(), (s.offsets(), t.offsets())))
    # In the memory order of the target.
    entries.sort(key=lambda entry: -entry[0])
    tables = tuple([pair for _, pair in entries])
    return GatherCopy(base[0] + from_source, base[1] + from_target, tables, length)
