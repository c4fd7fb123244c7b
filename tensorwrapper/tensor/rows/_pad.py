"""Shapes of padded or clipped rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorwrapper._arrays import frozen_array, splits_of, tidy_table
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import JaggedModeError, RankError, SizeOverflowError
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import Columns, make_smooth, rows_under, wrap
from tensorwrapper.typing import Extents, IntArray


def padded_lines(
    shape: Shape[Any], mode: int, length: int, *, clip: bool
) -> tuple[Shape[Any], IntArray, IntArray]:
    """Return the padded shape of jagged rows, and the lengths of runs before and after.

    Returns
    -------
    shape, lengths, longer
        A run for each prefix that leads to the mode: its elements before, and after. O(runs).

    Raises
    ------
    JaggedModeError
        If the mode leads to the cells of a jagged shape.
    SizeOverflowError
        If there would be more elements than 64 bits can address.
    """
    rows = rows_under(shape).packed()
    inner = mode - rows.outer_rank
    if inner < 0:
        raise _nothing_says(mode, rows)
    cells = rows.columns.leaf_extents(0, rows.columns.n_leaves)
    wanted = np.full(len(cells), length) if clip else np.maximum(cells[:, inner], length)
    made = _shape_of(rows.columns, cells, inner, wanted)
    if made.size > MAX_INT64:
        raise SizeOverflowError(f"{made} has more elements than 64 bits can address")
    before, after = cells[:, :inner].prod(axis=1), cells[:, inner + 1 :].prod(axis=1)
    lengths, longer = [np.repeat(extents * after, before) for extents in (cells[:, inner], wanted)]
    if clip and all(map(made.is_uniform, range(made.rank))):
        extents: Extents = made.as_smooth().extents
        # Without rows, the bounding box does not determine their length.
        made = wrap(make_smooth((*extents[:mode], length, *extents[mode + 1 :]), (0,) * made.rank))
    return made, lengths, longer


def padded_cells(shape: Shape[Any], widths: Sequence[tuple[int, int]]) -> Shape[Any]:
    """Return a jagged shape in which each cell goes on beyond its ends; the indices that were there stay.

    Parameters
    ----------
    shape
        Rows, cells or tiles, without layers.
    widths
        For each mode how many indices come before and after.

    Raises
    ------
    RankError
        If there is not one pair per mode.
    JaggedModeError
        If a mode leads to the cells.
    """
    rows = rows_under(shape).packed()
    if len(widths) != rows.rank or any(len(pair) != 2 for pair in widths):
        raise RankError(f"widths are one pair (before, after) per mode, {rows.rank} in all, not {widths}")
    for mode, pair in enumerate(widths[: rows.outer_rank]):
        if any(pair):
            raise _nothing_says(mode, rows)
    columns, inner = rows.columns, widths[rows.outer_rank :]
    more = np.array([before + after for before, after in inner], dtype=np.int64)
    leaf = _leaf_of(columns.leaf_extents(0, columns.n_leaves) + more)
    starts = columns.leaf_origins
    origins = tuple(
        [
            own - before if isinstance(own, int) else frozen_array(own - before)
            for own, (before, _) in zip(starts, inner, strict=True)
        ]
    )
    absent = tuple([own + count for own, count in zip(columns.absent, more.tolist(), strict=False)])
    return wrap(Jagged(Rows.whole(Columns(columns.splits, leaf, columns.origins, origins, absent))))


def _nothing_says(mode: int, rows: Rows) -> JaggedModeError:
    return JaggedModeError(
        f"new indices of mode {mode} would lead to rows of which nothing says how long they are; modes "
        f"{rows.outer_rank} to {rows.rank - 1} can be padded"
    )


def _shape_of(columns: Columns, cells: IntArray, inner: int, wanted: IntArray) -> Shape[Any]:
    """Return the shape with other extents in one mode of its cells."""
    table = cells.copy()
    table[:, inner] = wanted
    origins = (0,) * columns.depth, (0,) * columns.leaf_rank
    return wrap(Jagged(Rows.whole(Columns(columns.splits, _leaf_of(table), *origins))))


def _leaf_of(table: IntArray) -> IntArray:
    """Return the extents of all leaves in the columns."""
    return frozen_array(splits_of(table[:, 0]) if table.shape[1] == 1 else tidy_table(table))
