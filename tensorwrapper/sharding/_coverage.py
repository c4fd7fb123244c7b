"""Check that boxes tile a box: each of its indices in exactly one of them, and no other index in any.

Comparing the sum of sizes is not enough: an overlap may hide a gap. Instead sum the boxes' signed corners.
The indicator of a box is the running sum, along every mode, of +1 and -1 at its corners, and running sums are
undone by differences; so boxes cover what they should, as often as they should, exactly if their corners
cancel but for those of the whole. That costs a sort of the corners, whatever their order.
"""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper.errors import Finding, ValidationError
from tensorwrapper.shape import ShapeLike
from tensorwrapper.sharding._boxes import Box, BoxesLike, BoxTable, as_box, as_box_table, box_text
from tensorwrapper.typing import Index, IntArray

_CORNERS = 1 << 22  # corners that are sorted at a time; more boxes are cut in two first
_PAIRS = 1 << 11  # boxes of high rank that are compared with one another
_CELLS = 1 << 22  # cells that are painted to find faults of both kinds
_LOSS = 64  # pieces per box after which cutting has not helped
_KEYS = 1 << 62


class Faults(NamedTuple):
    """An index in several boxes, and an index in no box; None if there is no such index."""

    overlap: Index | None
    gap: Index | None

    def merged(self, other: "Faults") -> "Faults":
        """Return the combined faults of both."""
        return Faults(
            other.overlap if self.overlap is None else self.overlap,
            other.gap if self.gap is None else self.gap,
        )


class _Group(NamedTuple):
    """Boxes, none of them empty, inside a region."""

    starts: IntArray
    stops: IntArray
    low: IntArray
    high: IntArray


def find_faults(starts: IntArray, stops: IntArray, low: IntArray, high: IntArray) -> Faults:
    """Return where boxes fail to tile a region; two times ``None`` exactly if they tile it.

    Parameters
    ----------
    starts, stops
        The corners of the boxes, (n, rank); each box is inside the region, and none is empty.
    low, high
        The corners of the region.
    """
    faults = Faults(None, None)
    if (low >= high).any():
        return faults
    groups, pieces, most = [_Group(starts, stops, low, high)], 0, _LOSS * (len(starts) + 1)
    while groups and None in faults:
        group = groups.pop()
        pieces += len(group.starts)
        active = (group.starts != group.low).any(axis=0) | (group.stops != group.high).any(axis=0)
        count, split = len(group.starts), int(active.sum())
        if (count + 1) << split <= _CORNERS:
            found, settled = _by_corners(group, active)
            faults = faults.merged(found)
            if not settled and pieces <= most:
                groups += _halves(group, active)
        elif count <= _PAIRS or pieces > most:
            faults = faults.merged(_by_pairs(group))
        else:
            groups += _halves(group, active)
    return faults


def _by_corners(group: _Group, active: npt.NDArray[np.bool_]) -> tuple[Faults, bool]:
    """Return faults as the corners tell them that do not cancel, and whether there are no others."""
    modes = np.flatnonzero(active)
    # The region is one more box, which counts -1: corners cancel exactly if every index counts 0.
    starts = np.concatenate([group.starts[:, modes], group.low[None, modes]])
    stops = np.concatenate([group.stops[:, modes], group.high[None, modes]])
    weights = np.ones(len(starts), dtype=np.int64)
    weights[-1] = -1
    keys, signs = np.zeros((len(starts), 1), dtype=np.int64), weights[:, None]
    span = 1
    for mode in range(len(modes)):
        ends = np.stack([starts[:, mode], stops[:, mode]])
        marks, ranks = np.unique(ends, return_inverse=True)
        ranks = ranks.reshape(2, -1)
        if span * len(marks) > _KEYS:
            known, keys = np.unique(keys, return_inverse=True)
            keys, span = keys.reshape(len(starts), -1), len(known)
        keys = np.concatenate(
            [keys * len(marks) + ranks[0][:, None], keys * len(marks) + ranks[1][:, None]], axis=1
        )
        signs = np.concatenate([signs, -signs], axis=1)
        span *= len(marks)
    order = np.argsort(keys, axis=None, kind="stable")
    ordered = keys.ravel()[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    sums = np.add.reduceat(signs.ravel()[order], first)
    left = np.flatnonzero(sums)
    if not len(left):
        return Faults(None, None), True
    box, corner = np.divmod(order[first[left]], keys.shape[1])
    points = np.empty((len(left), len(modes)), dtype=np.int64)
    for mode in range(len(modes)):
        # The corner of number 2**m + ... takes its place in mode m from the end of the box.
        points[:, mode] = np.where(corner >> mode & 1, stops[box, mode], starts[box, mode])
    cells = math.prod([len(different(column)) for column in points.T])
    paint = cells <= _CELLS and len(modes) > 0
    found = _painted(points, sums[left]) if paint else _ends(points, sums[left])
    places = [None if at is None else _filled(group.low, modes, at) for at in found]
    return Faults(*places), paint or not len(modes)


def _filled(low: IntArray, modes: npt.NDArray[np.intp], point: IntArray) -> Index:
    index = low.copy()
    index[modes] = point
    return tuple(index.tolist())


def _painted(points: IntArray, sums: IntArray) -> tuple[IntArray | None, IntArray | None]:
    """Return a place that counts too much and one that counts too little, if there are such."""
    axes = [np.unique(column, return_inverse=True) for column in points.T]
    grid = np.zeros([len(marks) for marks, _ in axes], dtype=np.int64)
    grid[tuple([ranks for _, ranks in axes])] = sums
    for mode in range(grid.ndim):
        np.cumsum(grid, axis=mode, out=grid)
    found: list[IntArray | None] = []
    for wrong in (grid > 0, grid < 0):
        if wrong.any():
            place = np.unravel_index(int(np.argmax(wrong)), grid.shape)
            found.append(
                np.array([marks[k] for (marks, _), k in zip(axes, place, strict=True)], dtype=np.int64)
            )
        else:
            found.append(None)
    return found[0], found[1]


def _ends(points: IntArray, sums: IntArray) -> tuple[IntArray | None, IntArray | None]:
    """Return the faults at the first and the last corner: nothing else adds to the running sum there.

    `points` are in lexicographic order.
    """
    sign = -1 if points.shape[1] % 2 else 1
    found = [(int(sums[0]), points[0]), (sign * int(sums[-1]), points[-1] - 1)]
    over = next((point for count, point in found if count > 0), None)
    under = next((point for count, point in found if count < 0), None)
    return over, under


def _halves(group: _Group, active: npt.NDArray[np.bool_]) -> Iterator[_Group]:
    """Return the group in two, cut where the fewest boxes are cut and the halves are about as large."""
    best: tuple[int, int, int] | None = None
    for mode in np.flatnonzero(active).tolist():
        ends = np.concatenate([group.starts[:, mode], group.stops[:, mode]])
        inner = ends[(ends > group.low[mode]) & (ends < group.high[mode])]
        mark = int(np.partition(inner, len(inner) // 2)[len(inner) // 2])
        left, right = int((group.starts[:, mode] < mark).sum()), int((group.stops[:, mode] > mark).sum())
        best = min(
            best or (left + right + max(left, right), mode, mark),
            (left + right + max(left, right), mode, mark),
        )
    if best is None:
        return
    _, mode, mark = best
    for first in (True, False):
        kept = group.starts[:, mode] < mark if first else group.stops[:, mode] > mark
        starts, stops = group.starts[kept], group.stops[kept]
        low, high = group.low.copy(), group.high.copy()
        if first:
            high[mode] = mark
        else:
            low[mode] = mark
        yield _Group(np.maximum(starts, low), np.minimum(stops, high), low, high)


def _by_pairs(group: _Group) -> Faults:
    """Return faults by comparing all boxes with one another; where two overlap, gaps are not sought."""
    starts, stops, low, high = group
    overlap = _shared(starts.T, stops.T)
    if overlap is not None:
        return Faults(overlap, None)
    return Faults(None, _hole(group) if _volume(starts, stops) < math.prod((high - low).tolist()) else None)


def _shared(starts: IntArray, stops: IntArray) -> Index | None:
    """Return an index that two boxes hold, given by one row per mode, if there is one.

    O(n**2) in the mode that separates most of them; the other modes are checked for fewer and fewer.
    """
    if not len(starts):
        return () if starts.shape[1] > 1 else None
    reach = [_ends_of(a, b).sum() for a, b in zip(np.sort(starts, axis=1), stops, strict=True)]
    modes = np.argsort(reach, kind="stable")
    order = np.argsort(starts[modes[0]], kind="stable")
    firsts = np.ascontiguousarray(starts[modes][:, order])
    lasts = np.ascontiguousarray(stops[modes][:, order])
    ends: list[int] = _ends_of(firsts[0], lasts[0]).tolist()
    for k, end in enumerate(ends):
        near = np.arange(k + 1, end)
        for first, last in zip(firsts[1:], lasts[1:], strict=True):
            if not len(near):
                break
            near = near[(first[near] < last[k]) & (first[k] < last[near])]
        if len(near):
            corner = np.empty(len(starts), dtype=np.int64)
            corner[modes] = np.maximum(firsts[:, k], firsts[:, near[0]])
            return tuple(corner.tolist())
    return None


def _ends_of(starts: IntArray, stops: IntArray) -> IntArray:
    """Return, for each box of a mode, how many of the sorted starts lie before its stop."""
    found: IntArray = np.searchsorted(starts, stops)
    return found


def _volume(starts: IntArray, stops: IntArray) -> int:
    return sum(math.prod(row) for row in (stops - starts).tolist())


def _hole(group: _Group) -> Index:
    """Return an index in none of some disjoint boxes that do not fill their region."""
    while len(group.starts):
        active = (group.starts != group.low).any(axis=0) | (group.stops != group.high).any(axis=0)
        for half in _halves(group, active):
            if _volume(half.starts, half.stops) < math.prod((half.high - half.low).tolist()):
                group = half
                break
    return tuple(group.low.tolist())


_SHOWN = 4  # boxes that a finding names


def check_coverage(whole: ShapeLike, boxes: BoxesLike, *, what: str = "the boxes") -> None:
    """Raise unless the boxes tile the whole: every index in exactly one of them, and nothing outside.

    Empty boxes count for nothing. O(2**m * n log n) for n boxes that differ in m modes, whatever their
    sizes. Many boxes of high rank are cut in two first; where no cut parts them they are compared in pairs.

    Parameters
    ----------
    whole
        A smooth shape.
    boxes
        Smooth shapes of the same rank, or a `BoxTable`.
    what
        Name of the boxes in the error.

    Raises
    ------
    ValidationError
        With one finding per kind of fault (outside, overlap, gap), each with the first place of it.
    SizeOverflowError
        If a corner does not fit into 64 bits.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.sharding import check_coverage
    >>> check_coverage((4,), [Shape(1), Shape(3, origin=(1,))])
    >>> check_coverage((4,), [Shape(2), Shape(2, origin=(1,))])
    Traceback (most recent call last):
    tensorwrapper.errors.ValidationError: the boxes: 2 faults: ...
    """
    findings = coverage_findings(whole, boxes, where=what)
    if findings:
        raise ValidationError(what, findings)


def coverage_findings(whole: ShapeLike, boxes: BoxesLike, *, where: str = "the boxes") -> tuple[Finding, ...]:
    """Return the findings that `check_coverage` would raise: the faults of boxes that should tile a box.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.sharding import coverage_findings
    >>> for finding in coverage_findings((4,), [Shape(2), Shape(2, origin=(1,))]):
    ...     print(finding.text)
    (1,) is in the boxes 0 [0:2] and 1 [1:3] of 2
    (3,) of [0:4] is in none of the 2 boxes
    """
    box = as_box(whole, "what is covered")
    table = as_box_table(boxes, box.rank)
    frame = BoxTable.from_boxes([box])
    low, high = frame.origins[0], frame.stops[0]
    filled = (table.extents > 0).all(axis=1)
    starts, stops = table.origins, table.stops
    outside = filled & ((starts < low) | (stops > high)).any(axis=1)
    findings: list[Finding] = []
    if outside.any():
        places = np.flatnonzero(outside)
        more = f", and {len(places) - 1} more boxes leave it" if len(places) > 1 else ""
        first = int(places[0])
        findings.append(
            Finding("coverage", where, f"box {first} {box_text(table[first])} leaves {box_text(box)}{more}")
        )
    starts, stops = np.maximum(starts, low), np.minimum(stops, high)
    kept = filled & (starts < stops).all(axis=1)
    faults = find_faults(starts[kept], stops[kept], low, high)
    return (*findings, *_described(faults, box, table, where))


def _described(faults: Faults, whole: Box, table: BoxTable, where: str) -> Iterator[Finding]:
    if faults.overlap is not None:
        holders = _holders(table, faults.overlap)
        named = [f"{k} {box_text(table[k])}" for k in holders[:_SHOWN]]
        if len(holders) > _SHOWN:
            named.append(f"{len(holders) - _SHOWN} more")
        names = f"{', '.join(named[:-1])} and {named[-1]}"
        yield Finding("coverage", where, f"{faults.overlap} is in the boxes {names} of {len(table)}")
    if faults.gap is not None:
        text = f"{faults.gap} of {box_text(whole)} is in none of the {len(table)} boxes"
        yield Finding("coverage", where, text)


def _holders(table: BoxTable, index: Index) -> list[int]:
    place = np.array(index, dtype=np.int64)
    inside = ((table.origins <= place) & (place < table.stops)).all(axis=1)
    places: list[int] = np.flatnonzero(inside).tolist()
    return places
