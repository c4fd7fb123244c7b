"""Facts of rows as flat arrays: lengths, positions, runs of equal elements."""

from typing import Final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._text_order import numbers_of_texts
from tensorwrapper.errors import RankError, SizeOverflowError
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import Columns, make_smooth, rows_under, unroll, wrap
from tensorwrapper.typing import Array, IntArray

_AT_ONCE: Final = 1 << 13
"""Rows whose positions are written at a time, so that they stay in a cache."""


def row_splits(shape: Shape) -> IntArray:
    """Return the starts of the innermost rows, followed by the number of elements."""
    if not shape.rank:
        raise RankError("a number has no rows")
    if not shape.is_box:
        return shape.splits(shape.rank - 1)
    length: int
    *outer, length = shape.extents
    n_rows = int(np.prod(outer, dtype=np.object_))
    return np.arange(n_rows + 1, dtype=np.int64) * length


def counts_of(shape: Shape, mode: int) -> tuple[Shape, IntArray]:
    """Return the extent of `mode` under every prefix of `mode` indices, and the shape of those prefixes."""
    prefixes: Shape = shape.leading(mode)
    if shape.is_box:
        if prefixes.size > MAX_INT64 // 8:
            raise SizeOverflowError(f"{prefixes.size} numbers, one by one, are more than memory holds")
        return prefixes, np.broadcast_to(np.int64(shape.extent(mode)), prefixes.extents)
    lengths = shape.lengths(mode)
    return prefixes, lengths.reshape(()) if not mode else lengths


def positions_of_mode(shape: Shape, mode: int) -> tuple[Shape, IntArray]:
    """Return the position of every index along `mode`, and the shape of the modes up to it."""
    leading: Shape = shape.leading(mode + 1)
    if leading.is_box:
        return leading, np.broadcast_to(np.arange(leading.extents[-1], dtype=np.int64), leading.extents)
    splits = row_splits(leading)
    found = np.empty(leading.size, dtype=np.int64)
    for first in range(0, len(splits) - 1, _AT_ONCE):
        marks = splits[first : first + _AT_ONCE + 1]
        lengths = np.diff(marks)
        if not lengths.all():
            lengths = lengths[lengths > 0]
        # A running sum, which goes back to 0 at the start of each row; `repeat` would take twice as long.
        steps = found[marks[0] : marks[-1]]
        steps[:] = 1
        steps[:1] = 0
        steps[np.cumsum(lengths[:-1])] = 1 - lengths[:-1]
        np.cumsum(steps, out=steps)
    return leading, found


def run_lengths(
    flat: Array, shape: Shape, valid: "npt.NDArray[np.bool_] | None" = None
) -> tuple[Shape, IntArray]:
    """Return the lengths of runs of equal elements, or nulls, in each row, and the shape of the runs."""
    splits = row_splits(shape)
    if flat.dtype.kind == "T":
        flat = numbers_of_texts(flat)  # NumPy compares text up to the first NUL.
    starts = np.empty(len(flat), dtype=np.bool_)
    starts[:1] = True
    np.not_equal(flat[1:], flat[:-1], out=starts[1:])
    if valid is not None:
        starts[1:] &= valid[1:] | valid[:-1]
        starts[1:] |= valid[1:] != valid[:-1]
    starts[splits[:-1][splits[:-1] < len(flat)]] = True
    firsts = np.flatnonzero(starts)
    lengths = np.diff(firsts, append=len(flat))
    return rows_of_counts(shape, np.diff(np.searchsorted(firsts, splits))), lengths


def rows_of_counts(shape: Shape, counts: IntArray) -> Shape:
    """Return the shape with other lengths of the innermost rows, which begin at 0; a box of one row.

    Names of the prefixes stay; that of the last mode is another mode's.
    """
    if shape.rank == 1:
        return wrap(make_smooth((int(counts[0]),), (0,)))
    rows = unroll(rows_under(shape), shape.rank - 1).packed()
    own = Columns(rows.columns.splits, frozen_array(splits_of(counts)), rows.columns.origins, (0,))
    made = wrap(Jagged(Rows(own, 0, 0, own.n_rows, rows.first)))
    return made.named(*shape.names[:-1], None) if any(shape.names[:-1]) else made
