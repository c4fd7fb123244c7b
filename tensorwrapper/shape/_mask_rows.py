"""Some rows of a jagged shape, as a shape of their own that starts at 0."""

from typing import Any, cast

import numpy as np

from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape._arrays import concatenated_ranges, shared_table
from tensorwrapper.shape._columns import Origins
from tensorwrapper.shape._jagged import Jagged, JaggedCommon
from tensorwrapper.shape._nested import at_zero, flat_of
from tensorwrapper.shape._picks import Picks
from tensorwrapper.shape._rearrange import build_rows
from tensorwrapper.shape._rows import Rows
from tensorwrapper.shape._shape import Shape
from tensorwrapper.typing import IntArray

__all__ = ["as_if_at_zero", "picked_rows", "row_ordinals", "rows_of"]


def rows_of(shape: Shape[Any]) -> Rows:
    """Return the columns of a jagged shape, without its layers."""
    return cast("JaggedCommon", flat_of(shape._held)).rows


def picked_rows(shape: Shape[Any], picks: Picks) -> Jagged:
    """Return these rows one after the other, every origin 0; O(what is picked), in array operations."""
    rows = rows_of(shape)
    columns = rows.columns
    nodes = picks.to_numpy() + (rows.start - rows.first)
    levels: list[tuple[IntArray, Origins]] = [(np.array([len(nodes)]), 0)]
    for splits in columns.splits[rows.depth :]:
        counts = splits[nodes + 1] - splits[nodes]
        levels.append((counts, 0))
        nodes = concatenated_ranges(splits[nodes], counts)
    if columns.even is not None:
        leaf = shared_table(columns.even, len(nodes))
    elif columns.leaf.ndim == 1:
        leaf = (columns.leaf[nodes + 1] - columns.leaf[nodes])[:, np.newaxis]
    else:
        leaf = columns.leaf[nodes]
    return Jagged(build_rows(levels, leaf, [0] * columns.leaf_rank))


def row_ordinals(shape: Shape[Any], picks: Picks) -> IntArray:
    """Return the ordinals of all elements of these rows, one row after the other."""
    rows = rows_of(shape)
    marks = np.arange(rows.start, rows.stop + 1, dtype=np.int64)
    for splits in rows.columns.splits[rows.depth :]:
        marks = splits[marks]
    offsets = rows.cell_offsets()[marks - rows.leaves[0]]
    numbers = picks.to_numpy() - rows.first
    return concatenated_ranges(offsets[numbers], offsets[numbers + 1] - offsets[numbers])


def as_if_at_zero(shape: Shape[Any], indices: IntArray, *, back: bool = False) -> IntArray:
    """Return indices of a jagged shape as those of the same elements if all its origins were 0.

    ``back`` goes the other way. The indices must exist.
    """
    flat = flat_of(shape._held)
    try:
        move = np.array(flat.origin, dtype=np.int64)
    except JaggedModeError:
        # Rows that start in different places: elements keep their ordinals, however they are moved.
        moved = at_zero(flat)
        here, there = (moved, flat) if back else (flat, moved)
        return there.indices_at(here.ordinals(indices))
    if not move.any():
        return indices
    return indices + move if back else indices - move
