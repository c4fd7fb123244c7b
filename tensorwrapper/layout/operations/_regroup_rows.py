"""Rows with two modes counted as one, and with one mode counted in two: other splits, the same leaves."""

import numpy as np

from tensorwrapper._arrays import frozen_array, shared_table, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ExtentError, SizeOverflowError
from tensorwrapper.shape import Rows
from tensorwrapper.shape.lowlevel import Columns, mode_text, unroll
from tensorwrapper.typing import Extents, IntArray


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
    # A table of no leaves does not tell how long they are.
    ends = leaf[splits[-1]] if leaf.ndim == 1 else splits[-1] * (even[0] if even else 0)
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
    """Return rows with `mode` split into new rows, and the new rows of each prefix as row splits.

    Parameters
    ----------
    rows
        The rows; all modes of the result start at zero.
    mode
        The mode to split, over all of its prefixes.
    counts
        Number of indices of each new row.
    parents
        The new rows of each prefix of `mode` indices, as row splits. By default, empty rows at the end of a
        prefix belong to the next.

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
