"""Copies by tables of offsets: one table per mode and side, so that memory is the sum of the extents."""

import math
from collections.abc import Iterator
from typing import TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper.layout.axes._axis import AxisMap, Stride
from tensorwrapper.layout.axes._tables import sum_table
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.copies._block import join_modes
from tensorwrapper.layout.copies._steps import CopySteps, RegionCopy
from tensorwrapper.layout.copies._table import CopyTable
from tensorwrapper.layout.tiles._tile_major import TileMajor
from tensorwrapper.typing import IntArray

__all__ = ["Bands", "GatherCopy", "Planes", "bands_of", "gather_copy"]

_SMALL = 2048  # elements of a block up to which a table costs less than a copy of each block
_TIMES = 4  # how often a table should serve
_LARGEST = 1 << 20  # elements of a band, whose table should stay in the cache

Planes: TypeAlias = Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]
"""Of source and target each: the places of a plane of runs; then the starts of its copies of each."""


@final
@attrs.frozen(eq=False)
class Bands:
    """A strided layout and tile-major storage of one box; ``to_tiles`` says which is the target."""

    box: Strided
    tiles: TileMajor
    to_tiles: bool

    @property
    def mode(self) -> int:
        """The mode that is slowest among the tiles."""
        return self.tiles.outer_order[-1]

    def planes(self) -> Planes:
        """Return an iterator over the extents of bands: the places in one, and where all of them begin."""
        partition = self.tiles.tiling.partitions[self.mode]
        sizes = partition.sizes
        for size in np.unique(sizes[sizes > 0]).tolist():
            starts = partition.starts[:-1][sizes == size]
            box, tiles = self._places(size, int(starts[0]))
            corners = np.zeros((len(starts), self.tiles.shape.rank), dtype=np.int64)
            corners[:, self.mode] = starts
            leads = self._offsets(self.box, corners), self._offsets(self.tiles, corners)
            if self.to_tiles:
                yield box, tiles, leads[0], leads[1]
            else:
                yield tiles, box, leads[1], leads[0]

    @staticmethod
    def _offsets(layout: Strided | TileMajor, places: IntArray) -> IntArray:
        return layout.offsets_of(places + np.array(layout.shape.origin, dtype=np.int64))

    def _places(self, size: int, start: int) -> tuple[IntArray, IntArray]:
        """Return where the elements of a band lie in the box and in its tiles, seen from the first of it."""
        extents = list(self.box.extents)
        extents[self.mode] = 1
        line = np.stack([axis.reshape(-1) for axis in np.indices(extents)], axis=1)
        line[:, self.mode] = start
        first = self._offsets(self.tiles, line)
        # Along the mode each tile has one step.
        line[:, self.mode] += size > 1
        steps = self._offsets(self.tiles, line) - first
        tiles = first - first[0] + np.arange(size, dtype=np.int64)[:, np.newaxis] * steps
        box = self._box_places(size, extents)
        flat = tiles.reshape(-1)
        if not self.to_tiles or int(flat.max()) != len(flat) - 1:
            return box, flat
        # In the order in which the target lies, so that it is written in one go.
        sorted_box = np.empty_like(box)
        sorted_box[flat] = box
        return sorted_box, np.arange(len(flat), dtype=np.int64)

    def _box_places(self, size: int, extents: list[int]) -> IntArray:
        strides = self.box.strides
        tables = [
            np.arange(n, dtype=np.int64) * (step if n > 1 else 0)
            for n, step in zip(extents, strides, strict=True)
        ]
        tables = [np.arange(size, dtype=np.int64) * strides[self.mode], *tables]
        return sum_table(0, tables).reshape(-1)


def bands_of(steps: RegionCopy) -> Bands | None:
    """Return a copy between a box and its tiles by bands, if that is the quicker way."""
    source, target = steps.source, steps.target
    first, second = (source, target) if target.tiles is not None else (target, source)
    if first.mode_strides is None or second.tiles is None:
        return None
    box, tiles = cast("Strided", first), cast("TileMajor", second)
    size = source.shape.size
    sizes = tiles.tiling.partitions[tiles.outer_order[-1]].sizes
    line = size // int(sizes.sum())
    forms = int(np.unique(sizes).sum())
    if size > _SMALL * steps.count or int(sizes.max()) * line > _LARGEST or forms * line * _TIMES > size:
        return None
    return Bands(box, tiles, to_tiles=target is tiles)


_BATCH = 1 << 16  # runs at a time: their offsets stay in cache


@final
@attrs.frozen(eq=False)
class GatherCopy(CopySteps):
    """Runs of one length, at the sums of one entry per table.

    Element ``(j..., e)`` of run j goes from ``source + sum(tables[m][0][j_m]) + e`` to the like of `target`.
    """

    source: int
    target: int
    tables_of_modes: tuple[tuple[IntArray, IntArray], ...]
    run_length: int

    @property
    def count(self) -> int:
        """The number of runs."""
        return math.prod([len(table) for table, _ in self.tables_of_modes])

    def planes(self) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]:
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

    def _sums(self, modes: range) -> tuple[IntArray, IntArray]:
        tables = [self.tables_of_modes[mode] for mode in modes]
        source = sum_table(0, [table for table, _ in tables]).reshape(-1)
        return source, sum_table(0, [table for _, table in tables]).reshape(-1)

    def tables(self) -> Iterator[CopyTable]:
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
    # In the order in which the target lies.
    entries.sort(key=lambda entry: -entry[0])
    tables = tuple([pair for _, pair in entries])
    return GatherCopy(base[0] + from_source, base[1] + from_target, tables, length)
