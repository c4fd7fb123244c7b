"""What a selection of a tiled box takes of each tile: found mode by mode, since tiles are a product.

A table of tiles is made only of the tiles that a selection meets.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias, final

import attrs
import numpy as np

from tensorwrapper.errors import LayoutError
from tensorwrapper.shape._arrays import frozen_array, run_of, splits_of
from tensorwrapper.shape._partition import Partition
from tensorwrapper.typing import IntArray

__all__ = ["ModeCut", "TileTable", "cut_by_partition", "cut_by_range", "cut_tiles", "partition_of"]

TileTable: TypeAlias = Callable[[Sequence[IntArray]], tuple[IntArray, IntArray]]
"""Place and strides of the tiles with these numbers per mode: new arrays over their product, strides last."""


@final
@attrs.frozen(eq=False)
class ModeCut:
    """What is taken of one mode: from tile ``tiles[k]`` the places ``lows[k] + step * j``, j < counts[k]."""

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
    """Return place and strides of what the cuts take of each tile, over the product of their tiles."""
    starts, strides = table([cut.tiles for cut in cuts])
    for mode, cut in enumerate(cuts):
        axis = [1] * len(cuts)
        axis[mode] = -1
        starts += cut.lows.reshape(axis) * strides[..., mode]
    return starts, strides * np.array([cut.step for cut in cuts], dtype=np.int64)


def partition_of(cut: ModeCut, origin: int) -> Partition:
    """Return the partition of what is taken, which starts at `origin`."""
    return Partition(frozen_array(splits_of(cut.counts) + origin))
