"""Layouts of cells and tiles, and positions of their elements."""

from collections.abc import Callable, Iterator
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import has_type, shown_array
from tensorwrapper._error_text import shortened
from tensorwrapper.errors import ConversionError, JaggedModeError, LayoutError, OutOfBoundsError, RankError
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import (
    TileView,
    contiguous,
    make_blocked,
    new_strided,
    tile_table,
    tile_view,
    wrap_layout,
)
from tensorwrapper.shape import CellTable, JaggedCommon, Shape
from tensorwrapper.shape.lowlevel import make_smooth, mask_of_predicate, wrap
from tensorwrapper.typing import Array, Extents, Index, IntArray

if TYPE_CHECKING:
    from tensorwrapper.tensor._tensor_base import TensorBase


def groups_of(extents: IntArray) -> list[tuple[Extents, IntArray]]:
    """Return the groups of equal rows of a table, with their values, ascending; O(n log n)."""
    if not len(extents):
        return []
    order = np.lexsort(extents.T[::-1]) if extents.shape[1] else np.arange(len(extents))
    ascending = extents[order]
    starts = np.flatnonzero((ascending[1:] != ascending[:-1]).any(axis=1)) + 1
    sizes: list[list[int]] = ascending[[0, *starts.tolist()]].tolist()
    return [(tuple(size), part) for size, part in zip(sizes, np.split(order, starts), strict=True)]


def cut_elements(tensor: "TensorBase[Any]") -> tuple[Array, list[IntArray]]:
    """Return an array, and where it is cut along each mode: into the tiles of a box, or cells in a line.

    O(1) if the memory of the box, or of the line, is an array; else one copy.
    """
    view = tensor.layout.implementation.tiled
    if view is None:
        rows = cast("JaggedCommon", tensor.shape.flatten().implementation).rows
        return tensor.elements(), [rows.cell_offsets()]
    array = tensor.buffer.memory_of(view.under)
    if array is None:
        array = tensor.buffer.elements_of(view.under).reshape(view.under.shape.extents)
    return array, [own.starts for own in view.tiling.partitions]


def cells_in_box(shape: Shape[Any], box: Layout[Any]) -> Layout[Any]:
    """Return the positions of the cells of a jagged shape in a packed box.

    Raises
    ------
    RankError
        If the cells have another rank than the box.
    OutOfBoundsError
        If a cell is not inside, which it is if it is empty.
    LayoutError
        If two cells overlap; the text names both.
    """
    if shape.has_layers:
        raise JaggedModeError(
            f"scatter takes cells or tiles, not the layers of {shortened(str(shape))}: flatten() has none"
        )
    table, inside = shape.cell_table(), box.shape
    rank = table.extents.shape[1]
    if rank != inside.rank:
        raise RankError(f"cells of rank {rank} lie in a box of rank {rank}, not in {inside}")
    filled = table.extents.all(axis=1)
    low = np.array(inside.origin, dtype=np.int64)
    high = low + np.array(inside.extents, dtype=np.int64)
    outside = filled & ((table.origins < low) | (table.origins + table.extents > high)).any(axis=1)
    if outside.any():
        index = tuple(table.indices[int(outside.argmax())].tolist())
        raise OutOfBoundsError(f"the cell {index}, which is {shape.element(index)}, is not inside {inside}")
    strides = np.array(box.strides, dtype=np.int64)
    starts = (table.origins - low) @ strides
    placed = wrap_layout(make_blocked(shape, starts, np.broadcast_to(strides, table.extents.shape)))
    if not placed.is_injective:
        raise LayoutError(_overlap(placed, table, box))
    return placed


def _overlap(placed: Layout[Any], table: CellTable, box: Layout[Any]) -> str:
    """Return the message for two cells that have an element of a box in common. O(n log n)."""
    offsets = placed.offsets_of_ordinals(np.arange(placed.shape.size))
    order = np.argsort(offsets, kind="stable")
    at = int((np.diff(offsets[order]) == 0).argmax())
    ends = np.cumsum(table.extents.prod(axis=1))
    one, other = (
        tuple(table.indices[cell].tolist()) for cell in np.searchsorted(ends, order[at : at + 2], "right")
    )
    where = tuple(box.shape.indices_at(offsets[order[at : at + 1]])[0].tolist())
    return (
        f"several elements would be written to one place: the cells {one} and {other} both have the element "
        f"{where}; scatter needs cells that do not overlap"
    )


def cell_layouts(layout: LayoutCommon, table: CellTable) -> Iterator[tuple[Index, LayoutCommon]]:
    """Return an iterator over the cells of a layout of a jagged shape: index, and layout with its origin."""
    places = layout.cell_table()
    if places is not None and places[1].shape[1] != table.extents.shape[1]:
        places = None
    step = 1024  # rows of the table made into Python numbers at a time
    parts = (slice(first, first + step) for first in range(0, len(table.extents), step))
    return chain.from_iterable(
        zip(_tuples(table.indices[part]), _layouts_of(layout, table, places, part), strict=True)
        for part in parts
    )


def _layouts_of(
    layout: LayoutCommon, table: CellTable, places: tuple[IntArray, IntArray] | None, part: slice
) -> Iterator[LayoutCommon]:
    """Return an iterator over the layouts of some cells, of which `places` says where those not empty lie."""
    sizes, origins = table.extents[part], table.origins[part]
    if places is not None:
        lies: list[int] = places[0][part].tolist()
        found: list[LayoutCommon] = list(
            map(new_strided, _tuples(sizes), _tuples(origins), _tuples(places[1][part]), lies)
        )
        for number in np.flatnonzero(~sizes.all(axis=1)).tolist():
            found[number] = layout.cell(part.start + number)
        return iter(found)
    if not layout.is_packed:
        return map(layout.cell, range(part.start, part.start + len(sizes)))
    starts = [layout.offset + before for before in table.offsets[part].tolist()]
    boxes = map(wrap, map(make_smooth, _tuples(sizes), _tuples(origins)))
    return map(contiguous, boxes, starts)


def _tuples(table: IntArray) -> Iterator[Index]:
    """Return an iterator over the rows of a table, as tuples of Python's integers."""
    count, width = table.shape
    if not width or (count and not table.strides[0]):
        return repeat(tuple(table[0].tolist()) if width else (), count)
    return zip(*table.T.tolist(), strict=True)


def tile_numbers(view: TileView, numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]") -> IntArray:
    """Return the (n, rank) tile numbers that a user names, by a table, a mask or a predicate."""
    rank = view.tiling.rank
    grid: Shape[Any] = wrap(make_smooth(view.tiling.grid.extents, view.grid_origin))
    given: Array = (
        mask_of_predicate(numbers, grid.origin, grid.extents) if callable(numbers) else shown_array(numbers)
    )
    if given.dtype == np.bool_:
        if given.shape != grid.extents:
            raise RankError(f"a mask over the tiles has extents {grid.extents}, not {given.shape}")
        return np.argwhere(given) + np.array(view.grid_origin, dtype=np.int64)
    if not given.size and given.ndim <= 2 and not has_type(numbers):
        return np.empty((0, rank), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != rank or given.dtype.kind not in "iu":
        raise ConversionError(
            f"tile numbers are an integer array of shape (n, {rank}), not {given.dtype} of {given.shape}"
        )
    grid.ordinals(given)  # raises for a number outside the grid
    return given.astype(np.int64, copy=False)


def select_tiles(layout: Layout[Any], numbers: "npt.ArrayLike | Callable[..., npt.ArrayLike]") -> Layout[Any]:
    """Return the layout of some tiles in place: cells of a jagged shape, each with its position.

    Raises
    ------
    LayoutError
        If the layout is not of tiles.
    """
    held = layout.implementation.unnamed()
    view = tile_view(held)
    if view is None:
        raise LayoutError(
            f"select_tiles needs a tiled view, which tiled(tiling) makes; this is {layout.shape}"
        )
    places = tile_numbers(view, numbers) - np.array(view.grid_origin, dtype=np.int64)
    pairs = list(zip(view.tiling.marks, places.T, strict=True))
    origins = np.stack([marks[k] for marks, k in pairs], axis=1)
    extents = np.stack([marks[k + 1] - marks[k] for marks, k in pairs], axis=1)
    shape = Shape.from_cells((len(places),), extents, origins=origins)
    return wrap_layout(make_blocked(shape, *tile_table(held, places, view)))
