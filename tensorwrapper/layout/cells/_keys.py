"""Positional keys on cells: NumPy's basic indexing, resolved for every row separately.

``[:, -1]`` is the last element of each row and ``[:, ::2]`` every other one: negative positions and ends of
slices count from the end of each row, as in Awkward Array. Each mode is one pass over arrays of nodes; a node
is a prefix of indices, as in `Columns`.
"""

from collections.abc import Sequence
from types import EllipsisType
from typing import SupportsIndex, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import shared_table, splits_of
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import IndexTypeError, OutOfBoundsError, StepError
from tensorwrapper.layout.boxes._keys import is_whole
from tensorwrapper.shape import Rows
from tensorwrapper.shape.lowlevel import mode_text
from tensorwrapper.typing import Index, IntArray, PositionalItem

Runs: TypeAlias = tuple[IntArray, int, IntArray]
"""What a slice selects under each node: the first position, the step, and how many."""


@final
@frozen(eq=False)
class Places:
    """Single positions of a mode, negative ones from the end, as arguments of `gather`."""

    positions: IntArray


Item: TypeAlias = PositionalItem | Places
"""An item for one mode."""


@final
@frozen(eq=False)
class Level:
    """A mode of the result: how many indices it has under each node of the level above."""

    counts: IntArray
    mode: int | None
    """The mode that was there before; None for a new one."""
    parents: IntArray
    """The nodes above, as they were numbered before."""


@final
@frozen(eq=False)
class Nodes:
    """The prefixes of the present nodes, for errors."""

    rows: Rows
    mode: int
    """How many of the modes of `rows` lead to each node."""
    numbers: IntArray
    lead: Index = ()
    """The indices that were pinned before `rows`."""

    def where(self, place: int, mode: int) -> str:
        """Return how an error names `mode` under the node at `place`."""
        prefix: Index = ()
        if self.mode:
            known = self.rows.prefixes_of(self.mode, self.numbers[place : place + 1])
            prefix = tuple(known[0].tolist())
        return mode_text(len(self.lead) + mode, self.lead + prefix)


def choose_nodes(rows: Rows, items: Sequence[Item], lead: Index = ()) -> tuple[list[Level], IntArray]:
    """Return the levels that `items` make from the first modes, and the remaining nodes.

    There is one item for each unrolled mode, and, for leaves of rank 1, optionally one for the mode of the
    leaves: then a node is an element.
    """
    levels: list[Level] = []
    # The one node above mode 0.
    nodes = np.zeros(1, dtype=np.int64)
    mode = 0
    for item in items:
        if item is None:
            levels.append(Level(np.ones(len(nodes), dtype=np.int64), None, nodes))
            continue
        begins, counts = _children(rows, mode, nodes)
        at = Nodes(rows, min(mode, rows.outer_rank), nodes, lead)
        if isinstance(item, slice):
            first, step, kept = resolve_slice(item, counts, len(lead) + mode)
            levels.append(Level(kept, mode, nodes))
            nodes = _spread(begins + first, step, kept)
        elif isinstance(item, Places):
            levels.append(Level(np.full(len(nodes), len(item.positions)), mode, nodes))
            places = _positions(item.positions, counts, mode, at)
            nodes = (begins[:, np.newaxis] + places).reshape(-1)
        else:
            nodes = begins + resolve_position(item, counts, mode, at)
        mode += 1
    return levels, nodes


def _children(rows: Rows, mode: int, nodes: IntArray) -> tuple[IntArray, IntArray]:
    """Return the first child of each node of a mode, and how many there are."""
    if mode == 0:
        return np.array([rows.start]), np.array([rows.count])
    columns = rows.columns
    depth = rows.depth + mode
    splits = columns.splits[depth - 1] if depth < columns.depth else cast("IntArray", columns.offsets)
    begins = splits[nodes]
    return begins, splits[nodes + 1] - begins


def _spread(begins: IntArray, step: int, counts: IntArray) -> IntArray:
    """Return ``begins[k] + step * j`` for j below ``counts[k]``, one k after the other."""
    splits = splits_of(counts)
    within = np.arange(int(splits[-1]), dtype=np.int64)
    within *= step
    within += np.repeat(begins - splits[:-1] * step, counts)
    return within


def resolve_position(item: object, counts: IntArray, mode: int, at: Nodes) -> IntArray:
    """Return the position that an integer of a key names under each node, counted from 0."""
    if isinstance(item, EllipsisType) or not isinstance(item, SupportsIndex):
        raise IndexTypeError(
            f"the index of mode {len(at.lead) + mode} must be an integer or a slice, not {item!r}"
        )
    position = to_int(item, f"the index of mode {len(at.lead) + mode}")
    if not len(counts):
        return counts
    least = min(position + 1 if position >= 0 else -position, MAX_INT64)
    if int(counts.min()) < least:
        place = int(np.argmax(counts < least))
        raise OutOfBoundsError(
            f"position {position} is outside {at.where(place, mode)}, which has extent {counts[place]}"
        )
    return np.full(len(counts), position) if position >= 0 else counts + position


def _positions(given: IntArray, counts: IntArray, mode: int, at: Nodes) -> IntArray:
    """Return the given positions under each node, counted from 0: an (n, positions) table."""
    if len(given):
        for extreme in (int(given.min()), int(given.max())):
            resolve_position(extreme, counts, mode, at)
    return np.where(given < 0, given + counts[:, np.newaxis], given)


def resolve_slice(item: slice, counts: IntArray, mode: int) -> Runs:
    """Return what a slice selects of modes with these extents, each cut short as NumPy does."""
    if is_whole(item):
        return np.zeros(len(counts), dtype=np.int64), 1, counts
    step = 1 if item.step is None else _bound(item.step, item, mode)
    if not step:
        raise StepError(f"the step of the {item} of mode {mode} is 0; it must be another integer")
    if step == -1 and item.start is None and item.stop is None:
        # The same result as below, without the passes that clip the ends.
        return np.maximum(counts - 1, 0), -1 if (counts > 1).any() else 1, counts
    begin = item.start
    if step == 1 and item.stop is not None and (begin is None or (type(begin) is int and not begin)):
        stop = _bound(item.stop, item, mode)
        kept = np.minimum(counts, stop) if stop >= 0 else np.maximum(counts + stop, 0)
        return shared_table((0,), len(counts))[:, 0], 1, kept
    low, high = (0, counts) if step > 0 else (-1, counts - 1)
    ends = (np.full(len(counts), low), high) if step > 0 else (high, np.full(len(counts), low))
    first, last = [
        end if bound is None else _clipped(_bound(bound, item, mode), counts, low, high)
        for bound, end in zip((item.start, item.stop), ends, strict=True)
    ]
    # Divided first: the distance fits into 64 bits, and with a step added it might not.
    kept = np.subtract(last, first) if step == 1 else -((first - last) // step)
    kept = np.maximum(kept, 0)
    if not (kept > 1).any():
        # A step that is never taken may be of any size.
        step = 1
    return np.where(kept > 0, first, 0), step, kept


def _bound(number: object, item: slice, mode: int) -> int:
    if not isinstance(number, SupportsIndex):
        raise IndexTypeError(f"the {item} of mode {mode} is not made of integers")
    # A number beyond every extent may as well be the largest that an array holds.
    return min(max(to_int(number, f"a bound of mode {mode}"), -MAX_INT64), MAX_INT64)


def _clipped(number: int, counts: IntArray, low: int, high: IntArray) -> IntArray:
    if number < 0:
        return np.maximum(counts + number, low)
    return np.minimum(number, high)
