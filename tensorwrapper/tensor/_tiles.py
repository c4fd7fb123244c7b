"""Cells and tiles: the layout of each, and the places of the elements of many."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tensorwrapper._arrays import BATCH
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import TiledStrided, contiguous
from tensorwrapper.shape import CellTable, Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Array, Index, IntArray

__all__ = ["cell_layouts", "places_of_tiles", "tile_numbers"]


def cell_layouts(held: LayoutCommon, table: CellTable) -> Iterator[tuple[Index, LayoutCommon]]:
    """Return an iterator over the cells of a layout of a jagged shape: index, and layout with its origin."""
    n, step = len(table.extents), 4096  # rows of the table made into Python numbers at a time
    for first in range(0, n, step):
        part = slice(first, min(first + step, n))
        indices: list[list[int]] = table.indices[part].tolist()
        extents: list[list[int]] = table.extents[part].tolist()
        origins: list[list[int]] = table.origins[part].tolist()
        offsets: list[int] = table.offsets[part].tolist()
        cells = zip(indices, extents, origins, offsets, strict=True)
        for place, (number, sizes, starts, before) in enumerate(cells, first):
            index = tuple(number)
            cell = wrap(make_smooth(tuple(sizes), tuple(starts)))
            yield index, contiguous(cell, held.offset + before) if held.is_packed else held.cell(place)


def tile_numbers(held: TiledStrided, given: Array) -> IntArray:
    """Return the (n, rank) tile numbers that a user names, by a table or by a mask over the grid."""
    grid: Shape[Any] = held.shape.outer()
    if given.dtype == np.bool_:
        if given.shape != grid.extents:
            raise RankError(f"a mask over the tiles has extents {grid.extents}, not {given.shape}")
        return np.argwhere(given) + np.array(held.grid_origin, dtype=np.int64)
    if not given.size and given.ndim <= 2:
        return np.empty((0, held.tiling.rank), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != held.tiling.rank or given.dtype.kind not in "iu":
        raise ConversionError(
            f"tile numbers are an integer array of shape (n, {held.tiling.rank}), not {given.dtype} of "
            f"{given.shape}"
        )
    grid.ordinals(given)  # raises for a number outside the grid
    return given.astype(np.int64, copy=False)


def places_of_tiles(held: TiledStrided, numbers: IntArray) -> tuple[Shape[Any], Iterator[IntArray]]:
    """Return the jagged shape of these tiles, where they lie, and the offsets of its elements in batches."""
    places = numbers - np.array(held.grid_origin, dtype=np.int64)
    pairs = list(zip(held.tiling.marks, places.T, strict=True))
    origins = np.stack([marks[k] for marks, k in pairs], axis=1)
    extents = np.stack([marks[k + 1] - marks[k] for marks, k in pairs], axis=1)
    shape = Shape.from_cells((len(numbers),), extents, origins=origins)
    # The cells lie where their elements lie, so an index without its row is an element of the box.
    batches = shape.indices().batches(BATCH)
    return shape, (held.under.offsets_of(batch[:, 1:]) for batch in batches)
