"""The table of cells behind any layout, and the same table with more of its modes unrolled."""

from typing import Any

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, shared_row, shared_table
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.cells._parts import PlacedRows, rows_of
from tensorwrapper.shape import Rows, Shape
from tensorwrapper.shape.lowlevel import unroll
from tensorwrapper.typing import IntArray

__all__ = ["rows_under", "table_of", "unrolled"]


def rows_under(shape: Shape[Any]) -> Rows:
    """Return the columns of a jagged shape, or those of a box with its first mode unrolled."""
    return rows_of(shape.as_jagged())


def table_of(held: LayoutCommon) -> PlacedRows:
    """Return the place and the strides of every cell of a layout of rank 2 or more; of a box cell k is row k.

    O(cells) where cells are strided; of any other layout every element becomes a cell.
    """
    rows = rows_under(held.shape)
    check_int64(held, held.offset)
    table = held.cell_table()
    if table is not None:
        return PlacedRows(rows, *table)
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
