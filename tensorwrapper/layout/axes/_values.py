"""The positions of one mode with an offset, and its offsets, for an axis map of any extent.

No function here iterates over positions: large results are ranges, or lazy.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._progressions import first_between, solve_between, solve_progression
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride, Table
from tensorwrapper.layout.axes._sums import Numbers, Progression, Sieve


def runs_of(axis: AxisMap, offset: int) -> Iterable[range]:
    """Return all positions with an offset: ranges that ascend, and may interleave.

    Examples
    --------
    >>> _, axis = Stride(3, 5).repeat(2)
    >>> list(runs_of(axis, 10)), list(runs_of(Stride(2**40, 0), 0))
    ([range(2, 6, 3)], [range(0, 1099511627776)])
    """
    if isinstance(axis, Table):
        if not -MAX_INT64 <= offset <= MAX_INT64:
            return []
        ordered, order = axis.ordered()
        same = slice(ordered.searchsorted(offset, "left"), ordered.searchsorted(offset, "right"))
        return [range(place, place + 1) for place in order[same].tolist()]
    if not isinstance(axis, Stride | Cycle) or not axis.step or not axis.extent:
        return [range(0 if offset else axis.extent)]
    place, rest = divmod(offset, axis.step)
    if rest:
        return []
    if isinstance(axis, Stride):
        return [range(place, place + 1)] if 0 <= place < axis.extent else []
    low = place * axis.divisor
    if axis.modulus is None:
        return [solve_between(axis.start, axis.increment, axis.extent, low, low + axis.divisor)]
    return _runs_in(axis, low, min(low + axis.divisor, axis.modulus), axis.modulus) if low >= 0 else []


def positions_of(axis: AxisMap, offset: int, limit: int) -> list[int]:
    """Return all positions with an offset, ascending; `LayoutError` if there are more than `limit`."""
    count, runs = 0, list[range]()
    for run in runs_of(axis, offset):
        count += max(-((run.start - run.stop) // run.step), 0)
        runs.append(run)
        if count > limit or len(runs) > limit:
            raise too_many(limit)
    return sorted(chain.from_iterable(runs))


def too_many(limit: int) -> LayoutError:
    """Return the error for more positions than a list may have."""
    return LayoutError(
        f"more than {limit} indices share the offset, which is the limit; index_of has the first"
    )


def _runs_in(axis: Cycle, low: int, high: int, modulus: int) -> Iterator[range]:
    """Return an iterator over the positions from place `low` to `high` of a round."""
    rounds = rounds_of(axis)
    # By the rounds or by the places of one hold, whichever are fewer.
    if rounds.stop - rounds.start < high - low:
        for k in rounds:
            yield solve_between(axis.start - k * modulus, axis.increment, axis.extent, low, high)
    else:
        for place in range(low, high):
            yield solve_progression(axis.start, axis.increment, modulus, axis.extent, place)


def rounds_of(axis: Cycle) -> range:
    """Return how many times the modulus is taken off, from the least to the most often."""
    if not axis.modulus:
        return range(1)
    ends = axis.start // axis.modulus, (axis.start + axis.increment * (axis.extent - 1)) // axis.modulus
    return range(min(ends), max(ends) + 1)


def first_of(axis: AxisMap, offset: int) -> int | None:
    """Return the first position with an offset, if there is one; O(log extent).

    Examples
    --------
    >>> first_of(Cycle(2**70, 3, 5, 2**71, 7, 10), 990), first_of(Stride(4, 3), 5)
    (138, None)
    """
    if not isinstance(axis, Cycle) or axis.modulus is None or not axis.step:
        return next((run.start for run in runs_of(axis, offset) if run), None)
    place, rest = divmod(offset, axis.step)
    if rest or place < 0:
        return None
    high = min((place + 1) * axis.divisor, axis.modulus)
    first = first_between(axis.start, axis.increment, axis.modulus, place * axis.divisor, high)
    return first if first is not None and first < axis.extent else None


def numbers_of(axis: AxisMap) -> Numbers | None:
    """Return the different offsets, counted from the least; None if there is one only, or none."""
    if isinstance(axis, Table):
        listing = axis.listing()
        return listing if len(listing.values) > 1 else None
    low, high = axis.bounds()
    if low >= high or not isinstance(axis, Stride | Cycle):
        return None
    unit = abs(axis.step)
    spacing = unit if isinstance(axis, Stride) else unit * axis.spacing()
    if spacing:
        return Progression(spacing, (high - low) // spacing + 1)
    if isinstance(axis, Cycle) and axis.divisor == 1 and axis.modulus is not None:
        unit *= math.gcd(axis.increment, axis.modulus)
    return Sieve(unit, high - low, lambda number: first_of(axis, low + number) is not None)


def tracks_of(axis: AxisMap, low: int, high: int) -> Iterator[range]:
    """Return an iterator over the offsets in the order of their first positions.

    It yields ranges, because offsets are evenly spaced up to the wrap of a cycle; an offset may be repeated.
    Those below `low` or above `high` may be left out.

    Examples
    --------
    >>> _, axis = Stride(10, 3).rotate(4)
    >>> list(tracks_of(axis, 0, 27))
    [range(18, 30, 3), range(0, 18, 3)]
    """
    if isinstance(axis, Stride) and axis.step:
        yield range(0, axis.step * axis.extent, axis.step)
    elif (
        isinstance(axis, Cycle)
        and axis.step
        and axis.increment
        and (axis.divisor == 1 or abs(axis.increment) <= axis.divisor)
    ):
        yield from _tracks_of_cycle(axis)
    elif isinstance(axis, Table):
        ordered, order = axis.ordered()
        first = ordered.searchsorted(max(low, -MAX_INT64))
        end = ordered.searchsorted(min(high, MAX_INT64), "right")
        for offset in axis.values[np.sort(order[first:end])].tolist():
            yield range(offset, offset + 1)
    else:
        for place in range(axis.extent):
            yield range(offset := axis.at(place), offset + 1)


def _tracks_of_cycle(axis: Cycle) -> Iterator[range]:
    extent, modulus, turn = axis.extent, axis.modulus, axis.increment
    if modulus is not None:
        extent = min(extent, modulus // math.gcd(turn, modulus))
    step = turn if axis.divisor == 1 else 1 if turn > 0 else -1
    first = 0
    while first < extent:
        place, last = axis.start + turn * first, extent - 1
        if modulus is not None:
            place %= modulus
            last = min(last, first + (modulus - 1 - place if turn > 0 else place) // abs(turn))
        start, end = place // axis.divisor, (place + turn * (last - first)) // axis.divisor + step
        yield range(start * axis.step, end * axis.step, step * axis.step)
        first = last + 1
