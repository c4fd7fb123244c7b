"""Tiles in memory: boxes whose tiles are strided, each with its own offset and strides.

Parts of tile-major storage have this form: any selection from a tile is strided.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, run_of, shared_table, splits_of
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.axes._tables import sum_table
from tensorwrapper.layout.boxes._common import LayoutCommon, check_region, to_inside
from tensorwrapper.layout.boxes._keys import Positional, parse_positional
from tensorwrapper.layout.boxes._modes import places_of
from tensorwrapper.layout.boxes._strided import Strided, packed_strides
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked
from tensorwrapper.layout.cells._cells import Cells
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.shape import Partition, Shape, Tiling
from tensorwrapper.shape.lowlevel import make_smooth, make_tiling, to_index, to_permutation, wrap
from tensorwrapper.typing import Extents, Index, IntArray, PositionalKey

TileTable: TypeAlias = Callable[[Sequence[IntArray]], tuple[IntArray, IntArray]]
"""Place and strides of the tiles with these numbers per mode: new arrays over their product, strides last."""


@final
@frozen(eq=False)
class ModeCut:
    """The selection from one mode.

    From tile ``tiles[k]`` it takes the positions ``lows[k] + step * j`` for j < counts[k].
    """

    tiles: IntArray
    lows: IntArray
    counts: IntArray
    step: int


def cut_by_range(partition: Partition, start: int, step: int, count: int) -> ModeCut:
    """Return what the positions ``start + step * j`` for j below `count` take of each tile, none empty."""
    step = step if count > 1 else 1
    begins, ends = partition.starts[:-1], partition.starts[1:]
    # The first j that is in the tile, and the first that is behind it.
    if step > 0:
        first, behind = -((start - begins) // step), -((start - ends) // step)
    else:
        first, behind = -((ends - 1 - start) // -step), (start - begins) // -step + 1
    first, behind = np.clip(first, 0, count), np.clip(behind, 0, count)
    tiles = np.flatnonzero(behind > first)
    if step < 0:
        tiles = tiles[::-1]
    first = first[tiles]
    return ModeCut(tiles, start + step * first - begins[tiles], behind[tiles] - first, step)


def cut_by_places(partition: Partition, places: IntArray) -> ModeCut:
    """Return what positions take, in their order: neighbours that follow one another in a tile together."""
    tiles = run_of(partition.starts, places)
    begins = np.ones(len(places), dtype=np.bool_)
    begins[1:] = (np.diff(places) != 1) | (np.diff(tiles) != 0)
    firsts = np.flatnonzero(begins)
    lows = places - partition.starts[:-1][tiles]
    return ModeCut(tiles[firsts], lows[firsts], np.diff(np.append(firsts, len(places))), 1)


def cut_by_partition(partition: Partition, new: Partition, mode: int) -> ModeCut:
    """Return what the tiles of another partition of the same range take; each must lie in one tile.

    Raises
    ------
    LayoutError
        If a tile of `new` reaches over several.
    """
    begins, sizes = new.marks[:-1], new.sizes
    tiles = np.clip(run_of(partition.marks, begins), 0, max(partition.count - 1, 0))
    lows = begins - partition.marks[tiles]
    wide = lows + sizes > partition.sizes[tiles]
    if wide.any():
        k = int(np.argmax(wide))
        raise LayoutError(
            f"tile {k} of mode {mode}, [{begins[k]}, {begins[k] + sizes[k]}), reaches over several of the "
            "tiles that lie in one piece: only a tiling that refines theirs is a view"
        )
    return ModeCut(tiles, lows, sizes, 1)


def cut_tiles(table: TileTable, cuts: Sequence[ModeCut]) -> tuple[IntArray, IntArray]:
    """Return the offset and strides of the selection from each tile, over the product of their tiles."""
    starts, strides = table([cut.tiles for cut in cuts])
    for mode, cut in enumerate(cuts):
        axis = [1] * len(cuts)
        axis[mode] = -1
        starts += cut.lows.reshape(axis) * strides[..., mode]
    return starts, strides * np.array([cut.step for cut in cuts], dtype=np.int64)


def partition_of(cut: ModeCut, origin: int) -> Partition:
    """Return the partition of the selection, which starts at `origin`."""
    return Partition(frozen_array(splits_of(cut.counts) + origin))


def select_box(
    partitions: Sequence[Partition],
    table: TileTable,
    entries: Sequence[Positional],
    origin: Index | None = None,
) -> "Strided | TilesInMemory":
    """Return the layout of a selection of a tiled box, one entry per mode; at `origin`, zeros by default."""
    given = [entry for entry in entries if entry is not None]
    ranges = [(entry, 1, 1) if isinstance(entry, int) else entry for entry in given]
    cuts = [cut_by_range(p, *one) for p, one in zip(partitions, ranges, strict=True)]
    starts, strides = cut_tiles(table, cuts)
    # A dropped mode has one tile.
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


def gather_box(
    tiling: Tiling, table: TileTable, mode: SupportsIndex, positions: object
) -> "Strided | TilesInMemory":
    """Return the layout of positions of a mode, which then starts at 0; O(tiles and runs of positions)."""
    number, places = places_of(tiling.elements.extents, mode, cast("Any", positions))
    cuts = [cut_by_range(p, 0, 1, p.extent) for p in tiling.partitions]
    cuts[number] = cut_by_places(tiling.partitions[number], places)
    origin = [0 if m == number else start for m, start in enumerate(tiling.origin)]
    parts = tuple([partition_of(cut, start) for cut, start in zip(cuts, origin, strict=True)])
    return _made(parts, *cut_tiles(table, cuts))


def turn_box(
    tiling: Tiling, table: TileTable, order: Index, backwards: Iterable[int]
) -> "Strided | TilesInMemory":
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
    """Return the layout of the tiles of `new`, each within one tile of the box."""
    if not new.elements.size:
        return Packed(new.shape, 0)
    pairs = enumerate(zip(tiling.partitions, new.partitions, strict=True))
    cuts = [cut_by_partition(mine, theirs, mode) for mode, (mine, theirs) in pairs]
    starts, strides = cut_tiles(table, cuts)
    return make_blocked(new.shape, starts.reshape(-1), strides.reshape(-1, new.rank))


def box_of_tiles(tiling: Tiling, starts: IntArray, strides: IntArray) -> "Strided | TilesInMemory":
    """Return the layout of the box whose tiles have these places and strides, arrays over the grid."""
    sizes = [partition.sizes for partition in tiling.partitions]
    filled = [np.flatnonzero(own) for own in sizes]
    parts = tuple(
        [
            Partition(frozen_array(splits_of(own[kept]) + start))
            for own, kept, start in zip(sizes, filled, tiling.origin, strict=True)
        ]
    )
    chosen = np.ix_(*filled)
    return _made(parts, starts[chosen], strides[chosen])


def _made(
    partitions: tuple[Partition, ...], starts: IntArray, strides: IntArray
) -> "Strided | TilesInMemory":
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
    return TilesInMemory(
        tiling, make_blocked(tiling.shape, starts.reshape(-1), strides.reshape(-1, len(partitions)))
    )


@final
@frozen
class TilesInMemory(LayoutCommon):
    """The layout `table`, over the tiled shape of `tiling`, for the elements of the box; no tile is empty."""

    tiling: Tiling
    table: Packed | Blocked

    @property
    def shape(self) -> Shape[Any]:
        return self.tiling.elements

    @property
    def offset(self) -> int:
        return self.table.offset

    def bounds(self) -> tuple[int, int]:
        return self.table.bounds()

    @property
    def is_contiguous(self) -> bool:
        # Row-major order is strided, and what is strided is not kept as tiles.
        return False

    @property
    def is_injective(self) -> bool:
        return self.table.is_injective

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        numbers = to_index(index, self.tiling.rank)
        number = self.tiling.tile_of(numbers)
        firsts = self.tiling.tile(number).origin
        return self.table.offset_of((*number, *[i - o for i, o in zip(numbers, firsts, strict=True)]))

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        array = to_inside(indices, self.shape)
        numbers = self.tiling.tiles_of(array)
        places = array - np.stack(
            [marks[numbers[..., m]] for m, marks in enumerate(self.tiling.marks)], axis=-1
        )
        return self.table.offsets_of(np.concatenate([numbers, places], axis=-1))

    def index_of(self, offset: SupportsIndex) -> Index:
        found, rank = self.table.index_of(offset), self.tiling.rank
        firsts = self.tiling.tile(found[:rank]).origin
        return tuple([o + i for o, i in zip(firsts, found[rank:], strict=True)])

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the index whose element has each of a flat array of offsets."""
        found, rank = self.table.indices_at(offsets), self.tiling.rank
        indices = found[:, rank:]
        for mode, marks in enumerate(self.tiling.marks):
            indices[:, mode] += marks[found[:, mode]]
        return indices

    def to_numpy(self) -> IntArray:
        extents: Extents = self.shape.extents
        rank = self.tiling.rank
        strides = packed_strides(extents, range(rank - 1, -1, -1))
        rows = [p.starts[:-1] * step for p, step in zip(self.tiling.partitions, strides, strict=True)]
        starts = sum_table(0, rows).reshape(-1)
        ordinals = Cells(_extents_of(self.tiling), starts, shared_table(strides, len(starts))).offsets()
        offsets = np.empty(self.shape.size, dtype=np.int64)
        offsets[ordinals] = self.table.to_numpy()
        return offsets.reshape(extents)

    def tile_table(self, numbers: Sequence[IntArray]) -> tuple[IntArray, IntArray]:
        """Return place and strides of the tiles with these numbers per mode."""
        table = self.table.as_blocked()
        grid = self.tiling.grid.extents
        chosen = np.ix_(*numbers)
        return table.starts.reshape(grid)[chosen], table.strides.reshape(*grid, len(grid))[chosen]

    def at(self, key: PositionalKey) -> "Strided | TilesInMemory":
        entries = parse_positional(key, self.shape.extents)
        return select_box(self.tiling.partitions, self.tile_table, entries)

    def window(self, region: Shape[Any]) -> "Strided | TilesInMemory":
        entries = window_entries(self.shape, region)
        return select_box(self.tiling.partitions, self.tile_table, entries, region.origin)

    @property
    def placed_tiles(self) -> Tiling:
        return self.tiling

    def moved_to(self, shape: Shape[Any]) -> "TilesInMemory":
        return TilesInMemory(self.tiling.translate_to(shape.origin), self.table)

    def expression(self) -> str:
        return f"<Layout of {self.shape!r}: {self.tiling.grid.size} tiles of {self.tiling!r}>"

    def as_tiled(self, tiling: Tiling) -> Packed | Blocked:
        """Return the view by a tiling of the box that refines this one."""
        return tiled_view(self.tiling, self.tile_table, tiling)

    def permute(self, order: Iterable[SupportsIndex]) -> "Strided | TilesInMemory":
        """Return the layout whose mode k is mode ``order[k]`` of this one."""
        return turn_box(self.tiling, self.tile_table, to_permutation(order, self.tiling.rank), ())

    def reverse(self, modes: Iterable[int]) -> "Strided | TilesInMemory":
        """Return the layout with the order of some modes reversed."""
        return turn_box(self.tiling, self.tile_table, tuple(range(self.tiling.rank)), modes)

    def gathered(self, mode: SupportsIndex, positions: object) -> "Strided | TilesInMemory":
        return gather_box(self.tiling, self.tile_table, mode, positions)


def _extents_of(tiling: Tiling) -> IntArray:
    rows = rows_of(tiling.shape)
    return rows.columns.leaf_extents(*rows.leaves)


def window_entries(shape: Shape[Any], region: Shape[Any]) -> list[Positional]:
    """Return the positions of a box inside another; it raises if the box leaves it."""
    check_region(region, shape, "a box of the same rank inside it")
    shape.slice(region.origin, [o + n for o, n in zip(region.origin, region.extents, strict=True)])
    boxes = zip(region.origin, shape.origin, region.extents, strict=True)
    return [(first - start, 1, n) for first, start, n in boxes]
