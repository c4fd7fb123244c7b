"""Rows compared: two sets of rows may differ in how many of their modes are unrolled."""

import numpy as np

from tensorwrapper.shape._columns import Columns, frozen_array, splits_of
from tensorwrapper.shape._rows import Rows

__all__ = ["same_rows", "unroll", "unrolls_exactly"]


def unrolls_exactly(rows: Rows, outer_rank: int) -> bool:
    """Tell whether `unroll` keeps all extents: it drops those that follow an extent of 0 in a leaf."""
    if rows.outer_rank >= outer_rank:
        return True
    a, b = rows.leaves
    leaf = rows.columns.leaf[a:b]
    return not ((leaf[:, :-1] == 0) & (leaf[:, 1:] > 0)).any()


def unroll(rows: Rows, outer_rank: int) -> Rows:
    """Return the same set of indices with at least `outer_rank` unrolled modes; O(nodes)."""
    while rows.outer_rank < outer_rank:
        columns = rows.compact().columns
        counts = columns.leaf[:, 0]
        rest = np.repeat(columns.leaf[:, 1:], counts, axis=0)
        leaf = splits_of(rest[:, 0]) if rest.shape[1] == 1 else frozen_array(rest)
        first, *later = columns.leaf_origins
        moved = [o if isinstance(o, int) else frozen_array(np.repeat(o, counts)) for o in later]
        splits = (*columns.splits, splits_of(counts))
        rows = Rows.whole(Columns(splits, leaf, (*columns.origins, first), tuple(moved)))
    return rows


def same_rows(left: Rows, right: Rows, *, origins: bool) -> bool:
    """Tell whether two sets of rows have the same extents (and origins) at every prefix."""
    if left.rank != right.rank or left.count != right.count:
        return False
    if left.columns is right.columns and (left.depth, left.start) == (right.depth, right.start):
        return not origins or left.first == right.first
    if left.size != right.size:
        return False
    outer = max(left.outer_rank, right.outer_rank)
    if not (unrolls_exactly(left, outer) and unrolls_exactly(right, outer)):
        return False
    left, right = unroll(left, outer), unroll(right, outer)
    for mode in range(left.rank):
        if not np.array_equal(left.ranges(mode)[0], right.ranges(mode)[0]):
            return False
        if origins and not np.array_equal(left.reached_ranges(mode)[1], right.reached_ranges(mode)[1]):
            return False
    return True
