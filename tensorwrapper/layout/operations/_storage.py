"""Offsets of the cells of a jagged shape: consecutive, aligned, or given."""

from collections.abc import Iterable
from typing import Any, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shared_table
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper.errors import LayoutError, RankError, SizeOverflowError
from tensorwrapper.layout.boxes._orders import fastest_first, is_default
from tensorwrapper.layout.boxes._strided import Strided, packed_strides
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked
from tensorwrapper.layout.cells._cells import Cells, check_reach, packed_table
from tensorwrapper.layout.cells._padded import Padded
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import integer_array
from tensorwrapper.typing import IntArray, Order


def packed_cells(
    shape: Shape[Any], order: Order | Iterable[SupportsIndex], alignment: SupportsIndex, offset: int
) -> Strided | Packed | Blocked:
    """Return the layout of one cell after the other; a box is one cell.

    ``order`` is that of the modes of a cell, and every cell starts at a multiple of `alignment`.
    """
    multiple = to_int(alignment, "an alignment")
    if multiple < 1:
        raise LayoutError(f"an alignment is a positive number of elements, not {multiple}")
    if shape.has_layers:
        raise LayoutError(
            f"the layers of {shape} are more than cells: Layout(shape) keeps each of them together"
        )
    if shape.is_box:
        return Strided(shape, packed_strides(shape.extents, fastest_first(order, shape.rank)), offset)
    if multiple == 1 and is_default(order):
        return Packed(shape, offset)
    rows = rows_of(shape)
    inner = fastest_first(order, rows.columns.leaf_rank)
    befores = rows.cell_offsets()
    if shape.size + multiple * len(befores) + abs(offset) > MAX_INT64:
        raise SizeOverflowError(f"the places of the cells of {shape}, from {offset} on, leave 64 bits")
    sizes = np.diff(befores)
    sizes += -sizes % multiple
    starts = np.cumsum(sizes) - sizes + offset
    extents = rows.columns.leaf_extents(*rows.leaves)
    return make_blocked(shape, starts, packed_table(extents, inner), offset)


def padded_box(shape: Shape[Any], order: Order | Iterable[SupportsIndex], offset: int) -> Strided | Padded:
    """Return the layout with every element at its position in the bounding box, which starts at `offset`."""
    if shape.has_layers:
        raise LayoutError(f"the layers of {shape} have no place in a box: pad its flatten()")
    box = shape.as_smooth().copy()
    under = Strided(box, packed_strides(box.extents, fastest_first(order, shape.rank)), offset)
    if shape.is_box:
        return under
    check_reach(*under.bounds())
    return Padded(shape, under)


def cells_at(
    shape: Shape[Any],
    offsets: npt.ArrayLike,
    strides: npt.ArrayLike | None,
    order: Order | Iterable[SupportsIndex],
) -> Packed | Blocked:
    """Return the layout of cells at these places, which users gave: everything is checked and copied."""
    if shape.is_box or shape.has_layers:
        raise LayoutError(f"a table of cells is for a jagged shape, not for the {shape.kind} shape {shape}")
    rows = rows_of(shape)
    (first, last), width = rows.leaves, rows.columns.leaf_rank
    count = last - first
    starts = _int64(offsets, "block offsets")
    if starts.shape != (count,):
        raise RankError(
            f"{shape} has {count} cells, each with one block offset, not offsets of shape {starts.shape}"
        )
    extents = rows.columns.leaf_extents(first, last)
    if strides is None:
        table = packed_table(extents, fastest_first(order, width))
    else:
        if not is_default(order):
            raise LayoutError("give either strides or an order, which says what the strides are")
        table = _int64(strides, "strides")
        if table.shape not in {(width,), (count, width)}:
            raise RankError(
                f"the strides of {count} cells of rank {width} have the shape ({width},) or "
                f"({count}, {width}), not {table.shape}"
            )
        table = shared_table(tuple(table.tolist()), count) if table.ndim == 1 else table
    Cells(extents, starts, table).check_fits()
    return make_blocked(shape, starts, table)


def _int64(values: npt.ArrayLike, what: str) -> IntArray:
    """Return a copy of integers of any type; an array that a user may change is not kept."""
    array = integer_array(values, what)
    if array.size and (int(array.max()) > MAX_INT64 or int(array.min()) < -MAX_INT64):
        raise SizeOverflowError(f"{what} must fit into 64 bits")
    return array.astype(np.int64)
