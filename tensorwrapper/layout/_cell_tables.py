"""The table of cells behind any layout, and the same table with more of its modes unrolled."""

from typing import Any, cast

import numpy as np

from tensorwrapper.layout._blocked import Blocked, Packed
from tensorwrapper.layout._cell_parts import PlacedRows, rows_of
from tensorwrapper.layout._common import LayoutCommon, check_int64
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.shape import Shape
from tensorwrapper.shape._arrays import concatenated_ranges, shared_table
from tensorwrapper.shape._encodings import as_jagged
from tensorwrapper.shape._rows import Rows
from tensorwrapper.shape._smooth import SmoothCommon
from tensorwrapper.shape._unroll import unroll
from tensorwrapper.typing import IntArray

__all__ = ["rows_under", "table_of", "unrolled"]


def rows_under(shape: Shape[Any]) -> Rows:
    """Return the columns of a jagged shape, or those of a box with its first mode unrolled."""
    return as_jagged(cast("SmoothCommon", shape._held)).rows if shape.kind == "smooth" else rows_of(shape)


def table_of(held: LayoutCommon) -> PlacedRows:
    """Return the place and the strides of every cell of a layout of rank 2 or more; of a box cell k is row k.

    O(cells) where cells are strided; of any other layout every element becomes a cell.
    """
    if isinstance(held, Packed):
        held = held.as_blocked()
    rows = rows_under(held.shape)
    if isinstance(held, TiledStrided):
        starts = np.array([held.offset])
        for partition, step in zip(held.tiling.partitions, held.under.strides, strict=True):
            starts = np.add.outer(starts, (partition.starts[:-1] - partition.origin) * step)
        return PlacedRows(rows, starts.reshape(-1), shared_table(held.under.strides, starts.size))
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
        counts = np.asarray(
            np.broadcast_to(rows.columns.leaf_extents(*rows.leaves)[:, 0], table.starts.shape)
        )
        steps = table.strides[:, 0]
        starts = _spread(table.starts, counts, steps)
        even = not table.strides.strides[0]
        if even and len(table.strides):
            strides = shared_table(tuple(table.strides[0, 1:].tolist()), len(starts))
        else:
            strides = np.repeat(table.strides[:, 1:], counts, axis=0)
        rows = unroll(rows, min(rows.outer_rank + 1, rows.rank - 1))
        table = PlacedRows(rows, starts, strides)
    return table


def _spread(starts: IntArray, counts: IntArray, steps: IntArray) -> IntArray:
    """Return ``starts[k] + j * steps[k]`` for j below ``counts[k]``, one k after the other."""
    places = concatenated_ranges(np.zeros_like(counts), counts)
    places *= np.repeat(steps, counts)
    places += np.repeat(starts, counts)
    return places
