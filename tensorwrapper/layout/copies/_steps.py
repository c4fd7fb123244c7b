"""Copies other than one strided block, as batches of blocks that are regular on both sides."""

import math
from collections.abc import Iterator
from typing import final

import numpy as np

from tensorwrapper._arrays import CACHED, run_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.cells._cells import Cells
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.layout.copies._table import CopyCost, CopySteps, CopyTable, Planes
from tensorwrapper.layout.copies._tile_bands import bands_of
from tensorwrapper.shape import Jagged
from tensorwrapper.shape.lowlevel import unroll, wrap
from tensorwrapper.typing import IntArray

_BLOCKS = 1 << 14  # blocks at a time
_CELLS = 1 << 16  # the same where their places are known
_ELEMENTS = 1 << 16  # elements at a time, if each must be inspected


@final
@frozen(eq=False)
class RegionCopy(CopySteps):
    """The products of pieces of the modes, which both sides see as blocks."""

    source: LayoutCommon
    target: LayoutCommon
    pieces: tuple[IntArray, ...]
    """Per mode the (k, 4) array of `joint_pieces`."""

    @property
    def count(self) -> int:
        """The number of regions."""
        return math.prod([len(piece) for piece in self.pieces])

    def blocks(self) -> Iterator[CopyTable]:
        counts = [len(piece) for piece in self.pieces]
        for first in range(0, self.count, _BLOCKS):
            numbers = np.arange(first, min(first + _BLOCKS, self.count), dtype=np.int64)
            rows = np.unravel_index(numbers, counts)
            chosen = [piece[row] for piece, row in zip(self.pieces, rows, strict=True)]
            yield self._table(chosen)

    def cost(self) -> CopyCost:
        """Return the work of the copy; equal regions are inspected once."""
        kinds = self.kinds()
        if kinds is None:
            return CopySteps.cost(self)
        alike, counts = kinds
        runs = longest = first = 0
        shortest = MAX_INT64
        for table in alike.tables():
            numbers = np.arange(first, first + len(table), dtype=np.int64)
            rows = np.unravel_index(numbers, [len(own) for own in counts])
            weights = math.prod([own[row] for own, row in zip(counts, rows, strict=True)])
            lengths = table.run_lengths()
            runs += int((table.run_counts() * weights).sum())
            shortest, longest = min(shortest, int(lengths.min())), max(longest, int(lengths.max()))
            first += len(table)
        return CopyCost(self.count, runs, shortest, longest)

    def kinds(self) -> "tuple[RegionCopy, list[IntArray]] | None":
        """Return one region of each kind, and per mode the number of equal pieces of each.

        Regions are of one kind if both sides have the same steps in them. None if steps do not follow from
        the pieces of each mode.
        """
        chosen: list[IntArray] = []
        counts: list[IntArray] = []
        for mode, piece in enumerate(self.pieces):
            keys = [_steps_key(layout, mode, piece) for layout in (self.source, self.target)]
            if keys[0] is None or keys[1] is None:
                return None
            columns = np.concatenate([piece[:, 1:], keys[0], keys[1]], axis=1)
            _, firsts, own = np.unique(columns, axis=0, return_index=True, return_counts=True)
            chosen.append(piece[firsts])
            counts.append(own)
        return RegionCopy(self.source, self.target, tuple(chosen)), counts

    def planes(self) -> Planes | None:
        bands = bands_of(self.source, self.target, self.count)
        return None if bands is None else bands.planes()

    def _table(self, chosen: list[IntArray]) -> CopyTable:
        starts = np.stack([piece[:, 0] for piece in chosen], axis=1)
        extents: list[IntArray] = []
        moves: list[tuple[int, IntArray]] = []
        for mode, piece in enumerate(chosen):
            for count, move in _levels(piece):
                if (count > 1).any():
                    extents.append(count)
                    # A step that is never taken must not lead out of the shape.
                    moves.append((mode, np.where(count > 1, move, 0)))
        sides = [_places(layout, starts, moves) for layout in (self.source, self.target)]
        table = np.stack(extents, axis=1) if extents else np.empty((len(starts), 0), dtype=np.int64)
        return CopyTable(table, *sides[0], *sides[1])


def _steps_key(layout: LayoutCommon, mode: int, piece: IntArray) -> IntArray | None:
    """Return columns on which, mode by mode, the steps of a layout within pieces depend; None if on more."""
    starts = piece[:, 0]
    if layout.mode_strides is not None:
        return np.empty((len(piece), 0), dtype=np.int64)
    tiles = layout.tiles
    if tiles is not None and layout.span == layout.shape.size:
        # Without gaps, a step is a product of the sizes of the tile and of extents of the box.
        sizes = tiles.partitions[mode].sizes
        sizes = sizes[sizes > 0]
        return sizes[run_of(np.cumsum(sizes) - sizes, starts)][:, np.newaxis]
    if not layout.has_mode_maps:
        return None
    axis = layout.mode_maps("a copy")[1][mode]
    levels = _levels(piece)
    ends = [axis.offsets_at(starts + np.where(count > 1, move, 0)) for count, move in levels]
    return np.stack(ends, axis=1) - axis.offsets_at(starts)[:, np.newaxis]


def _levels(piece: IntArray) -> list[tuple[IntArray, IntArray]]:
    """Return how often each piece moves on, and by how many positions, at each of its three levels."""
    _, extent, small, large = piece.T
    return [(extent // large, large), (large // small, small), (small, np.ones_like(small))]


def _places(
    layout: LayoutCommon, starts: IntArray, moves: list[tuple[int, IntArray]]
) -> tuple[IntArray, IntArray]:
    """Return the offsets of positions, and how far each move along a mode leads from there."""
    steps = np.empty((len(starts), len(moves)), dtype=np.int64)
    strides = layout.mode_strides
    if strides is not None:
        check_int64(layout, layout.offset)
        offsets = np.full(len(starts), layout.offset, dtype=np.int64)
        for mode, (extent, stride) in enumerate(zip(layout.shape.extents, strides, strict=True)):
            # A stride that is never taken may be of any size.
            offsets += starts[:, mode] * (stride if extent > 1 else 0)
        for k, (mode, move) in enumerate(moves):
            steps[:, k] = move * strides[mode]
        return offsets, steps
    indices = starts + np.array(layout.shape.origin, dtype=np.int64)
    if len(starts) <= CACHED:
        # All at once: a call costs more than what it does for a few.
        many = np.repeat(indices[np.newaxis], len(moves) + 1, axis=0)
        for k, (mode, move) in enumerate(moves, 1):
            many[k, :, mode] += move
        found = layout.offsets_of(many)
        steps[...] = (found[1:] - found[0]).T
        return found[0], steps
    offsets = layout.offsets_of(indices)
    for k, (mode, move) in enumerate(moves):
        indices[:, mode] += move
        steps[:, k] = layout.offsets_of(indices) - offsets
        indices[:, mode] -= move
    return offsets, steps


@final
@frozen(eq=False)
class CellCopy(CopySteps):
    """The cells of a jagged shape, each of which both sides see as one block."""

    source: Cells
    target: Cells

    def blocks(self) -> Iterator[CopyTable]:
        a, b = self.source, self.target
        filled = np.flatnonzero(a.filled())
        for first in range(0, len(filled), _CELLS):
            rows = filled[first : first + _CELLS]
            yield CopyTable(a.extents[rows], a.starts[rows], a.strides[rows], b.starts[rows], b.strides[rows])


def cells_of(layout: LayoutCommon, inner: int) -> Cells:
    """Return where a layout puts the cells of its shape, each the box of the last `inner` modes."""
    rows = rows_of(layout.shape)
    if layout.tiled is None and rows.columns.leaf_rank == inner:
        table = layout.cell_table()
        if table is not None:
            return Cells(rows.columns.leaf_extents(*rows.leaves), *table)
    if rows.columns.leaf_rank > inner:
        rows = rows_of(wrap(Jagged(unroll(rows, rows.rank - inner))))
    boxes = rows.cell_table()
    outer = boxes.indices.shape[1]
    extents, steps = boxes.extents, np.zeros_like(boxes.extents)
    filled = (extents > 0).all(axis=1)
    indices = np.concatenate([boxes.indices, boxes.origins], axis=1)[filled]
    starts = np.zeros(len(extents), dtype=np.int64)
    starts[filled] = layout.offsets_of(indices)
    for mode in range(inner):
        # Without a second element, the first is used again.
        move = extents[filled, mode] > 1
        indices[:, outer + mode] += move
        steps[filled, mode] = layout.offsets_of(indices) - starts[filled]
        indices[:, outer + mode] -= move
    return Cells(extents, starts, steps)


@final
@frozen(eq=False)
class OrdinalCopy(CopySteps):
    """Copy of all elements in row-major order, for layouts without known structure."""

    source: LayoutCommon
    target: LayoutCommon

    def blocks(self) -> Iterator[CopyTable]:
        for first in range(0, self.source.shape.size, _ELEMENTS):
            ordinals = np.arange(first, min(first + _ELEMENTS, self.source.shape.size), dtype=np.int64)
            source, target = [
                layout.offsets_of(layout.shape.indices_at(ordinals)) for layout in (self.source, self.target)
            ]
            jumps = (np.diff(source) != 1) | (np.diff(target) != 1)
            starts = np.flatnonzero(np.append(True, jumps))
            lengths = np.diff(starts, append=len(ordinals))[:, np.newaxis]
            ones = np.ones_like(lengths)
            yield CopyTable(lengths, source[starts], ones, target[starts], ones)
