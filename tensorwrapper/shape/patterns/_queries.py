"""Questions to a block pattern: its tiles, their slots and their sizes."""

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, Generic, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._arrays import splits_of, tuples_of
from tensorwrapper._hints import Hinted
from tensorwrapper._integers import MAX_INT64, to_ints
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import ConversionError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape._shape import Shape
from tensorwrapper.shape.boxes._common import to_index, to_index_array, to_ordinal_array
from tensorwrapper.shape.patterns._ordinals import (
    DENSE,
    SlotIndex,
    columns_of,
    flags_of,
    numbers_of,
    slots_in_any_order,
    table_of,
)
from tensorwrapper.shape.tilings._tiling import Tiling
from tensorwrapper.typing import Extents, Index, IndexT, IndexT_co, IntArray, LooseIndex

_BATCH = 8192  # tiles made into tuples at a time
_PAID = 256  # tiles of the grid per lookup up to which an index costs less than the lookups before it


class PatternQueries(Generic[IndexT_co], metaclass=Hinted):
    """Abstract: the attributes `tiling`, `_ordinals` and `_extents`, and the caches after them."""

    __slots__ = ()

    tiling: Tiling[IndexT_co]
    _ordinals: IntArray
    _extents: Extents
    _view: "memoryview[int] | None"
    _splits: IntArray | None
    _index: SlotIndex | None
    _asked: int

    @property
    def grid(self) -> Shape[IndexT_co]:
        """The shape of the tile numbers."""
        return self.tiling.grid

    @property
    def rank(self) -> int:
        """The number of modes of the box, and of its grid."""
        return len(self._extents)

    @property
    def count(self) -> int:
        """The number of present tiles."""
        return len(self._ordinals)

    @property
    def elements(self) -> int:
        """The number of elements of the present tiles, as a Python integer of any size; O(count)."""
        try:
            return int(self.offsets()[-1])
        except SizeOverflowError:
            volumes = np.ones(self.count, dtype=np.object_)
            for sizes in self.tile_extents().T:
                volumes *= sizes
            return int(volumes.sum())

    @property
    def density(self) -> float:
        """The share of the tiles of the grid that are present: 0.0 to 1.0, and 0.0 where there are none."""
        size = math.prod(self._extents)
        return self.count / size if size else 0.0

    @property
    def nbytes(self) -> int:
        """The memory of the pattern without its tiling, in bytes: 8 for each present tile."""
        return self._ordinals.nbytes

    # A set of tiles.

    def __len__(self) -> int:
        return len(self._ordinals)

    def __iter__(self) -> Iterator[IndexT_co]:
        starts = range(0, self.count, _BATCH)
        tables = (table_of(self._ordinals[a : a + _BATCH], self._extents) for a in starts)
        tiles: Any = tuples_of(tables)
        found: Iterator[IndexT_co] = tiles
        return found

    def __contains__(self, tile: object) -> bool:
        if not isinstance(tile, Iterable):
            return False
        try:
            numbers = to_ints(cast("Iterable[SupportsIndex]", tile), "a tile")
        except ConversionError:
            return False
        inside = len(numbers) == self.rank and all(
            0 <= k < n for k, n in zip(numbers, self._extents, strict=True)
        )
        return inside and self._slot(numbers) is not None

    def __dir__(self) -> list[str]:
        return dir(type(self))

    def ordinals(self) -> IntArray:
        """Return the ordinals of the present tiles in row-major order of the grid, ascending and read-only.

        O(1): it is what a pattern stores.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).ordinals().tolist()
        [0, 4]
        """
        return self._ordinals

    def tiles(self) -> IntArray:
        """Return the numbers of the present tiles, as a (count, rank) array; O(count).

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).tiles().tolist()
        [[0, 0], [2, 0]]
        """
        return table_of(self._ordinals, self._extents)

    def mask(self) -> npt.NDArray[np.bool_]:
        """Return a bool for each tile of the grid, as an array with one axis per mode; O(grid).

        Raises
        ------
        SizeOverflowError
            If the grid has more tiles than memory holds.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).mask().tolist()
        [[True, False], [False, False], [True, False]]
        """
        size = math.prod(self._extents)
        with memory_for(size, "tiles"):
            return flags_of(self._ordinals, size).reshape(self._extents)

    # Lookups.

    def slot(self: "PatternQueries[IndexT]", tile: IndexT | LooseIndex) -> int | None:
        """Return how many present tiles come before one, or ``None`` if it is absent; O(log count).

        Raises
        ------
        OutOfBoundsError
            If the grid has no such tile.
        RankError
            If it has another number of modes.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> pattern = BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)])
        >>> pattern.slot((2, 0)), pattern.slot((2, 1))
        (1, None)
        """
        numbers = to_index(tile, self.rank, "a tile")
        for mode, (k, n) in enumerate(zip(numbers, self._extents, strict=True)):
            if not 0 <= k < n:
                raise _outside(numbers, mode, self._extents)
        return self._slot(numbers)

    def _slot(self, numbers: Index) -> int | None:
        ordinal = 0
        for k, n in zip(numbers, self._extents, strict=True):
            ordinal = ordinal * n + k
        view = self._view or self._make_view()
        slot = bisect_left(view, ordinal)
        return slot if slot < len(view) and view[slot] == ordinal else None

    def _make_view(self) -> "memoryview[int]":
        # A search through a memory view costs a fraction of one through an array, as in a partition.
        view: memoryview[int] = self._ordinals.data
        object.__setattr__(self, "_view", view)
        return view

    def slots(self, tiles: npt.ArrayLike) -> IntArray:
        """Return for each tile of an (..., rank) array how many present tiles come before it, -1 if absent.

        O(log count) for each. Many lookups in a grid of at most 64 tiles per present one build an index of a
        quarter of a byte per tile of the grid. Each takes O(1) then.

        Raises
        ------
        OutOfBoundsError
            If the grid has no such tile; the text names the first.
        RankError
            If the last axis is not as long as the rank.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).slots([[2, 0], [2, 1]]).tolist()
        [1, -1]
        """
        return self._slots(ordinals_of_tiles(tiles, self._extents))

    def slots_of_ordinals(self, ordinals: npt.ArrayLike) -> IntArray:
        """Return what `slots` returns, for tiles that are given by their ordinals in the grid.

        Raises
        ------
        OutOfBoundsError
            If the grid has no tile with such an ordinal.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).slots_of_ordinals([4, 5]).tolist()
        [1, -1]
        """
        wanted = to_ordinal_array(ordinals)
        check_ordinals(wanted, self._extents)
        return self._slots(wanted)

    def _slots(self, wanted: IntArray) -> IntArray:
        index = self._index
        if index is None:
            size = math.prod(self._extents)
            asked = self._asked + wanted.size
            if size > DENSE * self.count or asked < size // _PAID:
                object.__setattr__(self, "_asked", asked)
                return slots_in_any_order(self._ordinals, wanted)
            index = SlotIndex(self._ordinals, size)
            object.__setattr__(self, "_index", index)
        return index.slots(wanted)

    # Of the present tiles, one after the other.

    def tile_extents(self) -> IntArray:
        """Return the extents of the present tiles, as a (count, rank) array; O(count).

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).tile_extents().tolist()
        [[1, 2], [3, 2]]
        """
        return self._of_modes(self.tiling.sizes)

    def tile_origins(self) -> IntArray:
        """Return the first elements of the present tiles, as a (count, rank) array; O(count).

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).tile_origins().tolist()
        [[0, 0], [3, 0]]
        """
        return self._of_modes(self.tiling.marks)

    def _of_modes(self, values: tuple[IntArray, ...]) -> IntArray:
        table = np.empty((self.count, self.rank), dtype=np.int64)
        for mode, column in enumerate(columns_of(self._ordinals, self._extents)):
            np.take(values[mode], column, out=table[:, mode])
        return table

    def volumes(self) -> IntArray:
        """Return how many elements each present tile has; O(count).

        Raises
        ------
        SizeOverflowError
            If a tile may have more elements than 64 bits hold.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).volumes().tolist()
        [2, 6]
        """
        sizes = self.tiling.sizes
        largest = math.prod([max(int(mode_sizes.max(initial=0)), 1) for mode_sizes in sizes])
        if largest > MAX_INT64:
            raise SizeOverflowError(
                f"a tile may have {largest} elements, which does not fit into 64 bits; elements counts them"
            )
        volumes = np.ones(self.count, dtype=np.int64)
        for mode, column in enumerate(columns_of(self._ordinals, self._extents)):
            volumes *= sizes[mode][column]
        return volumes

    def offsets(self) -> IntArray:
        """Return the offset of each present tile in a buffer that holds one after the other, and its end.

        An offset is the number of elements in the present tiles before. The array has count + 1 int64
        numbers, is read-only, and is made once. O(count).

        Raises
        ------
        SizeOverflowError
            If there are more elements than 64 bits hold.

        Examples
        --------
        >>> from tensorwrapper import BlockPattern, Tiling
        >>> BlockPattern(Tiling([1, 2, 3], [2, 4]), [(2, 0), (0, 0)]).offsets().tolist()
        [0, 2, 8]
        """
        splits = self._splits
        if splits is None:
            splits = splits_of(self.volumes())
            splits.flags.writeable = False
            object.__setattr__(self, "_splits", splits)
        return splits


def ordinals_of_tiles(tiles: npt.ArrayLike, extents: Extents) -> IntArray:
    """Return the ordinals of the tiles of an (..., rank) array, in their order; O(n).

    Raises
    ------
    OutOfBoundsError
        If a tile is outside the grid.
    RankError
        If the last axis is not as long as the rank.
    """
    table = to_index_array(tiles, len(extents))
    for mode, extent in enumerate(extents):
        column = table[..., mode]
        if column.size and not (column.min() >= 0 and column.max() < extent):
            place = np.unravel_index(int(((column < 0) | (column >= extent)).argmax()), column.shape)
            raise _outside(tuple(table[place].tolist()), mode, extents)
    columns = [table[..., mode] for mode in range(len(extents))]
    return numbers_of(columns, extents, table.shape[:-1])


def check_grid(tiling: object) -> Extents:
    """Return how many tiles each mode of a tiling has, if they are less than 2^63 in all.

    Raises
    ------
    ConversionError
        If it is not a tiling.
    SizeOverflowError
        If there are more.
    """
    check_kind_of(tiling, Tiling, "a block pattern is of a Tiling, such as Tiling(*sizes)")
    extents = tuple([p.count for p in cast("Tiling[Any]", tiling).partitions])
    size = math.prod(extents)
    if size > MAX_INT64:
        raise SizeOverflowError(
            f"a block pattern has a grid of less than 2^63 tiles, but {grid_text(extents)} has {size}"
        )
    return extents


def distinct_ordinals(ordinals: IntArray, extents: Extents) -> IntArray:
    """Return ordinals of tiles of a grid in ascending order; O(n) if they ascend, else O(n log n).

    Raises
    ------
    OutOfBoundsError
        If there is no such tile.
    ConversionError
        If one comes twice.
    """
    check_ordinals(ordinals, extents)
    if (ordinals[1:] > ordinals[:-1]).all():
        return ordinals
    ascending = np.sort(ordinals)
    twice = ascending[1:] == ascending[:-1]
    if twice.any():
        (tile,) = table_of(ascending[1:][twice][:1], extents).tolist()
        raise ConversionError(
            f"the tile {tuple(tile)} comes twice, but a pattern is a set of tiles; "
            "tensors take such tiles with duplicates="
        )
    return ascending


def check_ordinals(ordinals: IntArray, extents: Extents) -> None:
    """Raise `OutOfBoundsError` unless all are ordinals of tiles of the grid."""
    size = math.prod(extents)
    if ordinals.size and not (ordinals.min() >= 0 and ordinals.max() < size):
        first = ordinals[(ordinals < 0) | (ordinals >= size)].item(0)
        raise OutOfBoundsError(f"tile {first} is outside [0, {size}), the tiles of {grid_text(extents)}")


def grid_text(extents: Extents) -> str:
    """Return how an error names a grid of tiles."""
    return f"a grid of {' x '.join(map(str, extents)) or '1'} tiles"


def _outside(tile: Index, mode: int, extents: Extents) -> OutOfBoundsError:
    where = f"[0, {extents[mode]}) of mode {mode}"
    return OutOfBoundsError(f"tile {tile} is outside {grid_text(extents)}: {tile[mode]} is not in {where}")
