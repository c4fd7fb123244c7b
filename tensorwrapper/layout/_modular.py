"""Arithmetic of progressions, plain and modulo a number: bounds and solutions without enumeration."""

import math

__all__ = ["progression_bounds", "solve_between", "solve_progression"]


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
