"""Set algebra on boxes: what is left of one without others, and one cut along the faces of others.

One box against one is plain Python, O(rank). Against many, the parts so far form a table of bounds, and
each of the others cuts all that it meets at once.
"""

from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, make_smooth
from tensorwrapper.typing import Index, IntArray

__all__ = ["box_between", "box_product", "encloses", "partition", "subtract"]

_Side: TypeAlias = npt.NDArray[Any]
"""int64, or Python integers where these do not suffice; a row per mode, a column per box."""

_Table: TypeAlias = tuple[_Side, _Side]
"""First indices of boxes, and the indices behind their last."""


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
    return _without(box, others[0]) if len(others) == 1 else _carve(box, others, keep=False)


def partition(box: SmoothCommon, others: Sequence[SmoothCommon]) -> list[Smooth]:
    """Return disjoint boxes that make up the box, each of which lies inside or outside of each other box."""
    return _carve(box, others, keep=True)


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


def _carve(box: SmoothCommon, others: Sequence[SmoothCommon], *, keep: bool) -> list[Smooth]:
    """Return the box cut along the faces of the others; what is inside of them only if that is kept."""
    if 0 in box.extents:
        return []
    if not box.rank:
        return [make_smooth((), ())] if keep else []
    bounds = [(other.origin, _ends_of(other)) for other in others if 0 not in other.extents]
    bounds.append((box.origin, _ends_of(box)))
    most = max([abs(n) for sides in bounds for side in sides for n in side])
    # Half of what 64 bits hold, so that extents fit, too; beyond that the arrays hold Python integers.
    dtype = np.int64 if most < MAX_INT64 // 2 else object
    low, high = (np.array(side, dtype=dtype)[:, np.newaxis] for side in bounds.pop())
    count = 1
    for first, last in bounds:
        hit = _hit(low[:, :count], high[:, :count], first, last)
        if not len(hit):
            continue
        lows, highs = _parts((low[:, hit], high[:, hit]), first, last, keep=keep)
        # The parts stand in the places of the boxes that they are of. What is too many goes to the end, and
        # a place that is left empty gets a box that nothing meets.
        stay, more = min(lows.shape[1], len(hit)), max(lows.shape[1] - len(hit), 0)
        low[:, hit[stay:]], high[:, hit[stay:]] = most + 1, -most - 1
        low[:, hit[:stay]], high[:, hit[:stay]] = lows[:, :stay], highs[:, :stay]
        if count + more > low.shape[1]:
            low, high = (
                np.concatenate([side, np.empty((box.rank, count + more), dtype)], axis=1)
                for side in (low, high)
            )
        low[:, count : count + more], high[:, count : count + more] = lows[:, stay:], highs[:, stay:]
        count += more
    low, high = low[:, :count], high[:, :count]
    whole = low[0] < high[0]
    return _boxes(low[:, whole], high[:, whole])


def _ends_of(box: SmoothCommon) -> Index:
    return tuple([a + n for a, n in zip(box.origin, box.extents, strict=True)])


def _hit(low: _Side, high: _Side, first: Index, last: Index) -> IntArray:
    """Return the numbers of the boxes that have an index in common with another one."""
    hit = np.flatnonzero((low[0] < last[0]) & (high[0] > first[0]))
    for mode in range(1, len(low)):
        hit = hit[(low[mode, hit] < last[mode]) & (high[mode, hit] > first[mode])]
    return hit


def _parts(table: _Table, first: Index, last: Index, *, keep: bool) -> _Table:
    """Return the parts of all boxes outside of another one, which they meet, and those inside if wanted."""
    low, high = table
    lows: list[_Side] = []
    highs: list[_Side] = []
    for mode, (start, stop) in enumerate(zip(first, last, strict=True)):
        under, over = low[mode] < start, high[mode] > stop
        lows += [low[:, under], low[:, over]]
        highs += [high[:, under], high[:, over]]
        highs[-2][mode], lows[-1][mode] = start, stop
        low[mode, under], high[mode, over] = start, stop
    if keep:
        lows.append(low)
        highs.append(high)
    return np.concatenate(lows, axis=1), np.concatenate(highs, axis=1)


def _boxes(low: _Side, high: _Side) -> list[Smooth]:
    """Return the boxes of a table in the row-major order of their first indices."""
    starts: list[list[int]] = low.T.tolist()
    sizes: list[list[int]] = (high - low).T.tolist()
    pairs = sorted(zip(starts, sizes, strict=True))
    return [make_smooth(tuple(extents), tuple(origin)) for origin, extents in pairs]
