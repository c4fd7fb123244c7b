"""Rows: a window on columns, with all properties of a jagged shape.

A window is a run of nodes of one depth. So a slice of the outermost mode, and the rest under a prefix, are
windows again: O(1) to make at any size, without a copy.
"""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import Sizes, last_run, run_of, shared_table, splits_of
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import JaggedModeError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._keys import mode_text
from tensorwrapper.shape.boxes._smooth import box_ordinal, check_inside, make_smooth
from tensorwrapper.shape.rows._build_columns import columns_of_lengths
from tensorwrapper.shape.rows._cell_table import CellTable
from tensorwrapper.shape.rows._columns import WINDOW, Columns, Origins, origins_of
from tensorwrapper.typing import Extents, Index, IntArray

_TABLE = 4
"""Elements for each that is looked up, up to which a table of all elements is made."""


@final
@value_class(eq=False)
class Rows:
    """The nodes `start` to `stop` of depth ``depth + 1`` of `columns`; the first has index `first`."""

    columns: Columns
    depth: int
    start: int
    stop: int
    first: int
    _box: tuple[Extents, Index] | None = attrs.field(default=None, init=False, repr=False)

    if TYPE_CHECKING:

        def __init__(self, columns: Columns, depth: int, start: int, stop: int, first: int) -> None: ...

    @classmethod
    def whole(cls, columns: Columns) -> "Rows":
        """Return all rows of `columns`."""
        first = columns.origins[0]
        return cls(columns, 0, 0, columns.n_rows, first if isinstance(first, int) else first.item(0))

    @classmethod
    def of_lengths(
        cls,
        *lengths: npt.ArrayLike,
        first: SupportsIndex = 0,
        origins: Sequence[npt.ArrayLike] | None = None,
    ) -> "Rows":
        """Return rows of these lengths, to implement `rows` of your own representation; O(rows).

        Parameters
        ----------
        *lengths
            For each mode after mode 0 its extent under every prefix, in row-major order. The last may be a
            table of shape (n, s): then each prefix has a box of rank s.
        first
            The first index of mode 0, whose extent is ``len(lengths[0])``.
        origins
            For each of `lengths` the start of the mode: one number (for a table, one row), or one per length;
            zeros by default.

        Raises
        ------
        ExtentError
            If a length is negative, or the number of lengths of a mode differs from its number of prefixes.

        Examples
        --------
        >>> rows = Rows.of_lengths([2, 1], [10, 20, 30], origins=[0, [0, 5, 0]])
        >>> rows.count, rows.rank, rows.size, rows.index(10)
        (2, 3, 60, (0, 1, 5))
        """
        return cls.whole(columns_of_lengths(lengths, to_int(first, "the first index"), origins))

    def at_zero(self) -> "Rows":
        """Return the rows with the same extents and every origin 0."""
        columns = self.columns
        for own in (*columns.origins[1:], *columns.leaf_origins):
            if not isinstance(own, int) or own:
                zeros = (0,) * columns.depth, (0,) * columns.leaf_rank
                columns = Columns(columns.splits, columns.leaf, *zeros, columns.absent)
                break
        else:
            if not self.first:
                return self
        return Rows(columns, self.depth, self.start, self.stop, 0)

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
        columns = self.columns
        return len(columns.origins) - self.depth + len(columns.leaf_origins)

    @property
    def is_whole(self) -> bool:
        """Return True if the columns hold only these rows, counted from 0."""
        columns = self.columns
        if self.depth or self.start or self.stop != columns.n_rows:
            return False
        nodes = self.stop
        for splits in columns.splits:
            if splits.item(0) or len(splits) != nodes + 1:
                return False
            nodes = splits.item(-1)
        return nodes == columns.n_leaves and (columns.leaf.ndim == 2 or not columns.leaf.item(0))

    def run(self, modes: int) -> tuple[int, int]:
        """Return the run of nodes that are prefixes of `modes` indices, at least one."""
        a, b = self.start, self.stop
        for depth in range(self.depth + 1, self.depth + modes):
            splits = self.columns.splits[depth - 1]
            a, b = splits.item(a), splits.item(b)
        return a, b

    def leading(self, modes: int) -> "Rows":
        """Return the prefixes of `modes` indices, more than one and fewer than all, as rows.

        No copy, but for one of the leaf extents where prefixes end within leaves.
        """
        columns, outer = self.columns, self.outer_rank
        inner = modes - outer
        if inner > 0:
            even = columns.even
            if even is not None:
                leaf = shared_table(even[:inner], columns.n_leaves)
            else:
                leaf = splits_of(columns.leaf[:, 0]) if inner == 1 else columns.leaf[:, :inner]
            splits, origins, leaf_origins = columns.splits, columns.origins, columns.leaf_origins[:inner]
        else:
            last = self.depth + modes - 1
            splits, leaf = columns.splits[: last - 1], columns.splits[last - 1]
            origins, leaf_origins = columns.origins[:last], columns.origins[last : last + 1]
        absent = columns.absent[: max(inner, 0)]
        cut = Columns(splits, leaf, origins, leaf_origins, absent if any(absent) else ())
        return Rows(cut, self.depth, self.start, self.stop, self.first)

    @property
    def leaves(self) -> tuple[int, int]:
        """The run of leaves."""
        outer = len(self.columns.origins) - self.depth
        return self.run(outer) if outer > 1 else (self.start, self.stop)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.columns.elements(*self.leaves)

    def ranges(self, mode: int) -> tuple[IntArray, IntArray]:
        """Return extent and origin of `mode` at every prefix of ``min(mode, outer_rank)`` indices."""
        if mode == 0:
            return np.array([self.count]), np.array([self.first])
        outer = self.outer_rank
        a, b = self.run(min(mode, outer))
        if mode < outer:
            depth = self.depth + mode
            origins = origins_of(self.columns.origins[depth], a, b)
            splits = self.columns.splits[depth - 1]
            return splits[a + 1 : b + 1] - splits[a:b], origins
        extents = self.columns.leaf_extents(a, b)[:, mode - outer]
        return extents, origins_of(self.columns.leaf_origins[mode - outer], a, b)

    def _reached(self, mode: int, a: int, b: int) -> npt.NDArray[np.bool_] | None:
        """Return which of a run of leaves have an index before `mode`, so that a prefix leads there.

        None: all do.
        """
        later = mode - self.outer_rank
        if later < 1:
            return None
        columns = self.columns.leaf[a:b].T
        reached = columns[0] > 0
        for column in columns[1:later]:
            reached &= column > 0
        return None if reached.all() else reached

    def reached_ranges(self, mode: int) -> tuple[IntArray, IntArray]:
        """Return the visible extent and origin of `mode`: those with a prefix."""
        extents, origins = self.ranges(mode)
        reached = self._reached(mode, *self.leaves)
        return (extents, origins) if reached is None else (extents[reached], origins[reached])

    def distinct_ranges(self, mode: int) -> tuple[IntArray, IntArray]:
        """Return `reached_ranges`, or only one of them where they are known to be all alike."""
        if mode >= self.outer_rank and isinstance(self.stored_origin(mode), int):
            a, b = self.leaves
            if self.columns.even is not None and b - a > 1:
                columns, outer = self.columns, self.outer_rank
                one = Rows(Columns((), columns.leaf[a : a + 1], (0,), columns.leaf_origins), 0, 0, 1, 0)
                return one.reached_ranges(mode - outer + 1)
        return self.reached_ranges(mode)

    @property
    def has_most_leaves(self) -> bool:
        """Return True if what columns remember of all leaves is worth finding for these."""
        a, b = self.leaves
        return 2 * (b - a) >= self.columns.n_leaves

    def common_extent(self, mode: int) -> int | None:
        """Return the extent that all leaves have in a mode which a prefix leads to; None if unknown."""
        later, columns = mode - self.outer_rank, self.columns
        if later < 1 or not columns.n_leaves or not self.has_most_leaves:
            return None
        (least, last), (shortest, longest) = columns.leaf_spans()[later]
        if least != last or shortest != longest:
            return None
        # Where there are elements, a prefix leads to every mode.
        return longest - last if columns.elements(*self.leaves) else None

    @property
    def is_one_box(self) -> bool:
        """Return True if the rows are stored as one repeated box."""
        columns = self.columns
        single = self.outer_rank == 1 and columns.even is not None
        return single and all(isinstance(origin, int) for origin in columns.leaf_origins)

    def windows(self, nodes: int = WINDOW) -> "Iterator[Rows]":
        """Return an iterator over runs of the rows, each with up to `nodes` prefixes, or one row.

        Work window by window needs the memory of one, and can end at the first result.
        """
        if self.columns.n_nodes <= nodes or self.count < 2 or self.is_one_box:
            yield self
            return
        for start, stop in self.columns.cuts(self.depth, self.start, self.stop, nodes):
            first = self.first + start - self.start
            yield Rows(self.columns, self.depth, start, stop, first)

    def stored_origin(self, mode: int) -> Origins:
        """Return the origin of `mode` as it is stored: one number for all prefixes, or one per node.

        Where this window has no node that could say it, but the columns have some, it is 0.
        """
        if mode == 0:
            return self.first
        outer = self.outer_rank
        if mode < outer:
            stored = self.columns.origins[self.depth + mode]
        else:
            stored = self.columns.leaf_origins[mode - outer]
        if isinstance(stored, int) and not stored:
            return 0
        level = min(mode, outer)
        a, b = self.run(level)
        return stored if a < b else self.columns.behind(stored, self.depth + level)

    @property
    def absent(self) -> Index:
        """The extents that cells would have, if there were one: zeros unless they are stored."""
        columns = self.columns
        return columns.absent if columns.absent and not columns.n_leaves else (0,) * columns.leaf_rank

    def uniform_origin(self) -> Index:
        """Return the origin, if every mode has one."""
        later = self.columns.origins[self.depth + 1 :] + self.columns.leaf_origins
        if set(map(type, later)) <= {int} and not any(later):
            return (self.first, *[0] * len(later))  # as of most
        origin: list[int] = []
        for mode in range(self.rank):
            stored = self.stored_origin(mode)
            if not isinstance(stored, int):
                _, starts = self.distinct_ranges(mode)
                if not len(starts):
                    origin.append(self._hidden_origin(mode))
                    continue
                if (starts != starts[0]).any():
                    raise JaggedModeError(
                        f"mode {mode} has no single origin: it varies from {starts.min()} to "
                        f"{starts.max()}; origin_at(prefix) answers"
                    )
                stored = int(starts[0])
            origin.append(stored)
        return tuple(origin)

    def _hidden_origin(self, mode: int) -> int:
        """Return where a mode starts to which no prefix leads: 0 if that is not stored, or varies."""
        _, starts = self.ranges(mode)
        return int(starts[0]) if len(starts) and (starts == starts[0]).all() else 0

    def under(self, prefix: Index) -> "Rows | int":
        """Return what is left under `prefix`: rows, or the number of the leaf."""
        columns, depth, start, stop = self.columns, self.depth, self.start, self.stop
        first, last = self.first, len(columns.origins) - 1
        for mode, i in enumerate(prefix):
            if not first <= i < first + stop - start:
                where = mode_text(mode, prefix[:mode])
                end = first + stop - start
                raise OutOfBoundsError(f"index {i} is outside [{first}, {end}) of {where}")
            node = start + (i - first)
            if depth == last:
                if mode + 1 < len(prefix):
                    raise RankError(f"the prefix {prefix} reaches into the leaves")
                return node
            depth += 1
            start, stop = columns.children(depth, node)
            first = columns.origin(depth, node)
        return Rows(columns, depth, start, stop, first)

    def range_under(self, prefix: Index) -> tuple[int, int]:
        """Return extent and origin of mode ``len(prefix)`` under `prefix`."""
        if not prefix:
            return self.stop - self.start, self.first
        if len(prefix) >= self.rank:
            raise RankError(f"the prefix {brief(prefix)} leaves no mode of a shape of rank {self.rank}")
        outer = self.outer_rank
        if isinstance(rest := self.under(prefix[:outer]), Rows):
            return rest.count, rest.first
        extents, origin = self.columns.leaf_box(rest)
        inner = len(prefix) - outer
        if inner:
            check_inside(extents, origin, prefix[outer:], prefix[:outer])
        return extents[inner], origin[inner]

    def box_under(self, prefix: Index) -> tuple[Extents, Index]:
        """Return extents and origin of the bounding box of the rest under `prefix`."""
        rest = self.under(prefix[: self.outer_rank])
        if isinstance(rest, Rows):
            return rest.box()
        extents, origin = self.columns.leaf_box(rest)
        return make_smooth(extents, origin).bounding_box(prefix[self.outer_rank :])

    def box(self) -> tuple[Extents, Index]:
        """Return extents and origin of the bounding box; O(nodes) once, then remembered."""
        box = self._box
        if box is None:
            spans = [[window.span(mode) for mode in range(self.rank)] for window in self.windows()]
            pairs = [self._hull(mode, [span[mode] for span in spans]) for mode in range(self.rank)]
            box = tuple([extent for extent, _ in pairs]), tuple([start for _, start in pairs])
            object.__setattr__(self, "_box", box)
        return box

    def _hull(self, mode: int, spans: list[tuple[int, int]]) -> tuple[int, int]:
        """Return extent and first index of a mode in the box, from those in the boxes of all windows."""
        if len(spans) == 1:
            return spans[0]
        filled = [span for span in spans if span[0]]
        if not filled:
            return self.span(mode)
        low = min([start for _, start in filled])
        return max([start + extent for extent, start in filled]) - low, low

    def span(self, mode: int) -> tuple[int, int]:
        """Return extent and first index of a mode in the bounding box; O(prefixes) in time and memory."""
        extents, origins = self.distinct_ranges(mode)
        stored = self.stored_origin(mode)
        if isinstance(stored, int):
            return int(extents.max(initial=0)), stored
        filled = extents > 0
        if not filled.any():
            return 0, int(origins.min()) if len(origins) else self._hidden_origin(mode)
        low = int(origins[filled].min())
        return int((origins + extents)[filled].max()) - low, low

    def ordinal(self, index: Index) -> int:
        """Return how many elements come before `index`."""
        outer = self.outer_rank
        leaf = self.under(index[:outer])
        if isinstance(leaf, Rows):
            raise RankError(f"the index {index} ends above the leaves")
        extents, origin = self.columns.leaf_box(leaf)
        before = self.columns.elements(self.leaves[0], leaf)
        return before + box_ordinal(extents, origin, index[outer:], index[:outer])

    def cell_of(self, index: Index) -> tuple[int, Index]:
        """Return the leaf that holds an index, and where the leaf starts; raises if there is none."""
        outer = self.outer_rank
        leaf = self.under(index[:outer])
        if isinstance(leaf, Rows):
            raise RankError(f"the index {index} ends above the leaves")
        extents, origin = self.columns.leaf_box(leaf)
        box_ordinal(extents, origin, index[outer:], index[:outer])  # raises for what is outside
        return leaf, origin

    def index(self, ordinal: int) -> Index:
        """Return the index with `ordinal` elements before it; O(depth * log(nodes))."""
        columns = self.columns
        a, b = self.leaves
        size = columns.elements(a, b)
        if not 0 <= ordinal < size:
            raise OutOfBoundsError(f"ordinal {ordinal} is outside [0, {size})")
        even = columns.even
        if even is None:
            offsets = columns.offsets
            place = ordinal + offsets.item(a)
            leaf = last_run(offsets, place)
            rest = place - offsets.item(leaf)
        else:
            leaf, rest = divmod(ordinal, prod(even))
            leaf += a
        if columns.leaf.ndim == 1:
            start = columns.leaf_origins[0]
            return (*self.prefix_of(leaf), rest + (start if isinstance(start, int) else start.item(leaf)))
        return self.prefix_of(leaf) + make_smooth(*columns.leaf_box(leaf)).index(rest)

    def prefix_of(self, leaf: int) -> Index:
        """Return the indices of the unrolled modes that lead to a leaf."""
        prefix: list[int] = []
        node = leaf
        for depth in range(self.columns.depth - 1, self.depth, -1):
            splits = self.columns.splits[depth - 1]
            parent = last_run(splits, node)
            prefix.append(node - splits.item(parent) + self.columns.origin(depth, parent))
            node = parent
        prefix.append(node - self.start + self.first)
        prefix.reverse()
        return tuple(prefix)

    # Many at a time.

    def cell_table(self) -> CellTable:
        """Return all leaves as arrays; O(leaves)."""
        (a, b), columns = self.leaves, self.columns
        prefixes = self.prefixes(self.outer_rank)
        return CellTable(prefixes, columns.leaf_extents(a, b), columns.leaf_starts(a, b), self.cell_offsets())

    def cell_offsets(self) -> IntArray:
        """Return how many elements come before each leaf, and (last) how many there are."""
        a, b = self.leaves
        return self.elements_before(np.arange(a, b + 1)) if self.columns.even else self._stored_offsets(a, b)

    def _stored_offsets(self, a: int, b: int) -> IntArray:
        offsets = self.int64_offsets()[a : b + 1]
        # As they are stored, where they are: a window that starts at 0 needs no copy.
        return offsets - offsets[0] if offsets[0] else offsets

    def prefixes(self, modes: int) -> IntArray:
        """Return the (n, modes) indices of all prefixes of `modes` unrolled modes; O(n * modes)."""
        a, b = self.run(modes)
        return self.prefixes_of(modes, np.arange(a, b, dtype=np.int64))

    def prefixes_of(self, modes: int, nodes: IntArray) -> IntArray:
        """Return the (n, modes) indices of the prefixes that lead to `nodes`."""
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

    def check_ordinals(self) -> None:
        """Raise if int64 does not hold every ordinal."""
        if self.size > MAX_INT64:
            raise SizeOverflowError("this shape has ordinals beyond 64 bits; use ordinal() and index()")

    def int64_offsets(self) -> IntArray:
        """Return the offsets of all leaves of the columns; those outside this window may be cut short."""
        offsets = self.columns.offsets
        if offsets.dtype == np.int64:
            return offsets.astype(np.int64, copy=False)
        self.check_ordinals()
        # A small window on large columns: values outside of it are never read.
        relative: Sizes = np.clip(offsets - offsets[self.leaves[0]], 0, MAX_INT64)
        return relative.astype(np.int64)

    def elements_before(self, leaves: IntArray) -> IntArray:
        """Return how many elements of this window come before each of `leaves`."""
        even, start = self.columns.even, self.leaves[0]
        if even is not None:
            self.check_ordinals()
            before: IntArray = leaves - start
            before *= min(prod(even), MAX_INT64)
            return before
        offsets = self.int64_offsets()
        before = offsets[leaves]
        before -= offsets[start]
        return before

    def leaves_of(self, ordinals: IntArray) -> tuple[IntArray, IntArray]:
        """Return the leaf that holds each of `ordinals`, and the ordinal within it."""
        even, start = self.columns.even, self.leaves[0]
        if even is not None:
            self.check_ordinals()
            leaves, rest = np.divmod(ordinals, min(max(prod(even), 1), MAX_INT64))
            return leaves + start, rest
        offsets = self.int64_offsets()
        places = ordinals + offsets[start]
        first, last = self.leaves
        if _TABLE * len(ordinals) >= max(self.size, last - first):
            # So many are read off a table of all elements: a search misses the cache at every step.
            few = np.int32 if last - first < 2**31 else np.int64
            table = np.repeat(np.arange(last - first, dtype=few), np.diff(offsets[first : last + 1]))
            leaves = table[ordinals].astype(np.int64)
            leaves += first
        else:
            leaves = run_of(offsets, places)
        places -= offsets[leaves]
        return leaves, places

    # Whole.

    def reached_table(self, mode: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return the prefixes that lead to `mode`, with its extent and origin under each."""
        extents, origins = self.ranges(mode)
        table = self.prefixes(min(mode, self.outer_rank))
        reached = self._reached(mode, *self.leaves)
        if reached is None:
            return table, extents, origins
        return table[reached], extents[reached], origins[reached]

    def packed(self) -> "Rows":
        """Return the same rows in columns with nothing else in them: themselves, if that is so already."""
        return self if self.is_whole else self.compact()

    def compact(self) -> "Rows":
        """Return the same rows in separate columns without other data."""
        return Rows.whole(self.columns.cut_out(self.depth, self.start, self.stop, self.first))
