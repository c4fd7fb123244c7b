"""The places of a box whose steps add up to a number: the inverse of any strides, one number at a time."""

import math
from collections.abc import Iterator

from tensorwrapper.typing import Extents, Index

__all__ = ["bounds_of", "first_solution", "solutions"]


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
