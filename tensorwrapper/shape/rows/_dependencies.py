"""The range of a mode and the modes on which it depends, computed in windows of the rows."""

from collections.abc import Iterable, Iterator
from itertools import islice
from math import prod

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape.rows._columns import WINDOW
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

_GLANCE = 1 << 10  # prefixes


def extent_bounds(rows: Rows, mode: int) -> tuple[int, int]:
    """Return the least and the greatest extent of a mode wherever a prefix leads to it; else zeros."""
    if not mode:
        only, _ = rows.range_under(())
        return only, only
    common = rows.common_extent(mode)
    if common is not None:
        return common, common
    parts = (window.distinct_ranges(mode)[0] for window in _windows(rows, mode, WINDOW))
    bounds = [(int(extents.min()), int(extents.max())) for extents in parts if len(extents)]
    return (min([low for low, _ in bounds]), max([high for _, high in bounds])) if bounds else (0, 0)


def is_uniform(rows: Rows, mode: int, nodes: int = WINDOW) -> bool:
    """Tell whether a mode has one extent wherever a prefix leads to it; ends at the first that differs."""
    # A first glance mostly tells.
    if not _is_uniform_in(islice(_windows(rows, mode, _GLANCE), 1), mode):
        return False
    return (mode > 0 and rows.common_extent(mode) is not None) or _is_uniform_in(
        _windows(rows, mode, nodes), mode
    )


def _is_uniform_in(windows: Iterable[Rows], mode: int) -> bool:
    known: int | None = None
    for window in windows:
        extents, _ = window.distinct_ranges(mode)
        if not len(extents):
            continue
        known = int(extents[0]) if known is None else known
        if (extents != known).any():
            return False
    return True


def is_constant(rows: Rows, mode: int, nodes: int = WINDOW) -> bool:
    """Tell whether a mode has one extent and one origin wherever a prefix leads to it."""
    known: tuple[int, int] | None = None
    for window in _windows(rows, mode, nodes):
        extents, origins = window.distinct_ranges(mode)
        if not len(extents):
            continue
        known = known or (int(extents[0]), int(origins[0]))
        if (extents != known[0]).any() or (origins != known[1]).any():
            return False
    return True


def _windows(rows: Rows, mode: int, nodes: int) -> Iterator[Rows]:
    """Return an iterator over windows of the rows; all of them for mode 0, whose range windows cut."""
    return rows.windows(nodes) if mode else iter((rows,))


def dependencies_of(rows: Rows, mode: int, nodes: int = WINDOW) -> tuple[int, ...]:
    """Return the earlier modes on which the range of `mode` depends.

    The range is a function of these modes, and of no smaller set. If several sets would do (of two modes that
    always change together), it is that of earlier modes.

    O(n) in its prefixes, in memory of a window of up to `nodes`, if one earlier mode is unrolled, or if the
    indices of the others fill more than an eighth of their box. Otherwise O(n log n), in O(n) memory.
    """
    if mode == 0 or is_constant(rows, mode, nodes):
        return ()
    unrolled = min(mode, rows.outer_rank)
    if unrolled == 1:
        return (0,)
    if rows.columns.n_nodes <= nodes:
        return needs_of(*rows.reached_table(mode))
    kept = list(range(unrolled))
    for candidate in reversed(range(unrolled)):
        others = [m for m in kept if m != candidate]
        if _is_function(rows, mode, others, nodes):
            kept = others
    return tuple(kept)


def _is_function(rows: Rows, mode: int, others: list[int], nodes: int) -> bool:
    """Tell whether extent and origin of `mode` are a function of the indices of `others` alone."""
    extents, origin = rows.box()
    lows = np.array([origin[m] for m in others], dtype=np.int64)
    highs = np.array([origin[m] + extents[m] - 1 for m in others], dtype=np.int64)
    room = prod([extents[m] for m in others])
    if room > max(nodes, rows.columns.n_nodes // 8):
        # Too many combinations to have a place for each. A window mostly has two prefixes that tell.
        tables = (window.reached_table(mode) for window in rows.windows(nodes))
        if any(_apart(table[:, others], counts, starts) for table, counts, starts in tables):
            return False
        table, counts, starts = rows.reached_table(mode)
        return not _apart(table[:, others], counts, starts)
    known = np.full(room, -1, dtype=np.int64)
    at = np.zeros(room, dtype=np.int64)
    for window in rows.windows(nodes):
        table, counts, starts = window.reached_table(mode)
        keys = keys_of(table[:, others], lows, highs)
        new = known[keys] < 0
        known[keys[new]], at[keys[new]] = counts[new], starts[new]
        if (known[keys] != counts).any() or (at[keys] != starts).any():
            return False
    return True


def needs_of(table: IntArray, extents: IntArray, origins: IntArray) -> tuple[int, ...]:
    """Return the columns of a table of prefixes of which extents and origins are a function."""
    kept = list(range(table.shape[1]))
    for candidate in reversed(range(table.shape[1])):
        others = [m for m in kept if m != candidate]
        if not _apart(table[:, others], extents, origins):
            kept = others
    return tuple(kept)


def _apart(table: IntArray, extents: IntArray, origins: IntArray) -> bool:
    """Tell whether two equal rows of the table have another extent or another origin."""
    order = np.lexsort(table.T) if table.shape[1] else np.arange(len(table))
    same = (table[order][1:] == table[order][:-1]).all(axis=1)
    changes = np.diff(extents[order]) != 0
    changes |= np.diff(origins[order]) != 0
    return bool((same & changes).any())


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
