"""Whether two layouts over one buffer share a place, answered without data.

The places of a layout over a box are sums of one number per mode. So two layouts meet exactly where a sum
over the modes of both has one value, which is a linear equation in bounded integers: solved by the common
divisors and the reach of the finer modes, and at once for one or two modes. In general such equations are
hard, hence a limit.
"""

import math
from collections.abc import Iterable
from typing import TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride, Table
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.typing import IntArray

__all__ = ["may_overlap", "overlaps"]

_Step: TypeAlias = tuple[int, int]
"""A positive step and how many numbers it makes, from 0 on: at least two."""


def may_overlap(one: LayoutCommon, other: LayoutCommon) -> bool:
    """Tell whether the ranges from the least to the greatest place meet; O(rank)."""
    return _meet(one.bounds(), other.bounds())


def _meet(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return max(one[0], other[0]) <= min(one[1], other[1])


def overlaps(one: LayoutCommon, other: LayoutCommon, limit: int) -> bool:
    """Tell whether two layouts share a place, exactly.

    Raises
    ------
    LayoutError
        If that is not decided within `limit` steps.
    """
    ends, others = one.bounds(), other.bounds()
    if not _meet(ends, others):
        return False
    if {*ends, one.offset} & {*others, other.offset}:
        return True
    mine, theirs = _places_of(one, limit), _places_of(other, limit)
    # Counted down from the greatest place, the second set has positive steps too, and its sums are added.
    total = others[1] - ends[0]
    steps = _absorb([*mine.steps, *theirs.steps])
    tables = [*mine.tables, *[table.max() - table for table in theirs.tables]]
    if tables:
        return _meets_tables(steps, tables, total, limit)
    return _Search(steps, limit).reaches(total)


@final
@attrs.frozen(eq=False)
class _Places:
    """A set of places, counted from the least: all sums of one number per step and one per table."""

    steps: list[_Step]
    tables: list[IntArray]


def _places_of(layout: LayoutCommon, limit: int) -> _Places:
    layout = layout.without_layers()
    view = layout.tiled
    if view is not None and layout.shape.size == view.under.shape.size:
        layout = view.under
    strides = layout.mode_strides
    if strides is not None:
        pairs = zip(layout.shape.extents, strides, strict=True)
        return _Places([(abs(step), n) for n, step in pairs if n > 1 and step], [])
    if layout.has_mode_maps:
        _, axes = layout.mode_maps("overlaps")
        return _places_of_axes(axes, limit)
    if layout.is_contiguous or (layout.span == layout.shape.size and layout.is_injective):
        return _Places([(1, layout.span)] if layout.span > 1 else [], [])
    if layout.shape.size > limit or layout.span > MAX_INT64:
        raise LayoutError(
            f"whether a layout of {layout.shape.size} elements over {layout.shape} meets another is not "
            f"decided by rule, and it is too large to look, with a limit of {limit}"
        )
    places = layout.to_numpy().ravel()
    return _Places([], [places - places.min()])


def _places_of_axes(axes: Iterable[AxisMap], limit: int) -> _Places:
    steps: list[_Step] = []
    tables: list[IntArray] = []
    for axis in axes:
        low, high = axis.bounds()
        if low == high:
            continue
        if high - low > MAX_INT64 and not isinstance(axis, Stride):
            raise LayoutError(
                f"whether places that lie {high - low} apart meet others is not decided: 64 bits"
            )
        if isinstance(axis, Table):
            tables.append(axis.values - low)
            continue
        # A cycle of any length may be known to visit all places between its ends.
        if isinstance(axis, Cycle) and axis.extent > limit and not axis._spacing():
            raise LayoutError(
                f"whether a mode of {axis.extent} positions meets others is not decided by rule"
            )
        values = axis.distinct()
        if isinstance(values, range):
            steps.append((values.step, len(values)))
        else:
            tables.append(np.array(values, dtype=np.int64) - low)
    return _Places(steps, tables)


def _absorb(steps: list[_Step]) -> list[_Step]:
    """Return fewer steps with the same sums, the widest first.

    A step that is a multiple of a finer one, and no wider than that reaches, only makes it longer.
    """
    kept: list[_Step] = []
    for step, count in sorted(steps):
        for place, (finer, length) in enumerate(kept):
            factor, rest = divmod(step, finer)
            if not rest and factor <= length:
                kept[place] = finer, length + factor * (count - 1)
                break
        else:
            kept.append((step, count))
    return kept[::-1]


@final
class _Search:
    """The search for a sum of steps; it holds how far and in what multiples the finer steps reach."""

    __slots__ = ("_divisors", "_left", "_limit", "_reach", "_steps")

    def __init__(self, steps: list[_Step], limit: int) -> None:
        self._steps = steps
        self._limit = self._left = limit
        self._reach, self._divisors = [0], [0]
        for step, count in reversed(steps):
            self._reach.insert(0, self._reach[0] + step * (count - 1))
            self._divisors.insert(0, math.gcd(self._divisors[0], step))

    def reaches(self, total: int, depth: int = 0) -> bool:
        """Tell whether the steps from `depth` on have the sum `total`."""
        if depth == len(self._steps):
            return not total
        if total % self._divisors[depth]:
            return False
        step, count = self._steps[depth]
        # What is left must lie within the reach of the finer steps, and be a multiple of their divisor.
        low = max(0, -((self._reach[depth + 1] - total) // step))
        high = min(count - 1, total // step)
        period = self._divisors[depth + 1] // self._divisors[depth] or 1
        factor = step // self._divisors[depth]
        wanted = total // self._divisors[depth] * pow(factor, -1, period) % period if period > 1 else 0
        for number in range(low + (wanted - low) % period, high + 1, period):
            self._left -= 1
            if self._left < 0:
                raise LayoutError(f"whether the layouts meet is not decided within {self._limit} steps")
            if self.reaches(total - number * step, depth + 1):
                return True
        return False


def _meets_tables(steps: list[_Step], tables: list[IntArray], total: int, limit: int) -> bool:
    """Tell whether one number per step and one per table, none negative, have the sum `total`."""
    kept = steps if _are_digits(steps) else [max(steps, key=lambda step: step[1])]
    spelled = [step for step in steps if step not in kept]
    work = math.prod([n for _, n in spelled]) * math.prod([len(table) for table in tables])
    # What a single table holds is there already, however large it is.
    if work > max(limit, *[len(table) for table in tables]):
        raise LayoutError(f"whether the layouts meet takes {work} sums to decide, over the limit of {limit}")
    rest = sum([step * (n - 1) for step, n in steps]) + sum([int(table.max()) for table in tables])
    if max(total, rest) > MAX_INT64:
        raise LayoutError(f"whether places {max(total, rest)} apart meet is not decided: they leave 64 bits")
    parts = [*tables, *[np.arange(n, dtype=np.int64) * step for step, n in spelled]]
    sums = np.zeros(1, dtype=np.int64)
    for part in sorted(parts, key=len, reverse=True):
        rest -= int(part.max())
        sums = np.unique(np.add.outer(sums, part))
        # No later number is negative, nor do they sum to more than the rest.
        sums = sums[(sums <= total) & (sums >= total - rest)]
    left = total - sums
    for step, count in kept:
        left -= np.minimum(left // step, count - 1) * step
    return not left.all()


def _are_digits(steps: list[_Step]) -> bool:
    """Tell whether each step is wider than the finer ones reach, so that a sum splits into digits."""
    reach = 0
    for step, count in reversed(steps):
        if step <= reach:
            return False
        reach += step * (count - 1)
    return True
