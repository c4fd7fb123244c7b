"""New columns out of old ones: built level by level, moved, and permuted."""

from typing import TypeAlias

import numpy as np

from tensorwrapper._arrays import (
    concatenated_ranges,
    frozen_array,
    shared_row,
    shared_table,
    splits_of,
    tidy_table,
)
from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape.rows._canonical import canonical
from tensorwrapper.shape.rows._columns import Columns, Origins, check_int64, moved_origins, tidy_origins
from tensorwrapper.shape.rows._dependencies import keys_of, needs_of
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IntArray


def build_rows(
    levels: list[tuple[IntArray, Origins]],
    leaf: IntArray,
    leaf_origins: list[Origins],
    absent: Index = (),
) -> Rows:
    """Return rows from the counts and origins of every unrolled mode and the (n, s) leaf extents."""
    plain = leaf.shape[1] == 1 and shared_row(leaf) is None
    stored = splits_of(leaf[:, 0]) if plain else tidy_table(leaf)
    splits = tuple([splits_of(counts) for counts, _ in levels[1:]])
    return Rows.whole(Columns(splits, stored, tuple([o for _, o in levels]), tuple(leaf_origins), absent))


def move_rows(rows: Rows, moves: Index) -> Rows:
    """Return the same rows moved by one integer per mode, in columns that hold nothing else."""
    for mode, (extent, start, move) in enumerate(zip(*rows.box(), moves, strict=True)):
        check_int64(mode, start + move, extent)
    rows = rows.packed()
    columns, outer = rows.columns, rows.outer_rank
    moved = [
        moved_origins(o, move, mode)
        for mode, (o, move) in enumerate(zip(columns.origins + columns.leaf_origins, moves, strict=True))
    ]
    first, inner = tuple(moved[:outer]), tuple(moved[outer:])
    shifted = Columns(columns.splits, columns.leaf, first, inner, columns.absent)
    return Rows(shifted, 0, rows.start, rows.stop, rows.first + moves[0])


def check_permutation(order: tuple[int, ...], needs: list[tuple[int, ...]]) -> None:
    """Raise if a mode comes before one on which it depends; `needs` are the dependencies of every mode."""
    for place, mode in enumerate(order):
        missing = set(needs[mode]) - set(order[:place])
        if missing:
            raise JaggedModeError(
                f"the permutation {order} puts mode {mode} before the modes {tuple(sorted(missing))} on "
                "which it depends; permute as_smooth() instead, or keep that order"
            )


def permute_rows(rows: Rows, order: tuple[int, ...], needs: list[tuple[int, ...]]) -> Rows:
    """Return the rows with mode ``order[k]`` as mode k; every mode must follow what it depends on.

    Modes at the end that do not depend on one another stay together as leaves.
    """
    if order[: rows.outer_rank] != tuple(range(rows.outer_rank)):
        # The result is the same for any number of unrolled modes.
        rows = canonical(rows)
    outer = rows.outer_rank
    if order[:outer] == tuple(range(outer)):
        # Only leaf modes move, and they do not depend on one another.
        columns = rows.columns
        inner = [mode - outer for mode in order[outer:]]
        even = columns.even
        if even is None:
            leaf = frozen_array(columns.leaf[:, inner])
        else:
            leaf = shared_table(tuple([even[mode] for mode in inner]), columns.n_leaves)
        inner_origins = tuple([columns.leaf_origins[mode] for mode in inner])
        absent = tuple([columns.absent[mode] for mode in inner]) if columns.absent else ()
        moved = Columns(columns.splits, leaf, columns.origins, inner_origins, absent)
        return Rows(moved, rows.depth, rows.start, rows.stop, rows.first)
    tables = [_stored_table(rows, mode, order, needs[mode]) for mode in range(rows.rank)]
    needs = [() if table is None else table[0] for table in tables]
    tail = 1
    while tail < rows.rank - 1 and _independent(order[-tail - 1 :], needs):
        tail += 1
    head = rows.rank - tail
    # One column of indices per mode placed so far, one entry per node of the new tree.
    placed: dict[int, IntArray] = {}
    n_nodes = 1
    levels: list[tuple[IntArray, Origins]] = []
    for mode in order[:head]:
        counts, starts = _ranges_at(rows, mode, tables[mode], placed, n_nodes)
        levels.append((counts, tidy_origins(starts)))
        if not counts.any():
            # Later modes have no nodes to store extents, but absent cells have.
            head = len(levels)
            n_nodes = 0
            break
        nodes = np.repeat(np.arange(n_nodes), counts)
        placed = {m: column[nodes] for m, column in placed.items()}
        placed[mode] = concatenated_ranges(starts, counts)
        n_nodes = len(nodes)
    if n_nodes:
        leaves = [_ranges_at(rows, mode, tables[mode], placed, n_nodes) for mode in order[head:]]
    else:
        leaves = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))] * (rows.rank - head)
    extents = np.stack([counts for counts, _ in leaves], axis=1)
    # Without a leaf, what one would have is kept: the extents come back with the permutation.
    known = [_fixed_range(rows, mode, needs[mode]) for mode in order[head:]] if not n_nodes else []
    absent = tuple([extent for extent, _ in known])
    at: list[Origins] = [start for _, start in known] or [tidy_origins(starts) for _, starts in leaves]
    permuted = build_rows(levels, extents, at, absent if any(absent) else ())
    if permuted.size != rows.size:
        raise JaggedModeError(f"the permutation {order} does not keep the set of indices of this shape")
    return permuted


def _independent(modes: tuple[int, ...], needs: list[tuple[int, ...]]) -> bool:
    """Tell whether none of `modes` depends on another of them."""
    return not any(need in modes for mode in modes for need in needs[mode])


_Table: TypeAlias = tuple[tuple[int, ...], IntArray, IntArray, IntArray]
"""The modes on which a mode depends, combinations of their indices, and its extent and origin for each."""


def _stored_table(rows: Rows, mode: int, order: tuple[int, ...], needs: tuple[int, ...]) -> _Table | None:
    """Return the lookup table of the range of a mode; None if it depends on nothing.

    Stored extents without a prefix are kept, unless they depend on a mode that comes later.
    """
    if mode == 0:
        return None
    table, extents, origins = rows.reached_table(mode)
    if len(table) < len(rows.ranges(mode)[0]):
        stored = (rows.prefixes(min(mode, rows.outer_rank)), *rows.ranges(mode))
        more = needs_of(*stored)
        if set(more) <= set(order[: order.index(mode)]):
            needs, (table, extents, origins) = more, stored
    return (needs, table[:, list(needs)], extents, origins) if needs else None


def _ranges_at(
    rows: Rows, mode: int, stored: _Table | None, placed: dict[int, IntArray], n_nodes: int
) -> tuple[IntArray, IntArray]:
    """Return extent and origin of an old mode at every new node, looked up by the modes it depends on."""
    if stored is None:
        extent, origin = _fixed_range(rows, mode, ())
        return np.full(n_nodes, extent), np.full(n_nodes, origin)
    needs, table, extents, origins = stored
    if not len(table):
        return np.zeros(n_nodes, dtype=np.int64), np.zeros(n_nodes, dtype=np.int64)
    lows, highs = table.min(axis=0), table.max(axis=0)
    wanted = np.stack([placed[m] for m in needs], axis=1)
    keys, where = np.unique(keys_of(table, lows, highs), return_index=True)
    sought = keys_of(np.clip(wanted, lows, highs), lows, highs)
    found = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    chosen = where[found]
    # A combination that no prefix of the old shape has leads nowhere in the new one either.
    known = (keys[found] == sought) & (wanted >= lows).all(axis=1) & (wanted <= highs).all(axis=1)
    return np.where(known, extents[chosen], 0), np.where(known, origins[chosen], 0)


def _fixed_range(rows: Rows, mode: int, needs: tuple[int, ...]) -> tuple[int, int]:
    """Return extent and origin of a mode that depends on nothing; where no prefix leads, what is stored."""
    if mode == 0:
        return rows.count, rows.first
    extents, origins = rows.distinct_ranges(mode)
    if len(extents):
        return (int(extents[0]), int(origins[0])) if not needs else (0, 0)
    inner = mode - rows.outer_rank
    extents, origins = rows.ranges(mode)
    stored = rows.stored_origin(mode)
    if len(extents):
        same = (extents == extents[0]).all() and (origins == origins[0]).all()
        return (int(extents[0]), int(origins[0])) if same else (0, 0)
    return rows.absent[inner] if inner >= 0 else 0, stored if isinstance(stored, int) else 0
