"""Rows with two modes counted as one, and with one mode counted in two: other splits, the same leaves."""

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, frozen_array, shared_table, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ExtentError, SizeOverflowError
from tensorwrapper.shape.boxes._keys import mode_text
from tensorwrapper.shape.rows._columns import Columns, Origins, tidy_origins
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.shape.rows._unroll import same_rows, unroll
from tensorwrapper.typing import Extents, IntArray

__all__ = ["intersect_rows", "merge_rows", "split_rows", "split_run"]


def intersect_rows(left: Rows, right: Rows) -> tuple[Rows, IntArray, IntArray]:
    """Return the rows of all indices that are in both, and the leaves of each that hold the common leaves.

    Leaves are counted from 0 in either, with as many modes unrolled as in the result: the more of the two.
    Indices are compared as they are, with their origins. O(nodes), a level at a time.
    """
    outer = max(left.outer_rank, right.outer_rank)
    left, right = unroll(left, outer), unroll(right, outer)
    if same_rows(left, right, origins=True):
        leaves = np.arange(left.leaves[1] - left.leaves[0])
        return left, leaves, leaves
    start, count = _common(left.first, left.count, right.first, right.count)
    levels: list[tuple[IntArray, Origins]] = [(np.array([count]), start)]
    steps = np.arange(count, dtype=np.int64)
    pair = [rows.start + (start - rows.first) + steps for rows in (left, right)]
    for mode in range(1, outer):
        begins, counts, starts = zip(*map(_children, (left, right), (mode, mode), pair), strict=True)
        lows, kept = _overlap(*starts, *counts)
        pair = [concatenated_ranges(b + lows - o, kept) for b, o in zip(begins, starts, strict=True)]
        levels.append((kept, tidy_origins(lows)))
    extents: list[IntArray] = []
    origins: list[Origins] = []
    for mode in range(left.columns.leaf_rank):
        counts, starts = zip(*map(_inside, (left, right), (mode, mode), pair), strict=True)
        lows, kept = _overlap(*starts, *counts)
        extents.append(kept)
        origins.append(tidy_origins(lows))
    common = build_rows(levels, np.stack(extents, axis=1), origins)
    mine, theirs = [nodes - rows.leaves[0] for nodes, rows in zip(pair, (left, right), strict=True)]
    return common, mine, theirs


def _common(a: int, n: int, b: int, m: int) -> tuple[int, int]:
    start = max(a, b)
    return start, max(min(a + n, b + m) - start, 0)


def _overlap(a: IntArray, b: IntArray, n: IntArray, m: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the intervals ``[a, a + n)`` and ``[b, b + m)`` meet, and how long the common part is."""
    low: IntArray = np.maximum(a, b)
    high: IntArray = np.minimum(a + n, b + m)
    return low, np.maximum(high - low, 0)


def _children(rows: Rows, mode: int, nodes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first child of each node, how many it has, and where they start."""
    depth = rows.depth + mode
    splits = rows.columns.splits[depth - 1]
    begins = splits[nodes]
    return begins, splits[nodes + 1] - begins, _starts(rows.columns.origins[depth], nodes)


def _inside(rows: Rows, mode: int, leaves: IntArray) -> tuple[IntArray, IntArray]:
    """Return extent and origin of a mode of these leaves."""
    extents = np.broadcast_to(rows.columns.leaf_extents_at(leaves, mode), leaves.shape)
    return extents, _starts(rows.columns.leaf_origins[mode], leaves)


def _starts(origins: Origins, nodes: IntArray) -> IntArray:
    return np.full(len(nodes), origins) if isinstance(origins, int) else origins[nodes]


def _new_rows(splits: tuple[IntArray, ...], leaf: IntArray, leaf_rank: int) -> Rows:
    """Return rows that start at zero in every mode."""
    zeros = (0,) * (len(splits) + 1)
    return Rows.whole(Columns(tuple(map(frozen_array, splits)), frozen_array(leaf), zeros, (0,) * leaf_rank))


def merge_rows(rows: Rows, mode: int) -> Rows | int:
    """Return rows in which `mode` counts on in the mode before it, from 0; a number where one mode is left.

    O(nodes), and nothing at all for the leaves where both modes lead to them.
    """
    inner = mode - rows.outer_rank
    if not inner and rows.columns.leaf_rank > 1:
        return merge_rows(unroll(rows, mode + 1), mode)
    columns = rows.packed().columns
    splits, leaf, leaf_rank = columns.splits, columns.leaf, columns.leaf_rank
    if inner < 0:
        # The nodes of the mode in between are passed over.
        above = () if mode == 1 else (*splits[: mode - 2], splits[mode - 1][splits[mode - 2]])
        return _new_rows((*above, *splits[mode:]), leaf, leaf_rank)
    if inner:
        return _new_rows(splits, _merged_cells(columns, inner), leaf_rank - 1)
    even = columns.even
    if not splits:
        return rows.size
    ends = leaf[splits[-1]] if even is None else splits[-1] * even[0]
    return _new_rows(splits[:-1], ends, 1)


def _merged_cells(columns: Columns, inner: int) -> IntArray:
    """Return the extents of leaves in which two modes count as one."""
    even, n = columns.even, columns.n_leaves
    table = columns.leaf_extents(0, n)
    greatest = [int(column.max(initial=0)) for column in (table[:, inner - 1], table[:, inner])]
    if greatest[0] * greatest[1] > MAX_INT64:
        raise SizeOverflowError(f"modes of up to {greatest[0]} and {greatest[1]} indices are too long as one")
    if even is not None:
        row = (*even[: inner - 1], even[inner - 1] * even[inner], *even[inner + 1 :])
        return shared_table(row, n)
    merged = np.delete(table, inner, axis=1)
    merged[:, inner - 1] *= table[:, inner]
    return splits_of(merged[:, 0]) if merged.shape[1] == 1 else merged


def split_rows(
    rows: Rows, mode: int, counts: IntArray, parents: IntArray | None = None
) -> tuple[Rows, IntArray]:
    """Return rows in which `mode` is dealt to new rows, and the new rows of each prefix as row splits.

    Parameters
    ----------
    rows
        The rows; all modes of the result start at zero.
    mode
        The mode that is cut, over all of its prefixes.
    counts
        How many indices each new row has.
    parents
        Which new rows belong to each prefix of `mode` indices, as row splits. Where they are not given, rows
        without an index at the end of a prefix go to the next.

    Raises
    ------
    ExtentError
        If a count is negative, or the counts do not add up to the indices of each prefix.
    """
    rows = unroll(rows, mode).packed()
    columns, outer = rows.columns, rows.outer_rank
    marks = splits_of(counts)
    splits, leaf = columns.splits, columns.leaf
    owners = _owners(columns, mode)
    _check_total(marks, int(owners[-1]), mode)
    if parents is None:
        parents = np.searchsorted(marks, owners, side="left")
        parents[0], parents[-1] = 0, len(counts)
    _check_parents(rows, mode, marks, owners, parents)
    if mode < outer:
        above = (*splits[: mode - 1], parents) if mode else ()
        return _new_rows((*above, marks, *splits[mode:]), leaf, columns.leaf_rank), parents
    if columns.leaf_rank == 1:
        return _new_rows((*splits, parents), marks, 1), parents
    rest = np.repeat(columns.leaf_extents(0, columns.n_leaves)[:, 1:], np.diff(parents), axis=0)
    cells = np.concatenate([np.asarray(counts, dtype=np.int64)[:, np.newaxis], rest], axis=1)
    return _new_rows((*splits, parents), cells, columns.leaf_rank), parents


def split_run(counts: IntArray, extents: Extents) -> tuple[Rows, IntArray]:
    """Return a box as cells of as many indices of mode 0 as `counts` says, and where they begin."""
    marks = splits_of(counts)
    _check_total(marks, extents[0], 0)
    if len(extents) == 1:
        return _new_rows((), marks, 1), marks
    rest = shared_table(extents[1:], len(counts))
    cells = np.concatenate([np.asarray(counts, dtype=np.int64)[:, np.newaxis], rest], axis=1)
    return _new_rows((), cells, len(extents)), marks


def _owners(columns: Columns, mode: int) -> IntArray:
    """Return where the indices of `mode` under each prefix begin, and (last) how many there are."""
    if not mode:
        return np.array([0, columns.n_rows])
    if mode < columns.depth:
        return columns.splits[mode - 1]
    if columns.leaf.ndim == 1:
        return columns.leaf
    return splits_of(columns.leaf[:, 0])


def _check_total(marks: IntArray, total: int, mode: int) -> None:
    if marks.item(-1) != total:
        raise ExtentError(
            f"counts that add up to {marks.item(-1)} do not fit mode {mode}, which has {total} indices in all"
        )


def _check_parents(rows: Rows, mode: int, marks: IntArray, owners: IntArray, parents: IntArray) -> None:
    """Raise if a new row would reach over the end of a prefix."""
    if len(parents) != len(owners):
        raise ExtentError(
            f"there are counts for {len(parents) - 1} rows, but mode {mode} has {len(owners) - 1} prefixes"
        )
    if parents.item(0):
        raise ExtentError(f"there are counts, but mode {mode} has no prefix to which a row could belong")
    wrong = marks[parents] != owners
    if wrong.any():
        place = max(int(np.argmax(wrong)) - 1, 0)
        prefix = tuple(rows.prefixes_of(mode, np.array([place]))[0].tolist())
        first, last = parents.item(place), parents.item(place + 1)
        here = owners.item(place + 1) - owners.item(place)
        raise ExtentError(
            f"{mode_text(mode, prefix)} has {here} indices, but no run of counts adds up to that: rows "
            f"{first} to {last} reach over its end"
        )
