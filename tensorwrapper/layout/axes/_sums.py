"""Sums with one number from each of several sets: linear equations in bounded integers.

An offset is a sum of one number per mode, so this locates offsets and decides whether layouts overlap.
Formulas decide up to three evenly spaced sets: one by division, two by a congruence, three by counting all
sums, as in Popoviciu's formula for coins, with sums of floors in Euclid's way. The general problem is hard,
so the rest is a search with a limit. It runs over the set with the fewest candidates, which the others bound
by their range and by their common divisor.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import combinations
from typing import final

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError
from tensorwrapper.typing import IntArray

_FEW = 8  # candidates up to which a look at each takes less time than counting all sums


@final
class Budget:
    """The remaining steps of a search; ``what`` is its purpose in errors."""

    __slots__ = ("left", "limit", "what")

    def __init__(self, limit: int, what: str) -> None:
        self.limit: int = limit
        self.what: str = what
        self.left: int = limit

    def take(self) -> None:
        """Take a step, or raise `LayoutError`."""
        self.left -= 1
        if self.left < 0:
            raise LayoutError(f"{self.what} is not decided within {self.limit} steps")


class Numbers(ABC):
    """Abstract: `span`, `divisor`, `count_between`, `between`. A set of integers from 0 on, with 0 in it."""

    __slots__ = ()

    @property
    @abstractmethod
    def span(self) -> int:
        """The greatest number, which is positive."""

    @property
    @abstractmethod
    def divisor(self) -> int:
        """A number that divides all of them."""

    @abstractmethod
    def count_between(self, low: int, high: int, total: int, modulus: int) -> int:
        """Return a bound: how many numbers `between` gives at most; 0 only if there is none."""

    @abstractmethod
    def between(self, low: int, high: int, total: int, modulus: int, budget: Budget) -> Iterable[int]:
        """Return the numbers from `low` to `high` that are congruent to `total`; with modulus 0, equal.

        Each number that is inspected and skipped takes a step of the budget.
        """


@final
@frozen
class Progression(Numbers):
    """The numbers ``step * k`` for k from 0 to `count`, both positive and `count` at least 2."""

    step: int
    count: int

    @property
    def span(self) -> int:
        return self.step * (self.count - 1)

    @property
    def divisor(self) -> int:
        return self.step

    def count_between(self, low: int, high: int, total: int, modulus: int) -> int:
        found = self._places(low, high, total, modulus)
        return (found.stop - found.start + found.step - 1) // found.step  # len() ends at 64 bits

    def _places(self, low: int, high: int, total: int, modulus: int) -> range:
        first, last = max(-(-low // self.step), 0), min(high // self.step, self.count - 1)
        return congruent(0, self.step, first, last, total, modulus)

    def between(self, low: int, high: int, total: int, modulus: int, budget: Budget) -> range:  # noqa: ARG002 - none is left out
        found = self._places(low, high, total, modulus)
        return range(found.start * self.step, found.stop * self.step, found.step * self.step)


def congruent(start: int, step: int, first: int, last: int, total: int, modulus: int) -> range:
    """Return all k from `first` to `last` with ``start + step * k`` congruent to `total`, ascending.

    The end is the place behind the last one, or the start; with modulus 0 the numbers are equal.
    """
    distance = total - start
    if not modulus:
        place, rest = divmod(distance, step)
        return range(place, place + 1) if not rest and first <= place <= last else range(first, first)
    divisor = math.gcd(step, modulus)
    if distance % divisor or last < first:
        return range(first, first)
    period = modulus // divisor
    wanted = distance // divisor * pow(step // divisor, -1, period) if period > 1 else 0
    first += (wanted - first) % period
    return range(first, max(first, last + 1), period)


@final
@frozen(eq=False)
class Listing(Numbers):
    """The distances of ascending, different values from the first of them."""

    values: IntArray
    gap: int
    """The least distance between neighbours; 0 if there is one value only."""
    common: int
    """What divides all distances."""

    @property
    def span(self) -> int:
        return int(self.values[-1]) - int(self.values[0])

    @property
    def divisor(self) -> int:
        return self.common

    def _ends(self, low: int, high: int) -> tuple[int, int]:
        least = int(self.values[0])
        first = np.searchsorted(self.values, min(max(low + least, -MAX_INT64), MAX_INT64))
        end = np.searchsorted(self.values, min(max(high + least, -MAX_INT64), MAX_INT64), side="right")
        return int(first), int(end)

    def count_between(self, low: int, high: int, total: int, modulus: int) -> int:  # noqa: ARG002 - a bound
        first, end = self._ends(low, high)
        return max(end - first, 0)

    def between(self, low: int, high: int, total: int, modulus: int, budget: Budget) -> Iterator[int]:
        first, end = self._ends(low, high)
        least = int(self.values[0])
        for value in self.values[first:end].tolist():
            number = value - least
            if not (total - number) % modulus if modulus else number == total:
                yield number
            else:
                budget.take()


@final
@frozen(eq=False)
class Sieve(Numbers):
    """The multiples of a unit, up to a maximum, for which `has` returns True."""

    unit: int
    greatest: int
    has: Callable[[int], bool]

    @property
    def span(self) -> int:
        return self.greatest

    @property
    def divisor(self) -> int:
        return self.unit

    def _all(self) -> Progression:
        return Progression(self.unit, self.greatest // self.unit + 1)

    def count_between(self, low: int, high: int, total: int, modulus: int) -> int:
        return self._all().count_between(low, high, total, modulus)

    def between(self, low: int, high: int, total: int, modulus: int, budget: Budget) -> Iterator[int]:
        for number in self._all().between(low, high, total, modulus, budget):
            if self.has(number):
                yield number
            else:
                budget.take()


def reaches(sets: Iterable[Numbers], total: int, budget: Budget) -> bool:
    """Tell whether one number of each set sums to `total`.

    Raises
    ------
    LayoutError
        If it is not decided within the budget.

    Examples
    --------
    >>> sets = [Progression(15, 2**20), Progression(2, 2**20), Progression(2**20 + 1, 2**20)]
    >>> budget = Budget(10, "a sum")
    >>> reaches(sets, 2**36 + 3, budget), reaches(sets[:2], 13, budget)
    (True, False)
    """
    even: list[Progression] = []
    others: list[Numbers] = []
    for numbers in sets:
        if isinstance(numbers, Progression):
            even.append(numbers)
        else:
            others.append(numbers)
    return _reaches([*join_progressions(even), *others], total, budget)


def join_progressions(sets: Iterable[Progression]) -> list[Progression]:
    """Return fewer progressions with the same sums, the finest first.

    A step that is a multiple of a finer one, and no wider than that reaches, only makes it longer.
    """
    kept: list[Progression] = []
    for numbers in sorted(sets, key=lambda numbers: numbers.step):
        for place, finer in enumerate(kept):
            factor, rest = divmod(numbers.step, finer.step)
            if not rest and factor <= finer.count:
                kept[place] = Progression(finer.step, finer.count + factor * (numbers.count - 1))
                break
        else:
            kept.append(numbers)
    return kept


def _reaches(sets: list[Numbers], total: int, budget: Budget) -> bool:
    if not sets:
        return not total
    fewest, best, window = -1, 0, (0, 0, 0)
    reach = sum([numbers.span for numbers in sets])
    for place, numbers in enumerate(sets):
        rest = reach - numbers.span
        modulus = math.gcd(*[other.divisor for k, other in enumerate(sets) if k != place])
        count = numbers.count_between(max(total - rest, 0), total, total, modulus)
        if count <= 0:
            return False
        if fewest < 0 or count < fewest:
            fewest, best, window = count, place, (max(total - rest, 0), total, modulus)
    even = [numbers for numbers in sets if isinstance(numbers, Progression)]
    if len(even) == len(sets):
        if len(sets) <= 2:
            # The rest is within the range of the other, and a multiple of its step.
            return True
        if len(sets) == 3 and fewest > _FEW:
            return count_sums(even, total) > 0
    others = [*sets[:best], *sets[best + 1 :]]
    low, high, modulus = window
    for number in sets[best].between(low, high, total, modulus, budget):
        budget.take()
        if _reaches(others, total - number, budget):
            return True
    return False


def count_sums(sets: Sequence[Progression], total: int) -> int:
    """Return in how many ways one number of each of three progressions sums to `total`; O(log total).

    Examples
    --------
    >>> count_sums([Progression(2, 4), Progression(3, 3), Progression(5, 3)], 10)
    3
    """
    # Those with too large a factor are taken off: inclusion and exclusion.
    a, b, c = [numbers.step for numbers in sets]
    count = 0
    for taken in range(len(sets) + 1):
        for some in combinations(sets, taken):
            left = total - sum([numbers.step * numbers.count for numbers in some])
            count += (-1) ** taken * _ways(a, b, c, left)
    return count


def _ways(a: int, b: int, c: int, total: int) -> int:
    """Return in how many ways `total` is a sum of multiples of three numbers, none of them negative."""
    shared = math.gcd(b, c)
    apart = math.gcd(a, shared)
    if total < 0 or total % apart:
        return 0
    a, b, c, total, period = a // apart, b // apart, c // apart, total // apart, shared // apart
    # The multiples of `a` that leave a multiple of the common divisor of b and c.
    first = total * pow(a, -1, period) % period if period > 1 else 0
    total -= a * first
    if total < 0:
        return 0
    # From here: the sum over k of the ways of ``total - a * k`` with b and c, which have no common divisor.
    b, c, total = b // period, c // period, total // period
    last, least = divmod(total, a)
    count = last + 1
    # Popoviciu: n / (b c) - {n / b mod c} / c - {n / c mod b} / b + 1 ways of n, here times b * c.
    ways = count * (least + b * c) + a * last * count // 2
    for one, other in ((b, c), (c, b)):
        inverse = pow(one, -1, other) if other > 1 else 0
        ways -= one * _sum_of_rests(inverse * least, inverse * a, other, count)
    return ways // (b * c)


def _sum_of_rests(start: int, step: int, modulus: int, count: int) -> int:
    """Return the sum of ``(start + step * k) mod modulus`` for k from 0 to `count`."""
    start, step = start % modulus, step % modulus
    whole = count * start + step * (count * (count - 1) // 2)
    return whole - modulus * _sum_of_floors(start, step, modulus, count)


def _sum_of_floors(start: int, step: int, modulus: int, count: int) -> int:
    """Return the sum of ``(start + step * k) div modulus`` for k from 0 to `count`; as Euclid's algorithm."""
    total = 0
    while True:
        total += count * (count - 1) // 2 * (step // modulus) + count * (start // modulus)
        start, step = start % modulus, step % modulus
        last = start + step * count
        if last < modulus:
            return total
        # Points under a line, counted by columns or by rows.
        count, start, step, modulus = last // modulus, last % modulus, modulus, step
