"""Going over all indices of a jagged shape, in row-major order.

Where the last mode is long, a step of Python is paid once per line of it, and the indices of the line are
zipped from its range; where lines are short, indices are made as arrays, a batch at a time.
"""

import itertools
from collections.abc import Iterator

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.shape._common import walk_batches
from tensorwrapper.shape._locate import indices_at
from tensorwrapper.shape._rows import Rows
from tensorwrapper.shape._smooth import make_smooth
from tensorwrapper.typing import Index, IntArray

__all__ = ["walk"]

_LONG = 16  # the mean extent of the last mode from which on lines are faster than batches
_LINES = 1024  # lines made at a time


def walk(rows: Rows) -> Iterator[Index]:
    """Return an iterator over the indices."""
    inner = rows.columns.leaf_rank > 1
    heads = rows.leading(rows.rank - 1) if inner else rows
    lines = heads.size if inner else heads.leaves[1] - heads.leaves[0]
    if lines <= MAX_INT64 and rows.size >= _LONG * lines:
        starts = range(0, lines, _LINES)
        return itertools.chain.from_iterable(
            _walk_lines(rows, heads, np.arange(start, min(start + _LINES, lines))) for start in starts
        )
    if rows.size > MAX_INT64:
        return _walk_leaves(rows)
    return walk_batches(rows.size, lambda ordinals: indices_at(rows, ordinals))


def _walk_lines(rows: Rows, heads: Rows, lines: IntArray) -> Iterator[Index]:
    """Walk the lines with these numbers; `heads` are the rows themselves if each leaf is one line."""
    columns, mode = rows.columns, rows.columns.leaf_rank - 1
    if mode:
        leaves, prefixes = heads.leaves_of(lines)[0], indices_at(heads, lines)
    else:
        leaves = lines + rows.leaves[0]
        prefixes = rows.prefixes_of(rows.outer_rank, leaves)
    starts, extents = columns.leaf_origins[mode], columns.leaf_extents_at(leaves, mode)
    first = np.full(len(lines), starts) if isinstance(starts, int) else starts[leaves]
    ranges = map(range, first.tolist(), (first + extents).tolist())
    repeated = [map(itertools.repeat, column) for column in prefixes.T.tolist()]
    return itertools.chain.from_iterable(map(zip, *repeated, ranges))


def _walk_leaves(rows: Rows) -> Iterator[Index]:
    """Walk leaf by leaf, for more lines than arrays can number."""
    for leaf in range(*rows.leaves):
        prefix = rows.prefix_of(leaf)
        for rest in make_smooth(*rows.columns.leaf_box(leaf)).walk("C"):
            yield prefix + rest
