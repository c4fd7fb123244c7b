"""Set algebra on boxes: what is left of one without others, and one cut along the faces of others.

One box against one is plain Python, O(rank). Against many, the parts so far form a `BoxTable`.
"""

from collections.abc import Iterable, Sequence

from tensorwrapper._boxes import BoxTable
from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, make_smooth
from tensorwrapper.typing import Index


def box_between(first: Iterable[int], last: Iterable[int]) -> Smooth:
    """Return the box from `first` up to, not including, `last`.

    Raises
    ------
    OutOfBoundsError
        If a last index is before the first one.
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
    """Return disjoint boxes that make up the box, each inside or outside of each other box."""
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
        # The remaining part overlaps the other box in this mode.
        origin[mode], extents[mode] = start, count
    return before + after[::-1]


def _carve(box: SmoothCommon, others: Sequence[SmoothCommon], *, keep: bool) -> list[Smooth]:
    """Return the box cut along the faces of the others, with or without the parts inside of them."""
    if 0 in box.extents:
        return []
    if not box.rank:
        return [make_smooth((), ())] if keep else []
    bounds = [(other.origin, _ends_of(other)) for other in others if 0 not in other.extents]
    ends = _ends_of(box)
    most = max([abs(n) for sides in (*bounds, (box.origin, ends)) for side in sides for n in side])
    table = BoxTable(box.origin, ends, most)
    for first, last in bounds:
        hit = table.find(first, last)
        if len(hit):
            table.take(hit, first, last, keep=keep)
    return [make_smooth(extents, origin) for origin, extents in table.boxes()]


def _ends_of(box: SmoothCommon) -> Index:
    return tuple([a + n for a, n in zip(box.origin, box.extents, strict=True)])
