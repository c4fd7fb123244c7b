"""Which block of random words belongs to which rank: each block serves two ranks."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Places", "locate"]

Places = slice | NDArray[np.intp]
"""Where each rank's word stands among the words of the blocks, one after another."""


def locate(ranks: NDArray[np.uint64]) -> tuple[NDArray[np.uint64], Places]:
    """Return the blocks that hold the words of `ranks`, and the place of each rank among them.

    Rank r has word r % 2 of block r // 2. Neighbours share their block, so that consecutive ranks
    cost half as many blocks as ranks that lie apart. O(n).

    Examples
    --------
    >>> blocks, places = locate(np.array([5, 6, 7, 8], np.uint64))
    >>> blocks, places
    (array([2, 3, 4], dtype=uint64), slice(1, 5, None))
    >>> locate(np.array([5, 4, 9], np.uint64))
    (array([2, 4], dtype=uint64), array([1, 0, 3]))
    """
    blocks = ranks >> np.uint64(1)
    if not ranks.size:
        return blocks, slice(0)
    if int(ranks[-1]) - int(ranks[0]) == ranks.size - 1 and bool((ranks[1:] > ranks[:-1]).all()):
        count = int(blocks[-1]) - int(blocks[0]) + 1
        start = int(ranks[0]) & 1
        return blocks[0] + np.arange(count, dtype=np.uint64), slice(start, start + ranks.size)
    fresh = np.empty(blocks.size, np.bool_)
    fresh[0] = True
    np.not_equal(blocks[1:], blocks[:-1], out=fresh[1:])
    places = np.cumsum(fresh, dtype=np.intp)
    places -= 1
    places *= 2
    places += (ranks & np.uint64(1)).astype(np.intp)
    return blocks[fresh], places
