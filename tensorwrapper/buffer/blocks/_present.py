"""The present tiles that a layout reaches in a buffer of blocks, and the place of each."""

import math
from collections.abc import Sequence
from typing import Any, Generic, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer._addresses import copied_by_plan, packed_layout
from tensorwrapper.buffer._common import Dense
from tensorwrapper.buffer.copies._copy import copy_elements, scatter_elements, take_elements
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import contiguous, make_blocked, packed_strides, tile_major, wrap_layout
from tensorwrapper.shape import BlockPattern, Shape, Tiled
from tensorwrapper.shape.lowlevel import ModeNames, has_tiles, make_block_pattern, wrap
from tensorwrapper.typing import Array, Index, IntArray, ScalarT_co


@final
@frozen(eq=False, repr=False)
class PresentTiles(Generic[ScalarT_co]):
    """The tiles that a layout reaches in a buffer of blocks; an empty tile may have any place."""

    pattern: BlockPattern[Any]
    """The present tiles, of the tiling that the layout has."""
    held: Dense[ScalarT_co]
    """The memory that has their elements."""
    fill: "npt.NDArray[ScalarT_co]"
    """The element of all other tiles, an array of rank 0."""
    first: Index | None
    """The number of the first tile, if the layout is over the grid; None if it is over the box."""
    table: tuple[IntArray, IntArray] | None
    """Place and strides of each tile; None if they are contiguous, each row-major."""

    def over(self, pattern: BlockPattern[Any]) -> "PresentTiles[ScalarT_co]":
        """Return the same facts of the layout for other tiles, without elements."""
        return PresentTiles(pattern, self.held, self.fill, self.first, None)

    def take(self, slots: IntArray) -> "PresentTiles[ScalarT_co]":
        """Return some of the tiles, by their places among these, which ascend."""
        pattern = make_block_pattern(self.pattern.tiling, self.pattern.ordinals()[slots])
        starts, strides = self.places()
        return PresentTiles(pattern, self.held, self.fill, self.first, (starts[slots], strides[slots]))

    def places(self) -> tuple[IntArray, IntArray]:
        """Return where each tile starts in memory, and a row of strides for each."""
        if self.table is not None:
            return self.table
        return self.pattern.offsets()[:-1], row_major_table(self.pattern.tile_extents())

    def source(self, order: Sequence[int] | None = None) -> LayoutCommon:
        """Return the places of the elements, as a layout of rows of tiles; in an order of modes if given."""
        extents = self.pattern.tile_extents()
        if order is None and self.table is None:
            return packed_layout(Shape.from_cells((self.pattern.count,), extents)).implementation
        starts, strides = self.places()
        modes = list(range(self.pattern.rank) if order is None else order)
        cells = Shape.from_cells((self.pattern.count,), extents[:, modes])
        return make_blocked(cells, starts, strides[:, modes])

    def values(self, order: Sequence[int] | None = None) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as one flat array, tile after tile; a view if they are stored so.

        With an order, mode ``k`` of each tile is mode ``order[k]`` of the pattern.
        """
        size = self.pattern.elements
        if order is not None and list(order) == list(range(self.pattern.rank)):
            order = None
        if order is None and self.table is None:
            return self.held.flat
        layout = self.source(order)
        if layout.is_packed:
            return self.held.flat[layout.offset : layout.offset + size] if size else self.held.flat[:0]
        return copied_by_plan(self.held.flat, layout, packed_layout(layout.shape).implementation, size)

    def at(self, pattern: BlockPattern[Any]) -> "npt.NDArray[ScalarT_co]":
        """Return the elements of the tiles of a pattern of the same grid, the fill where there is none.

        They share memory with this buffer only if these are its tiles.
        """
        if self.pattern.count == pattern.count and np.array_equal(
            self.pattern.ordinals(), pattern.ordinals()
        ):
            return self.values()
        values = self.values_of(has_tiles(self.pattern, pattern))
        chosen = has_tiles(pattern, self.pattern)
        if chosen.all():
            return values
        result: npt.NDArray[ScalarT_co] = np.full(pattern.elements, self.fill, self.held.dtype)
        put_tiles(result, chosen, values, pattern)
        return result

    def values_of(self, kept: "npt.NDArray[np.bool_]") -> "npt.NDArray[ScalarT_co]":
        """Return the elements of some of the tiles, one after the other, as `values`."""
        if kept.all():
            return self.values()
        if self.table is None:
            return picked_tiles(self.values(), kept, self.pattern)
        return self.take(np.flatnonzero(kept)).values()

    def own_values(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as `values`, in an array that shares no memory."""
        found = self.values()
        return copy_elements(found) if np.may_share_memory(found, self.held.flat) else found

    def ordinals(self) -> LayoutCommon:
        """Return which ordinal each element has in the shape of the layout, as a layout of rows of tiles."""
        pattern = self.pattern
        extents = pattern.tile_extents()
        cells = Shape.from_cells((pattern.count,), extents)
        if self.first is not None:
            starts, strides = tile_places(pattern), row_major_table(extents)
        else:
            box = pattern.tiling.elements
            steps = np.array(packed_strides(box.extents, range(pattern.rank - 1, -1, -1)), dtype=np.int64)
            starts = (pattern.tile_origins() - np.array(box.origin, dtype=np.int64)) @ steps
            strides = np.broadcast_to(steps, extents.shape)
        return make_blocked(cells, starts, strides)

    def stored(self) -> "tuple[IntArray, npt.NDArray[ScalarT_co]]":
        """Return the ordinals of the elements in the shape of the layout, ascending, and the elements."""
        ordinals, values = self.ordinals().to_numpy().reshape(-1), self.values()
        if self.first is not None or (ordinals[1:] > ordinals[:-1]).all():
            return ordinals, values
        order = np.argsort(ordinals)
        return ordinals[order], take_elements(values, iter([order]), len(order))

    def dense(self) -> "npt.NDArray[ScalarT_co]":
        """Return all elements of the shape of the layout as a flat array, the fill where no tile is."""
        size = self.pattern.tiling.elements.size
        if self.pattern.elements == size and self.first is not None:
            return self.own_values()
        target = self.ordinals()
        if not self.fill.reshape(1).view(np.uint8).any():
            return copied_by_plan(self.held.flat, self.source(), target, size)
        flat: npt.NDArray[ScalarT_co] = np.full(size, self.fill)
        scatter_elements(self.values(), (target.to_numpy().reshape(-1),), flat)
        return flat

    def layout(self, names: ModeNames | None) -> Layout[Any]:
        """Return the layout over the same shape of tiles that lie one after the other."""
        tiling = self.pattern.tiling
        if self.first is None:
            return wrap_layout(tile_major(tiling, 0), names)
        return wrap_layout(contiguous(wrap(Tiled(tiling.partitions, self.first)), 0), names)


def picked_tiles(
    values: "npt.NDArray[ScalarT_co]", kept: "npt.NDArray[np.bool_]", pattern: BlockPattern[Any]
) -> "npt.NDArray[ScalarT_co]":
    """Return the elements of some tiles of a pattern, of all that lie one after the other."""
    volume = volume_of_tiles(pattern)
    if volume:
        return values.reshape(-1, volume)[kept].reshape(-1)
    return values[np.repeat(kept, np.diff(pattern.offsets()))]


def put_tiles(
    result: Array, chosen: "npt.NDArray[np.bool_]", values: Array, pattern: BlockPattern[Any]
) -> None:
    """Write the elements of some tiles of a pattern to their places among all that it has."""
    volume = volume_of_tiles(pattern)
    if volume:
        result.reshape(-1, volume)[chosen] = values.reshape(-1, volume)
    else:
        result[np.repeat(chosen, np.diff(pattern.offsets()))] = values


def volume_of_tiles(pattern: BlockPattern[Any]) -> int:
    """Return how many elements each tile has, if all have as many: they are rows of a table; else 0."""
    bounds = [partition.bounds() for partition in pattern.tiling.partitions]
    return math.prod([most for _, most in bounds]) if all(least == most for least, most in bounds) else 0


def row_major_table(extents: IntArray) -> IntArray:
    """Return the strides of boxes without gaps, a row for each."""
    strides = np.ones_like(extents)
    for mode in range(extents.shape[1] - 2, -1, -1):
        strides[:, mode] = strides[:, mode + 1] * extents[:, mode + 1]
    return strides


def tile_places(pattern: BlockPattern[Any]) -> IntArray:
    """Return the address of each present tile, counted over all tiles of the grid. O(count).

    Tiles of smaller numbers in the first mode come before a tile, then those of the same number there and
    smaller ones in the next mode, and so on.
    """
    places = np.zeros(pattern.count, dtype=np.int64)
    width = np.ones(pattern.count, dtype=np.int64)
    tiles, rest = pattern.tiles(), pattern.tiling.elements.size
    for mode, partition in enumerate(pattern.tiling.partitions):
        rest //= max(partition.extent, 1)
        places += width * rest * partition.starts[tiles[:, mode]]
        width *= partition.sizes[tiles[:, mode]]
    return frozen_array(places)
