"""The table of cells behind any layout."""

from typing import Any

import numpy as np

from tensorwrapper._arrays import shared_table
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64
from tensorwrapper.layout.cells._parts import PlacedRows, rows_of
from tensorwrapper.shape import Rows, Shape
from tensorwrapper.shape.lowlevel import unroll

__all__ = ["rows_under", "table_of"]


def rows_under(shape: Shape[Any]) -> Rows:
    """Return the columns of a jagged shape, or those of a box with its first mode unrolled."""
    return rows_of(shape.as_jagged())


def table_of(layout: LayoutCommon) -> PlacedRows:
    """Return the place and the strides of every cell of a layout of rank 2 or more; of a box cell k is row k.

    O(cells) where cells are strided; of any other layout every element becomes a cell.
    """
    rows = rows_under(layout.shape)
    check_int64(layout, layout.offset)
    table = layout.cell_table()
    if table is not None:
        return PlacedRows(rows, *table)
    places = np.asarray(layout.to_numpy()).reshape(-1)
    return PlacedRows(unroll(rows, rows.rank - 1), places, shared_table((), len(places)))
