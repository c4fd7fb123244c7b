"""Philox4x64-10: random words from a counter and a key, without any state.

Source: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC 2011. A block is 256
bits in and 256 bits out: ten rounds, each of two products of 64-bit numbers. Word r of a seed and a stream is
the r-th of ``numpy.random.Philox(key=[seed, stream])``: word ``r % 4`` of the block whose counter is ``r // 4
+ 1``, since NumPy counts before it draws. Runs of words are drawn by NumPy, at the speed of C; words that lie
apart are computed here.
"""

import threading
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

__all__ = ["generator_at", "philox4x64", "words_at", "words_of_run"]

Words = NDArray[np.uint64]

_ROUNDS: Final = 10
_MULTIPLIERS: Final = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
_WEYL: Final = 0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B
_LOW: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
_MOST: Final = 2**64 - 1

_DENSE: Final = 8
"""Ranks among at most so many times their number are picked from all words between them.

A word of a run costs about 4 ns, one that is computed alone 150 ns; the bound is for the memory."""

_TOGETHER: Final = 2**13
"""Number of blocks computed at a time, so that their words stay in a cache."""


_own: Final = threading.local()
"""Generator of each thread: making one takes 40 us, and setting its counter less than one."""

_NO_WORDS: Final = np.zeros(4, np.uint64)


def generator_at(rank: int, seed: int, stream: int) -> "np.random.Generator":
    """Return this thread's generator, set so that the next word it draws is that of `rank`.

    It belongs to the caller until the thread's next call.

    Examples
    --------
    >>> bool(generator_at(5, 7, 0).random() == np.random.Generator(np.random.Philox(key=[7, 0])).random(6)[5])
    True
    """
    generator: np.random.Generator | None = getattr(_own, "generator", None)
    if generator is None:
        generator = _own.generator = _new_generator()
    _own.following = None
    bits = cast("np.random.Philox", generator.bit_generator)
    bits.state = {
        "bit_generator": "Philox",
        "state": {
            "counter": np.array([rank >> 2, 0, 0, 0], np.uint64),
            "key": np.array([seed, stream], np.uint64),
        },
        "buffer": _NO_WORDS,
        "buffer_pos": 4,
        "has_uint32": 0,
        "uinteger": 0,
    }
    if rank & 3:
        bits.random_raw(rank & 3, output=False)
    return generator


def _new_generator() -> "np.random.Generator":
    return np.random.Generator(np.random.Philox(key=np.zeros(2, np.uint64)))


def words_of_run(first: int, count: int, seed: int, stream: int) -> Words:
    """Return the words of `count` ranks from `first` on; about 4 ns each.

    Examples
    --------
    >>> words_of_run(2, 3, 7, 0).tolist() == words_at(np.array([2, 3, 4], np.uint64), 7, 0).tolist()
    True
    """
    where = first, seed, stream
    # Runs mostly go on where the one before ended: setting the counter takes as long as a thousand words.
    goes_on = getattr(_own, "following", None) == where
    generator = _own.generator if goes_on else generator_at(*where)
    _own.following = None
    words = cast("np.random.Philox", generator.bit_generator).random_raw(count)
    _own.following = first + count, seed, stream
    return words


def words_at(ranks: Words, seed: int, stream: int) -> Words:
    """Return the word of each rank of an array of one mode, in any order; 4 to 150 ns each.

    Adjacent ranks are faster, since neighbours share their block; ranks close to one another are picked from
    a run.
    """
    if not ranks.size:
        return np.empty(0, np.uint64)
    low, high = int(ranks.min()), int(ranks.max())
    if high - low < _DENSE * ranks.size:
        return words_of_run(low, high - low + 1, seed, stream)[(ranks - np.uint64(low)).view(np.int64)]
    blocks = ranks >> np.uint64(2)
    fresh = np.empty(blocks.size, np.bool_)
    fresh[0] = True
    np.not_equal(blocks[1:], blocks[:-1], out=fresh[1:])
    places = np.cumsum(fresh, dtype=np.int64)
    places -= 1
    places <<= 2
    places += (ranks & np.uint64(3)).view(np.int64)
    counters = blocks[fresh] + np.uint64(1)
    words = np.empty((counters.size, 4), np.uint64)
    for start in range(0, counters.size, _TOGETHER):
        part = slice(start, start + _TOGETHER)
        words[part] = philox4x64(counters[part], seed, stream)
    return words.reshape(-1)[places]


def philox4x64(counters: Words, seed: int, stream: int) -> Words:
    """Return the four words of the block of each counter, (n, 4).

    `counters` are the low 64 bits of the 256-bit counters, whose others are 0; `seed` and `stream`, both
    from 0 to 2**64 - 1, are the key. About 150 ns for each.

    Examples
    --------
    >>> blocks = philox4x64(np.array([1, 2], np.uint64), 7, 3)
    >>> blocks.reshape(-1).tolist() == np.random.Philox(key=[7, 3]).random_raw(8).tolist()
    True
    """
    x0, x1, x2, x3 = np.zeros((4, counters.size), np.uint64)
    x0[:] = counters
    key0, key1 = seed, stream
    for _ in range(_ROUNDS):
        high0, high1 = _high(x0, _MULTIPLIERS[0]), _high(x2, _MULTIPLIERS[1])
        high1 ^= x1
        high1 ^= np.uint64(key0)
        high0 ^= x3
        high0 ^= np.uint64(key1)
        x0, x1, x2, x3 = high1, x2 * _MULTIPLIERS[1], high0, x0 * _MULTIPLIERS[0]
        key0, key1 = (key0 + _WEYL[0]) & _MOST, (key1 + _WEYL[1]) & _MOST
    return np.stack((x0, x1, x2, x3), axis=1)


def _high(words: Words, factor: np.uint64) -> Words:
    """Return ``words * factor // 2**64``, by products of halves, none of which leaves 64 bits."""
    low, high = words & _LOW, words >> _HALF
    factor_low, factor_high = factor & _LOW, factor >> _HALF
    middle = low * factor_low
    middle >>= _HALF
    low *= factor_high
    middle += low
    np.multiply(high, factor_low, out=low)
    low += middle & _LOW
    low >>= _HALF
    middle >>= _HALF
    high *= factor_high
    high += middle
    high += low
    return high
