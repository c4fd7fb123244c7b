"""The positions of one mode that have given offsets, for many offsets at once: progressions, not lists."""

import math
from typing import final

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride, Table
from tensorwrapper.layout.axes._values import rounds_of
from tensorwrapper.typing import IntArray

_ROUNDS = 32  # rounds of a cycle, or places of one dwell, up to which each is solved for by itself


@final
@frozen(eq=False)
class _Run:
    """Per offset the positions ``first + step * j`` for j from 0 to `count`."""

    first: IntArray
    step: int
    count: IntArray


@final
@frozen(eq=False)
class Spread:
    """Per offset all positions that have it; those of a table are places in its `order`."""

    runs: tuple[_Run, ...]
    order: IntArray | None = None

    def totals(self) -> IntArray:
        """Return how many positions each offset has."""
        total = self.runs[0].count
        for run in self.runs[1:]:
            total = total + run.count
        return total

    def only(self, keep: "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]") -> "Spread":
        """Return the same for some of the offsets."""
        return Spread(
            tuple([_Run(run.first[keep], run.step, run.count[keep]) for run in self.runs]), self.order
        )

    def positions(self, rows: IntArray) -> tuple[IntArray, IntArray]:
        """Return all positions of the offsets ``rows``: which row each belongs to, and the position."""
        again: list[IntArray] = []
        found: list[IntArray] = []
        for run in self.runs:
            count = run.count[rows]
            row = np.repeat(np.arange(len(rows)), count)
            place = run.first[rows[row]]
            if len(row) > np.count_nonzero(count):
                place = place + (np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)) * run.step
            again.append(row)
            found.append(place if self.order is None else self.order[place])
        return np.concatenate(again), np.concatenate(found)


def spread_of(axis: AxisMap, offsets: IntArray) -> Spread:
    """Return the positions of a mode that have these offsets, some of which none may have.

    The offsets of a cycle are multiples of its step.
    """
    if isinstance(axis, Table):
        return _looked_up(axis, offsets)
    if isinstance(axis, Stride) and axis.step:
        places, rest = np.divmod(offsets, axis.step)
        inside = (rest == 0) & (places >= 0) & (places < axis.extent)
        return Spread((_Run(places, 1, inside.astype(np.int64)),))
    if not isinstance(axis, Cycle) or not axis.step:
        return Spread((_Run(np.zeros_like(offsets), 1, np.where(offsets == 0, axis.extent, 0)),))
    low = offsets // axis.step * axis.divisor
    if axis.modulus is None:
        return Spread((_between(axis, axis.start, low, low + axis.divisor),))
    rounds = rounds_of(axis)
    if len(rounds) <= _ROUNDS:
        high = np.minimum(low + axis.divisor, axis.modulus)
        first = np.maximum(low, 0)
        return Spread(tuple([_between(axis, axis.start - k * axis.modulus, first, high) for k in rounds]))
    period = axis.modulus // math.gcd(axis.increment, axis.modulus)
    if axis.divisor <= _ROUNDS and period <= math.isqrt(MAX_INT64):
        return Spread(tuple([_congruent(axis, low + k, axis.modulus) for k in range(axis.divisor)]))
    return _looked_up(Table(axis.offsets()), offsets)


def _looked_up(table: Table, offsets: IntArray) -> Spread:
    ordered, order = table.ordered()
    first = np.searchsorted(ordered, offsets)
    return Spread((_Run(first, 1, np.searchsorted(ordered, offsets, side="right") - first),), order)


def _between(axis: Cycle, start: int, low: IntArray, high: IntArray) -> _Run:
    """Return the positions j with ``low <= start + turn * j < high``."""
    if not axis.increment:
        return _Run(np.zeros_like(low), 1, np.where((low <= start) & (start < high), axis.extent, 0))
    if axis.increment > 0:
        first, end = -((start - low) // axis.increment), -((start - high) // axis.increment)
    else:
        first, end = (start - high) // -axis.increment + 1, (start - low) // -axis.increment + 1
    first = np.maximum(first, 0)
    return _Run(first, 1, np.maximum(np.minimum(end, axis.extent) - first, 0))


def _congruent(axis: Cycle, places: IntArray, modulus: int) -> _Run:
    """Return the positions j with ``(start + turn * j) mod modulus == place``: a linear congruence."""
    divisor = math.gcd(axis.increment, modulus)
    period = modulus // divisor
    parts, rest = np.divmod(places - axis.start % modulus, divisor)
    inverse = pow(axis.increment // divisor, -1, period) if period > 1 else 0
    first = parts % period * inverse % period
    count = -(-(axis.extent - first) // period)
    # A dwell that the modulus cuts short has no places beyond it.
    inside = (rest == 0) & (places >= 0) & (places < modulus)
    return _Run(first, period, np.where(inside, np.maximum(count, 0), 0))
