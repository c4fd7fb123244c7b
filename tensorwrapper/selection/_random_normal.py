"""Normal numbers from random words, with the same bits on every machine.

The transform of Box and Muller needs a logarithm, a sine and a cosine. Those of the C library and of
NumPy differ between machines in their last bit, so they are series here: sums, products, quotients and
roots alone, which IEEE 754 rounds everywhere alike.
"""

import math
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["normal_pairs"]

_MANTISSA: Final = np.int64(2**52 - 1)
_ROOT_HALF: Final = np.int64(np.float64(math.sqrt(0.5)).view(np.int64))
_LOG_2: Final = 0.6931471805599453  # written out: the results must not hang on a C library
_STEP: Final = 6.283185307179586 * 2.0**-64
# Each series ends where its next term is below 1e-16 for the greatest argument.
_ATANH: Final = tuple(1 / (2 * k + 1) for k in range(10))  # of s**2 up to 0.0295
_SIN: Final = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(8))  # of x**2 up to 0.617
_COS: Final = tuple((-1) ** k / math.factorial(2 * k) for k in range(9))

Floats = NDArray[np.float64]


def _series(argument: Floats, factors: tuple[float, ...]) -> Floats:
    """Return the sum of ``factors[k] * argument**k``, by Horner's rule."""
    total = argument * factors[-1]
    total += factors[-2]
    for factor in factors[-3::-1]:
        total *= argument
        total += factor
    return total


def _radius(words: NDArray[np.uint64]) -> Floats:
    """Return sqrt(-2 ln u) for u = (the upper 53 bits + 1) / 2**53, which is never 0."""
    bits = ((words >> np.uint64(11)) + np.uint64(1)).astype(np.float64).view(np.int64)
    # One octave up from the root of 1/2: the mantissa is near 1, where the series is short.
    bits -= _ROOT_HALF
    halvings = (53 - (bits >> np.int64(52))).astype(np.float64)
    bits &= _MANTISSA
    bits += _ROOT_HALF
    mantissa = bits.view(np.float64)
    ratio = mantissa - 1.0
    mantissa += 1.0
    ratio /= mantissa
    logarithm = _series(ratio * ratio, _ATANH)
    logarithm *= ratio
    logarithm *= 4.0
    halvings *= 2.0 * _LOG_2
    halvings -= logarithm
    return np.sqrt(halvings, out=halvings)


def _cos_sin(words: NDArray[np.uint64]) -> tuple[Floats, Floats]:
    """Return cosine and sine of ``words / 2**64`` turns."""
    quarter = (words + np.uint64(2**61)) >> np.uint64(62)
    angle = (words - (quarter << np.uint64(62))).view(np.int64).astype(np.float64)
    angle *= _STEP
    square = angle * angle
    cos, sin = _series(square, _COS), _series(square, _SIN)
    sin *= angle
    odd = (quarter & np.uint64(1)).astype(np.bool_)
    turned_cos, turned_sin = np.where(odd, sin, cos), np.where(odd, cos, sin)
    # Quarter turns 1 and 2 have a negative cosine, 2 and 3 a negative sine: the sign is the top bit.
    turned_sin.view(np.uint64)[...] ^= (quarter & np.uint64(2)) << np.uint64(62)
    turned_cos.view(np.uint64)[...] ^= ((quarter + np.uint64(1)) & np.uint64(2)) << np.uint64(62)
    return turned_cos, turned_sin


def normal_pairs(first: NDArray[np.uint64], second: NDArray[np.uint64]) -> Floats:
    """Return two standard normal numbers for each pair of random words, next to one another.

    Source: Box, Muller, "A note on the generation of random normal deviates", 1958. Of the words a and b
    they are ``r * cos(t)`` and ``r * sin(t)`` with r = sqrt(-2 ln((a // 2**11 + 1) / 2**53)) and
    t = 2 pi b / 2**64; relative errors are a few 1e-16, and none exceeds 8.58.

    Examples
    --------
    >>> normal_pairs(np.array([2**63], np.uint64), np.array([2**61], np.uint64)).round(6).tolist()
    [0.832555, 0.832555]
    """
    radius = _radius(first)
    cos, sin = _cos_sin(second)
    pairs = np.empty(2 * radius.size)
    np.multiply(radius, cos, out=pairs[0::2])
    np.multiply(radius, sin, out=pairs[1::2])
    return pairs
