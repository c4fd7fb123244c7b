"""Jagged shapes in an order of modes: where each cell starts, found by one sort and one running sum."""

from typing import Any

import numpy as np

from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.layout._blocked import Blocked, Packed, make_blocked, rows_of
from tensorwrapper.layout._cells import packed_table
from tensorwrapper.shape import Shape
from tensorwrapper.shape._arrays import shared_table
from tensorwrapper.shape._jagged import Jagged
from tensorwrapper.shape._shape import wrap
from tensorwrapper.shape._unroll import unroll
from tensorwrapper.typing import Index, IntArray

__all__ = ["jagged_in_order", "moved_cells"]


def jagged_in_order(shape: Shape[Any], modes: Index, offset: int) -> Packed | Blocked:
    """Return the layout without gaps whose elements are sorted by their indices in an order of modes.

    Row-major order needs no table. Otherwise the table has one place per cell if the modes of cells are
    faster than those that lead to them, whatever the order among either. Where they mix, cells are cut into
    rows, or at last into single elements, until they do not. O(places * log places).

    Parameters
    ----------
    shape
        A jagged shape.
    modes
        The modes, fastest first.
    offset
        Where the first element lies.

    Raises
    ------
    SizeOverflowError
        If places leave 64 bits.
    """
    rows, rank = rows_of(shape), shape.rank
    slowest_first = modes[::-1]
    if slowest_first == tuple(range(rank)):
        return Packed(shape, offset)
    if abs(offset) + shape.size >= 2**62:
        raise SizeOverflowError(f"{shape.size} places from {offset} on leave 64 bits")
    outer = _sorted_modes(slowest_first, rows.outer_rank)
    if outer == rank:
        table = shape.indices_at(np.arange(shape.size, dtype=np.int64))
        starts = _starts(table, slowest_first, np.ones(len(table), dtype=np.int64))
        return make_blocked(shape, starts + offset, shared_table((), len(starts)), offset)
    if outer > rows.outer_rank:
        rows = unroll(rows, outer)
        shape = wrap(Jagged(rows))
    befores = rows.cell_offsets()
    heads = slowest_first[:outer]
    if heads == tuple(range(outer)):
        starts = befores[:-1]
    else:
        starts = _starts(rows.prefixes(outer), heads, np.diff(befores))
    extents = rows.columns.leaf_extents(*rows.leaves)
    strides = packed_table(extents, tuple([mode - outer for mode in modes if mode >= outer]))
    return make_blocked(shape, starts + offset, strides, offset)


def _sorted_modes(slowest_first: Index, outer: int) -> int:
    """Return how many leading modes, `outer` at least, are slower than all the others."""
    return next(n for n in range(outer, len(slowest_first) + 1) if max(slowest_first[:n]) < n)


def _starts(table: IntArray, slowest_first: Index, sizes: IntArray) -> IntArray:
    """Return how many elements lie before each cell if the cells lie in an order of modes."""
    lying = np.lexsort([table[:, mode] for mode in reversed(slowest_first)])
    ends = np.cumsum(sizes[lying])
    starts = np.empty_like(ends)
    starts[lying] = ends - sizes[lying]
    return starts


def moved_cells(layout: Blocked, shape: Shape[Any]) -> Packed | Blocked:
    """Return a layout over `shape`, which differs from its own at most in its origins."""
    rows, width = rows_of(shape), layout.strides.shape[1]
    if width and rows.outer_rank < shape.rank - width:
        shape = wrap(Jagged(unroll(rows, shape.rank - width)))
    return make_blocked(shape, layout.starts, layout.strides, layout.offset)
