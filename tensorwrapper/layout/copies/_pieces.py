"""Regular parts of layouts of a box, mode by mode: a copy between two of them is cut into these.

A *piece* is a run of positions of one mode in `count` groups of `size`: position ``start + t * size + e``. In
a product of pieces, one per mode, the offset is a sum of one multiple of each t and of each e. Strided modes
are one piece, as are consecutive tiles of one size. A cycle has one piece for its whole rounds, and one
before and after; a table has one for each stretch with one step.
"""

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, different, run_of
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.shape import Partition
from tensorwrapper.typing import IntArray


def has_pieces(layout: LayoutCommon) -> bool:
    """Tell whether a layout is over a box and consists of pieces."""
    return layout.has_mode_maps or layout.keeps_tiles


def pieces_of(layout: LayoutCommon) -> list[IntArray]:
    """Return the nonempty pieces of each mode: (k, 3) arrays of starts, counts and sizes."""
    tiles, placed = layout.tiles, layout.placed_tiles
    if tiles is not None:
        return [_of_tiles(partition) for partition in tiles.partitions]
    if placed is not None:
        # A table has the offset of each tile.
        return [
            np.stack([p.starts[:-1], np.ones_like(p.starts[:-1]), p.sizes], axis=1) for p in placed.partitions
        ]
    if layout.mode_strides is not None:
        return [_table([(0, 1, extent)]) for extent in layout.shape.extents]
    return [_of_axis(axis) for axis in layout.mode_maps("a copy")[1]]


def _table(rows: list[tuple[int, int, int]]) -> IntArray:
    return np.array([row for row in rows if row[1] and row[2]], dtype=np.int64)


def _of_tiles(partition: Partition) -> IntArray:
    sizes = partition.sizes
    sizes = sizes[sizes > 0]
    firsts = np.flatnonzero(np.concatenate([[True], sizes[1:] != sizes[:-1]]))
    counts = np.diff(firsts, append=len(sizes))
    starts = np.cumsum(sizes) - sizes
    return np.stack([starts[firsts], counts, sizes[firsts]], axis=1)


def _of_axis(axis: AxisMap) -> IntArray:
    extent = axis.extent
    if isinstance(axis, Stride):
        return _table([(0, 1, extent)])
    if isinstance(axis, Cycle) and abs(axis.increment) == 1 and 1 in {axis.divisor, axis.modulus or 1}:
        # Positions until the first jump: back to the start of the cycle, or to the next offset after
        # repetitions.
        group = axis.divisor if axis.modulus is None else axis.modulus
        before = -axis.start % group if axis.increment > 0 else (axis.start + 1) % group
        head = min(before, extent)
        whole, tail = divmod(extent - head, group)
        return _table([(0, 1, head), (head, whole, group), (extent - tail, 1, tail)])
    return _of_steps(np.diff(axis.offsets()))


def _of_steps(steps: IntArray) -> IntArray:
    """Return stretches with one step each of positions that lie so far from their neighbours."""
    same = steps[1:] == steps[:-1]
    # A step unlike both neighbours is a jump, unless it is the narrowest: runs of two are runs as well.
    kept = np.append(False, same) | np.append(same, False) | (steps == steps[np.argmin(np.abs(steps))])
    jumps = ~kept
    # Where one stretch ends in another, the other begins one position later.
    jumps[1:] |= kept[:-1] & ~same
    starts = np.flatnonzero(np.append(True, jumps))
    sizes = np.diff(starts, append=len(steps) + 1)
    return np.stack([starts, np.ones_like(starts), sizes], axis=1)


def joint_pieces(left: IntArray, right: IntArray) -> IntArray:
    """Return where the pieces of both sides are regular together: a (k, 4) array.

    A row is start, extent, and two group sizes of which the first divides the second and the second the
    extent: position ``start + u * second + t * first + e``.
    """
    for one, other in ((left, right), (right, left)):
        if len(one) == 1 and one[0, 1] == 1:
            # The pieces of the other alone.
            starts, counts, sizes = other.T
            return np.stack([starts, counts * sizes, sizes, counts * sizes], axis=1)
    end = int(left[-1, 0] + left[-1, 1] * left[-1, 2])
    marks = np.union1d(left[:, 0], right[:, 0])
    for side in (left, right):
        marks = np.union1d(marks, _group_bounds(side, marks, end))
        marks = marks[marks < end]
    table = _groups(left, right, marks, end)
    wrong = table[:, 3] == 0
    if not wrong.any():
        return table
    # Groups of both sides that do not fit: there each group is a piece by itself.
    stops = np.append(marks[1:], end)
    extra = [_all_bounds(side, marks[wrong], stops[wrong]) for side in (left, right)]
    marks = different(np.concatenate([marks, *extra]))
    return _groups(left, right, marks[marks < end], end)


def _holders(side: IntArray, marks: IntArray) -> IntArray:
    found: IntArray = side[run_of(side[:, 0], marks)]
    return found


def _group_bounds(side: IntArray, marks: IntArray, end: int) -> IntArray:
    """Return where the first whole group begins between two marks, and the last one ends."""
    stops = np.append(marks[1:], end)
    starts, _, sizes = _holders(side, marks).T
    first = starts - (starts - marks) // sizes * sizes
    last = starts + (stops - starts) // sizes * sizes
    return np.concatenate([first[first < stops], last[last > marks]])


def _all_bounds(side: IntArray, marks: IntArray, stops: IntArray) -> IntArray:
    """Return all ends of groups between marks and stops."""
    starts, _, sizes = _holders(side, marks).T
    low = -((starts - marks) // sizes)
    high = -((starts - stops) // sizes)
    counts = np.maximum(high - low, 0)
    bounds: IntArray = np.repeat(starts, counts) + concatenated_ranges(low, counts) * np.repeat(sizes, counts)
    return bounds


def _groups(left: IntArray, right: IntArray, marks: IntArray, end: int) -> IntArray:
    """Return the rows between marks; the second group size is 0 where no two fit."""
    extents = np.diff(marks, append=end)
    pair: list[IntArray] = []
    fits = np.ones(len(marks), dtype=np.bool_)
    for side in (left, right):
        starts, _, sizes = _holders(side, marks).T
        phase = (marks - starts) % sizes
        inside = phase + extents <= sizes
        fits &= inside | ((phase == 0) & (extents % sizes == 0))
        pair.append(np.where(inside, extents, sizes))
    small, large = np.minimum(*pair), np.maximum(*pair)
    fits &= large % small == 0
    return np.stack([marks, extents, small, np.where(fits, large, 0)], axis=1)
