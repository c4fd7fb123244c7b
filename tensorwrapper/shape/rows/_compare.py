"""Rows compared: two sets of rows may differ in how many of their modes are unrolled."""

import numpy as np

from tensorwrapper._arrays import SMALL, frozen_array, same_values, shared_table, splits_of
from tensorwrapper.shape.rows._canonical import canonical
from tensorwrapper.shape.rows._columns import Columns, Origins, origins_of
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

_CHUNK = 2**15  # leaves compared at a time where two shapes store them differently


def unroll(rows: Rows, outer_rank: int) -> Rows:
    """Return the same set of indices with at least `outer_rank` unrolled modes; O(nodes)."""
    while rows.outer_rank < outer_rank:
        columns = rows.packed().columns
        counts = columns.leaf[:, 0]
        first, *later = columns.leaf_origins
        moved = [o if isinstance(o, int) else frozen_array(np.repeat(o, counts)) for o in later]
        splits = splits_of(counts)
        leaf = _unrolled_leaf(columns, counts, splits.item(-1))
        origins = (rows.first, *columns.origins[1:], first)
        absent = columns.absent[1:] if any(columns.absent[1:]) else ()
        rows = Rows.whole(Columns((*columns.splits, splits), leaf, origins, tuple(moved), absent))
    return rows


def _unrolled_leaf(columns: Columns, counts: IntArray, total: int) -> IntArray:
    even = columns.even
    if even is not None:
        return shared_table(even[1:], total)
    rest = np.repeat(columns.leaf[:, 1:], counts, axis=0)
    return splits_of(rest[:, 0]) if rest.shape[1] == 1 else frozen_array(rest)


def same_rows(left: Rows, right: Rows, *, origins: bool) -> bool:
    """Return True if two sets of rows have equal extents at every prefix; with `origins`, if they are equal.

    Extents behind an empty mode, without a prefix, count only for equality.
    """
    if left.stop - left.start != right.stop - right.start or (origins and left.first != right.first):
        return False
    mine, theirs = left.columns, right.columns
    outer, other = len(mine.origins) - left.depth, len(theirs.origins) - right.depth
    if outer + len(mine.leaf_origins) != other + len(theirs.leaf_origins):
        return False
    if mine is theirs and left.depth == right.depth and left.start == right.start:
        return True
    if outer != other:
        if left.size != right.size:
            return False
        if origins:
            left, right = canonical(left), canonical(right)
            if left.outer_rank != right.outer_rank:
                return False
        else:
            left, right = unroll(left, max(outer, other)), unroll(right, max(outer, other))
    return _same_extents(left, right, exactly=origins) and not (origins and not _same_origins(left, right))


def _same_extents(left: Rows, right: Rows, *, exactly: bool) -> bool:
    """Compare two sets of rows with the same number of rows, unrolled modes and leaf modes."""
    mine, theirs = left.columns, right.columns
    a, b, c, d = left.start, left.stop, right.start, right.stop
    if a == c and _same_bytes(mine, theirs):
        return True
    for x, y in zip(mine.splits[left.depth :], theirs.splits[right.depth :], strict=True):
        if not _same_runs(x[a : b + 1], y[c : d + 1]):
            return False
        a, b, c, d = x.item(a), x.item(b), y.item(c), y.item(d)
    if a == b:
        return not exactly or left.absent == right.absent
    x, y = mine.leaf, theirs.leaf
    if x.ndim == y.ndim == 1:
        return _same_runs(x[a : b + 1], y[c : d + 1])
    if mine.even is not None and theirs.even is not None:
        # One leaf stands for all.
        b, d = min(b, a + 1), min(d, c + 1)
    same = np.array_equal if exactly else _same_boxes
    return all(
        same(
            mine.leaf_extents(a + k, min(a + k + _CHUNK, b)),
            theirs.leaf_extents(c + k, min(c + k + _CHUNK, d)),
        )
        for k in range(0, b - a, _CHUNK)
    )


def _same_boxes(left: IntArray, right: IntArray) -> bool:
    """Compare two tables of leaf extents but for what follows an extent of 0, where no prefix leads."""
    return np.array_equal(left, right) or np.array_equal(_reached(left), _reached(right))


def _reached(extents: IntArray) -> IntArray:
    reached = extents.copy()
    reached[:, 1:] *= np.logical_and.accumulate(extents[:, :-1] > 0, axis=1)
    return reached


def _share_origins(left: Rows, right: Rows) -> bool:
    """Tell at little cost whether two shapes with one unrolled mode have the very same origins in memory."""
    mine, theirs = left.columns, right.columns
    return mine.leaf_origins is theirs.leaf_origins and left.start == right.start and not mine.splits


def _same_bytes(mine: Columns, theirs: Columns) -> bool:
    """Tell at little cost whether two small shapes of rank 2 have the same rows, as most that agree have."""
    x, y = mine.leaf, theirs.leaf
    if mine.splits or theirs.splits or x.ndim != y.ndim or not 1 < x.size == y.size <= SMALL:
        return False
    return x.tobytes() == y.tobytes()


def _same_runs(left: IntArray, right: IntArray) -> bool:
    """Tell whether two pieces of row splits, equally long, cut off runs of the same lengths."""
    shift = right.item(0) - left.item(0)
    return left.item(-1) + shift == right.item(-1) and same_values(left, right, shift)


def _same_origins(left: Rows, right: Rows) -> bool:
    """Compare the origins of rows with the same extents and as many unrolled modes; all stored ones count."""
    if _share_origins(left, right):
        return True
    mine: tuple[Origins, ...] = left.columns.origins[left.depth + 1 :] + left.columns.leaf_origins
    theirs: tuple[Origins, ...] = right.columns.origins[right.depth + 1 :] + right.columns.leaf_origins
    outer = left.outer_rank
    for mode, (x, y) in enumerate(zip(mine, theirs, strict=True), 1):
        (a, b), (c, d) = left.run(min(mode, outer)), right.run(min(mode, outer))
        if a == b or (isinstance(x, int) and isinstance(y, int)):
            if left.stored_origin(mode) != right.stored_origin(mode):
                return False
        elif not np.array_equal(origins_of(x, a, b), origins_of(y, c, d)):
            return False
    return True
