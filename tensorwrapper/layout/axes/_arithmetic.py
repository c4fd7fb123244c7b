"""Arithmetic of progressions, plain and modulo a number: bounds and solutions without enumeration."""

import math
from collections.abc import Iterator

from tensorwrapper.typing import Extents, Index

__all__ = [
    "bounds_of",
    "first_solution",
    "progression_bounds",
    "solutions",
    "solve_between",
    "solve_progression",
]


def bounds_of(extents: Extents, strides: Index, offset: int) -> tuple[int, int]:
    """Return the least and the greatest offset, in Python integers; (0, -1) if there is no element."""
    if 0 in extents:
        return 0, -1
    least = greatest = offset
    for extent, stride in zip(extents, strides, strict=True):
        reach = (extent - 1) * stride
        if reach < 0:
            least += reach
        else:
            greatest += reach
    return least, greatest


def solutions(extents: Extents, strides: Index, total: int) -> Iterator[Index]:
    """Return an iterator over the places, counted from 0, whose sum of place times stride is `total`.

    The widest stride comes first, with backtracking. A mode with stride 0 has the same sum at every place,
    so only place 0 of it is given.
    """
    if 0 in extents:
        return
    # Descending modes are counted from their end, so that all steps are upwards.
    rest = total - bounds_of(extents, strides, 0)[0]
    modes = sorted(range(len(extents)), key=lambda mode: -abs(strides[mode]))
    reach, divisors = [0], [0]
    for mode in reversed(modes):
        step = abs(strides[mode])
        reach.append(reach[-1] + (extents[mode] - 1) * step)
        divisors.append(math.gcd(divisors[-1], step))
    reach.reverse()
    divisors.reverse()
    places = [0] * len(extents)

    def descend(depth: int, left: int) -> Iterator[Index]:
        if not divisors[depth]:
            # What is left are modes of stride 0, or none.
            if not left:
                yield tuple(places)
            return
        if left % divisors[depth]:
            return
        mode = modes[depth]
        step, extent = abs(strides[mode]), extents[mode]
        low = max(0, -(-(left - reach[depth + 1]) // step))
        for count in range(low, min(extent - 1, left // step) + 1):
            places[mode] = count if strides[mode] > 0 else extent - 1 - count
            yield from descend(depth + 1, left - count * step)

    yield from descend(0, rest)


def first_solution(extents: Extents, strides: Index, total: int) -> Index | None:
    """Return the solution that comes first in row-major order, without going through all of them."""
    found = solutions(extents, strides, total)
    only = next(found, None)
    if only is None or next(found, None) is None:
        return only
    # There are several: each mode takes the least place that leaves the later modes a solution.
    first: list[int] = []
    for mode, stride in enumerate(strides):
        later = extents[mode + 1 :], strides[mode + 1 :]
        place = 0
        if stride:
            least, greatest = bounds_of(*later, 0)
            place = max(0, -(((greatest if stride > 0 else least) - total) // stride))
            while next(solutions(*later, total - place * stride), None) is None:
                place += 1
        first.append(place)
        total -= place * stride
    return tuple(first)


def _least(start: int, step: int, modulus: int, count: int) -> int:
    """Return the least of ``(start + step * j) mod modulus`` for j from 0 to `count`; O(log modulus)."""
    least = modulus
    while True:
        start, step = start % modulus, step % modulus
        if 2 * step > modulus:
            # Read backwards the progression takes short steps, so that the modulus halves each time.
            start, step = (start + step * (count - 1)) % modulus, modulus - step
        least = min(least, start)
        wraps = (start + step * (count - 1)) // modulus
        if not wraps:
            return least
        # After the k-th wrap comes (start - k * modulus) mod step: a progression modulo the step.
        start, step, modulus, count = start - modulus, -modulus, step, wraps


def progression_bounds(start: int, step: int, modulus: int, count: int) -> tuple[int, int]:
    """Return the least and the greatest of ``(start + step * j) mod modulus`` for j from 0 to `count`.

    Exact for any integers; O(log modulus). The first terms after each wrap form a progression with a
    smaller modulus, as in Euclid's algorithm.

    Examples
    --------
    >>> progression_bounds(5, 3, 7, 5)
    (0, 5)
    >>> progression_bounds(5, 3, 7, 2)
    (1, 5)
    """
    least = _least(start, step, modulus, count)
    return least, modulus - 1 - _least(modulus - 1 - start, -step, modulus, count)


def solve_progression(start: int, step: int, modulus: int, count: int, value: int) -> range:
    """Return all j from 0 to `count` with ``(start + step * j) mod modulus == value``, ascending.

    Linear congruence: no solution unless gcd(step, modulus) divides value - start.

    Examples
    --------
    >>> list(solve_progression(1, 2, 6, 10, 5))
    [2, 5, 8]
    """
    if not 0 <= value < modulus:
        return range(0)
    divisor = math.gcd(step, modulus)
    distance = value - start
    if distance % divisor:
        return range(0)
    period = modulus // divisor
    first = distance // divisor * pow(step // divisor, -1, period) % period if period > 1 else 0
    return range(first, count, period)


def solve_between(start: int, step: int, count: int, low: int, high: int) -> range:
    """Return all j from 0 to `count` with ``low <= start + step * j < high``.

    Examples
    --------
    >>> list(solve_between(10, -3, 9, 0, 6))
    [2, 3]
    """
    if not step:
        return range(count if low <= start < high else 0)
    if step > 0:
        first, end = -((start - low) // step), -((start - high) // step)
    else:
        first, end = (start - high) // -step + 1, (start - low) // -step + 1
    first = max(first, 0)
    return range(first, max(min(end, count), first))
