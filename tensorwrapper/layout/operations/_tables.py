"""The table of cells behind any layout, and the same table with more of its modes unrolled."""

from typing import Any

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, shared_row, shared_table, splits_of
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.boxes._strided import Strided
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked
from tensorwrapper.layout.cells._parts import PlacedRows, rows_of
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import Columns, tidy_origins, unroll, wrap
from tensorwrapper.typing import IntArray

__all__ = ["gather_rows", "rows_under", "table_of", "unrolled"]


def rows_under(shape: Shape[Any]) -> Rows:
    """Return the columns of a jagged shape, or those of a box with its first mode unrolled."""
    return rows_of(shape.as_jagged())


def table_of(held: LayoutCommon) -> PlacedRows:
    """Return the place and the strides of every cell of a layout of rank 2 or more; of a box cell k is row k.

    O(cells) where cells are strided; of any other layout every element becomes a cell.
    """
    if isinstance(held, Packed | TiledStrided):
        held = held.as_blocked()
    rows = rows_under(held.shape)
    check_int64(held, held.offset)
    if isinstance(held, Blocked):
        return PlacedRows(rows, held.starts, held.strides)
    if isinstance(held, Strided):
        starts = held.offset + held.strides[0] * np.arange(held.extents[0], dtype=np.int64)
        return PlacedRows(rows, starts, shared_table(held.strides[1:], held.extents[0]))
    places = np.asarray(held.to_numpy()).reshape(-1)
    return PlacedRows(unroll(rows, rows.rank - 1), places, shared_table((), len(places)))


def unrolled(table: PlacedRows, outer_rank: int) -> PlacedRows:
    """Return the table of the same elements with `outer_rank` unrolled modes or more; O(its cells).

    With all modes but none left in the cells, every element is one: `outer_rank` is the rank.
    """
    rows = table.rows
    while rows.rank - table.width < outer_rank and table.width:
        counts = rows.columns.leaf_extents(*rows.leaves)[:, 0]
        starts = _spread(table.starts, counts, table.strides[:, 0])
        row = shared_row(table.strides)
        if row is None:
            strides = np.repeat(table.strides[:, 1:], counts, axis=0)
        else:
            strides = shared_table(row[1:], len(starts))
        rows = unroll(rows, min(rows.outer_rank + 1, rows.rank - 1))
        table = PlacedRows(rows, starts, strides)
    return table


def _spread(starts: IntArray, counts: IntArray, steps: IntArray) -> IntArray:
    """Return ``starts[k] + j * steps[k]`` for j below ``counts[k]``, one k after the other."""
    places = concatenated_ranges(np.zeros_like(counts), counts)
    places *= np.repeat(steps, counts)
    places += np.repeat(starts, counts)
    return places


def gather_rows(layout: Packed, places: IntArray) -> Packed | Blocked | None:
    """Return the layout of these rows of packed ones; None if they are not lists of elements, or not there.

    Two look-ups per row, where the general way takes a dozen passes.
    """
    rows = rows_of(layout.shape)
    columns, leaf = rows.columns, rows.columns.leaf
    if rows.outer_rank > 1 or leaf.ndim > 1 or not len(places):
        return None
    if int(places.min()) < -rows.count or int(places.max()) >= rows.count:
        return None
    nodes = np.where(places < 0, places + rows.count, places) + rows.start
    begins = leaf.take(nodes)
    lengths = np.diff(leaf).take(nodes) if 4 * len(nodes) > len(leaf) else leaf[nodes + 1] - begins
    origin = columns.leaf_origins[0]
    inner = origin if isinstance(origin, int) else tidy_origins(origin[nodes])
    shape = wrap(Jagged(Rows.whole(Columns((), splits_of(lengths), (0,), (inner,)))))
    starts = begins + (layout.offset - leaf.item(rows.start))
    made = make_blocked(shape, starts, shared_table((1,), len(nodes)), layout.offset)
    seen = np.zeros(rows.stop, dtype=np.bool_)
    seen[nodes] = True
    if isinstance(made, Blocked) and np.count_nonzero(seen) == len(nodes):
        # Different rows of packed ones: this would be found out again, by sorting them.
        object.__setattr__(made, "_injective", True)
    return made
