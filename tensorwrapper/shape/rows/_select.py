"""Slices and integer indices of inner modes: new columns from old ones.

All work is done a level at a time on whole arrays of nodes, window after window of the rows. The path of
levels is kept so that an error can name the first faulty prefix. A slice within the range of a mode under
every prefix is one extent for all, and takes O(1) once the ranges are known.
"""

from typing import cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import (
    concatenated_ranges,
    last_run,
    shared_table,
    splits_of,
)
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.shape.boxes._keys import WHOLE, Bounds, Entry, mode_text
from tensorwrapper.shape.rows._columns import WINDOW, Columns, Origins, tidy_origins
from tensorwrapper.shape.rows._rearrange import build_rows
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IntArray


@final
class _Selection:
    """A selection under way: the nodes selected so far, and the levels already built."""

    __slots__ = ("lead", "levels", "nodes", "rows", "trail")

    def __init__(self, rows: Rows, lead: Index) -> None:
        self.rows, self.lead = rows, lead
        self.nodes: IntArray = np.arange(rows.start, rows.stop, dtype=np.int64)
        self.levels: list[tuple[IntArray, Origins]] = []
        self.trail: list[tuple[IntArray, IntArray] | int] = []

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
    rows: Rows, entries: tuple[Entry, ...], lead: Index, *, clip: bool, nodes: int = WINDOW
) -> Rows | tuple[Index, Index]:
    """Return the selected rows, or extents and origin if no jagged mode is left.

    Mode 0 must not be pinned (the caller looks under it instead); it may be sliced. O(selected nodes) in
    time, and in memory what the result takes and a window of up to `nodes` nodes. O(1) where the slices
    lie in all leaves of many rows, as soon as that is known of the rows.
    """
    rows = slice_rows(rows, cast("Bounds", entries[0]), lead, clip=clip)
    leaves = rows.leaves
    if leaves[1] - leaves[0] > max(nodes, rows.columns.n_leaves // 2):
        even = _even_rows(rows, entries, clip=clip)
        if even is not None:
            return even
    windows = rows.windows(nodes)
    first = _selected(next(windows), entries, lead, clip=clip)
    later = [_narrowed(_selected(window, entries, lead, clip=clip)) for window in windows]
    return _built(_joined(rows, entries, [_narrowed(first), *later]) if later else first)


def _even_rows(rows: Rows, entries: tuple[Entry, ...], *, clip: bool) -> Rows | None:
    """Return the selected rows if the slices take all of each leaf, or the same box of all leaves.

    None if that is false, or cannot be decided from the ranges of the modes of all leaves.
    """
    columns, outer = rows.columns, rows.outer_rank
    slices = [entry for entry in entries[1:] if type(entry) is not int]
    if any(entry != WHOLE for entry in entries[1:outer]) or len(slices) + 1 < len(entries):
        return None
    extents: list[int] = []
    origins: list[int] = []
    whole = True
    for entry, (starts, ends) in zip(entries[outer:], columns.leaf_spans(), strict=True):
        low, high = cast("Bounds", entry)
        if low is None or (clip and low <= starts[0]):
            low = starts[0] if starts[0] == starts[1] else None
        elif low < starts[1]:
            return None
        else:
            whole = False
        if high is None or (clip and high >= ends[1]):
            high = ends[0] if ends[0] == ends[1] else None
        elif high > ends[0]:
            return None
        else:
            whole = False
        if low is not None and high is not None and low <= high:
            extents.append(high - low)
            origins.append(low)
    if whole:
        return rows
    if len(extents) < columns.leaf_rank:
        return None
    leaf = shared_table(tuple(extents), columns.n_leaves)
    even = Columns(columns.splits, leaf, columns.origins, tuple(origins))
    return Rows(even, rows.depth, rows.start, rows.stop, rows.first)


@final
@frozen(eq=False)
class _Selected:
    """A selection: counts and origins per remaining unrolled mode, and per mode of the leaves."""

    levels: list[tuple[IntArray, Origins]]
    extents: list[IntArray]
    origins: list[Origins]
    absent: Index = ()


def _selected(rows: Rows, entries: tuple[Entry, ...], lead: Index, *, clip: bool) -> _Selected:
    """Return what is selected of all rows, in a few arrays of their nodes."""
    columns, outer = rows.columns, rows.outer_rank
    chosen = _Selection(rows, lead)
    chosen.levels.append((np.array([rows.count]), rows.first))
    chosen.trail.append((np.array([0, rows.count]), np.array([rows.first])))
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
        chosen.levels.append((kept, tidy_origins(low) if len(low) else _unsaid_origin(rows, mode)))
        chosen.trail.append((splits_of(kept), low))
    return _select_leaves(chosen, entries[outer:], clip=clip)


def _to_int64(bound: int) -> int:
    """Return the nearest int64; numbers outside of every row stay outside."""
    return min(max(bound, -MAX_INT64), MAX_INT64)


def _origins_at(origins: Origins, nodes: IntArray) -> IntArray:
    return np.full(len(nodes), origins) if isinstance(origins, int) else origins[nodes]


def _select_leaves(chosen: _Selection, entries: tuple[Entry, ...], *, clip: bool) -> _Selected:
    columns, outer, nodes = chosen.rows.columns, chosen.rows.outer_rank, chosen.nodes
    extents: list[IntArray] = []
    origins: list[Origins] = []
    a, b = chosen.rows.leaves
    if a == b:
        return _select_no_leaf(chosen, entries, clip=clip)
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
    return _Selected(chosen.levels, extents, origins)


def _select_no_leaf(chosen: _Selection, entries: tuple[Entry, ...], *, clip: bool) -> _Selected:
    """Return the selection without any leaf: the extents of absent leaves are cut."""
    rows, outer = chosen.rows, chosen.rows.outer_rank
    extents: list[IntArray] = []
    origins: list[Origins] = []
    absent: list[int] = []
    reached = np.zeros(1, dtype=np.bool_)
    for mode, entry in enumerate(entries):
        if type(entry) is int:
            continue
        counts, starts = np.array([rows.absent[mode]]), np.array([rows.stored_origin(outer + mode)])
        kept, low = chosen.narrow(outer + mode, cast("Bounds", entry), counts, starts, reached, clip=clip)
        extents.append(kept[:0])
        origins.append(int(low[0]))
        absent.append(int(kept[0]))
    return _Selected(chosen.levels, extents, origins, tuple(absent))


def _built(chosen: _Selected) -> Rows | tuple[Index, Index]:
    levels, extents = chosen.levels, chosen.extents
    if not extents:
        # Every leaf mode is pinned: the last unrolled mode becomes the leaf.
        counts, starts = levels[-1]
        if len(levels) == 1:
            return (int(counts[0]),), (starts if isinstance(starts, int) else int(starts[0]),)
        return build_rows(levels[:-1], counts[:, np.newaxis], [starts])
    absent = chosen.absent
    leaf = np.stack(extents, axis=1)
    return build_rows(levels, leaf, chosen.origins, absent if any(absent) else ())


def _narrowed(part: _Selected) -> _Selected:
    """Return what a window selects, with its extents in integers as short as they may be."""

    def short(counts: IntArray) -> IntArray:
        return counts.astype(np.min_scalar_type(counts.max(initial=0)))

    levels = [(short(counts), starts) for counts, starts in part.levels]
    return _Selected(levels, [short(counts) for counts in part.extents], part.origins, part.absent)


def _joined(rows: Rows, entries: tuple[Entry, ...], parts: list[_Selected]) -> _Selected:
    """Return what all windows of the rows select, one after the other."""
    levels: list[tuple[IntArray, Origins]] = [(np.array([rows.count]), rows.first)]
    modes = [mode for mode in range(1, rows.outer_rank) if type(entries[mode]) is not int]
    for place, mode in enumerate(modes, 1):
        level = [part.levels[place] for part in parts]
        counts = np.concatenate([counts for counts, _ in level])
        levels.append((counts, _joined_origins(level) if len(counts) else _unsaid_origin(rows, mode)))
    leaves = [list(zip(part.extents, part.origins, strict=True)) for part in parts]
    modes_of_leaves = [list(mode) for mode in zip(*leaves, strict=True)]
    extents = [np.concatenate([counts for counts, _ in mode]) for mode in modes_of_leaves]
    origins = [_joined_origins(mode) for mode in modes_of_leaves]
    if extents and not len(extents[0]):
        return _Selected(levels, extents, parts[0].origins, parts[0].absent)
    return _Selected(levels, extents, origins)


def _joined_origins(parts: list[tuple[IntArray, Origins]]) -> Origins:
    """Return the origins of all nodes, from the counts and origins in each window."""
    filled = [(len(counts), starts) for counts, starts in parts if len(counts)]
    numbers = {starts if isinstance(starts, int) else None for _, starts in filled}
    if len(numbers) == 1 and None not in numbers:
        return cast("int", numbers.pop())
    return tidy_origins(
        np.concatenate([np.full(n, starts) if isinstance(starts, int) else starts for n, starts in filled])
        if filled
        else np.zeros(0, dtype=np.int64)
    )


def _unsaid_origin(rows: Rows, mode: int) -> Origins:
    """Return the origin of an unrolled mode without nodes: 0, unless it never had any."""
    a, b = rows.run(mode)
    return rows.stored_origin(mode) if a == b else 0
