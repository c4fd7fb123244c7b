"""New columns out of old ones: slices of inner modes, pins of any mode, permutations.

All work is done a level at a time on whole arrays of nodes; the trail of levels is kept so that an error
can name the first prefix that is to blame.
"""

from typing import cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import (
    concatenated_ranges,
    frozen_array,
    last_run,
    shared_row,
    shared_table,
    splits_of,
    tidy_table,
)
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import JaggedModeError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape.boxes._keys import Bounds, Entry, mode_text
from tensorwrapper.shape.rows._columns import Columns, Origins, check_int64, moved_origins, tidy_origins
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IntArray

__all__ = [
    "build_rows",
    "check_permutation",
    "dependencies_of",
    "keys_of",
    "move_rows",
    "permute_rows",
    "select_rows",
    "slice_rows",
]


def build_rows(levels: list[tuple[IntArray, Origins]], leaf: IntArray, leaf_origins: list[Origins]) -> Rows:
    """Return rows from the counts and origins of every unrolled mode and the (n, s) leaf extents."""
    plain = leaf.shape[1] == 1 and shared_row(leaf) is None
    stored = splits_of(leaf[:, 0]) if plain else tidy_table(leaf)
    splits = tuple([splits_of(counts) for counts, _ in levels[1:]])
    return Rows.whole(Columns(splits, stored, tuple([o for _, o in levels]), tuple(leaf_origins)))


@final
@attrs.define(slots=True)
class _Selection:
    """A selection under way: the nodes selected so far, and the levels already built."""

    rows: Rows
    lead: Index
    nodes: IntArray
    levels: list[tuple[IntArray, Origins]]
    trail: list[tuple[IntArray, IntArray] | int]

    def narrow(
        self,
        mode: int,
        entry: Bounds,
        counts: IntArray,
        starts: IntArray,
        reached: npt.NDArray[np.bool_],
        *,
        clip: bool,
    ) -> tuple[IntArray, IntArray]:
        """Return the new counts and origins of a mode that is sliced by `entry` under every node.

        Nodes that are not `reached` (an earlier mode of the leaf is empty) have no prefix that could leave
        the slice, so there it is cut short.
        """
        first, last = entry
        ends = starts + counts
        low = starts if first is None else np.clip(_to_int64(first), starts, ends)
        high = ends if last is None else np.maximum(np.clip(_to_int64(last), starts, ends), low)
        if not clip:
            # The bounds as given are compared: they may be too large for an array.
            bad = np.zeros_like(reached)
            for bound in entry:
                if bound is not None:
                    bad |= (starts > bound) | (ends < bound)
            bad &= reached
            if bad.any():
                k = int(np.argmax(bad))
                raise OutOfBoundsError(
                    f"slice [{starts[k] if first is None else first}, {ends[k] if last is None else last}) "
                    f"is outside [{starts[k]}, {ends[k]}) of mode {len(self.lead) + mode} under the prefix "
                    f"{self.prefix(k)}; slice(..., clip=True) cuts it short"
                )
        return high - low, low

    def pin(
        self, mode: int, entry: int, counts: IntArray, starts: IntArray, reached: npt.NDArray[np.bool_]
    ) -> None:
        """Check that index `entry` is inside the mode under every node that is reached."""
        bad = ((entry < starts) | (entry >= starts + counts)) & reached
        if bad.any():
            k = int(np.argmax(bad))
            raise OutOfBoundsError(
                f"index {entry} is outside [{starts[k]}, {starts[k] + counts[k]}) of mode "
                f"{len(self.lead) + mode} under the prefix {self.prefix(k)}, so it cannot be pinned"
            )

    def prefix(self, place: int) -> Index:
        """Return the indices that lead to the node at `place`; only errors ask."""
        prefix: list[int] = []
        for step in reversed(self.trail):
            if isinstance(step, int):
                prefix.append(step)
                continue
            splits, starts = step
            parent = last_run(splits, place)
            prefix.append(place - int(splits[parent]) + int(starts[parent]))
            place = parent
        return (*self.lead, *reversed(prefix))


def slice_rows(rows: Rows, bounds: Bounds, lead: Index, *, clip: bool) -> Rows:
    """Return a run of the rows, which are what is left under the pinned modes `lead`; O(1)."""
    start, end = rows.first, rows.first + rows.count
    low = start if bounds[0] is None else bounds[0]
    high = end if bounds[1] is None else bounds[1]
    if not start <= low <= high <= end:
        if not clip or low > high:
            where = mode_text(len(lead), lead)
            raise OutOfBoundsError(f"slice [{low}, {high}) is outside [{start}, {end}) of {where}")
        low = min(max(low, start), end)
        high = max(min(high, end), low)
    moved = rows.start + low - start
    return Rows(rows.columns, rows.depth, moved, moved + high - low, low)


def select_rows(
    rows: Rows, entries: tuple[Entry, ...], lead: Index, *, clip: bool
) -> Rows | tuple[Index, Index]:
    """Return the selected rows, or extents and origin if no jagged mode is left; O(selected nodes).

    Mode 0 must not be pinned (the caller looks under it instead); it may be sliced.
    """
    columns, outer = rows.columns, rows.outer_rank
    run = slice_rows(rows, cast("Bounds", entries[0]), lead, clip=clip)
    chosen = _Selection(rows, lead, np.arange(run.start, run.stop, dtype=np.int64), [], [])
    chosen.levels.append((np.array([run.count]), run.first))
    chosen.trail.append((np.array([0, run.count]), np.array([run.first])))
    for mode in range(1, outer):
        entry, nodes, depth = entries[mode], chosen.nodes, rows.depth + mode
        splits = columns.splits[depth - 1]
        begins = splits[nodes]
        counts = splits[nodes + 1] - begins
        starts = _origins_at(columns.origins[depth], nodes)
        if type(entry) is int:
            chosen.pin(mode, entry, counts, starts, np.ones(len(nodes), dtype=np.bool_))
            chosen.nodes = begins + (entry - starts)
            chosen.trail.append(entry)
            continue
        reached = np.ones(len(nodes), dtype=np.bool_)
        kept, low = chosen.narrow(mode, cast("Bounds", entry), counts, starts, reached, clip=clip)
        chosen.nodes = concatenated_ranges(begins + (low - starts), kept)
        chosen.levels.append((kept, tidy_origins(low)))
        chosen.trail.append((splits_of(kept), low))
    return _select_leaves(chosen, entries[outer:], clip=clip)


def _to_int64(bound: int) -> int:
    """Return the nearest number that an array holds: what is outside every row stays outside."""
    return min(max(bound, -MAX_INT64), MAX_INT64)


def _origins_at(origins: Origins, nodes: IntArray) -> IntArray:
    return np.full(len(nodes), origins) if isinstance(origins, int) else origins[nodes]


def _select_leaves(
    chosen: _Selection, entries: tuple[Entry, ...], *, clip: bool
) -> Rows | tuple[Index, Index]:
    columns, outer, nodes = chosen.rows.columns, chosen.rows.outer_rank, chosen.nodes
    extents: list[IntArray] = []
    origins: list[Origins] = []
    reached = np.ones(len(nodes), dtype=np.bool_)
    for mode, entry in enumerate(entries):
        if columns.leaf.ndim == 1:
            counts = columns.leaf[nodes + 1] - columns.leaf[nodes]
        else:
            counts = columns.leaf[nodes, mode]
        starts = _origins_at(columns.leaf_origins[mode], nodes)
        if type(entry) is int:
            chosen.pin(outer + mode, entry, counts, starts, reached)
            continue
        kept, low = chosen.narrow(outer + mode, cast("Bounds", entry), counts, starts, reached, clip=clip)
        reached &= kept > 0
        extents.append(kept)
        origins.append(tidy_origins(low))
    levels = chosen.levels
    if not extents:
        # Every leaf mode is pinned: the last unrolled mode becomes the leaf.
        counts, starts_ = levels.pop()
        if not levels:
            return (int(counts[0]),), (starts_ if isinstance(starts_, int) else int(starts_[0]),)
        return build_rows(levels, counts[:, np.newaxis], [starts_])
    return build_rows(levels, np.stack(extents, axis=1), origins)


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
    shifted = Columns(columns.splits, columns.leaf, tuple(moved[:outer]), tuple(moved[outer:]))
    return Rows(shifted, 0, rows.start, rows.stop, rows.first + moves[0])


def dependencies_of(rows: Rows, mode: int) -> tuple[int, ...]:
    """Return the earlier modes on which the range of `mode` depends; O(n log n) in its prefixes.

    The range is a function of these modes, and of no fewer. Where several choices would do (of two
    modes that always move together), it is the earlier modes that stay.
    """
    if mode == 0 or len(rows.distinct_ranges(mode)[0]) <= 1:
        return ()
    table, extents, origins = rows.reached_table(mode)
    kept = list(range(table.shape[1]))
    for candidate in reversed(range(table.shape[1])):
        others = table[:, [m for m in kept if m != candidate]]
        order = np.lexsort(others.T) if others.shape[1] else np.arange(len(table))
        same = (others[order][1:] == others[order][:-1]).all(axis=1)
        changes = np.diff(extents[order]) != 0
        changes |= np.diff(origins[order]) != 0
        if not (same & changes).any():
            kept.remove(candidate)
    return tuple(kept)


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
        moved = Columns(columns.splits, leaf, columns.origins, inner_origins)
        return Rows(moved, rows.depth, rows.start, rows.stop, rows.first)
    tail = 1
    while tail < rows.rank - 1 and _independent(order[-tail - 1 :], needs):
        tail += 1
    head = rows.rank - tail
    # One column of indices per mode placed so far, one entry per node of the new tree.
    placed: dict[int, IntArray] = {}
    n_nodes = 1
    levels: list[tuple[IntArray, Origins]] = []
    for mode in order[:head]:
        counts, starts = _ranges_at(rows, mode, needs[mode], placed, n_nodes)
        levels.append((counts, tidy_origins(starts)))
        nodes = np.repeat(np.arange(n_nodes), counts)
        placed = {m: column[nodes] for m, column in placed.items()}
        placed[mode] = concatenated_ranges(starts, counts)
        n_nodes = len(nodes)
    leaves = [_ranges_at(rows, mode, needs[mode], placed, n_nodes) for mode in order[head:]]
    extents = np.stack([counts for counts, _ in leaves], axis=1)
    permuted = build_rows(levels, extents, [tidy_origins(starts) for _, starts in leaves])
    if permuted.size != rows.size:
        raise JaggedModeError(f"the permutation {order} does not keep the set of indices of this shape")
    return permuted


def _independent(modes: tuple[int, ...], needs: list[tuple[int, ...]]) -> bool:
    """Tell whether none of `modes` depends on another of them."""
    return not any(need in modes for mode in modes for need in needs[mode])


def _ranges_at(
    rows: Rows, mode: int, needs: tuple[int, ...], placed: dict[int, IntArray], n_nodes: int
) -> tuple[IntArray, IntArray]:
    """Return extent and origin of an old mode at every new node, looked up by the modes it depends on."""
    if mode == 0:
        return np.full(n_nodes, rows.count), np.full(n_nodes, rows.first)
    table, extents, origins = rows.reached_table(mode)
    if not needs:
        extent, origin = (int(extents[0]), int(origins[0])) if len(extents) else (0, 0)
        return np.full(n_nodes, extent), np.full(n_nodes, origin)
    table = table[:, list(needs)]
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


def keys_of(table: IntArray, lows: IntArray, highs: IntArray) -> IntArray:
    """Return one integer per row of a table whose columns lie between `lows` and `highs`."""
    key = np.zeros(len(table), dtype=np.int64)
    room = 1
    for column, low, high in zip(table.T, lows.tolist(), highs.tolist(), strict=True):
        room *= high - low + 1
        if room > MAX_INT64:
            raise SizeOverflowError("these modes have too many combinations of indices to look them up")
        key = key * (high - low + 1) + (column - low)
    return key
