"""Columns: how jagged shapes are stored, and the array arithmetic on them.

A jagged shape of rank ``r`` is a tree: ``d`` unrolled modes above leaves that are boxes of rank
``s = r - d``. A *node* of depth ``q`` is a prefix of ``q`` indices. No node is a Python object: the
children of node ``k`` of depth ``q`` are the nodes ``splits[q][k]`` up to ``splits[q][k + 1]`` of depth
``q + 1``, so a level costs 8 bytes per node. Leaves of rank 1 are stored as one more row of splits (their
cumulative extents), leaves of higher rank as a table of extents with one row each.

Where every node of a level starts at the same index, the origin is one number, else one per node.
"""

from collections.abc import Callable
from typing import TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ExtentError, SizeOverflowError
from tensorwrapper.typing import Index, IntArray

__all__ = [
    "Columns",
    "Origins",
    "Sizes",
    "check_int64",
    "concatenated_ranges",
    "frozen_array",
    "moved_origins",
    "origins_of",
    "run_of",
    "splits_of",
    "tidy_origins",
]

Origins: TypeAlias = int | IntArray
"""Where the children of each node start: one number for all, or one per node."""

Sizes: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.object_]
"""Numbers of elements: int64, or Python integers in an object array where 64 bits do not suffice."""


def frozen_array(array: IntArray) -> IntArray:
    """Return `array` as int64 memory that nobody can change through the result."""
    if array.flags.writeable:
        array = array.view()
        array.flags.writeable = False
    return array


def splits_of(counts: IntArray) -> IntArray:
    """Return the row splits of `counts`: 0, then their cumulative sums; O(n)."""
    splits = np.zeros(len(counts) + 1, dtype=np.int64)
    if len(counts):
        if int(counts.min()) < 0:
            row = int(np.argmin(counts))
            raise ExtentError(f"an extent must not be negative, but row {row} has {counts[row]}")
        if int(counts.max()) * len(counts) > MAX_INT64 and sum(counts.tolist()) > MAX_INT64:
            raise SizeOverflowError("the extents of the rows add up to more than 64 bits hold")
        np.cumsum(counts, out=splits[1:])
    return frozen_array(splits)


def concatenated_ranges(starts: IntArray, counts: IntArray) -> IntArray:
    """Return ``range(starts[k], starts[k] + counts[k])`` for every k, one after the other."""
    splits = splits_of(counts)
    shift = np.repeat(starts - splits[:-1], counts)
    return shift + np.arange(len(shift), dtype=np.int64)


def run_of(marks: Sizes, values: IntArray) -> IntArray:
    """Return for each value the last k with ``marks[k] <= value``: the run that holds it; O(log n) each."""
    found: IntArray = np.searchsorted(cast("IntArray", marks), values, side="right")
    return found - 1


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
    if len(origins):
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
@attrs.frozen(eq=False, getstate_setstate=False)
class Columns:
    """The arrays of a jagged tree; depth ``q`` counts from the root of the tree.

    Attributes
    ----------
    splits
        For q = 1 to d - 1: where the children of each node of depth q begin, and one end.
    leaf
        Rank 1: row splits of the leaves. Higher rank: an (n, s) table of extents.
    origins
        For q = 0 to d - 1: where mode q starts under each node of depth q; entry 0 is one number.
    leaf_origins
        Per leaf mode: where it starts in each leaf.
    """

    splits: tuple[IntArray, ...]
    leaf: IntArray
    origins: tuple[Origins, ...]
    leaf_origins: tuple[Origins, ...]
    _offsets: Sizes | None = attrs.field(default=None, init=False, repr=False)

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

    def children(self, depth: int, node: int) -> tuple[int, int]:
        """Return the first child of a node and the end of its children."""
        splits = self.splits[depth - 1]
        return int(splits[node]), int(splits[node + 1])

    def origin(self, depth: int, node: int) -> int:
        """Return where mode `depth` starts under a node."""
        origins = self.origins[depth]
        return origins if isinstance(origins, int) else int(origins[node])

    def leaf_box(self, leaf: int) -> tuple[Index, Index]:
        """Return extents and origin of one leaf."""
        if self.leaf.ndim == 1:
            extents: Index = (int(self.leaf[leaf + 1] - self.leaf[leaf]),)
        else:
            extents = tuple(self.leaf[leaf].tolist())
        return extents, tuple([o if isinstance(o, int) else int(o[leaf]) for o in self.leaf_origins])

    def leaf_extents(self, start: int, stop: int) -> IntArray:
        """Return the (n, s) extents of a run of leaves; rank 1 computes them, higher rank is a view."""
        if self.leaf.ndim == 1:
            return np.diff(self.leaf[start : stop + 1])[:, np.newaxis]
        return self.leaf[start:stop]

    def leaf_starts(self, start: int, stop: int) -> IntArray:
        """Return the (n, s) origins of a run of leaves."""
        return np.stack([origins_of(o, start, stop) for o in self.leaf_origins], axis=1)

    @property
    def offsets(self) -> Sizes:
        """How many elements come before each leaf, and the total; O(n) once, then remembered."""
        if self.leaf.ndim == 1:
            return self.leaf
        offsets = self._offsets
        if offsets is None:
            offsets = _leaf_offsets(self.leaf)
            object.__setattr__(self, "_offsets", offsets)
        return offsets

    def __reduce__(self) -> tuple[Callable[..., "Columns"], tuple[object, ...]]:
        return _restore, (self.splits, self.leaf, self.origins, self.leaf_origins)


def _restore(
    splits: tuple[IntArray, ...],
    leaf: IntArray,
    origins: tuple[Origins, ...],
    leaf_origins: tuple[Origins, ...],
) -> Columns:
    """Return unpickled columns: arrays come back writeable, and are frozen again."""

    def frozen(values: tuple[Origins, ...]) -> tuple[Origins, ...]:
        return tuple([o if isinstance(o, int) else frozen_array(o) for o in values])

    rows = tuple([frozen_array(s) for s in splits])
    return Columns(rows, frozen_array(leaf), frozen(origins), frozen(leaf_origins))


def origins_of(origins: Origins, start: int, stop: int) -> IntArray:
    """Return the origins of the nodes `start` to `stop` as an array; no copy if one per node is stored."""
    if isinstance(origins, int):
        return np.broadcast_to(np.int64(origins), (stop - start,))
    return origins[start:stop]


def _leaf_offsets(extents: IntArray) -> Sizes:
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
