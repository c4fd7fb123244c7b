"""Test whether two layouts over one buffer share an offset, without data.

The offsets of a layout over a box are sums of one number per mode. So two layouts overlap exactly if a sum
over the modes of both has one value, which is a linear equation in bounded integers. The common divisors and
the span of the finer modes solve it, directly for one or two modes. In general such equations are hard, hence
a limit.
"""

import math
from collections.abc import Iterable
from typing import final

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.axes._axis import AxisMap
from tensorwrapper.layout.axes._sums import Budget, Listing, Progression, join_progressions, reaches
from tensorwrapper.layout.axes._values import numbers_of
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.typing import IntArray


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
    steps = [*mine.steps, *theirs.steps]
    tables = [*mine.tables, *[table.max() - table for table in theirs.tables]]
    if tables:
        return _meets_tables(join_progressions(steps), tables, total, limit)
    return reaches(steps, total, Budget(limit, "whether the layouts meet"))


@final
@frozen(eq=False)
class _Places:
    """A set of places, counted from the least: all sums of one number per step and one per table."""

    steps: list[Progression]
    tables: list[IntArray]


def _places_of(layout: LayoutCommon, limit: int) -> _Places:
    layout = layout.without_layers()
    view = layout.tiled
    if view is not None and layout.shape.size == view.under.shape.size:
        layout = view.under
    strides = layout.mode_strides
    if strides is not None:
        pairs = zip(layout.shape.extents, strides, strict=True)
        return _Places([Progression(abs(step), n) for n, step in pairs if n > 1 and step], [])
    if layout.has_mode_maps:
        _, axes = layout.mode_maps("overlaps")
        return _places_of_axes(axes, limit)
    if layout.is_contiguous or (layout.span == layout.shape.size and layout.is_injective):
        return _Places([Progression(1, layout.span)] if layout.span > 1 else [], [])
    if layout.shape.size > limit or layout.span > MAX_INT64:
        raise LayoutError(
            f"whether a layout of {layout.shape.size} elements over {layout.shape} meets another is not "
            f"decided by rule, and it is too large to look, with a limit of {limit}"
        )
    places = layout.to_numpy().ravel()
    return _Places([], [places - places.min()])


def _places_of_axes(axes: Iterable[AxisMap], limit: int) -> _Places:
    steps: list[Progression] = []
    tables: list[IntArray] = []
    for axis in axes:
        low, high = axis.bounds()
        numbers = numbers_of(axis)
        if numbers is None:
            continue
        if isinstance(numbers, Progression):
            steps.append(numbers)
            continue
        if high - low > MAX_INT64:
            raise LayoutError(
                f"whether places that lie {high - low} apart meet others is not decided: 64 bits"
            )
        if isinstance(numbers, Listing):
            tables.append(numbers.values - low)
            continue
        if axis.extent > limit:
            raise LayoutError(
                f"whether a mode of {axis.extent} positions meets others is not decided by rule"
            )
        tables.append(different(axis.offsets()) - low)
    return _Places(steps, tables)


def _meets_tables(steps: list[Progression], tables: list[IntArray], total: int, limit: int) -> bool:
    """Tell whether one number per step, finest first, and one per table, none negative, sum to `total`."""
    kept = steps if _are_digits(steps) else [max(steps, key=lambda step: step.count)]
    spelled = [step for step in steps if step not in kept]
    work = math.prod([step.count for step in spelled]) * math.prod([len(table) for table in tables])
    # A single table is in memory already, however large it is.
    if work > max(limit, *[len(table) for table in tables]):
        raise LayoutError(f"whether the layouts meet takes {work} sums to decide, over the limit of {limit}")
    rest = sum([step.span for step in steps]) + sum([int(table.max()) for table in tables])
    if max(total, rest) > MAX_INT64:
        raise LayoutError(f"whether places {max(total, rest)} apart meet is not decided: they leave 64 bits")
    parts = [*tables, *[np.arange(step.count, dtype=np.int64) * step.step for step in spelled]]
    sums = np.zeros(1, dtype=np.int64)
    for part in sorted(parts, key=len, reverse=True):
        rest -= int(part.max())
        sums = different(np.add.outer(sums, part))
        # No later number is negative, nor do they sum to more than the rest.
        sums = sums[(sums <= total) & (sums >= total - rest)]
    left = total - sums
    for step in reversed(kept):
        left -= np.minimum(left // step.step, step.count - 1) * step.step
    return not left.all()


def _are_digits(steps: list[Progression]) -> bool:
    """Tell whether each step is wider than the finer ones reach, so that a sum splits into digits."""
    reach = 0
    for step in steps:
        if step.step <= reach:
            return False
        reach += step.span
    return True
