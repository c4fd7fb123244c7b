"""Classification of shapes as uniform, gridded or ragged, with the partitions of a gridded one."""

from typing import Final

import numpy as np

from tensorwrapper._arrays import splits_of
from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.rows._dependencies import is_constant
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.shape.rows._partition_operations import moved
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray, Raggedness

_NOT_GRIDDED: Final = "this shape is not a product of tilings of its modes"


def raggedness_of(shape: Flat) -> Raggedness:
    """Return the tightest word for a shape without layers; O(prefixes), if tiled O(tiles per mode)."""
    if isinstance(shape, SmoothCommon):
        return "uniform"
    rank = shape.rank
    if isinstance(shape, Tiled):
        # Its origins never vary.
        return "uniform" if all(shape.is_uniform(mode) for mode in range(rank)) else "gridded"
    if rank == 2:
        # One mode depends on another at most, and that is all that a tiling of one mode asks.
        return "gridded" if shape.dependencies(1) else "uniform"
    rows = shape.rows
    varying = [mode for mode in range(1, rank) if not is_constant(rows, mode)]
    if not varying:
        return "uniform"
    if rank % 2 or varying[0] < rank // 2:
        return "ragged"
    return "gridded" if all(_follows(rows, mode, mode - rank // 2) for mode in varying) else "ragged"


def _follows(rows: Rows, mode: int, parent: int) -> bool:
    """Tell whether the range of `mode`, which varies, depends on the index of one earlier mode alone."""
    if parent >= rows.outer_rank:
        # Modes of one leaf are independent: they vary only with the unrolled modes.
        return False
    table, extents, origins = rows.reached_table(mode)
    numbers = table[:, parent] - table[:, parent].min()
    return _is_function(numbers, extents) and _is_function(numbers, origins)


def _is_function(numbers: IntArray, values: IntArray) -> bool:
    """Tell whether equal numbers, which are small, go with equal values."""
    found = np.empty(int(numbers.max()) + 1, dtype=np.int64)
    found[numbers] = values
    return bool((found[numbers] == values).all())


def partitions_of(shape: Flat) -> tuple[Partition, ...]:
    """Return how each mode of a box is cut, if the tiled box is this shape.

    Places in a tile may count from 0, or be those in the box. Raises `JaggedModeError` if a mode does not
    allow it. O(prefixes), for a tiled shape O(modes).
    """
    if isinstance(shape, SmoothCommon):
        raise JaggedModeError(f"{_NOT_GRIDDED}: no mode of a box depends on a tile number")
    rank = shape.rank
    if rank % 2:
        raise JaggedModeError(
            f"{_NOT_GRIDDED}: its rank {rank} is odd, but the shape of a tiling has a mode of tile numbers "
            "and a mode of places for each mode"
        )
    for mode in range(rank // 2):
        _check_grid_mode(shape, mode)
    if isinstance(shape, Tiled):
        return tuple([moved(p, -p.origin) for p in shape.partitions])
    return tuple([_partition_of(shape.rows, mode, mode + rank // 2) for mode in range(rank // 2)])


def _check_grid_mode(shape: JaggedCommon, mode: int) -> None:
    needs = shape.dependencies(mode)
    if needs:
        raise JaggedModeError(
            f"{_NOT_GRIDDED}: mode {mode} has tile numbers that depend on the modes {needs}, but a grid "
            "depends on nothing"
        )
    start = shape.bounding_box()[1][mode]
    if start:
        raise JaggedModeError(
            f"mode {mode} has tile numbers from {start}, but those of a tiling start at 0: "
            "`s.translate_by((1, 1))` moves a shape"
        )


def _partition_of(rows: Rows, mode: int, inner: int) -> Partition:
    """Return the tiles of `mode`, whose places are mode `inner`."""
    sizes, starts = _tiles_of(rows, mode, inner)
    ends = splits_of(sizes)
    if not starts.any():
        return Partition(ends)
    apart = starts != ends[:-1] + starts[0]
    if apart.any():
        tile = int(np.argmax(apart))
        raise JaggedModeError(
            f"mode {inner} has the origin {starts[tile]} in tile {tile} of mode {mode}, but the places of a "
            f"tile count from 0, or from where the tile before it ends ({starts[0] + ends[tile]})"
        )
    return moved(Partition(ends), int(starts[0]))


def _tiles_of(rows: Rows, mode: int, inner: int) -> tuple[IntArray, IntArray]:
    """Return extent and origin of mode `inner` in every tile of `mode`."""
    counts, _ = rows.distinct_ranges(mode)
    count = int(counts[0]) if len(counts) else 0
    sizes, starts = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    if mode >= rows.outer_rank:
        if not is_constant(rows, inner):
            raise _not_gridded(mode, inner)
        extents, origins = rows.distinct_ranges(inner)
        if len(extents):
            sizes[:], starts[:] = extents[0], origins[0]
        return sizes, starts
    # Extents without a prefix are stored too: if nothing else is known of a tile, this is its extent.
    numbers = rows.prefixes(min(inner, rows.outer_rank))[:, mode]
    sizes[numbers], starts[numbers] = rows.ranges(inner)
    table, extents, origins = rows.reached_table(inner)
    numbers = table[:, mode]
    sizes[numbers], starts[numbers] = extents, origins
    if (sizes[numbers] != extents).any() or (starts[numbers] != origins).any():
        raise _not_gridded(mode, inner)
    return sizes, starts


def _not_gridded(mode: int, inner: int) -> JaggedModeError:
    return JaggedModeError(
        f"{_NOT_GRIDDED}: mode {inner} has places of tiles that differ where the tile number of mode {mode} "
        "is the same"
    )
