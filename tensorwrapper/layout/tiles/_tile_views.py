"""The box and the tiles of any layout over a tiled shape.

Tiles stored one after the other are tile-major storage of their box; other tiles are tiles in memory.
"""

from collections.abc import Iterable
from typing import Any, SupportsIndex, cast

import numpy as np

from tensorwrapper.layout.boxes._common import LayoutCommon, TileView
from tensorwrapper.layout.boxes._strided import Strided, new_strided, packed_strides
from tensorwrapper.layout.cells._cells import packed_table
from tensorwrapper.layout.tiles._tile_major import TileMajor
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.layout.tiles._tiles_in_memory import box_of_tiles
from tensorwrapper.shape import Tiled, Tiling
from tensorwrapper.shape.lowlevel import make_tiling, to_index
from tensorwrapper.typing import IntArray


def tile_major(tiling: Tiling[Any], offset: int) -> TileMajor:
    """Return the layout of the box whose tiles are stored one after the other, each row-major; O(1)."""
    order = tuple(range(tiling.rank - 1, -1, -1))
    return TileMajor(tiling, order, order, 1, offset)


def tile_view(layout: LayoutCommon) -> TileView | None:
    """Return the box, its tiles and the number of the first; None unless the shape is tiled.

    O(1) where tiles are stored in a box or one after the other, else O(tiles).
    """
    if layout.tiled is not None:
        return layout.tiled
    tiled = _tiled_of(layout)
    if tiled is None:
        return None
    tiling, first = make_tiling(tiled.partitions), tiled.grid.origin
    if layout.is_packed:
        return TileView(tiling, tile_major(tiling, layout.offset), first)
    table = _table_of(layout, tiled)
    if table is None or not layout.is_injective:
        return None
    return TileView(tiling, box_of_tiles(tiling, *table), first)


def tile_layout(layout: LayoutCommon, number: Iterable[SupportsIndex]) -> Strided | None:
    """Return the layout of the tile of a number, with its origin in the box; None as `tile_view`. O(rank).

    Raises
    ------
    OutOfBoundsError
        If there is no such tile.
    """
    if layout.tiled is not None:
        return cast("TiledStrided", layout).tile(number)
    tiled = _tiled_of(layout)
    if tiled is None:
        return None
    rank = len(tiled.partitions)
    numbers = to_index(number, rank)
    places = [k - start for k, start in zip(numbers, tiled.grid.origin, strict=True)]
    box = make_tiling(tiled.partitions).tile(places)
    if layout.is_packed:
        before = tiled.ordinal((*numbers, *(0,) * rank)) if box.size else 0
        strides = packed_strides(box.extents, range(rank - 1, -1, -1))
        return new_strided(box.extents, box.origin, strides, layout.offset + before)
    table = _table_of(layout, tiled)
    if table is None:
        return None
    place = tuple(places)
    return new_strided(box.extents, box.origin, tuple(table[1][place].tolist()), int(table[0][place]))


def tile_table(layout: LayoutCommon, places: IntArray, view: TileView) -> tuple[IntArray, IntArray]:
    """Return the places of some tiles, and an (n, rank) table of their strides.

    `places` has a row of tile numbers, counted from zero, for each; `view` is the `tile_view`. A tile without
    elements may have any place. O(rank) a tile; O(tiles) once where tiles have places one by one.
    """
    columns = [(marks, places[:, mode]) for mode, marks in enumerate(view.tiling.marks)]
    origins = np.stack([marks[k] for marks, k in columns], axis=1)
    if layout.tiled is not None:
        under = view.under
        strides = np.array(under.mode_strides, dtype=np.int64)
        starts = (origins - np.array(under.shape.origin, dtype=np.int64)) @ strides + under.offset
        return starts, np.broadcast_to(strides, origins.shape)
    if layout.is_packed:
        extents = np.stack([marks[k + 1] - marks[k] for marks, k in columns], axis=1)
        starts = np.zeros(len(places), dtype=np.int64)
        filled = extents.all(axis=1)
        starts[filled] = view.under.offsets_of(origins[filled])
        return starts, packed_table(extents, tuple(range(extents.shape[1] - 1, -1, -1)))
    found = _table_of(layout, cast("Tiled", layout.shape.implementation))
    starts, strides = cast("tuple[IntArray, IntArray]", found)
    chosen = tuple(places.T)
    return starts[chosen], strides[chosen]


def _tiled_of(layout: LayoutCommon) -> Tiled | None:
    if layout.shape.has_layers:
        return None
    implementation: Any = layout.shape.implementation
    return implementation if isinstance(implementation, Tiled) and implementation.partitions else None


def _table_of(layout: LayoutCommon, tiled: Tiled) -> tuple[IntArray, IntArray] | None:
    """Return place and strides of each tile, over the grid; None if the tiles are not strided."""
    table, rank = layout.cell_table(), len(tiled.partitions)
    if table is None or table[1].shape[1] != rank:
        return None
    grid = tiled.grid.extents
    strides = np.broadcast_to(table[1], (len(table[0]), rank))
    return table[0].reshape(grid), strides.reshape(*grid, rank)
