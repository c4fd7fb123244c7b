"""Retiling: the pieces that move from one tiling of a box to another, and their cost.

Tilings are products, so the plan is one list of overlaps per mode, and their product is made only on request.
The lists are short (at most the tiles of both), so the cost of a plan is known at once.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import SupportsIndex, final

import attrs
import numpy as np

from tensorwrapper._arrays import check_rows, frozen_array
from tensorwrapper._error_text import counted
from tensorwrapper._integers import MAX_INT64, to_count, to_ints
from tensorwrapper._value_class import frozen, value_class
from tensorwrapper.errors import ExtentError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._smooth import Smooth, make_smooth
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._partition_operations import merged_runs
from tensorwrapper.typing import Index, IntArray


@final
@value_class(getstate_setstate=False)
class Overlaps:
    """The overlaps of the tiles of two partitions of one range, from first to last, without empty tiles.

    Every index is in exactly one overlap, so they are the tiles of the coarsest common refinement. O(n).

    Parameters
    ----------
    old_partition, new_partition
        Two partitions of the same range.

    Examples
    --------
    >>> o = Overlaps(Partition.of_marks([0, 2, 4, 8]), Partition.of_marks([0, 4, 6, 8]))
    >>> o.old_tiles.tolist(), o.new_tiles.tolist(), o.starts.tolist(), o.extents.tolist()
    ([0, 1, 2, 2], [0, 0, 1, 2], [0, 2, 4, 6], [2, 2, 2, 2])
    """

    old_partition: Partition
    """How the range is cut now."""
    new_partition: Partition
    """How it is to be cut."""
    old_tiles: IntArray = attrs.field(eq=False, repr=False)
    """The old tile of each overlap."""
    new_tiles: IntArray = attrs.field(eq=False, repr=False)
    """The new tile of each overlap."""
    starts: IntArray = attrs.field(eq=False, repr=False)
    """The first index of each overlap."""
    extents: IntArray = attrs.field(eq=False, repr=False)
    """How many indices each overlap has, at least one."""

    def __init__(self, old_partition: Partition, new_partition: Partition) -> None:
        if old_partition.origin != new_partition.origin or old_partition.end != new_partition.end:
            raise ExtentError(
                f"the partitions reach over [{old_partition.origin}, {old_partition.end}) and "
                f"[{new_partition.origin}, {new_partition.end}): only one range can be cut two ways"
            )
        marks, old_tiles, new_tiles = merged_runs(old_partition.marks, new_partition.marks)
        starts = marks[:-1]
        arrays = {
            "old_tiles": old_tiles[:-1],
            "new_tiles": new_tiles[:-1],
            "starts": starts,
            "extents": marks[1:] - starts,
        }
        object.__setattr__(self, "old_partition", old_partition)
        object.__setattr__(self, "new_partition", new_partition)
        for name, array in arrays.items():
            object.__setattr__(self, name, frozen_array(array))

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def old_offsets(self) -> IntArray:
        """Start of each overlap in its old tile, counted from the start of the tile."""
        offsets: IntArray = self.starts - self.old_partition.marks[self.old_tiles]
        return offsets

    @property
    def new_offsets(self) -> IntArray:
        """Start of each overlap in its new tile, counted from the start of the tile."""
        offsets: IntArray = self.starts - self.new_partition.marks[self.new_tiles]
        return offsets

    def __reduce__(self) -> tuple[Callable[..., "Overlaps"], tuple[Partition, Partition]]:
        return Overlaps, (self.old_partition, self.new_partition)


@final
@frozen
class RetileCost:
    """Cost of moving all elements from one tiling to another."""

    pieces: int
    """How many boxes are moved: the product of the overlaps per mode."""
    elements: int
    """How many elements they have: all of the box."""
    nbytes: int
    """How many bytes they have."""
    fan_in: int
    """The most pieces that one new tile is made of."""
    fan_out: int
    """The most pieces that one old tile is cut into."""


@final
@frozen(eq=False, getstate_setstate=False)
class RetilePieces:
    """Boxes of elements that move as one: a run of the pieces of a plan, as (n, rank) arrays."""

    old_tiles: IntArray = attrs.field(converter=frozen_array)
    """The number of the old tile of each piece."""
    new_tiles: IntArray = attrs.field(converter=frozen_array)
    """The number of the new tile of each piece."""
    starts: IntArray = attrs.field(converter=frozen_array)
    """The first element of each piece."""
    extents: IntArray = attrs.field(converter=frozen_array)
    """The extents of each piece, none of them 0."""
    old_offsets: IntArray = attrs.field(converter=frozen_array)
    """Where each piece starts in its old tile, counted from the first element of the tile."""
    new_offsets: IntArray = attrs.field(converter=frozen_array)
    """Where each piece starts in its new tile, counted from the first element of the tile."""

    def __len__(self) -> int:
        return len(self.starts)

    def slices(self) -> Iterator[tuple[Index, tuple[slice, ...], Index, tuple[slice, ...]]]:
        """Return an iterator over old tile, slices of it, new tile, slices of that: one step per piece.

        Python code can copy piece after piece with it, between arrays with one tile each.
        """
        tables = (self.old_tiles, self.old_offsets, self.new_tiles, self.new_offsets, self.extents)
        for old, a, new, b, extents in zip(*[_tuples(t) for t in tables], strict=True):
            yield old, _slices(a, extents), new, _slices(b, extents)

    def __reduce__(self) -> tuple[Callable[..., "RetilePieces"], tuple[IntArray, ...]]:
        fields = (self.old_tiles, self.new_tiles, self.starts, self.extents)
        return RetilePieces, (*fields, self.old_offsets, self.new_offsets)


def _tuples(table: IntArray) -> Iterator[Index]:
    return map(tuple, table.tolist())


def _slices(starts: Index, extents: Index) -> tuple[slice, ...]:
    return tuple([slice(a, a + n) for a, n in zip(starts, extents, strict=True)])


@final
@frozen(repr=False, getstate_setstate=False)
class RetilePlan:
    """The moves of the elements of a box from the tiles of one tiling to those of another.

    Made by `Tiling.retile_plan`. Pieces are numbered in row-major order of the overlaps per mode.

    Examples
    --------
    >>> from tensorwrapper import Tiling
    >>> plan = Tiling([2, 2, 4], [3, 2]).retile_plan(Tiling([4, 2, 2], [2, 2, 1]))
    >>> plan
    RetilePlan((3, 2) tiles to (3, 3) tiles, 16 pieces)
    >>> plan.cost(itemsize=8)
    RetileCost(pieces=16, elements=40, nbytes=320, fan_in=4, fan_out=4)
    >>> [piece for piece in plan.pieces_of((2, 2)).slices()]
    [((2, 1), (slice(2, 4, None), slice(1, 2, None)), (2, 2), (slice(0, 2, None), slice(0, 1, None)))]
    """

    overlaps: tuple[Overlaps, ...]
    """The overlaps of each mode; the pieces are their product."""

    @property
    def rank(self) -> int:
        """The number of modes."""
        return len(self.overlaps)

    @property
    def count(self) -> int:
        """The number of pieces, as a Python integer of any size; O(rank)."""
        return math.prod([len(o) for o in self.overlaps])

    def cost(self, *, itemsize: SupportsIndex = 1) -> RetileCost:
        """Return what the move takes, without making a piece; O(overlaps of all modes).

        Parameters
        ----------
        itemsize
            How many bytes an element has.
        """
        elements = math.prod([o.new_partition.extent for o in self.overlaps])
        return RetileCost(
            pieces=self.count,
            elements=elements,
            nbytes=elements * to_count(itemsize, "an item size"),
            fan_in=math.prod([_most(o.new_tiles) for o in self.overlaps]),
            fan_out=math.prod([_most(o.old_tiles) for o in self.overlaps]),
        )

    def to_svg(self) -> str:
        """Return a picture: for each mode how much of which old tile each new one has.

        Examples
        --------
        >>> from tensorwrapper import Tiling
        >>> Tiling([2, 2, 4]).retile_plan(Tiling([4, 2, 2])).to_svg().count('class="plane"')
        1
        """
        from tensorwrapper.shape.tilings._retile_picture import draw_retile  # noqa: PLC0415 - as it is drawn

        return draw_retile(self).to_svg()

    def _repr_html_(self) -> str:
        """Return what notebooks show: what moves, and the picture."""
        from tensorwrapper.shape.tilings._retile_picture import retile_html  # noqa: PLC0415 - as in to_svg

        return retile_html(self)

    def fan_in(self, new_tile: Iterable[SupportsIndex]) -> int:
        """Return how many pieces one new tile is made of, 0 if it is empty; O(rank * log n).

        Raises
        ------
        OutOfBoundsError
            If there is no such tile.
        """
        return self._box(new_tile, new=True).size

    def fan_out(self, old_tile: Iterable[SupportsIndex]) -> int:
        """Return how many pieces one old tile is cut into, 0 if it is empty; O(rank * log n).

        Raises
        ------
        OutOfBoundsError
            If there is no such tile.
        """
        return self._box(old_tile, new=False).size

    def fan_ins(self) -> IntArray:
        """Return how many pieces every new tile is made of: an array with one axis per mode."""
        self._check_int64()
        return _outer([_times(o.new_tiles, o.new_partition) for o in self.overlaps])

    def fan_outs(self) -> IntArray:
        """Return how many pieces every old tile is cut into: an array with one axis per mode."""
        self._check_int64()
        return _outer([_times(o.old_tiles, o.old_partition) for o in self.overlaps])

    def pieces(self) -> RetilePieces:
        """Return all pieces: as many rows as `count`.

        Raises
        ------
        SizeOverflowError
            If the pieces cannot be numbered with 64 bits.
        """
        self._check_int64()
        check_rows(self.count, self.rank)
        extents = self._grid.extents

        def spread(arrays: list[IntArray]) -> IntArray:
            # Each mode says its own numbers along its own axis: no piece is looked up.
            table = np.empty((*extents, self.rank), dtype=np.int64)
            for mode, array in enumerate(arrays):
                table[..., mode] = array.reshape([-1 if m == mode else 1 for m in range(self.rank)])
            return table.reshape(self.count, self.rank)

        return self._of_overlaps(spread)

    def batches(self, length: SupportsIndex) -> Iterator[RetilePieces]:
        """Return an iterator over the pieces, at most `length` at a time.

        Raises
        ------
        ExtentError
            If a batch may not hold even one piece.
        SizeOverflowError
            If the pieces cannot be numbered with 64 bits.
        """
        step = to_count(length, "the length of a batch")
        if not step:
            raise ExtentError("a batch must hold at least one piece")
        self._check_int64()
        starts = range(0, self.count, step)
        numbers = (np.arange(a, min(a + step, self.count), dtype=np.int64) for a in starts)
        return (self._pieces(self._grid.indices_at(n)) for n in numbers)

    def pieces_of(self, new_tile: Iterable[SupportsIndex]) -> RetilePieces:
        """Return the pieces that one new tile is made of; none if it is empty.

        Raises
        ------
        OutOfBoundsError
            If there is no such tile.
        """
        box = self._box(new_tile, new=True)
        return self._pieces(box.indices_at(np.arange(box.size, dtype=np.int64)))

    @property
    def _grid(self) -> Smooth:
        """The numbers of the overlaps of each mode."""
        return make_smooth(tuple([len(o) for o in self.overlaps]), (0,) * self.rank)

    def _box(self, tile: Iterable[SupportsIndex], *, new: bool) -> Smooth:
        """Return the numbers of the overlaps of one tile, which are a run in every mode."""
        numbers = to_ints(tile, "a tile")
        if len(numbers) != self.rank:
            raise RankError(
                f"{numbers} has {counted(len(numbers), 'entry')}, but a tile of this plan has {self.rank}"
            )
        runs: list[tuple[int, int]] = []
        for mode, (o, k) in enumerate(zip(self.overlaps, numbers, strict=True)):
            tiles, partition = (o.new_tiles, o.new_partition) if new else (o.old_tiles, o.old_partition)
            if not 0 <= k < partition.count:
                raise OutOfBoundsError(
                    f"tile {k} is outside [0, {partition.count}) of mode {mode}, in the tile {numbers}"
                )
            first, last = np.searchsorted(tiles, (k, k + 1)).tolist()
            runs.append((first, last - first))
        return make_smooth(tuple([n for _, n in runs]), tuple([a for a, _ in runs]))

    def _pieces(self, numbers: IntArray) -> RetilePieces:
        """Return the pieces whose overlaps have these (n, rank) numbers."""

        def gather(arrays: list[IntArray]) -> IntArray:
            table = np.empty_like(numbers)
            for mode, array in enumerate(arrays):
                table[:, mode] = array[numbers[:, mode]]
            return table

        return self._of_overlaps(gather)

    def _of_overlaps(self, gather: Callable[[list[IntArray]], IntArray]) -> RetilePieces:
        overlaps = self.overlaps
        return RetilePieces(
            gather([o.old_tiles for o in overlaps]),
            gather([o.new_tiles for o in overlaps]),
            gather([o.starts for o in overlaps]),
            gather([o.extents for o in overlaps]),
            gather([o.old_offsets for o in overlaps]),
            gather([o.new_offsets for o in overlaps]),
        )

    def _check_int64(self) -> None:
        if self.count > MAX_INT64:
            raise SizeOverflowError(f"{self.count} pieces have no numbers of 64 bits; cost() counts them")

    def __repr__(self) -> str:
        old = tuple([o.old_partition.count for o in self.overlaps])
        new = tuple([o.new_partition.count for o in self.overlaps])
        return f"RetilePlan({old} tiles to {new} tiles, {self.count} pieces)"

    def __reduce__(self) -> tuple[Callable[..., "RetilePlan"], tuple[tuple[Overlaps, ...]]]:
        return RetilePlan, (self.overlaps,)


def _times(tiles: IntArray, partition: Partition) -> IntArray:
    """Return how many overlaps each tile has."""
    return np.bincount(tiles, minlength=partition.count).astype(np.int64, copy=False)


def _most(tiles: IntArray) -> int:
    """Return the most overlaps that a tile has; the tiles are ascending."""
    if not len(tiles):
        return 0
    # Runs of equal numbers: the longest of them, without a counter for tiles without pieces.
    ends = np.flatnonzero(np.diff(tiles, append=tiles[-1] + 1))
    return int(np.diff(ends, prepend=-1).max())


def _outer(factors: list[IntArray]) -> IntArray:
    product = np.ones((), dtype=np.int64)
    for factor in factors:
        product = np.multiply.outer(product, factor)
    return product
