"""Positions of several modes whose offsets sum to a total: the first ones in row-major order, or all.

Modes that split the total like digits of a number are unique, so they are taken first. Each of the
interleaved ones in turn takes the least position that leaves the others a solution, found by halving:
`reaches` tests whether a solution is among the first positions.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from tensorwrapper._progressions import solve_between
from tensorwrapper.layout.axes._axis import AxisMap
from tensorwrapper.layout.axes._sums import Budget, Numbers, Progression, congruent, reaches
from tensorwrapper.layout.axes._values import first_of, numbers_of, positions_of, too_many, tracks_of
from tensorwrapper.typing import Index


def first_positions(axes: Sequence[AxisMap], total: int, budget: Budget) -> Index | None:
    """Return the first positions whose offsets sum to `total`, counted from 0; None if there are none.

    No mode may be without positions.

    Raises
    ------
    LayoutError
        If that is not decided within the budget.
    """
    modes, lows, left = _open(axes, total)
    found = [0] * len(axes)
    left = _settle(modes, left, axes, lows, found, budget)
    if left < 0:
        return None
    for mode in list(modes):
        del modes[mode]
        number = _least(axes[mode], lows[mode], list(modes.values()), left, budget)
        if number is None:
            return None
        found[mode] = _first(axes[mode], lows[mode] + number)
        left -= number
    return None if left else tuple(found)


def _open(axes: Sequence[AxisMap], total: int) -> tuple[dict[int, Numbers], list[int], int]:
    """Return the modes with several offsets, the least offset of each mode, and what is left of the total."""
    lows = [axis.bounds()[0] for axis in axes]
    modes = {mode: numbers for mode, axis in enumerate(axes) if (numbers := numbers_of(axis)) is not None}
    return modes, lows, total - sum(lows)


def _first(axis: AxisMap, offset: int) -> int:
    place = first_of(axis, offset)
    return 0 if place is None else place


def _settle(
    modes: dict[int, Numbers],
    left: int,
    axes: Sequence[AxisMap],
    lows: Sequence[int],
    found: list[int],
    budget: Budget,
) -> int:
    """Take out the modes with one choice, and return what is left; -1 if there is no solution."""
    while modes:
        for mode, numbers in modes.items():
            window = _window(modes, mode, left)
            count = numbers.count_between(*window)
            if count > 1:
                continue
            number = next(iter(numbers.between(*window, budget)), None) if count else None
            if number is None:
                return -1
            found[mode] = _first(axes[mode], lows[mode] + number)
            del modes[mode]
            left -= number
            break
        else:
            return left
    return -1 if left else 0


def _window(modes: Mapping[int, Numbers], mode: int, left: int) -> tuple[int, int, int, int]:
    """Return the range of the number of a mode, and its residue with a modulus."""
    others = [numbers for other, numbers in modes.items() if other != mode]
    rest = sum([numbers.span for numbers in others])
    return max(left - rest, 0), left, left, math.gcd(*[numbers.divisor for numbers in others])


def _least(axis: AxisMap, low: int, others: list[Numbers], left: int, budget: Budget) -> int | None:
    """Return the number, counted from `low`, of the first position that leaves the others a solution."""
    rest = sum([numbers.span for numbers in others])
    modulus = math.gcd(*[numbers.divisor for numbers in others])
    for track in tracks_of(axis, low + left - rest, low + left):
        budget.take()
        start, step = track.start - low, track.step
        length = (track.stop - track.start + step - (1 if step > 0 else -1)) // step
        places = solve_between(start, step, length, left - rest, left + 1)
        places = congruent(start, step, places.start, places.stop - 1, left, modulus)
        count = (places.stop - places.start + places.step - 1) // places.step
        if count <= 0:
            continue
        first, step = start + step * places.start, step * places.step
        if reaches(others, left - first, budget):
            return first
        if count == 1 or not _among(first, step, count, others, left, budget):
            continue
        # Of the first `few` numbers none leads on, of the first `count` one does.
        few = 1
        while count - few > 1:
            half = (few + count) // 2
            if _among(first, step, half, others, left, budget):
                count = half
            else:
                few = half
        return first + step * (count - 1)
    return None


def _among(first: int, step: int, count: int, others: list[Numbers], left: int, budget: Budget) -> bool:
    """Tell whether one of evenly spaced numbers leaves the others a solution."""
    if count > 1:
        others = [*others, Progression(abs(step), count)]
    return reaches(others, left - min(first, first + step * (count - 1)), budget)


def all_positions(axes: Sequence[AxisMap], total: int, budget: Budget, limit: int) -> list[Index]:
    """Return all positions whose offsets sum to `total`, in row-major order.

    Raises
    ------
    LayoutError
        If there are more than `limit`, or the search does not end within the budget.
    """
    modes, lows, left = _open(axes, total)
    offsets = list(lows)
    found: list[Index] = []

    def descend(modes: dict[int, Numbers], left: int) -> Iterator[None]:
        if not modes:
            if not left:
                yield
            return
        windows = {mode: _window(modes, mode, left) for mode in modes}
        mode = min(modes, key=lambda mode: modes[mode].count_between(*windows[mode]))
        others = {other: numbers for other, numbers in modes.items() if other != mode}
        for number in modes[mode].between(*windows[mode], budget):
            budget.take()
            offsets[mode] = lows[mode] + number
            yield from descend(others, left - number)

    for _ in descend(modes, left):
        places = [positions_of(*pair, limit) for pair in zip(axes, offsets, strict=True)]
        if len(found) + math.prod(map(len, places)) > limit:
            raise too_many(limit)
        found += product(*places)
    found.sort()
    return found
