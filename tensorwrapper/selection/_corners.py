"""Places where boxes leave gaps in a box, or overlap: found by corners, by pairs, or after cutting in two."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tensorwrapper.typing import Index, IntArray

__all__ = ["Faults", "find_faults"]

_CORNERS = 1 << 22  # corners that are sorted at a time; more boxes are cut in two first
_PAIRS = 1 << 11  # boxes of high rank that are compared with one another
_CELLS = 1 << 22  # cells that are painted to find faults of both kinds
_LOSS = 64  # pieces per box after which cutting has not helped
_KEYS = 1 << 62


class Faults(NamedTuple):
    """An index that several boxes hold, and one that none does; ``None`` where there is no such index."""

    overlap: Index | None
    gap: Index | None

    def merged(self, other: "Faults") -> "Faults":
        """Return what is known of both."""
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
        The corners of the boxes, (n, rank); each box lies inside the region, and none is empty.
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
    cells = math.prod([len(np.unique(column)) for column in points.T])
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
    """Return what the first and the last corner tell: nothing else adds to the running sum there.

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

    O(n**2) in the mode that parts most of them; the other modes are looked at for fewer and fewer.
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
