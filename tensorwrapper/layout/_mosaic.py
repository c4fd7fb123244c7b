"""Mosaics: boxes whose tiles are strided, each with a place and strides of its own.

This is what parts of tile-major storage are: whatever a selection takes of a tile lies there in steps.
"""

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.layout._blocked import Blocked, Packed, make_blocked, rows_of
from tensorwrapper.layout._cells import Cells
from tensorwrapper.layout._common import LayoutCommon, check_region, to_inside
from tensorwrapper.layout._keys import Positional, parse_positional
from tensorwrapper.layout._strided import Strided, packed_strides
from tensorwrapper.layout._tables import sum_table
from tensorwrapper.layout._tile_cuts import (
    TileTable,
    cut_by_partition,
    cut_by_range,
    cut_tiles,
    partition_of,
)
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.shape._arrays import shared_table
from tensorwrapper.shape._common import to_index
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._shape import wrap
from tensorwrapper.shape._smooth import make_smooth, to_permutation
from tensorwrapper.shape._tiling import make_tiling
from tensorwrapper.typing import Index, IntArray, PositionalKey

__all__ = ["Mosaic", "select_box", "tiled_view", "turn_box", "window_entries"]


def select_box(
    partitions: Sequence[Partition],
    table: TileTable,
    entries: Sequence[Positional],
    origin: Index | None = None,
) -> "Strided | Mosaic":
    """Return the layout of what one entry per mode takes of a tiled box; at `origin`, zeros if not given."""
    given = [entry for entry in entries if entry is not None]
    ranges = [(entry, 1, 1) if isinstance(entry, int) else entry for entry in given]
    cuts = [cut_by_range(p, *one) for p, one in zip(partitions, ranges, strict=True)]
    starts, strides = cut_tiles(table, cuts)
    # Of a pinned mode there is one tile.
    kept = tuple([0 if isinstance(entry, int) else slice(None) for entry in given])
    starts, strides = np.asarray(starts[kept]), strides[kept]
    left = [mode for mode, entry in enumerate(given) if not isinstance(entry, int)]
    columns = [strides[..., mode] for mode in left]
    firsts = (0,) * len(given) if origin is None else origin
    parts = [partition_of(cuts[mode], firsts[mode]) for mode in left]
    for mode, entry in enumerate([entry for entry in entries if not isinstance(entry, int)]):
        if entry is None:
            starts, columns = np.expand_dims(starts, mode), [np.expand_dims(c, mode) for c in columns]
            columns.insert(mode, np.zeros(starts.shape, dtype=np.int64))
            parts.insert(mode, Partition.of_sizes([1]))
    steps = np.stack(columns, axis=-1) if columns else np.zeros((0,), dtype=np.int64)
    return _made(tuple(parts), starts, steps)


def turn_box(tiling: Tiling, table: TileTable, order: Index, backwards: Iterable[int]) -> "Strided | Mosaic":
    """Return the layout with the modes in another order, after the order of some of them was reversed."""
    chosen = set(backwards)
    extents = tiling.elements.extents
    whole = [(n - 1, -1, n) if mode in chosen and n else (0, 1, n) for mode, n in enumerate(extents)]
    cuts = [cut_by_range(p, *one) for p, one in zip(tiling.partitions, whole, strict=True)]
    starts, strides = cut_tiles(table, cuts)
    parts = [partition_of(cuts[mode], tiling.origin[mode]) for mode in order]
    strides = strides.transpose((*order, len(order)))[..., list(order)]
    return _made(tuple(parts), starts.transpose(order), strides)


def tiled_view(tiling: Tiling, table: TileTable, new: Tiling) -> Packed | Blocked:
    """Return the layout of the tiles of `new`, each of which lies in one tile of the box."""
    if not new.elements.size:
        return Packed(new.shape, 0)
    pairs = enumerate(zip(tiling.partitions, new.partitions, strict=True))
    cuts = [cut_by_partition(mine, theirs, mode) for mode, (mine, theirs) in pairs]
    starts, strides = cut_tiles(table, cuts)
    return make_blocked(new.shape, starts.reshape(-1), strides.reshape(-1, new.rank))


def _made(partitions: tuple[Partition, ...], starts: IntArray, strides: IntArray) -> "Strided | Mosaic":
    """Return the layout of a box of tiles, none of them empty: strided, if that is what the table says."""
    box = wrap(make_smooth(tuple([p.extent for p in partitions]), tuple([p.origin for p in partitions])))
    if not starts.size:
        return Strided(box, (0,) * len(partitions), 0)
    steps: list[int] = []
    expected = starts[(0,) * starts.ndim]
    for mode, partition in enumerate(partitions):
        first = (0,) * starts.ndim
        step = 0
        if partition.bounds()[1] > 1:
            # The stride within a tile that has one.
            widest = (*first[:mode], int(np.argmax(partition.sizes)), *first[mode + 1 :])
            step = int(strides[(*widest, mode)])
        elif partition.count > 1:
            step = int(starts[(*first[:mode], 1, *first[mode + 1 :])] - starts[first])
        axis = [1] * len(partitions)
        axis[mode] = -1
        expected = expected + (partition.starts[:-1] * step).reshape(axis)
        wide = (partition.sizes > 1).reshape(axis)
        if (wide & (strides[..., mode] != step)).any():
            steps.clear()
            break
        steps.append(step)
    if len(steps) == len(partitions) and (expected == starts).all():
        return Strided(box, tuple(steps), int(starts[(0,) * starts.ndim]))
    tiling = make_tiling(partitions)
    return Mosaic(
        tiling, make_blocked(tiling.shape, starts.reshape(-1), strides.reshape(-1, len(partitions)))
    )


@final
@attrs.frozen
class Mosaic(LayoutCommon):
    """The layout `tiles`, over the tiled shape of `tiling`, for the elements of the box; no tile is empty."""

    tiling: Tiling
    tiles: Packed | Blocked

    @property
    def shape(self) -> Shape[Any]:
        return self.tiling.elements

    @property
    def offset(self) -> int:
        return self.tiles.offset

    def bounds(self) -> tuple[int, int]:
        return self.tiles.bounds()

    @property
    def is_contiguous(self) -> bool:
        # Row-major order is strided, and what is strided is no mosaic.
        return False

    @property
    def is_injective(self) -> bool:
        # A part of storage in which every element has a place of its own.
        return True

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        numbers = to_index(index, self.tiling.rank)
        number = self.tiling.tile_of(numbers)
        firsts = self.tiling.tile(number).origin
        return self.tiles.offset_of((*number, *[i - o for i, o in zip(numbers, firsts, strict=True)]))

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        array = to_inside(indices, self.shape)
        numbers = self.tiling.tiles_of(array)
        places = array - np.stack(
            [marks[numbers[..., m]] for m, marks in enumerate(self.tiling.marks)], axis=-1
        )
        return self.tiles.offsets_of(np.concatenate([numbers, places], axis=-1))

    def index_of(self, offset: SupportsIndex) -> Index:
        found, rank = self.tiles.index_of(offset), self.tiling.rank
        firsts = self.tiling.tile(found[:rank]).origin
        return tuple([o + i for o, i in zip(firsts, found[rank:], strict=True)])

    def indices_of(self, offset: int) -> list[Index]:
        """Return the one index whose element lies at `offset`."""
        return [self.index_of(offset)]

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the index whose element lies at each of a flat array of offsets."""
        found, rank = self.tiles.indices_at(offsets), self.tiling.rank
        indices = found[:, rank:]
        for mode, marks in enumerate(self.tiling.marks):
            indices[:, mode] += marks[found[:, mode]]
        return indices

    def to_numpy(self) -> IntArray:
        extents, rank = self.shape.extents, self.tiling.rank
        strides = packed_strides(extents, range(rank - 1, -1, -1))
        rows = [p.starts[:-1] * step for p, step in zip(self.tiling.partitions, strides, strict=True)]
        starts = sum_table(0, rows).reshape(-1)
        ordinals = Cells(_extents_of(self.tiling), starts, shared_table(strides, len(starts))).offsets()
        offsets = np.empty(self.shape.size, dtype=np.int64)
        offsets[ordinals] = self.tiles.to_numpy()
        return offsets.reshape(extents)

    def tile_table(self, numbers: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
        """Return place and strides of the tiles with these numbers per mode."""
        table = self.tiles.as_blocked() if isinstance(self.tiles, Packed) else self.tiles
        grid = self.tiling.grid.extents
        chosen = np.ix_(*numbers)
        return table.starts.reshape(grid)[chosen], table.strides.reshape(*grid, len(grid))[chosen]

    def at(self, key: PositionalKey) -> "Strided | Mosaic":
        entries = parse_positional(key, self.shape.extents)
        return select_box(self.tiling.partitions, self.tile_table, entries)

    def window(self, region: Shape[Any]) -> "Strided | Mosaic":
        entries = window_entries(self.shape, region)
        return select_box(self.tiling.partitions, self.tile_table, entries, region.origin)

    def as_tiled(self, tiling: Tiling) -> Packed | Blocked:
        """Return the view by a tiling of the box that refines this one."""
        return tiled_view(self.tiling, self.tile_table, tiling)

    def permute(self, order: Iterable[SupportsIndex]) -> "Strided | Mosaic":
        """Return the layout whose mode k is mode ``order[k]`` of this one."""
        return turn_box(self.tiling, self.tile_table, to_permutation(order, self.tiling.rank), ())

    def reverse(self, modes: Iterable[int]) -> "Strided | Mosaic":
        """Return the layout with the order of some modes reversed."""
        return turn_box(self.tiling, self.tile_table, tuple(range(self.tiling.rank)), modes)


def _extents_of(tiling: Tiling) -> IntArray:
    rows = rows_of(tiling.shape)
    return rows.columns.leaf_extents(*rows.leaves)


def window_entries(shape: Shape[Any], region: Shape[Any]) -> list[Positional]:
    """Return the positions of a box inside another; it raises if the box leaves it."""
    check_region(region, shape, "a box of the same rank inside it")
    shape.slice(region.origin, [o + n for o, n in zip(region.origin, region.extents, strict=True)])
    boxes = zip(region.origin, shape.origin, region.extents, strict=True)
    return [(first - start, 1, n) for first, start, n in boxes]
