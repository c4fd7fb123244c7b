"""How many elements tiles have: the volume of each, what lies before it, and runs of bounded volume."""

import math

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape._partition import Partition
from tensorwrapper.typing import IntArray

__all__ = ["offsets_of_tiles", "runs_by_volume", "volumes_of_tiles"]


def volumes_of_tiles(partitions: tuple[Partition, ...]) -> IntArray:
    """Return the number of elements of every tile, one axis per mode; O(tiles)."""
    grid = tuple([p.count for p in partitions])
    largest = math.prod([p.bounds()[1] for p in partitions])
    if largest > MAX_INT64:
        raise SizeOverflowError(f"the largest tile has {largest} elements, which does not fit into 64 bits")
    if not largest:
        # An empty factor at the end would not keep a product in between from leaving 64 bits.
        return np.zeros(grid, dtype=np.int64)
    volumes = np.ones((), dtype=np.int64)
    for partition in partitions:
        volumes = np.multiply.outer(volumes, partition.sizes)
    return volumes


def offsets_of_tiles(partitions: tuple[Partition, ...]) -> IntArray:
    """Return how many elements the tiles before each one have, in row-major order of the tiles; O(tiles)."""
    grid = tuple([p.count for p in partitions])
    if not check_total(partitions):
        return np.zeros(grid, dtype=np.int64)
    rest = 1
    offsets = np.zeros((), dtype=np.int64)
    for partition in reversed(partitions):
        inner = np.multiply.outer(partition.sizes, offsets)
        before = partition.starts[:-1] * rest
        inner += before.reshape(-1, *[1] * offsets.ndim)
        offsets = inner
        rest *= partition.extent
    return offsets


def runs_by_volume(partitions: tuple[Partition, ...], most: int) -> Partition:
    """Return runs of tiles, in row-major order, of at most `most` elements; a larger tile is its own run.

    Every run but the last is as long as it can be. O(tiles).
    """
    total = check_total(partitions)
    splits = np.empty(math.prod([p.count for p in partitions]) + 1, dtype=np.int64)
    splits[:-1] = offsets_of_tiles(partitions).reshape(-1)
    splits[-1] = total
    return Partition.by_volume(splits, most)


def check_total(partitions: tuple[Partition, ...]) -> int:
    """Return the number of elements of all tiles, which must fit into 64 bits."""
    total = math.prod([p.extent for p in partitions])
    if total > MAX_INT64:
        raise SizeOverflowError(f"the tiles have {total} elements, which does not fit into 64 bits")
    return total
