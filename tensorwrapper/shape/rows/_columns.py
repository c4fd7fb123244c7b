"""Columns: the storage of jagged shapes, and the array arithmetic on them.

A jagged shape of rank ``r`` is a tree: ``d`` unrolled modes above leaves that are boxes of rank ``s = r -
d``. A *node* of depth ``q`` is a prefix of ``q`` indices. Nodes are not Python objects: the children of node
``k`` of depth ``q`` are the nodes ``splits[q][k]`` up to ``splits[q][k + 1]`` of depth ``q + 1``, so a level
takes 8 bytes per node. Leaves of rank 1 are stored as one more row of splits (their cumulative extents).
Leaves of higher rank are a table of extents with one row each. Equal leaves of any rank are a table with one
row in memory, with a stride of 0.

If every node of a level starts at the same index, the origin is one number, else one per node.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from math import prod
from sys import byteorder
from typing import Final, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._arrays import (
    ArrayState,
    Sizes,
    array_of_state,
    array_state,
    frozen_array,
    shared_row,
    shared_table,
    splits_of,
)
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.typing import Index, IntArray

WINDOW: Final = 1 << 16
"""Prefixes that are looked at together: a few arrays of them fit a cache, and no more are in memory."""

LeafSpan: TypeAlias = tuple[tuple[int, int], tuple[int, int]]
"""Of a mode of the leaves: the least and the greatest number where it starts, and where it ends."""

Origins: TypeAlias = int | IntArray
"""Where the children of each node start: one number for all, or one per node."""


def check_int64(mode: int, start: int, extent: int) -> None:
    """Raise if a mode that starts here leaves 64 bits, which is what columns hold."""
    if start < -MAX_INT64 or start + extent > MAX_INT64:
        raise SizeOverflowError(
            f"mode {mode} would reach from {start} to {start + extent}, but the indices of jagged shapes "
            "must fit into 64 bits"
        )


def moved_origins(origins: Origins, move: int, mode: int) -> Origins:
    """Return `origins` moved by `move`."""
    if isinstance(origins, int):
        return origins + move
    if not len(origins):
        # No numbers say 0.
        return move
    # Empty rows have positions too, though the bounding box does not show them.
    check_int64(mode, int(origins.min()) + move, 0)
    check_int64(mode, int(origins.max()) + move, 0)
    return frozen_array(origins + move)


def tidy_origins(origins: IntArray) -> Origins:
    """Return one number if all `origins` are the same, else the frozen array."""
    if not len(origins):
        return 0
    first = int(origins[0])
    return first if (origins == first).all() else frozen_array(origins)


@final
@frozen(eq=False, getstate_setstate=False)
class Columns:
    """The arrays of a jagged tree; depth ``q`` counts from the root of the tree.

    Attributes
    ----------
    splits
        For q = 1 to d - 1: the starts of the children of each node of depth q, and one end.
    leaf
        Rank 1: row splits of the leaves. Higher rank, or equal leaves: an (n, s) table of extents.
    origins
        For q = 0 to d - 1: the start of mode q under each node of depth q; entry 0 is one number.
    leaf_origins
        For each leaf mode, its start in each leaf.
    absent
        Without leaves: the extents that one would have, which a permutation makes visible; empty, or one per
        leaf mode and not all of them 0.
    """

    splits: tuple[IntArray, ...]
    leaf: IntArray
    origins: tuple[Origins, ...]
    leaf_origins: tuple[Origins, ...]
    absent: Index = ()
    _offsets: Sizes | None = attrs.field(default=None, init=False, repr=False)
    _leaf_spans: tuple[LeafSpan, ...] | None = attrs.field(default=None, init=False, repr=False)
    # Set on first use: a default would slow down each shape.
    _leaf_splits: IntArray = attrs.field(init=False, repr=False)

    @property
    def depth(self) -> int:
        """The number of unrolled modes."""
        return len(self.origins)

    @property
    def leaf_rank(self) -> int:
        """The rank of the leaves."""
        return len(self.leaf_origins)

    @property
    def n_leaves(self) -> int:
        """The number of leaves."""
        return len(self.leaf) - 1 if self.leaf.ndim == 1 else len(self.leaf)

    @property
    def n_rows(self) -> int:
        """The extent of mode 0."""
        return len(self.splits[0]) - 1 if self.splits else self.n_leaves

    @property
    def n_nodes(self) -> int:
        """The number of prefixes of unrolled modes, but for the empty one."""
        return self.n_leaves + sum([len(splits) - 1 for splits in self.splits])

    def cut_out(self, depth: int, start: int, stop: int, first: int) -> "Columns":
        """Return a run of nodes of depth ``depth + 1``, the first with index `first`, and nothing else."""
        splits: list[IntArray] = []
        origins: list[Origins] = [first]
        for level in range(depth + 1, self.depth):
            part = self.splits[level - 1][start : stop + 1]
            origins.append(self._copied(self.origins[level], level, start, stop))
            start, stop = part.item(0), part.item(-1)
            splits.append(frozen_array(part - start))
        even = self.even
        if even is not None:
            leaf = shared_table(even, stop - start)
        elif self.leaf.ndim == 1:
            leaf = self.leaf[start : stop + 1] - self.leaf[start]
        else:
            leaf = self.leaf[start:stop].copy()
        leaf_origins = tuple([self._copied(o, self.depth, start, stop) for o in self.leaf_origins])
        return Columns(tuple(splits), frozen_array(leaf), tuple(origins), leaf_origins, self.absent)

    def _copied(self, origins: Origins, depth: int, start: int, stop: int) -> Origins:
        if start == stop:
            return self.behind(origins, depth)
        return origins if isinstance(origins, int) else frozen_array(origins[start:stop].copy())

    def behind(self, origins: Origins, depth: int) -> int:
        """Return the origin that a window without a node of this depth says: 0 if the columns have some."""
        nodes = self.n_leaves if depth == len(self.origins) else len(self.splits[depth - 1]) - 1
        return 0 if nodes or not isinstance(origins, int) else origins

    @property
    def even(self) -> Index | None:
        """The extents of every leaf, if they are all alike and stored once."""
        return None if self.leaf.ndim == 1 else shared_row(self.leaf)

    def children(self, depth: int, node: int) -> tuple[int, int]:
        """Return the first child of a node and the end of its children."""
        splits = self.splits[depth - 1]
        return splits.item(node), splits.item(node + 1)

    def cuts(self, depth: int, start: int, stop: int, nodes: int) -> Iterator[tuple[int, int]]:
        """Return an iterator over runs of nodes of depth ``depth + 1``.

        In each is one node, or as many as have up to `nodes` nodes under them, themselves counted.
        """
        levels = self.splits[depth:]

        def before(node: int) -> int:
            count = node
            for splits in levels:
                node = splits.item(node)
                count += node
            return count

        while start < stop:
            # A node counts itself, so further ones than `nodes` never fit.
            ends = range(start + 2, min(stop, start + nodes) + 1)
            last = bisect_right(ends, before(start) + nodes, key=before) + start + 1
            yield start, last
            start = last

    def origin(self, depth: int, node: int) -> int:
        """Return where mode `depth` starts under a node."""
        origins = self.origins[depth]
        return origins if isinstance(origins, int) else origins.item(node)

    def leaf_box(self, leaf: int) -> tuple[Index, Index]:
        """Return extents and origin of one leaf."""
        if self.leaf.ndim == 1:
            extents: Index = (self.leaf.item(leaf + 1) - self.leaf.item(leaf),)
        else:
            extents = tuple(self.leaf[leaf].tolist())
        return extents, tuple([o if isinstance(o, int) else o.item(leaf) for o in self.leaf_origins])

    def leaf_extents(self, start: int, stop: int) -> IntArray:
        """Return the (n, s) extents of a run of leaves: a view of a table, computed from splits."""
        if self.leaf.ndim == 1:
            # Not np.diff, which costs ten times as much of few rows.
            return (self.leaf[start + 1 : stop + 1] - self.leaf[start:stop])[:, np.newaxis]
        return self.leaf[start:stop]

    def leaf_extents_at(self, leaves: IntArray, mode: int) -> IntArray | int:
        """Return the extent of a leaf mode in each of `leaves`; one number if all leaves are alike."""
        if self.leaf.ndim == 1:
            # One look-up for each leaf is half of two, once the differences of all are no more work.
            few = 4 * len(leaves) <= len(self.leaf)
            return self.leaf[leaves + 1] - self.leaf[leaves] if few else np.diff(self.leaf)[leaves]
        even = self.even
        return self.leaf[leaves, mode] if even is None else even[mode]

    def leaf_starts(self, start: int, stop: int) -> IntArray:
        """Return the (n, s) origins of a run of leaves."""
        return np.stack([origins_of(o, start, stop) for o in self.leaf_origins], axis=1)

    @property
    def offsets(self) -> Sizes:
        """Number of elements before each leaf, and the total; O(n) once, then cached."""
        if self.leaf.ndim == 1:
            return self.leaf
        offsets = self._offsets
        if offsets is None:
            offsets = leaf_offsets(self.leaf)
            object.__setattr__(self, "_offsets", offsets)
        return offsets

    def leaf_splits(self) -> IntArray:
        """Return the row splits of the first mode of the leaves; O(n) once, then remembered."""
        if self.leaf.ndim == 1:
            return self.leaf
        try:
            return self._leaf_splits
        except AttributeError:
            found = splits_of(self.leaf[:, 0])
            object.__setattr__(self, "_leaf_splits", found)
            return found

    def leaf_spans(self) -> tuple[LeafSpan, ...]:
        """Return where the modes of all leaves start and end, at least one; O(n) once, then remembered."""
        found = self._leaf_spans
        if found is None:
            found = tuple([self._leaf_span(mode) for mode in range(self.leaf_rank)])
            object.__setattr__(self, "_leaf_spans", found)
        return found

    def _leaf_span(self, mode: int) -> LeafSpan:
        origins, even = self.leaf_origins[mode], self.even
        if even is not None and isinstance(origins, int):
            return (origins, origins), (origins + even[mode], origins + even[mode])
        spans: list[tuple[int, int, int, int]] = []
        for first in range(0, self.n_leaves, WINDOW):
            last = min(first + WINDOW, self.n_leaves)
            starts = origins_of(origins, first, last)
            ends = starts + self.leaf_extents(first, last)[:, mode]
            spans.append((int(starts.min()), int(starts.max()), int(ends.min()), int(ends.max())))
        least, greatest, shortest, longest = zip(*spans, strict=True)
        return (min(least), max(greatest)), (min(shortest), max(longest))

    def elements(self, start: int, stop: int) -> int:
        """Return how many elements a run of leaves has."""
        offsets: Sizes = self.leaf
        if offsets.ndim > 1:
            even = self.even
            if even is not None:
                return (stop - start) * prod(even)
            offsets = self.offsets
        return offsets.item(stop) - offsets.item(start)

    def __reduce__(self) -> tuple[Callable[..., "Columns"], tuple[object, ...]]:
        return columns_of_state, self.state(self.origin(0, 0))

    def state(self, first: int) -> tuple[object, ...]:
        """Return what pickle writes, with `first` as the origin of mode 0; small arrays become bytes."""
        later = self.origins[1:] + self.leaf_origins
        origins = (first, *[o if isinstance(o, int) else array_state(o) for o in later])
        splits = tuple([array_state(s) for s in self.splits]) if self.splits else ()
        state = splits, array_state(self.leaf), origins
        return (*state, self.absent) if self.absent else state


def columns_of_state(
    splits: tuple[ArrayState, ...],
    leaf: ArrayState,
    origins: tuple[int | ArrayState, ...],
    absent: Index = (),
) -> Columns:
    """Return unpickled columns: arrays come back writeable, and are frozen again."""
    stored = tuple([o if isinstance(o, int) else array_of_state(o, 0) for o in origins])
    depth = len(splits) + 1
    width = len(origins) - depth
    return Columns(
        tuple([array_of_state(s, 0) for s in splits]) if splits else (),
        array_of_state(leaf, width if width > 1 else 0),
        stored[:depth],
        stored[depth:],
        absent,
    )


def origins_of(origins: Origins, start: int, stop: int) -> IntArray:
    """Return the origins of the nodes `start` to `stop` as an array; no copy if one per node is stored."""
    if isinstance(origins, int):
        # One number for all, as np.broadcast_to gives it, in a seventh of its time.
        number = origins.to_bytes(8, byteorder, signed=True)
        return np.ndarray((stop - start,), np.int64, number, 0, (0,))
    return origins[start:stop]


def leaf_offsets(extents: IntArray) -> Sizes:
    """Return how many elements come before each leaf of an (n, s) table, and the total; O(n)."""
    bound = len(extents)
    for greatest in extents.max(axis=0, initial=0).tolist():
        bound *= max(greatest, 1)
    if bound <= MAX_INT64:
        return splits_of(np.multiply.reduce(extents, axis=1, dtype=np.int64))
    # Rare and slow, but exact: Python integers.
    volumes = np.multiply.reduce(extents.astype(np.object_), axis=1)
    offsets = np.zeros(len(extents) + 1, dtype=np.object_)
    np.cumsum(volumes, out=offsets[1:])
    if int(offsets[-1]) <= MAX_INT64:
        return frozen_array(offsets.astype(np.int64))
    return offsets
