"""Rows: a window on columns, and every question that a jagged shape answers from it.

A window is a run of nodes of one depth, so a slice of the outermost mode, and what is left after pinning
leading modes, are windows again: O(1) to make at any size, and nothing is copied.
"""

from collections.abc import Iterator
from typing import final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import JaggedModeError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape._columns import (
    Columns,
    Origins,
    Sizes,
    check_int64,
    frozen_array,
    moved_origins,
    origins_of,
    run_of,
    splits_of,
)
from tensorwrapper.shape._common import walk_batches
from tensorwrapper.shape._keys import mode_text
from tensorwrapper.shape._smooth import box_ordinal, check_inside, make_smooth
from tensorwrapper.typing import Extents, Index, IntArray, Order

__all__ = ["CellTable", "Rows"]


@final
@attrs.frozen(eq=False)
class CellTable:
    """The smooth cells of a jagged shape, in row-major order of their indices.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> table = Shape.jagged([Shape(1, 2), Shape(3, 4)]).cell_table()
    >>> table.extents.tolist(), table.offsets.tolist()
    ([[1, 2], [3, 4]], [0, 2, 14])
    """

    indices: IntArray
    """The (n, outer rank) absolute indices that lead to each cell."""
    extents: IntArray
    """The (n, cell rank) extents."""
    origins: IntArray
    """The (n, cell rank) first indices."""
    offsets: IntArray
    """How many elements lie before each cell, and (last) in all: n + 1 numbers."""


@final
@attrs.frozen(eq=False)
class Rows:
    """The nodes `start` to `stop` of depth ``depth + 1`` of `columns`; the first has index `first`."""

    columns: Columns
    depth: int
    start: int
    stop: int
    first: int
    _box: tuple[Extents, Index] | None = attrs.field(default=None, init=False, repr=False)

    @classmethod
    def whole(cls, columns: Columns) -> "Rows":
        """Return all rows of `columns`."""
        return cls(columns, 0, 0, columns.n_rows, columns.origin(0, 0))

    @property
    def count(self) -> int:
        """The extent of mode 0."""
        return self.stop - self.start

    @property
    def outer_rank(self) -> int:
        """The number of unrolled modes that are left."""
        return self.columns.depth - self.depth

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self.outer_rank + self.columns.leaf_rank

    def run(self, modes: int) -> tuple[int, int]:
        """Return the run of nodes that are prefixes of `modes` indices, at least one."""
        a, b = self.start, self.stop
        for depth in range(self.depth + 1, self.depth + modes):
            splits = self.columns.splits[depth - 1]
            a, b = int(splits[a]), int(splits[b])
        return a, b

    def leading(self, modes: int) -> "Rows":
        """Return the prefixes of `modes` indices, more than one and fewer than all, as rows.

        No copy, but for one of the leaf extents where prefixes end within leaves.
        """
        columns, outer = self.columns, self.outer_rank
        inner = modes - outer
        if inner > 0:
            leaf = splits_of(columns.leaf[:, 0]) if inner == 1 else columns.leaf[:, :inner]
            splits, origins, leaf_origins = columns.splits, columns.origins, columns.leaf_origins[:inner]
        else:
            last = self.depth + modes - 1
            splits, leaf = columns.splits[: last - 1], columns.splits[last - 1]
            origins, leaf_origins = columns.origins[:last], columns.origins[last : last + 1]
        cut = Columns(splits, leaf, origins, leaf_origins)
        return Rows(cut, self.depth, self.start, self.stop, self.first)

    @property
    def leaves(self) -> tuple[int, int]:
        """The run of leaves."""
        return self.run(self.outer_rank)

    @property
    def size(self) -> int:
        """The number of elements."""
        a, b = self.leaves
        offsets = self.columns.offsets
        return int(offsets[b]) - int(offsets[a])

    def ranges(self, mode: int) -> tuple[IntArray, IntArray]:
        """Return extent and origin of `mode` at every prefix of ``min(mode, outer_rank)`` indices."""
        if mode == 0:
            return np.array([self.count]), np.array([self.first])
        outer = self.outer_rank
        a, b = self.run(min(mode, outer))
        if mode < outer:
            depth = self.depth + mode
            origins = origins_of(self.columns.origins[depth], a, b)
            return np.diff(self.columns.splits[depth - 1][a : b + 1]), origins
        extents = self.columns.leaf_extents(a, b)[:, mode - outer]
        return extents, origins_of(self.columns.leaf_origins[mode - outer], a, b)

    def _reached(self, mode: int) -> npt.NDArray[np.bool_] | None:
        """Return which leaves have an index before `mode`, so that a prefix leads there; None: all do."""
        later = mode - self.outer_rank
        if later < 1:
            return None
        a, b = self.leaves
        reached = np.asarray((self.columns.leaf[a:b, :later] > 0).all(axis=1))
        return None if reached.all() else reached

    def reached_ranges(self, mode: int) -> tuple[IntArray, IntArray]:
        """Return extent and origin of `mode` wherever a prefix leads to it: what users are told."""
        extents, origins = self.ranges(mode)
        reached = self._reached(mode)
        return (extents, origins) if reached is None else (extents[reached], origins[reached])

    def _stored_origin(self, mode: int) -> Origins:
        if mode == 0:
            return self.first
        outer = self.outer_rank
        if mode < outer:
            return self.columns.origins[self.depth + mode]
        return self.columns.leaf_origins[mode - outer]

    def uniform_origin(self) -> Index:
        """Return the origin, if every mode has one."""
        origin: list[int] = []
        for mode in range(self.rank):
            stored = self._stored_origin(mode)
            if not isinstance(stored, int):
                _, starts = self.reached_ranges(mode)
                if len(starts) and (starts != starts[0]).any():
                    raise JaggedModeError(
                        f"mode {mode} has no single origin: it varies from {starts.min()} to "
                        f"{starts.max()}; origin_at(prefix) answers"
                    )
                stored = int(starts[0]) if len(starts) else 0
            origin.append(stored)
        return tuple(origin)

    # One prefix at a time.

    def under(self, prefix: Index) -> "Rows | int":
        """Return what is left under `prefix`: rows, or the number of the leaf."""
        rows = self
        for mode, i in enumerate(prefix):
            if not rows.first <= i < rows.first + rows.count:
                end = rows.first + rows.count
                where = mode_text(mode, prefix[:mode])
                raise OutOfBoundsError(f"index {i} is outside [{rows.first}, {end}) of {where}")
            node = rows.start + (i - rows.first)
            if rows.outer_rank == 1:
                if mode + 1 < len(prefix):
                    raise RankError(f"the prefix {prefix} reaches into the leaves")
                return node
            depth = rows.depth + 1
            start, stop = rows.columns.children(depth, node)
            rows = Rows(rows.columns, depth, start, stop, rows.columns.origin(depth, node))
        return rows

    def range_under(self, prefix: Index) -> tuple[int, int]:
        """Return extent and origin of mode ``len(prefix)`` under `prefix`."""
        if len(prefix) >= self.rank:
            raise RankError(f"the prefix {prefix} leaves no mode of a shape of rank {self.rank}")
        outer = self.outer_rank
        rest = self.under(prefix[:outer])
        if isinstance(rest, Rows):
            return rest.count, rest.first
        extents, origin = self.columns.leaf_box(rest)
        check_inside(extents, origin, prefix[outer:], prefix[:outer])
        return extents[len(prefix) - outer], origin[len(prefix) - outer]

    def box_under(self, prefix: Index) -> tuple[Extents, Index]:
        """Return extents and origin of the bounding box of what is left under `prefix`."""
        rest = self.under(prefix[: self.outer_rank])
        if isinstance(rest, Rows):
            return rest.box()
        extents, origin = self.columns.leaf_box(rest)
        return make_smooth(extents, origin).bounding_box(prefix[self.outer_rank :])

    def box(self) -> tuple[Extents, Index]:
        """Return extents and origin of the bounding box; O(nodes) once, then remembered."""
        box = self._box
        if box is None:
            pairs = [self._span(mode) for mode in range(self.rank)]
            box = tuple([extent for extent, _ in pairs]), tuple([start for _, start in pairs])
            object.__setattr__(self, "_box", box)
        return box

    def _span(self, mode: int) -> tuple[int, int]:
        extents, origins = self.reached_ranges(mode)
        stored = self._stored_origin(mode)
        if isinstance(stored, int):
            return int(extents.max(initial=0)), stored
        filled = extents > 0
        if not filled.any():
            return 0, int(origins.min()) if len(origins) else 0
        low = int(origins[filled].min())
        return int((origins + extents)[filled].max()) - low, low

    def ordinal(self, index: Index) -> int:
        """Return how many elements come before `index`."""
        outer = self.outer_rank
        leaf = self.under(index[:outer])
        if isinstance(leaf, Rows):
            raise RankError(f"the index {index} ends above the leaves")
        extents, origin = self.columns.leaf_box(leaf)
        offsets = self.columns.offsets
        before = int(offsets[leaf]) - int(offsets[self.leaves[0]])
        return before + box_ordinal(extents, origin, index[outer:], index[:outer])

    def index(self, ordinal: int) -> Index:
        """Return the index with `ordinal` elements before it; O(depth * log(nodes))."""
        size = self.size
        if not 0 <= ordinal < size:
            raise OutOfBoundsError(f"ordinal {ordinal} is outside [0, {size})")
        offsets = self.columns.offsets
        place = ordinal + int(offsets[self.leaves[0]])
        leaf = int(run_of(offsets, np.array(place)))
        inner = make_smooth(*self.columns.leaf_box(leaf)).index(place - int(offsets[leaf]))
        return self.prefix_of(leaf) + inner

    def prefix_of(self, leaf: int) -> Index:
        """Return the indices of the unrolled modes that lead to a leaf."""
        prefix: list[int] = []
        node = leaf
        for depth in range(self.columns.depth - 1, self.depth, -1):
            splits = self.columns.splits[depth - 1]
            parent = int(run_of(splits, np.array(node)))
            prefix.append(node - int(splits[parent]) + self.columns.origin(depth, parent))
            node = parent
        prefix.append(node - self.start + self.first)
        return tuple(reversed(prefix))

    # Many at a time.

    def cell_table(self) -> "CellTable":
        """Return all leaves as arrays; O(leaves)."""
        (a, b), columns = self.leaves, self.columns
        prefixes = self.prefixes(self.outer_rank)
        return CellTable(prefixes, columns.leaf_extents(a, b), columns.leaf_starts(a, b), self.cell_offsets())

    def cell_offsets(self) -> IntArray:
        """Return how many elements come before each leaf, and (last) how many there are."""
        a, b = self.leaves
        offsets = self._int64_offsets()[a : b + 1]
        # As they are stored, where they are: a window that starts at 0 needs no copy.
        return offsets - offsets[0] if offsets[0] else offsets

    def prefixes(self, modes: int) -> IntArray:
        """Return the (n, modes) indices of all prefixes of `modes` unrolled modes; O(n * modes)."""
        a, b = self.run(modes)
        return self._prefixes_of(modes, np.arange(a, b, dtype=np.int64))

    def _prefixes_of(self, modes: int, nodes: IntArray) -> IntArray:
        table = np.empty((len(nodes), modes), dtype=np.int64)
        for mode in range(modes - 1, 0, -1):
            depth = self.depth + mode
            splits = self.columns.splits[depth - 1]
            parents = run_of(splits, nodes)
            table[:, mode] = nodes - splits[parents]
            stored = self.columns.origins[depth]
            table[:, mode] += stored if isinstance(stored, int) else stored[parents]
            nodes = parents
        table[:, 0] = nodes - (self.start - self.first)
        return table

    def _int64_offsets(self) -> IntArray:
        offsets = self.columns.offsets
        if offsets.dtype == np.int64:
            return offsets.astype(np.int64, copy=False)
        if self.size > MAX_INT64:
            raise SizeOverflowError("this shape has ordinals beyond 64 bits; use ordinal() and index()")
        # A window that fits on columns that do not: what lies outside it is never asked for.
        relative: Sizes = np.clip(offsets - offsets[self.leaves[0]], 0, MAX_INT64)
        return relative.astype(np.int64)

    def indices_at(self, ordinals: IntArray) -> IntArray:
        """Return the (n, rank) indices with these ordinals."""
        size = self.size
        if ordinals.size and not (int(ordinals.min()) >= 0 and int(ordinals.max()) < size):
            raise OutOfBoundsError(f"ordinals from {ordinals.min()} to {ordinals.max()} leave [0, {size})")
        offsets = self._int64_offsets()
        places = ordinals + offsets[self.leaves[0]]
        leaves = run_of(offsets, places)
        rest = places - offsets[leaves]
        outer = self.outer_rank
        indices = np.empty((len(ordinals), self.rank), dtype=np.int64)
        indices[:, :outer] = self._prefixes_of(outer, leaves)
        for mode in range(self.rank - 1, outer - 1, -1):
            if mode > outer:
                rest, indices[:, mode] = np.divmod(rest, self.columns.leaf[leaves, mode - outer])
            else:
                indices[:, mode] = rest
            stored = self.columns.leaf_origins[mode - outer]
            indices[:, mode] += stored if isinstance(stored, int) else stored[leaves]
        return indices

    def find(self, indices: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray]:
        """Return which of the (n, rank) `indices` are inside, and their ordinals (0 where not)."""
        inside, leaves, ordinals = self._locate(indices)
        if not self.size:
            return inside, ordinals
        offsets = self._int64_offsets()
        return inside, np.where(inside, ordinals + (offsets[leaves] - offsets[self.leaves[0]]), 0)

    def contains(self, indices: IntArray) -> npt.NDArray[np.bool_]:
        """Return which of the (n, rank) `indices` are inside, however many elements there are."""
        return self._locate(indices)[0]

    def _locate(self, indices: IntArray) -> tuple[npt.NDArray[np.bool_], IntArray, IntArray]:
        """Return which `indices` are inside, their leaves, and their ordinals within the leaf."""
        n, outer = len(indices), self.outer_rank
        if not self.size:
            return np.zeros(n, dtype=np.bool_), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
        inside = np.ones(n, dtype=np.bool_)
        nodes = np.zeros(n, dtype=np.int64)
        counts: IntArray = np.full(n, self.count)
        starts: IntArray = np.full(n, self.first)
        begins: IntArray = np.full(n, self.start)
        for mode in range(outer):
            if mode:
                depth = self.depth + mode
                splits = self.columns.splits[depth - 1]
                begins, counts = splits[nodes], splits[nodes + 1] - splits[nodes]
                stored = self.columns.origins[depth]
                starts = np.full(n, stored) if isinstance(stored, int) else stored[nodes]
            inside &= (indices[:, mode] >= starts) & (indices[:, mode] < starts + counts)
            # Indices that are outside go on as node 0, which exists, and are masked at the end.
            nodes = np.where(inside, begins + (indices[:, mode] - starts), 0)
        ordinals = np.zeros(n, dtype=np.int64)
        for mode in range(self.columns.leaf_rank):
            if self.columns.leaf.ndim == 1:
                counts = self.columns.leaf[nodes + 1] - self.columns.leaf[nodes]
            else:
                counts = self.columns.leaf[nodes, mode]
            stored = self.columns.leaf_origins[mode]
            starts = np.full(n, stored) if isinstance(stored, int) else stored[nodes]
            place = indices[:, outer + mode] - starts
            inside &= (place >= 0) & (place < counts)
            ordinals = np.where(inside, ordinals * counts + place, 0)
        return inside, nodes, ordinals

    def walk(self, order: Order) -> Iterator[Index]:
        """Return an iterator over the indices; "F" sorts them first, so it holds them all."""
        if order == "F":
            self._int64_offsets()  # raises if there are more than 64 bits count
            table = self.indices_at(np.arange(self.size, dtype=np.int64))
            return zip(*table[np.lexsort(table.T)].T.tolist(), strict=True)
        return walk_batches(self.size, self.indices_at)

    # Whole.

    def reached_table(self, mode: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return the prefixes that lead to `mode`, with its extent and origin under each."""
        extents, origins = self.ranges(mode)
        table = self.prefixes(min(mode, self.outer_rank))
        reached = self._reached(mode)
        if reached is None:
            return table, extents, origins
        return table[reached], extents[reached], origins[reached]

    def dependencies(self, mode: int) -> tuple[int, ...]:
        """Return the earlier modes on which the range of `mode` depends; O(n log n) in its prefixes.

        The range is a function of these modes, and of no fewer. Where several choices would do (of two
        modes that always move together), it is the earlier modes that stay.
        """
        if mode == 0:
            return ()
        table, extents, origins = self.reached_table(mode)
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

    def moved(self, moves: Index) -> "Rows":
        """Return the same rows moved by one integer per mode, in columns that hold nothing else."""
        for mode, (extent, start, move) in enumerate(zip(*self.box(), moves, strict=True)):
            check_int64(mode, start + move, extent)
        partial = self.depth or self.count != self.columns.n_rows
        rows = self.compact() if partial else self
        columns, outer = rows.columns, rows.outer_rank
        moved = [
            moved_origins(o, move, mode)
            for mode, (o, move) in enumerate(zip(columns.origins + columns.leaf_origins, moves, strict=True))
        ]
        shifted = Columns(columns.splits, columns.leaf, tuple(moved[:outer]), tuple(moved[outer:]))
        return Rows(shifted, 0, rows.start, rows.stop, rows.first + moves[0])

    def compact(self) -> "Rows":
        """Return the same rows in columns of their own, with nothing else in them."""
        columns, first = self.columns, self.depth + 1
        splits: list[IntArray] = []
        origins: list[Origins] = [self.first]
        a, b = self.start, self.stop
        for depth in range(first, columns.depth):
            part = columns.splits[depth - 1][a : b + 1]
            stored = columns.origins[depth]
            origins.append(stored if isinstance(stored, int) else frozen_array(stored[a:b].copy()))
            a, b = int(part[0]), int(part[-1])
            splits.append(frozen_array(part - a))
        leaf = (
            columns.leaf[a : b + 1] - columns.leaf[a] if columns.leaf.ndim == 1 else columns.leaf[a:b].copy()
        )
        leaf_origins = [
            o if isinstance(o, int) else frozen_array(o[a:b].copy()) for o in columns.leaf_origins
        ]
        return Rows.whole(Columns(tuple(splits), frozen_array(leaf), tuple(origins), tuple(leaf_origins)))
