"""Philox4x32-10: random words from a counter and a key, without any state.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
A block is 128 bits in and 128 bits out: ten rounds, each of two products of 32-bit numbers.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALGORITHM", "Places", "locate", "make_scratch", "philox4x32", "philox_words"]

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


ALGORITHM: Final = "philox4x32-10"
"""The name of the generator, for what is written down about a random field."""

_ROUNDS: Final = 10
_MULTIPLIERS: Final = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL: Final = 0x9E3779B9, 0xBB67AE85
_LOW: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)

Words = NDArray[np.uint64]


def make_scratch(count: int) -> Words:
    """Return memory for `philox_words` of up to `count` counters: 48 bytes for each."""
    return np.empty((6, count), np.uint64)


def _round_keys(seed: int) -> list[tuple[np.uint64, np.uint64]]:
    low, high = seed & 0xFFFFFFFF, seed >> 32
    steps = range(_ROUNDS)
    return [
        (np.uint64((low + _WEYL[0] * k) & 0xFFFFFFFF), np.uint64((high + _WEYL[1] * k) & 0xFFFFFFFF))
        for k in steps
    ]


def philox_words(counters: Words, seed: int, stream: int, scratch: Words) -> tuple[Words, Words]:
    """Return the two 64-bit words of the block of each counter, as views of `scratch`.

    `counters` are the low 64 bits of the 128-bit counters, `stream` (0 to 2**64) is the high ones,
    and `seed` (0 to 2**64) is the key. About 20 ns per counter when the scratch memory fits into a cache.

    Examples
    --------
    >>> low, high = philox_words(np.zeros(1, np.uint64), 0, 0, make_scratch(1))
    >>> hex(low[0]), hex(high[0])
    ('0xe169c58d6627e8d5', '0x9b00dbd8bc57ac4c')
    """
    x0, x1, x2, x3, p0, p1 = scratch[:, : counters.size]
    np.bitwise_and(counters, _LOW, out=x0)
    np.right_shift(counters, _HALF, out=x1)
    x2[:] = stream & 0xFFFFFFFF
    x3[:] = stream >> 32
    for key0, key1 in _round_keys(seed):
        np.multiply(x0, _MULTIPLIERS[0], out=p0)
        np.multiply(x2, _MULTIPLIERS[1], out=p1)
        # Only the low halves of x1 and x3 count: clearing the others once, with the key in, saves a pass.
        for target, product, other, key in ((x0, p1, x1, key0), (x2, p0, x3, key1)):
            np.right_shift(product, _HALF, out=target)
            np.bitwise_xor(target, other, out=target)
            np.bitwise_xor(target, key, out=target)
            np.bitwise_and(target, _LOW, out=target)
        x1, p1, x3, p0 = p1, x1, p0, x3
    for low, high in ((x0, x1), (x2, x3)):
        np.left_shift(high, _HALF, out=high)
        np.bitwise_or(low, high, out=low)
    return x0, x2


def philox4x32(counters: Words, seed: int, *, stream: int = 0) -> NDArray[np.uint32]:
    """Return the four 32-bit words of the block of each counter, (n, 4), in the order of the publication.

    Examples
    --------
    >>> [f"{word:08x}" for word in philox4x32(np.zeros(1, np.uint64), 0)[0]]
    ['6627e8d5', 'e169c58d', 'bc57ac4c', '9b00dbd8']
    """
    pair = philox_words(counters, seed, stream, make_scratch(counters.size))
    halves = [half for word in pair for half in (word & _LOW, word >> _HALF)]
    return np.stack(halves, axis=1).astype(np.uint32)
