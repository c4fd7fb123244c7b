"""Set algebra on boxes: what is left of one without others, and one cut along the faces of others.

One box against one is plain Python, O(rank). Against many, the pieces so far form a table of bounds, and
each of the others cuts all of them at once.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.shape._arrays import Sizes
from tensorwrapper.shape._common import ShapeCommon, to_index
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, different_ranks, make_smooth
from tensorwrapper.typing import Index

__all__ = ["box_between", "box_product", "encloses", "partition", "subtract"]

_Table: TypeAlias = tuple[Sizes, Sizes]
"""First indices of boxes, and the indices behind their last: two (n, rank) arrays."""


def box_between(first: Iterable[int], last: Iterable[int]) -> Smooth:
    """Return the box from `first` up to, not including, `last`.

    Raises
    ------
    OutOfBoundsError
        If a last index lies before the first one.
    RankError
        If there are not as many of one as of the other.
    """
    starts = tuple(first)
    stops = to_index(last, len(starts), "a last index")
    for mode, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        if stop < start:
            raise OutOfBoundsError(
                f"mode {mode} goes from {start} to {stop}: the first index {starts} must not lie behind the "
                f"last one, {stops}"
            )
    return make_smooth(tuple([b - a for a, b in zip(starts, stops, strict=True)]), starts)


def box_product(boxes: Sequence[SmoothCommon]) -> Smooth:
    """Return the box whose indices are those of all boxes, one after the other."""
    return make_smooth(sum([box.extents for box in boxes], ()), sum([box.origin for box in boxes], ()))


def encloses(box: SmoothCommon, shape: ShapeCommon) -> bool:
    """Tell whether the bounds of a shape lie within those of a box."""
    if box.rank != shape.rank:
        raise RankError(f"a shape of rank {box.rank} does not enclose one of rank {shape.rank}")
    extents, origin = shape.bounding_box()
    sides = zip(box.origin, box.extents, origin, extents, strict=True)
    return all(a <= b and b + n <= a + m for a, m, b, n in sides)


def subtract(box: SmoothCommon, others: Sequence[SmoothCommon]) -> list[Smooth]:
    """Return disjoint boxes that hold what is in the box and in none of the others; none is empty."""
    if len(others) == 1:
        return _without(box, others[0])
    table = _table(box, others)
    for other in others:
        outside, _ = _cut(table, other)
        table = _joined(outside)
    return _boxes(table)


def partition(box: SmoothCommon, others: Sequence[SmoothCommon]) -> list[Smooth]:
    """Return disjoint boxes that make up the box, each of which lies inside or outside of each other box."""
    table = _table(box, others)
    for other in others:
        outside, inside = _cut(table, other)
        table = _joined([*outside, inside])
    return _boxes(table)


def _without(box: SmoothCommon, other: SmoothCommon) -> list[Smooth]:
    """Return what `subtract` does, for one box: two slabs per mode at most, in row-major order."""
    common = box.intersect(other)
    if 0 in common.extents:
        return [] if 0 in box.extents else [make_smooth(box.extents, box.origin)]
    extents, origin = list(box.extents), list(box.origin)
    before: list[Smooth] = []
    after: list[Smooth] = []
    for mode, (start, count) in enumerate(zip(common.origin, common.extents, strict=True)):
        low, high = origin[mode], origin[mode] + extents[mode]
        if start > low:
            extents[mode] = start - low
            before.append(make_smooth(tuple(extents), tuple(origin)))
        if high > start + count:
            origin[mode], extents[mode] = start + count, high - start - count
            after.append(make_smooth(tuple(extents), tuple(origin)))
        # What is still to be cut has met the other box in this mode.
        origin[mode], extents[mode] = start, count
    return before + after[::-1]


def _table(box: SmoothCommon, others: Sequence[SmoothCommon]) -> _Table:
    """Return the box as a table, if it is not empty."""
    bounds = [box, *others]
    for other in others:
        if other.rank != box.rank:
            raise different_ranks(box.rank, other.rank)
    # Half of what 64 bits hold, so that extents fit, too; beyond that the arrays hold Python integers.
    most = max([abs(n) for b in bounds for n in (*b.origin, *_ends_of(b))], default=0)
    dtype = np.int64 if most <= MAX_INT64 // 2 else object
    count = 0 if 0 in box.extents else 1
    low = np.array([box.origin] * count, dtype=dtype).reshape(count, box.rank)
    high = np.array([_ends_of(box)] * count, dtype=dtype).reshape(count, box.rank)
    return low, high


def _ends_of(box: SmoothCommon) -> Index:
    return tuple([a + n for a, n in zip(box.origin, box.extents, strict=True)])


def _cut(table: _Table, other: SmoothCommon) -> tuple[list[_Table], _Table]:
    """Return the parts of all boxes outside of the other one, in tables, and those inside of it."""
    low, high = table
    first, last = other.origin, _ends_of(other)
    hit = np.full(len(low), 0 not in other.extents)
    for mode, (start, stop) in enumerate(zip(first, last, strict=True)):
        hit &= (low[:, mode] < stop) & (high[:, mode] > start)
    outside: list[_Table] = [(low[~hit], high[~hit])]
    low, high = low[hit], high[hit]
    for mode, (start, stop) in enumerate(zip(first, last, strict=True)):
        under, over = low[:, mode] < start, high[:, mode] > stop
        below, above = (low[under], high[under]), (low[over], high[over])
        below[1][:, mode], above[0][:, mode] = start, stop
        outside += [below, above]
        low[under, mode], high[over, mode] = start, stop
    return outside, (low, high)


def _joined(tables: list[_Table]) -> _Table:
    lows, highs = zip(*tables, strict=True)
    return np.concatenate(lows), np.concatenate(highs)


def _boxes(table: _Table) -> list[Smooth]:
    """Return the boxes of a table in the row-major order of their first indices."""
    low, high = table
    sizes: list[list[int]] = (high - low).tolist()
    starts: list[list[int]] = low.tolist()
    pairs = sorted(zip(starts, sizes, strict=True))
    return [make_smooth(tuple(extents), tuple(origin)) for origin, extents in pairs]
