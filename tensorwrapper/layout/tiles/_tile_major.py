"""Tile-major storage: the elements of a box, tile after tile.

Each tile is contiguous; the order among the tiles and the order inside them are free. Without alignment the
place of a tile has a closed form, so that the boundaries per mode are all that is kept: the sum of the tiles,
not their product. Aligned tiles have gaps of any width between them, so there one place per tile is kept.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._keys import expand_positional, is_whole, parse_positional
from tensorwrapper.layout.boxes._separable import indices_at
from tensorwrapper.layout.boxes._strided import Strided, packed_strides, row_major
from tensorwrapper.layout.cells._blocked import Blocked, Packed
from tensorwrapper.layout.tiles._tiles_in_memory import (
    TilesInMemory,
    gather_box,
    select_box,
    tiled_view,
    turn_box,
    window_entries,
)
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.shape.lowlevel import to_index, to_index_array, to_permutation
from tensorwrapper.typing import Index, IntArray, PositionalKey


@final
@frozen(getstate_setstate=False)
class TileMajor(LayoutCommon):
    """The tiles of a box, each contiguous, one after another.

    ``outer_order`` and ``inner_order`` list the modes of the grid and of a tile, the fastest first. The
    offset of every tile, counted from that of the layout, is a multiple of ``alignment``.
    """

    tiling: Tiling
    outer_order: Index
    _inner_order: Index
    alignment: int
    _offset: int
    _places: tuple[IntArray, int] | None = attrs.field(default=None, init=False, eq=False, repr=False)
    _shape: Shape[Any] | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def shape(self) -> Shape[Any]:
        shape = self._shape
        if shape is None:
            # Asked for a dozen times where many offsets are found.
            shape = self.tiling.elements
            object.__setattr__(self, "_shape", shape)
        return shape

    @property
    def inner_order(self) -> Index:
        return self._inner_order

    @property
    def offset(self) -> int:
        return self._offset

    @property
    def span(self) -> int:
        if not self.shape.size:
            return 0
        if self.alignment == 1:
            return self.shape.size
        return self._tile_places()[1]

    def bounds(self) -> tuple[int, int]:
        return (self._offset, self._offset + self.span - 1) if self.shape.size else (0, -1)

    @property
    def is_contiguous(self) -> bool:
        if not self.shape.size:
            return True
        partitions = self.tiling.partitions
        cut = [m for m, p in enumerate(partitions) if int(np.count_nonzero(p.sizes)) > 1]
        wide = [m for m, p in enumerate(partitions) if p.bounds()[1] > 1]
        row_major = [m for m in self.outer_order if m in cut] == cut[::-1] and [
            m for m in self.inner_order if m in wide
        ] == wide[::-1]
        # Row-major order runs through one tile after the other only if no tile is more than one element
        # thick in a mode before one that is cut.
        return row_major and self.span == self.shape.size and not (cut and wide and wide[0] < cut[-1])

    @property
    def is_injective(self) -> bool:
        return True

    def _tile_places(self) -> tuple[IntArray, int]:
        """Return the place of every tile, an array over the grid, and the span; made once."""
        places = self._places
        if places is None:
            places = self._find_tile_places()
            object.__setattr__(self, "_places", places)
        return places

    def _find_tile_places(self) -> tuple[IntArray, int]:
        sizes = [partition.sizes for partition in self.tiling.partitions]
        if self.shape.size + self.alignment * math.prod([len(s) for s in sizes]) > MAX_INT64:
            raise SizeOverflowError("the places of these tiles leave 64 bits")
        volumes = np.ones((), dtype=np.int64)
        for own in sizes:
            volumes = np.multiply.outer(volumes, own)
        # In the memory order of the tiles: the fastest mode last.
        order = self.outer_order[::-1]
        lying = volumes.transpose(order)
        padded = -(-lying.reshape(-1) // self.alignment) * self.alignment
        ends = np.cumsum(padded)
        starts = np.empty(lying.shape, dtype=np.int64)
        starts.reshape(-1)[:] = ends - padded
        filled = np.flatnonzero(lying.reshape(-1))
        last = int(filled[-1]) if len(filled) else 0
        span = int((ends - padded + lying.reshape(-1))[last]) if len(filled) else 0
        places = starts.transpose(np.argsort(order))
        places.flags.writeable = False
        return places, span

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        numbers = to_index(index, self.shape.rank)
        tile = self.tiling.tile_of(numbers)
        extents, starts = self._tile_box(tile)
        if self.alignment > 1:
            place = int(self._tile_places()[0][tile])
        else:
            place = self._place_of(
                extents, [start - o for start, o in zip(starts, self.shape.origin, strict=True)]
            )
        strides = packed_strides(extents, self.inner_order)
        inner = zip(numbers, starts, strides, strict=True)
        return self._offset + place + sum([(i - start) * step for i, start, step in inner])

    def _tile_box(self, tile: Index) -> tuple[Index, Index]:
        pairs = [partition.tile(k) for partition, k in zip(self.tiling.partitions, tile, strict=True)]
        return tuple([extent for extent, _ in pairs]), tuple([start for _, start in pairs])

    def _place_of(self, extents: Index, starts: "list[int]") -> int:
        """Return the number of elements before the tile with these extents and relative starts."""
        before, width, rest = 0, 1, self.shape.size
        for mode in reversed(self.outer_order):
            rest //= self.shape.extents[mode]
            before += width * rest * starts[mode]
            width *= extents[mode]
        return before

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        array = to_index_array(indices, self.shape.rank)
        self._check_int64()
        tiles = self.tiling.tiles_of(array)
        extents, starts = np.empty_like(array), np.empty_like(array)
        for mode, partition in enumerate(self.tiling.partitions):
            low = partition.marks[tiles[..., mode]]
            starts[..., mode] = low
            extents[..., mode] = partition.marks[tiles[..., mode] + 1] - low
        offsets = np.full(array.shape[:-1], self._offset, dtype=np.int64)
        step = np.ones(array.shape[:-1], dtype=np.int64)
        for mode in self.inner_order:
            offsets += (array[..., mode] - starts[..., mode]) * step
            step *= extents[..., mode]
        if self.alignment > 1:
            offsets += self._tile_places()[0][tuple(np.moveaxis(tiles, -1, 0))]
            return offsets
        width = np.ones(array.shape[:-1], dtype=np.int64)
        rest = self.shape.size
        for mode in reversed(self.outer_order):
            rest //= max(self.shape.extents[mode], 1)
            offsets += width * rest * (starts[..., mode] - self.shape.origin[mode])
            width *= extents[..., mode]
        return offsets

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        left = wanted - self._offset
        if not 0 <= left < self.span:
            raise OutOfBoundsError(f"no element of {self.shape} lies at offset {wanted}")
        tile, left = self._tile_at(left) if self.alignment == 1 else self._aligned_tile_at(left)
        extents, starts = self._tile_box(tile)
        if left >= math.prod(extents):
            raise OutOfBoundsError(f"offset {wanted} lies in the gap behind the tile {tile}")
        index = list(starts)
        for mode in self.inner_order:
            left, place = divmod(left, extents[mode])
            index[mode] += place
        return tuple(index)

    def _tile_at(self, left: int) -> tuple[Index, int]:
        width, rest = 1, self.shape.size
        tile = [0] * self.shape.rank
        for mode in reversed(self.outer_order):
            partition = self.tiling.partitions[mode]
            rest //= partition.extent
            k = partition.tile_of(partition.origin + left // (width * rest))
            extent, start = partition.tile(k)
            left -= width * rest * (start - partition.origin)
            width *= extent
            tile[mode] = k
        return tuple(tile), left

    def _aligned_tile_at(self, left: int) -> tuple[Index, int]:
        order = self.outer_order[::-1]
        lying = self._tile_places()[0].transpose(order)
        # Empty tiles share their offset with the next one, so the last of these is the nonempty one.
        flat = int(np.searchsorted(lying.reshape(-1), left, side="right")) - 1
        numbers = np.unravel_index(flat, lying.shape)
        tile = [0] * self.shape.rank
        for mode, k in zip(order, numbers, strict=True):
            tile[mode] = int(k)
        return tuple(tile), left - int(lying[numbers])

    def to_numpy(self) -> IntArray:
        return self.as_tiles_in_memory().to_numpy()

    def at(self, key: PositionalKey) -> "Strided | TilesInMemory | TileMajor":
        if all(item is not None and is_whole(item) for item in expand_positional(key, self.shape.rank)):
            origin = (0,) * self.shape.rank
            return attrs.evolve(self, tiling=self.tiling.translate_to(origin))
        entries = parse_positional(key, self.shape.extents)
        return select_box(self.tiling.partitions, self.tile_table, entries)

    def window(self, region: Shape[Any]) -> "Strided | TilesInMemory | TileMajor":
        entries = window_entries(self.shape, region)
        if region == self.shape:
            return self
        if not region.size:
            return Strided(region, (0,) * region.rank, self._offset)
        return select_box(self.tiling.partitions, self.tile_table, entries, region.origin)

    def as_tiled(self, tiling: Tiling) -> Packed | Blocked:
        """Return the view by a tiling of the box that refines this one; O(tiles of the view)."""
        return tiled_view(self.tiling, self.tile_table, tiling)

    def as_tiles_in_memory(self) -> "Strided | TilesInMemory":
        """Return the same layout as a table of tiles; O(tiles)."""
        return turn_box(self.tiling, self.tile_table, tuple(range(self.shape.rank)), ())

    @property
    def tiles(self) -> Tiling:
        return self.tiling

    def indices_at(self, offsets: IntArray) -> IntArray:
        made = self.as_tiles_in_memory()
        return indices_at(made, offsets) if made.has_mode_maps else made.indices_at(offsets)

    def copy_form(self) -> LayoutCommon:
        return row_major(self.shape, self._offset) if self.is_contiguous else self

    def moved_to(self, shape: Shape[Any]) -> "TileMajor":
        return attrs.evolve(self, tiling=self.tiling.translate_to(shape.origin))

    def expression(self) -> str:
        rest = f"order={self.outer_order}, tile_order={self.inner_order}, alignment={self.alignment}"
        return f"Layout.tiled({self.tiling!r}, {rest}, offset={self._offset})"

    def permute(self, order: Iterable[SupportsIndex]) -> "TileMajor":
        """Return the layout whose mode k is mode ``order[k]`` of this one."""
        modes = to_permutation(order, self.shape.rank)
        outer, inner = (tuple([modes.index(m) for m in old]) for old in (self.outer_order, self.inner_order))
        return TileMajor(self.tiling.permute(modes), outer, inner, self.alignment, self._offset)

    def reverse(self, modes: Iterable[int]) -> "Strided | TilesInMemory":
        """Return the layout with the order of some modes reversed."""
        return turn_box(self.tiling, self.tile_table, tuple(range(self.shape.rank)), modes)

    def gathered(self, mode: SupportsIndex, positions: object) -> "Strided | TilesInMemory":
        return gather_box(self.tiling, self.tile_table, mode, positions)

    def tile_table(self, numbers: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
        """Return place and strides of the tiles with these numbers per mode: arrays over their product."""
        self._check_int64()
        with memory_for((1 + self.shape.rank) * math.prod(map(len, numbers)), "places and strides of tiles"):
            return self._tile_table(numbers)

    def _tile_table(self, numbers: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
        rank = self.shape.rank
        shapes = [(*[1] * mode, -1, *[1] * (rank - mode - 1)) for mode in range(rank)]
        chosen = list(zip(self.tiling.partitions, numbers, shapes, strict=True))
        sizes = [p.sizes[k].reshape(axis) for p, k, axis in chosen]
        firsts = [p.starts[k].reshape(axis) for p, k, axis in chosen]
        grid = tuple([len(k) for k in numbers])
        starts = np.full(grid, self._offset, dtype=np.int64)
        if self.alignment > 1:
            starts += self._tile_places()[0][np.ix_(*numbers)]
        else:
            width, rest = np.ones((1,) * rank, dtype=np.int64), self.shape.size
            for mode in reversed(self.outer_order):
                rest //= max(self.shape.extents[mode], 1)
                starts += width * rest * firsts[mode]
                width = width * sizes[mode]
        strides = np.empty((*grid, rank), dtype=np.int64)
        step = np.ones((1,) * rank, dtype=np.int64)
        for mode in self.inner_order:
            strides[..., mode] = step
            step = step * sizes[mode]
        return starts, strides

    def _check_int64(self) -> None:
        if self._offset + max(self.span, self.shape.size) > MAX_INT64 or self._offset < -MAX_INT64:
            raise SizeOverflowError("the places of this layout leave 64 bits; use offset_of()")

    def __reduce__(self) -> tuple[Callable[..., "TileMajor"], tuple[object, ...]]:
        # The places of the tiles are found again where they are needed.
        return TileMajor, (self.tiling, self.outer_order, self.inner_order, self.alignment, self._offset)
