"""Random numbers as a function of a seed and a rank: no state, so no order in which they must be drawn.

Each rank has 64 random bits w: the word of that number of Philox4x64-10 whose key is the seed and the number
of the distribution, as NumPy counts them. Only sums, products, quotients and roots of numbers of IEEE 754
follow, so that the results have the same bits on every machine and with every version of NumPy.

========= ============================================================================== ==============
name      number                                                                         key's second
========= ============================================================================== ==============
uniform   ``low + (high - low) * u``, at most the last number below high;                0
          u is the upper 53 bits of w over 2**53, for float32 the upper 24 over 2**24
normal    ``mean + sigma * z``; z is cosine (even rank) or sine (odd rank) of Box and    1
          Muller's transform of words ``rank // 2 * 2`` and the next; float32 is rounded at the end
integers  ``low + w * (high - low) // 2**64``; each has its share of the 2**64 words, to 2
          within one word
bernoulli ``u < p`` with u the upper 53 bits of w over 2**53                             3
========= ============================================================================== ==============
"""

import functools
import math
import threading
from collections.abc import Sequence
from typing import Final, SupportsIndex, cast

import numpy as np
from numpy.typing import DTypeLike, NDArray

from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError, OutOfBoundsError
from tensorwrapper.selection.random._parameters import (
    DISTRIBUTIONS,
    Distribution,
    Parameter,
    Parameters,
    check_parameters,
    check_seed,
    type_for,
)

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


_MANTISSA: Final = np.int64(2**52 - 1)
_ROOT_HALF: Final = np.int64(np.float64(math.sqrt(0.5)).view(np.int64))
_LOG_2: Final = 0.6931471805599453  # written out: the results must not hang on a C library
_STEP: Final = 6.283185307179586 * 2.0**-64
# Each series ends where its next term is below 1e-16 for the greatest argument.
_ATANH: Final = tuple(1 / (2 * k + 1) for k in range(10))  # of s**2 up to 0.0295
_SIN: Final = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8))  # of x**2 up to 0.617
_COS: Final = tuple((-1) ** k / math.factorial(2 * k) for k in range(9))

Floats = NDArray[np.float64]


def _series(argument: Floats, factors: tuple[float, ...], out: Floats) -> None:
    """Write the sum of ``factors[k] * argument**k``, by Horner's rule."""
    np.multiply(argument, factors[-1], out=out)
    out += factors[-2]
    for factor in factors[-3::-1]:
        out *= argument
        out += factor


def _radius(words: NDArray[np.uint64], scratch: Floats) -> Floats:
    """Return sqrt(-2 ln u) for u = (the upper 53 bits + 1) / 2**53, never 0, in a row of `scratch`."""
    ratio, mantissa, halvings, logarithm = scratch[:4]
    whole, bits = ratio.view(np.int64), mantissa.view(np.int64)
    np.right_shift(words, np.uint64(11), out=ratio.view(np.uint64))
    whole += np.int64(1)
    mantissa[...] = whole
    # One octave up from the root of 1/2: the mantissa is near 1, where the series is short.
    bits -= _ROOT_HALF
    np.right_shift(bits, np.int64(52), out=whole)
    np.subtract(np.int64(53), whole, out=whole)
    halvings[...] = whole
    bits &= _MANTISSA
    bits += _ROOT_HALF
    np.subtract(mantissa, 1.0, out=ratio)
    mantissa += 1.0
    ratio /= mantissa
    _series(np.multiply(ratio, ratio, out=mantissa), _ATANH, logarithm)
    logarithm *= ratio
    logarithm *= 4.0
    halvings *= 2.0 * _LOG_2
    halvings -= logarithm
    found: Floats = np.sqrt(halvings, out=halvings)
    return found


def _cos_sin(words: NDArray[np.uint64], scratch: Floats) -> tuple[Floats, Floats]:
    """Return cosine and sine of ``words / 2**64`` turns, in two rows of `scratch`."""
    turns, angle, square, cos, sin = scratch[:5]
    quarter, rest, sign = turns.view(np.uint64), square.view(np.uint64), angle.view(np.uint64)
    np.add(words, np.uint64(2**61), out=quarter)
    quarter >>= np.uint64(62)
    np.left_shift(quarter, np.uint64(62), out=rest)
    np.subtract(words, rest, out=rest)
    angle[...] = rest.view(np.int64)
    angle *= _STEP
    np.multiply(angle, angle, out=square)
    _series(square, _COS, cos)
    _series(square, _SIN, sin)
    sin *= angle
    odd = (quarter & np.uint64(1)).astype(np.bool_)
    square[...] = cos
    np.copyto(cos, sin, where=odd)
    np.copyto(sin, square, where=odd)
    # Quarter turns 1 and 2 have a negative cosine, 2 and 3 a negative sine: the sign is the top bit.
    for target in (sin, cos):
        np.bitwise_and(quarter, np.uint64(2), out=sign)
        sign <<= np.uint64(62)
        target.view(np.uint64)[...] ^= sign
        quarter += np.uint64(1)
    return cos, sin


def normal_pairs(
    first: NDArray[np.uint64], second: NDArray[np.uint64], scratch: Floats | None = None
) -> Floats:
    """Return two standard normal numbers for each pair of random words, next to one another.

    Source: Box, Muller, "A note on the generation of random normal deviates", 1958. The pair of the words a
    and b is ``r * cos(t)`` and ``r * sin(t)`` with r = sqrt(-2 ln((a // 2**11 + 1) / 2**53)) and t = 2 pi b /
    2**64; relative errors are a few 1e-16, and none exceeds 8.58. `scratch` is memory of seven rows of at
    least as many numbers, which is used again: fresh pages cost as much as the numbers.

    Examples
    --------
    >>> normal_pairs(np.array([2**63], np.uint64), np.array([2**61], np.uint64)).round(6).tolist()
    [0.832555, 0.832555]
    """
    count = first.size
    rows = (np.empty((_ROWS, count)) if scratch is None else scratch)[:, :count]
    radius = _radius(first, rows[3:])
    cos, sin = _cos_sin(second, rows)
    pairs = np.empty(2 * count)
    np.multiply(radius, cos, out=pairs[0::2])
    np.multiply(radius, sin, out=pairs[1::2])
    return pairs


_ROWS: Final = 7

BATCH: Final = 2**15
"""Numbers made at a time: few enough for a cache, and enough for the calls not to matter.

The C library maps, clears and unmaps arrays of this size each time. So memory is reused where possible,
and elsewhere three eighths of the size is used."""


Ranks = NDArray[np.int64] | NDArray[np.uint64]


def _flat_part(array: NDArray[np.generic], part: slice) -> NDArray[np.generic]:
    """Return elements of `array`, in C order: a view where there is one, else a copy of the part."""
    return array.reshape(-1)[part] if array.flags.c_contiguous else array.flat[part]


def _unit(words: Words, dtype: np.dtype[np.generic]) -> Floats:
    """Return the upper bits of `words` as numbers from 0 to 1, without 1."""
    bits = 24 if dtype.itemsize == 4 else 53
    # Signed integers become floats several times as fast as unsigned ones.
    numbers = cast("Floats", (words >> np.uint64(64 - bits)).view(np.int64).astype(dtype))
    numbers *= 2.0**-bits
    return numbers


def _scale(words: Words, widths: Words) -> Words:
    """Return ``words * widths // 2**64``, without rounding; a width of 0 means 2**64."""
    high, low = words >> _HALF, words & _LOW
    if int(widths.max()) <= 2**32:
        # The sum is below 2**64, as the first term is at most (2**32 - 1) * 2**32.
        low *= widths
        low >>= _HALF
        high *= widths
        high += low
        high >>= _HALF
        product = high
    else:
        width_high, width_low = widths >> _HALF, widths & _LOW
        middle = high * width_low + ((low * width_low) >> _HALF)
        carry = ((middle & _LOW) + low * width_high) >> _HALF
        product = high * width_high + (middle >> _HALF) + carry
    return np.where(widths == 0, words, product) if int(widths.min()) == 0 else product


def _pairs_at(ranks: Words | range, seed: int, stream: int) -> tuple[Words, Words, slice | NDArray[np.int64]]:
    """Return the two words of each pair that `ranks` are of, and the places of the ranks among all of these.

    Neighbours share their pair, so that ranks in order cost half as many pairs as ranks that lie apart.
    """
    if isinstance(ranks, range):
        start = ranks.start & 1
        words = words_of_run(ranks.start - start, (start + len(ranks) + 1) // 2 * 2, seed, stream)
        return words[0::2], words[1::2], slice(start, start + len(ranks))
    pairs = ranks >> np.uint64(1)
    fresh = np.empty(pairs.size, np.bool_)
    fresh[0] = True
    np.not_equal(pairs[1:], pairs[:-1], out=fresh[1:])
    places = np.cumsum(fresh, dtype=np.int64)
    places -= 1
    places *= 2
    places += (ranks & np.uint64(1)).view(np.int64)
    both = np.repeat(pairs[fresh] << np.uint64(1), 2)
    both[1::2] += np.uint64(1)
    words = words_at(both, seed, stream)
    return words[0::2], words[1::2], places


def _run_or_words(given: NDArray[np.generic]) -> Words | range:
    """Return ranks as a range if each is one more than the one before it, else as unsigned integers."""
    ranks: Words = given.view(np.uint64) if given.dtype.isnative else given.astype(np.uint64)
    first, last = int(ranks[0]), int(ranks[-1])
    is_run = last - first == ranks.size - 1 and bool((ranks[1:] > ranks[:-1]).all())
    return range(first, last + 1) if is_run else ranks


def _to_numbers(
    distribution: Distribution,
    seed: int,
    ranks: Words | range,
    parameters: Parameters,
    dtype: np.dtype[np.generic],
    scratch: Floats | None,
) -> NDArray[np.generic]:
    """Return the number of each rank, of which there is at least one."""
    stream = DISTRIBUTIONS.index(distribution)
    if distribution == "normal":
        mean, sigma = cast("tuple[Floats, ...]", parameters)
        first, second, places = _pairs_at(ranks, seed, stream)
        numbers = normal_pairs(first, second, scratch)[places]
        numbers *= sigma
        numbers += mean
        return numbers
    if isinstance(ranks, range):
        words = words_of_run(ranks.start, len(ranks), seed, stream)
    else:
        words = words_at(ranks, seed, stream)
    if distribution == "integers":
        least, widths = cast("tuple[Words, ...]", parameters)
        scaled = _scale(words, widths)
        if least.ndim or least:
            scaled += least
        return scaled.view(np.int64)
    if distribution == "bernoulli":
        return _unit(words, np.dtype(np.float64)) < cast("tuple[Floats, ...]", parameters)[0]
    return _widened(_unit(words, dtype), cast("tuple[Floats, ...]", parameters))


def _widened(numbers: Floats, parameters: tuple[Floats, ...]) -> Floats:
    """Return numbers from 0 to 1 as numbers from low to high, in their place."""
    low, width, last = parameters
    if not low.ndim and not width.ndim and low == 0 and width == 1:
        return numbers
    numbers *= width
    numbers += low
    # The sum may round up to high, which does not belong to the range.
    return np.minimum(numbers, last, out=numbers)


@functools.cache
def _draws_as_here() -> bool:
    """Return whether NumPy makes floats of words as `_unit` does: it promises the words alone."""
    words = words_of_run(0, 64, 1, 2)
    return bool((generator_at(0, 1, 2).random(64) == _unit(words, np.dtype(np.float64))).all())


def _check_ranks(ranks: Ranks) -> None:
    if ranks.dtype.kind not in "iu" or ranks.dtype.itemsize != 8:
        raise ConversionError(f"ranks must be integers of 64 bits, not {ranks.dtype}")
    if ranks.dtype.kind == "i" and ranks.size and int(ranks.min()) < 0:
        raise OutOfBoundsError(f"ranks must not be negative, but one is {int(ranks.min())}")


def _broadcast(parameters: Parameters, shape: tuple[int, ...]) -> Parameters:
    try:
        return tuple(np.broadcast_to(values, shape) if values.ndim else values for values in parameters)
    except ValueError as error:
        shapes = [values.shape for values in parameters]
        raise ExtentMismatchError(
            f"parameters of shapes {shapes} do not fit ranks of shape {shape}"
        ) from error


def draw(
    distribution: Distribution,
    seed: SupportsIndex,
    ranks: Ranks | range,
    parameters: Sequence[Parameter],
    dtype: DTypeLike | None = None,
    out: NDArray[np.generic] | None = None,
) -> NDArray[np.generic]:
    """Return the random number of each rank, in the shape of `ranks`.

    A number depends only on the seed, the distribution, its parameters, the dtype and its rank, not on other
    numbers or their order. A range of ranks has step 1. `parameters` are low and high, mean and sigma, low
    and high, or p: numbers, or arrays that are broadcast against the ranks. `out`, of any strides, is written
    to and returned. O(n) time, less where ranks lie close; about 5 MB beside the result, and up to 32 bytes
    for each element of parameters that are arrays, which are checked before a number is drawn.

    Raises
    ------
    DistributionError
        For an unknown distribution, a seed that is not from 0 to 2**64 - 1, or parameters out of range.
    DTypeError
        If numbers of the distribution cannot be of type `dtype`, or not those of `out`.
    ConversionError
        If ranks, seed or parameters are of a wrong type.
    OutOfBoundsError
        If a rank is negative.
    ExtentMismatchError
        If parameters or `out` do not fit the shape of `ranks`.

    Examples
    --------
    >>> draw("uniform", 7, np.arange(4), [0, 1]).round(4).tolist()
    [0.8721, 0.2954, 0.4201, 0.4054]
    >>> draw("uniform", 7, np.array([3, 1]), [0, 1]).round(4).tolist()
    [0.4054, 0.2954]
    """
    element = type_for(distribution, dtype)
    key = check_seed(seed)
    shape = (len(ranks),) if isinstance(ranks, range) else ranks.shape
    if not isinstance(ranks, range):
        _check_ranks(ranks)
    checked = _broadcast(check_parameters(distribution, parameters, element), shape)
    if out is None:
        out = np.empty(shape, element)
    elif out.shape != shape:
        raise ExtentMismatchError(f"out has shape {out.shape}, but there are ranks of shape {shape}")
    elif out.dtype != element:
        raise DTypeError(f"out must have elements of type {element}, not {out.dtype}")
    native = element.newbyteorder("=")
    # NumPy draws these itself, into the memory where they are wanted.
    by_numpy = distribution == "uniform" and element == np.float64 and element.isnative
    by_numpy = by_numpy and out.flags.c_contiguous and _draws_as_here()
    # Pairs begin at even ranks: a batch may have one more than half as many.
    scratch = np.empty((_ROWS, min(out.size, BATCH) + 1)) if distribution == "normal" else None
    batch = BATCH if by_numpy or scratch is not None else max(3 * BATCH // 8, 1)
    for start in range(0, out.size, batch):
        part = slice(start, min(start + batch, out.size))
        values = tuple(_flat_part(each, part) if each.ndim else each for each in checked)
        own = ranks[part] if isinstance(ranks, range) else _run_or_words(_flat_part(ranks, part))
        if by_numpy and isinstance(own, range):
            target = cast("Floats", out.reshape(-1)[part])
            generator_at(own.start, key, 0).random(out=target)
            _widened(target, cast("tuple[Floats, ...]", values))
            continue
        numbers = _to_numbers(distribution, key, own, values, native, scratch)
        if out.flags.c_contiguous:
            out.reshape(-1)[part] = numbers
        else:
            out.flat[part] = numbers
    return out
