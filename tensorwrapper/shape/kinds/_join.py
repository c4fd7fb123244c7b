"""Rows out of rows: several sets of them joined along a mode, one of them repeated along a new mode.

All work is done a level at a time on whole arrays of nodes. Shape number 0 is the one that the others must
agree with in every mode before the one along which they are joined.
"""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import TypeAlias, cast

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, shared_table, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ExtentMismatchError
from tensorwrapper.shape.boxes._keys import mode_text
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.rows._columns import Columns, Origins, check_int64, origins_of, tidy_origins
from tensorwrapper.shape.rows._compare import unroll
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IntArray

_ROWS = 1 << 10  # rows of a part, on average, below which splits of all parts are moved at once

_Level: TypeAlias = tuple[IntArray, Origins]
"""Counts and origins of one unrolled mode, under every prefix."""


def rows_of(shape: Flat) -> Rows:
    """Return a shape as rows; those of a box are all alike, and stored once."""
    if isinstance(shape, JaggedCommon):
        return shape.rows
    for mode, (extent, start) in enumerate(zip(shape.extents, shape.origin, strict=True)):
        check_int64(mode, start, extent)
    (first, *rest), (start, *starts) = shape.extents, shape.origin
    return build_rows([(np.array([first]), start)], shared_table(tuple(rest), first), list(starts))


def join_rows(parts: Sequence[Rows], mode: int) -> Rows:
    """Return the rows of all parts joined along a mode: modes before it must agree, those after need not."""
    whole = _adjacent(parts)
    if whole is not None and not mode:
        return whole
    lists = None if mode else _join_lists(parts)
    if lists is not None:
        return lists
    outer = max(part.outer_rank for part in parts)
    parts = [unroll(part, outer) for part in parts]
    for before in range(mode):
        for k, part in enumerate(parts[1:], 1):
            _check_level(parts[0], part, before, k, origins=True)
    if mode < outer:
        return _join_nodes(parts, mode)
    if all(_same_leaves(parts[0], part, mode + 1) for part in parts[1:]):
        return _join_leaves(parts, mode)
    # The extents behind the mode differ, so the mode becomes unrolled, with separate leaves below.
    return _join_nodes([unroll(part, mode + 1) for part in parts], mode)


def _adjacent(parts: Sequence[Rows]) -> Rows | None:
    """Return the one window that the parts make up, if each begins where the one before it ends."""
    first, last = parts[0], parts[-1]
    if all(a.columns is b.columns and a.depth == b.depth and a.stop == b.start for a, b in pairwise(parts)):
        return Rows(first.columns, first.depth, first.start, last.stop, first.first)
    return None


def _join_lists(parts: Sequence[Rows]) -> Rows | None:
    """Return the rows of all parts, if they are lists of elements: their splits, moved. O(rows)."""
    inner: Origins = 0
    ends: list[IntArray] = []
    sizes: list[int] = []
    counts: list[int] = []
    for part in parts:
        leaf = part.columns.leaf
        if leaf.ndim > 1 or part.outer_rank != 1:
            return None
        start = part.stored_origin(1)
        inner = inner if ends else start
        if not isinstance(start, int) or start != inner:
            return None
        own = leaf[part.start : part.stop + 1]
        ends.append(own)
        sizes.append(own.item(-1) - own.item(0))
        counts.append(len(own) - 1)
    if sum(sizes) > MAX_INT64 or sum(counts) + max(parts[0].first, 0) > MAX_INT64:
        return None  # The long way says where it ends.
    splits: IntArray = np.empty(sum(counts) + 1, dtype=np.int64)
    splits[0] = 0
    if len(splits) < _ROWS * len(parts):
        np.concatenate([own[1:] for own in ends], out=splits[1:])
        moves = np.array([*accumulate(sizes[:-1], initial=0)], dtype=np.int64)
        moves -= [own.item(0) for own in ends]
        splits[1:] += moves.repeat(counts)
    else:
        done = before = 0
        for own, count, size in zip(ends, counts, sizes, strict=True):
            np.add(own[1:], before - own.item(0), out=splits[done + 1 : done + count + 1])
            done, before = done + count, before + size
    splits.setflags(write=False)
    return Rows.whole(Columns((), splits, (parts[0].first,), (inner,)))


def mismatch(what: str, mode: int, prefix: Index, k: int, theirs: int, mine: int) -> ExtentMismatchError:
    """Return the error that says in which mode shape `k` differs from shape 0."""
    where = mode_text(mode, prefix)
    return ExtentMismatchError(f"shape {k} has the {what} {theirs} in {where}, but shape 0 has {mine}")


def check_same_extents(first: Rows, part: Rows, k: int) -> None:
    """Raise if extents differ under any prefix."""
    outer = max(first.outer_rank, part.outer_rank)
    first, part = unroll(first, outer), unroll(part, outer)
    for mode in range(first.rank):
        _check_level(first, part, mode, k, origins=False)


def _check_level(first: Rows, part: Rows, mode: int, k: int, *, origins: bool) -> None:
    """Raise if a mode differs under any prefix that leads to it; those of all earlier modes agree."""
    reached = first._reached(mode, *first.leaves)
    for what, mine, theirs in zip(("extent", "origin"), first.ranges(mode), part.ranges(mode), strict=True):
        differs = mine != theirs
        if reached is not None:
            differs &= reached
        if (origins or what == "extent") and differs.any():
            place = int(np.argmax(differs))
            prefix: Index = ()
            if mode:
                modes = min(mode, first.outer_rank)
                node = np.array([first.run(modes)[0] + place])
                prefix = tuple(first.prefixes_of(modes, node)[0].tolist())
            raise mismatch(what, mode, prefix, k, theirs.item(place), mine.item(place))


def _same_leaves(first: Rows, part: Rows, start: int) -> bool:
    """Tell whether the modes from `start` on, which are in leaves, have the same extents and origins."""
    return all(
        np.array_equal(mine, theirs)
        for mode in range(start, first.rank)
        for mine, theirs in zip(first.ranges(mode), part.ranges(mode), strict=True)
    )


def _join_leaves(parts: Sequence[Rows], mode: int) -> Rows:
    """Return rows whose leaves are as long in `mode` as those of all parts together."""
    first = parts[0]
    leaf = first.columns.leaf_extents(*first.leaves).copy()
    counts = [part.ranges(mode)[0] for part in parts]
    leaf[:, mode - first.outer_rank] = _sum_of(counts, first.ranges(mode)[1], mode)
    levels = [_level_of(first, m) for m in range(first.outer_rank)]
    absent = list(_absent_of(parts))
    if absent:
        absent[mode - first.outer_rank] *= len(parts)
    return build_rows(levels, leaf, _leaf_origins([first], None), tuple(absent))


def _join_nodes(parts: Sequence[Rows], mode: int) -> Rows:
    """Return rows with the nodes of all parts, one part after the other, under every prefix."""
    first = parts[0]
    levels = [_level_of(first, m) for m in range(mode)]
    counts = [part.ranges(mode)[0] for part in parts]
    levels.append((_sum_of(counts, first.ranges(mode)[1], mode), _origins([first], mode, None)))
    order = None
    if mode:
        parents = np.concatenate([np.repeat(np.arange(len(c)), c) for c in counts])
        order = np.argsort(parents, kind="stable")
    return _build_below(levels, parts, mode + 1, order)


def _sum_of(counts: Sequence[IntArray], starts: IntArray, mode: int) -> IntArray:
    """Return the sums of extents of a mode with these origins, which must end within 64 bits."""
    most = sum(int(c.max(initial=0)) for c in counts)
    if most + max(int(starts.max(initial=0)), 0) > MAX_INT64:
        # Rare and slow, but exact: Python integers.
        for start, *extents in zip(starts.tolist(), *[c.tolist() for c in counts], strict=True):
            check_int64(mode, max(start, 0), sum(extents))
    total = counts[0].copy()
    for c in counts[1:]:
        total += c
    return total


def stack_rows(rows: Rows, mode: int, count: int) -> Rows:
    """Return rows with a new mode of `count` indices; all that follows it is the same under each."""
    outer = rows.outer_rank
    levels = [_level_of(rows, m) for m in range(min(mode, outer))]
    if mode < outer:
        prefixes = len(rows.ranges(mode)[0])
        levels.append((np.full(prefixes, count), 0))
        return _build_below(levels, [rows], mode, np.repeat(np.arange(prefixes), count))
    (a, b), place, even = rows.leaves, mode - outer, rows.columns.even
    if even is not None:
        leaf = shared_table((*even[:place], count, *even[place:]), b - a)
    else:
        leaf = np.insert(rows.columns.leaf_extents(a, b), place, count, axis=1)
    origins, absent = _leaf_origins([rows], None), _absent_of([rows])
    if absent:
        absent = (*absent[:place], count, *absent[place:])
    return build_rows(levels, leaf, [*origins[:place], 0, *origins[place:]], absent)


def _build_below(levels: list[_Level], parts: Sequence[Rows], mode: int, order: IntArray | None) -> Rows:
    """Return rows with these levels, and below them the rows of the parts from `mode` on.

    The prefixes of `mode` indices are nodes of all parts, one part after another, in this order (``None``:
    unchanged); a node may occur more than once.
    """
    for m in range(mode, parts[0].outer_rank):
        counts, nodes = np.concatenate([part.ranges(m)[0] for part in parts]), order
        if nodes is not None:
            begins = splits_of(counts)[:-1]
            counts = counts[nodes]
            order = concatenated_ranges(begins[nodes], counts)
        levels.append((counts, _origins(parts, m, nodes)))
    return build_rows(levels, _leaves(parts, order), _leaf_origins(parts, order), _absent_of(parts))


def _absent_of(parts: Sequence[Rows]) -> Index:
    """Return the extents that cells would have, if no part has one and all say the same."""
    absent = parts[0].absent
    if any(a < b for a, b in [part.leaves for part in parts]) or any(p.absent != absent for p in parts):
        return ()
    return absent if any(absent) else ()


def _level_of(rows: Rows, mode: int) -> _Level:
    return rows.ranges(mode)[0], _origins([rows], mode, None)


def _leaf_origins(parts: Sequence[Rows], order: IntArray | None) -> list[Origins]:
    return [_origins(parts, mode, order) for mode in range(parts[0].outer_rank, parts[0].rank)]


def _origins(parts: Sequence[Rows], mode: int, order: IntArray | None) -> Origins:
    """Return where an unrolled or a leaf mode starts: one number, if it is the same in all parts."""
    stored = [part.stored_origin(mode) for part in parts]
    if all(isinstance(o, int) and o == stored[0] for o in stored):
        return stored[0]
    runs = [part.run(min(mode, part.outer_rank)) for part in parts]
    starts = np.concatenate([origins_of(o, a, b) for o, (a, b) in zip(stored, runs, strict=True)])
    return tidy_origins(starts if order is None else starts[order])


def _leaves(parts: Sequence[Rows], order: IntArray | None) -> IntArray:
    """Return the extents of the leaves of all parts, taken in this order."""
    filled = [part for part in parts if part.leaves[0] < part.leaves[1]]
    evens = {part.columns.even for part in filled}
    if len(evens) == 1 and None not in evens:
        count = sum(b - a for a, b in [part.leaves for part in filled])
        return shared_table(cast("Index", evens.pop()), count if order is None else len(order))
    leaf = np.concatenate([part.columns.leaf_extents(*part.leaves) for part in parts])
    return leaf if order is None else leaf[order]
