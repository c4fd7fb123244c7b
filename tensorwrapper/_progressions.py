"""Arithmetic of progressions, plain and modulo a number: bounds and solutions without enumeration."""

import math

from tensorwrapper.typing import Extents, Index


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


def split_digits(extents: Extents, strides: Index, total: int) -> Index | None:
    """Return the places, counted from 0, whose sum of place times stride is `total`.

    As a number splits into digits, from the widest stride to the finest; a mode with stride 0 is at place 0.
    Empty if there are no such places, or no modes; None if there is a choice on the way.
    """
    left, reach = total, 0
    modes: list[tuple[int, int]] = []
    for mode, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        if stride and extent > 1:
            modes.append((abs(stride), mode))
            reach += abs(stride) * (extent - 1)
            # Descending modes are counted from their end, so that all steps are upwards.
            left -= stride * (extent - 1) if stride < 0 else 0
    modes.sort(reverse=True)
    places = [0] * len(extents)
    for step, mode in modes:
        reach -= step * (extents[mode] - 1)
        count = min(left // step, extents[mode] - 1)
        if count < 0 or left - count * step > reach:
            return ()
        left -= count * step
        if count and left + step <= reach:
            return None
        places[mode] = count if strides[mode] > 0 else extents[mode] - 1 - count
    return () if left else tuple(places)


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


def first_between(start: int, step: int, modulus: int, low: int, high: int) -> int | None:
    """Return the first j from 0 on with ``low <= (start + step * j) mod modulus < high``; O(log modulus).

    None if there is none; the bounds are from 0 to the modulus.

    Examples
    --------
    >>> first_between(1, 3, 10, 5, 7), first_between(1, 2, 10, 4, 5)
    (5, None)
    """
    if low >= high:
        return None
    first, last = (low - start) % modulus, (high - 1 - start) % modulus
    return 0 if first > last else _first_inside(step, modulus, first, last)


def _first_inside(step: int, modulus: int, low: int, high: int) -> int | None:
    """Return the first j from 0 on with ``low <= step * j mod modulus <= high``, of ``0 <= low <= high``."""
    if not low:
        return 0
    step %= modulus
    if not step:
        return None
    if 2 * step > modulus:
        step, low, high = modulus - step, modulus - high, modulus - low
    first = -(-low // step)
    if first * step <= high:
        return first
    # No multiple of the step is in between: how many rounds does it take?
    rounds = _first_inside(-modulus, step, low % step, high % step)
    return None if rounds is None else -(-(low + modulus * rounds) // step)


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
