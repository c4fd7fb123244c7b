"""Copies that are no single strided block, as batches of blocks that both sides put in regular places."""

import math
from collections.abc import Iterator
from typing import final

import attrs
import numpy as np

from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.cells._blocked import rows_of
from tensorwrapper.layout.cells._cells import Cells
from tensorwrapper.layout.copies._bands import bands_of
from tensorwrapper.layout.copies._table import CopySteps, CopyTable, Planes
from tensorwrapper.shape import Jagged
from tensorwrapper.shape.lowlevel import unroll, wrap
from tensorwrapper.typing import IntArray

__all__ = ["CellCopy", "OrdinalCopy", "RegionCopy", "cells_of"]

_BLOCKS = 1 << 14  # blocks at a time
_CELLS = 1 << 16  # the same where their places are known
_ELEMENTS = 1 << 16  # elements at a time, where each has to be looked at


@final
@attrs.frozen(eq=False)
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

    def tables(self) -> Iterator[CopyTable]:
        counts = [len(piece) for piece in self.pieces]
        for first in range(0, self.count, _BLOCKS):
            numbers = np.arange(first, min(first + _BLOCKS, self.count), dtype=np.int64)
            rows = np.unravel_index(numbers, counts)
            chosen = [piece[row] for piece, row in zip(self.pieces, rows, strict=True)]
            yield self._table(chosen).joined()

    def planes(self) -> Planes | None:
        bands = bands_of(self.source, self.target, self.count)
        return None if bands is None else bands.planes()

    def _table(self, chosen: list[IntArray]) -> CopyTable:
        starts = np.stack([piece[:, 0] for piece in chosen], axis=1)
        extents: list[IntArray] = []
        moves: list[tuple[int, IntArray]] = []
        for mode, piece in enumerate(chosen):
            _, extent, small, large = piece.T
            levels = ((extent // large, large), (large // small, small), (small, np.ones_like(small)))
            for count, move in levels:
                if (count > 1).any():
                    extents.append(count)
                    # A step that is never taken must not lead out of the shape.
                    moves.append((mode, np.where(count > 1, move, 0)))
        sides = [_places(layout, starts, moves) for layout in (self.source, self.target)]
        table = np.stack(extents, axis=1) if extents else np.empty((len(starts), 0), dtype=np.int64)
        return CopyTable(table, *sides[0], *sides[1])


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
    offsets = layout.offsets_of(indices)
    for k, (mode, move) in enumerate(moves):
        indices[:, mode] += move
        steps[:, k] = layout.offsets_of(indices) - offsets
        indices[:, mode] -= move
    return offsets, steps


@final
@attrs.frozen(eq=False)
class CellCopy(CopySteps):
    """The cells of a jagged shape, each of which both sides see as one block."""

    source: Cells
    target: Cells

    def tables(self) -> Iterator[CopyTable]:
        a, b = self.source, self.target
        filled = np.flatnonzero(a.filled())
        for first in range(0, len(filled), _CELLS):
            rows = filled[first : first + _CELLS]
            yield CopyTable(
                a.extents[rows], a.starts[rows], a.strides[rows], b.starts[rows], b.strides[rows]
            ).joined()


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
        # Where there is no second element, the first is looked at again.
        move = extents[filled, mode] > 1
        indices[:, outer + mode] += move
        steps[filled, mode] = layout.offsets_of(indices) - starts[filled]
        indices[:, outer + mode] -= move
    return Cells(extents, starts, steps)


@final
@attrs.frozen(eq=False)
class OrdinalCopy(CopySteps):
    """All elements in row-major order, for layouts of which nothing else is known."""

    source: LayoutCommon
    target: LayoutCommon

    def tables(self) -> Iterator[CopyTable]:
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
