"""The tiles that a symmetry takes to each other. Signs and conjugations do not matter for tiles."""

import math
from typing import Any

from tensorwrapper._memory import memory_for
from tensorwrapper.errors import ExtentMismatchError, RankError
from tensorwrapper.shape.patterns._ordinals import columns_of, difference, numbers_of, table_of, union
from tensorwrapper.shape.symmetry._symmetry import Symmetry
from tensorwrapper.shape.tilings._tiling import Tiling
from tensorwrapper.typing import Extents, IntArray


def check_exchanged_tilings(symmetry: Symmetry, tiling: Tiling[Any]) -> None:
    """Raise unless a symmetry exchanges only modes with one partition.

    Raises
    ------
    RankError
        If the ranks differ.
    ExtentMismatchError
        If two modes differ that are exchanged; the text names both.
    """
    if symmetry.rank != tiling.rank:
        raise RankError(f"a symmetry of rank {symmetry.rank} does not fit a tiling of rank {tiling.rank}")
    partitions = tiling.partitions
    for operation in symmetry.generators:
        for mode, other in enumerate(operation.permutation):
            if partitions[mode] != partitions[other]:
                low, high = sorted((mode, other))
                raise ExtentMismatchError(
                    f"this symmetry exchanges modes {low} and {high}, which are cut in different ways"
                )


def canonical_ordinals(symmetry: Symmetry, ordinals: IntArray, extents: Extents) -> IntArray:
    """Return the ordinals of the greatest tile of each orbit that has one of the given tiles."""
    greatest = symmetry.canonical_indices(table_of(ordinals, extents)).indices
    numbers = numbers_of([greatest[:, mode] for mode in range(len(extents))], extents, (len(ordinals),))
    numbers.sort()
    return union(numbers[:0], numbers)


def orbit_ordinals(symmetry: Symmetry, ordinals: IntArray, extents: Extents) -> IntArray:
    """Return the ordinals of all tiles of the orbits of the given tiles.

    Each step applies the generators to the tiles that the step before has found. O(generators * result) for
    each.
    """
    orders = [operation.permutation for operation in symmetry.generators]
    size = math.prod(extents)
    found = fresh = ordinals
    while len(fresh):
        columns = columns_of(fresh, extents)
        reached = fresh[:0]
        with memory_for(len(fresh) * (len(orders) + 1), "tiles"):
            for order in orders:
                numbers = numbers_of([columns[mode] for mode in order], extents, (len(fresh),))
                numbers.sort()
                reached = union(reached, numbers)
        fresh = difference(reached, found, size)
        found = union(found, fresh)
    return found
