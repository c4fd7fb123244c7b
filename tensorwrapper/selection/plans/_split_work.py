"""Split a view into the read of its source, and the work on the result of the read.

A selection that acts mode by mode is exactly two: the source reads each distinct position of each mode once,
ascending; the receiver repeats, reorders and spreads these. So repetition, padding and the order of modes
cost no bytes.
"""

from math import gcd, prod
from typing import Any, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import ranked
from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.layout import AxisMap, Cycle, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, over_box, packed_strides, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._source_reads import distinct_size, is_listed
from tensorwrapper.selection.sources._runs import Outer, Positions, Runs, Wanted
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.selection.transforms._transform import (
    Coordinate,
    Feed,
    Transform,
    put_together,
    take_apart,
    through,
)
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["Fetch", "fetch_of"]


@final
@frozen(eq=False)
class Fetch:
    """The elements of a source that a part of a view needs, and the position of each in the read.

    Attributes
    ----------
    source
        The source.
    wanted
        The positions of each mode, or runs of elements by number; none comes twice.
    layout
        From the part of the view to the row-major places of the read elements.
    transform
        The same mode by mode; None where several modes of the source are moved as one.
    """

    source: Source
    wanted: Wanted
    layout: Layout[Any]
    transform: Transform | None

    @property
    def nbytes(self) -> int:
        """Number of bytes of elements read."""
        return self.wanted.size * self.source.dtype.itemsize

    def target(self, out: Array) -> Array | None:
        """Return the part of a result as the source is to fill it; None if elements repeat, or lack order."""
        transform = self.transform
        if transform is None or out.dtype != self.source.dtype:
            return None
        order: list[int] = []
        key: list[slice | int] = [0 if n == 1 else slice(None) for n in out.shape]
        for extent, coordinate in zip(self.wanted.extents, transform.coordinates, strict=True):
            if extent == 1:
                continue
            mode, axis = coordinate.feeds[0]
            single = len(coordinate.feeds) == 1 and isinstance(axis, Stride) and abs(axis.step) == 1
            if not single or axis.extent != extent or mode in order:
                return None
            order.append(mode)
            if cast("Stride", axis).step < 0:
                key[mode] = slice(None, None, -1)
        moving = [mode for mode, own in enumerate(key) if isinstance(own, slice)]
        if sorted(order) != moving:
            return None
        turned = out[(*key, ...)].transpose([moving.index(mode) for mode in order])
        new = tuple([None if extent == 1 else slice(None) for extent in self.wanted.extents])
        return turned[(*new, ...)]

    def within(self, more: Wanted) -> Layout[Any] | None:
        """Return where the elements are in a selection that has all of these; None if no layout says it."""
        if self.transform is None or (len(self.wanted.extents) > 1 and isinstance(more, Runs)):
            return None
        base = 0
        axes: list[AxisMap] = []
        for own, around, step in zip(_modes(self.wanted), _modes(more), _steps(more), strict=True):
            places = _places(own, around)
            base += int(places[0]) * step
            if isinstance(places, range):
                axes.append(Stride(len(places), places.step * step))
            else:
                axes.append(Table((places - places[0]) * np.int64(step)))
        extents = self.wanted.extents
        found = wrap_layout(over_box(extents, (0,) * len(extents), base, tuple(axes)))
        return through(found, self.transform)


def _modes(wanted: Wanted) -> "tuple[Positions | Runs, ...]":
    return (wanted,) if isinstance(wanted, Runs) else wanted.modes


def _steps(wanted: Wanted) -> tuple[int, ...]:
    return packed_strides(wanted.extents, range(len(wanted.extents) - 1, -1, -1))


def _places(own: "Positions | Runs", around: "Positions | Runs") -> Positions:
    """Return where the positions of a mode are among more of them, or elements among those of runs."""
    if isinstance(around, Runs):
        if isinstance(own, Runs):
            if len(own.starts) == 1:
                first = int(around.places(own.starts)[0])
                return range(first, first + own.size)
            own = own.numbers()
        return around.places(np.asarray(own, dtype=np.int64))
    if isinstance(own, Runs):
        own = own.numbers()
    if not isinstance(around, range):
        return np.searchsorted(around, np.asarray(own, dtype=np.int64))
    start, step = around.start, around.step
    if isinstance(own, range):
        # A single position has no step.
        first, even = (own.start - start) // step, max(own.step // step, 1)
        return range(first, first + even * len(own), even)
    return (own - np.int64(start)) // np.int64(step)


def fetch_of(view: Expression) -> Fetch:
    """Return the read of a source for a part of a view in normal form. O(positions of modes with tables).

    For a box it is an outer selection, or points where these are fewer: a diagonal needs only its points, not
    all combinations of their positions. For any other source it is runs of elements.
    """
    source = cast("Source", view.node.source)
    extents = view.node.extents
    if not source.shape.is_box:
        return _numbered(source, view.layout, extents)
    transform = take_apart(view.layout, extents)
    if transform is None:
        fetch = _bounding(source, view.layout, extents)
    else:
        fetch = _outer(source, transform)
        if not _moves_together(transform, fetch.wanted.extents):
            return fetch
    if distinct_size(view.layout) * view.dtype.itemsize >= fetch.nbytes:
        return fetch
    points = _numbered(source, view.layout, (prod(extents),))
    costs = points.nbytes + cast("Runs", points.wanted).nbytes
    return points if costs < fetch.nbytes else fetch


def _outer(source: Source, transform: Transform) -> Fetch:
    pairs = [_factored(coordinate) for coordinate in transform.coordinates]
    outer = Outer([positions for positions, _ in pairs])
    zeros = (0,) * len(transform.extents)
    within = Transform(transform.extents, zeros, tuple([ranks for _, ranks in pairs]))
    return Fetch(source, outer, put_together(within, outer.extents), within)


def _moves_together(transform: Transform, extents: Extents) -> bool:
    """Return True if a mode of the view moves several of the source, so that combinations are not needed."""
    fed = [
        {number for number, _ in own.feeds}
        for own, n in zip(transform.coordinates, extents, strict=True)
        if n > 1
    ]
    return sum(map(len, fed)) > len(set[int]().union(*fed))


def _numbered(source: Source, layout: Layout[Any], extents: Extents) -> Fetch:
    """Return a fetch of elements by number: `extents` are those of one mode that counts them all."""
    box = layout.implementation.strided_box()
    if box is not None and len(box[0]) == 1 and box[0][0] > 1 and box[2] == (1,):
        # Fast path for shards that are read in their order.
        (count,), first = box[0], box[3]
        within = Transform((count,), (0,), (Coordinate(0, ((0, Stride(count, 1)),)),))
        place = wrap_layout(new_row_major((count,)))
        return Fetch(source, Runs.of(range(first, first + count)), place, within)
    transform = take_apart(layout, extents)
    fetch = _bounding(source, layout, extents) if transform is None else _outer(source, transform)
    (positions,) = cast("Outer", fetch.wanted).modes
    return attrs.evolve(fetch, wanted=Runs.of(positions))


def _bounding(source: Source, layout: Layout[Any], extents: Extents) -> Fetch:
    """Return a fetch of the rows between the first and the last place of a layout, each once."""
    low, high = layout.bounds()
    start = 0
    modes: list[Positions] = []
    for mode, step in enumerate(packed_strides(extents, range(len(extents) - 1, -1, -1))):
        (first, low), (last, high) = divmod(low, step), divmod(high, step)
        modes.append(range(first, last + 1))
        start += first * step
        if first != last:
            # All modes before this one have one position, so the read is one run of places.
            modes += [range(n) for n in extents[mode + 1 :]]
            break
    base, axes = layout.implementation.mode_maps("a selection")
    own = layout.shape.extents
    return Fetch(source, Outer(modes), wrap_layout(over_box(own, (0,) * len(own), base - start, axes)), None)


def _factored(coordinate: Coordinate) -> tuple[Positions, Coordinate]:
    """Return the distinct positions that a coordinate takes, and their ranks as a coordinate."""
    constant, feeds = coordinate.constant, coordinate.feeds
    if len(feeds) != 1:
        return _factored_sum(constant, feeds) if feeds else (range(constant, constant + 1), Coordinate(0))
    mode, axis = feeds[0]
    distinct = range(0) if isinstance(axis, Table) else axis.distinct()
    if isinstance(distinct, range) and not isinstance(axis, Table):
        even = cast("Stride | Cycle", axis)
        low, step = distinct[0], distinct.step
        positions = range(constant + low, constant + distinct[-1] + 1, step)
        if len(distinct) == 1:
            return positions, Coordinate(0)
        if not even.step % step:
            ranks = evolve(even, step=even.step // step)
            return positions, Coordinate(-low // step, ((mode, ranks),))
    values, numbers = ranked(axis.offsets())
    more, move = Table(numbers).simplify()
    return _positions(values + constant), Coordinate(more, ((mode, move),))


def _positions(values: IntArray) -> Positions:
    steps = np.diff(values)
    if len(values) > 1 and (steps == steps[0]).all():
        return range(int(values[0]), int(values[-1]) + 1, int(steps[0]))
    return values


def _factored_sum(constant: int, feeds: tuple[Feed, ...]) -> tuple[Positions, Coordinate]:
    """Return the positions that are sums of several moves, and their ranks as sums of moves."""
    tables = [axis.offsets() for _, axis in feeds]
    if is_listed(prod([len(table) for table in tables])):
        sums: IntArray = np.asarray(constant + sum(np.ix_(*tables), start=np.int64(0)))
        values, ranks = ranked(sums)
        first = int(ranks.flat[0])
        moves = [
            np.moveaxis(ranks, n, 0).reshape(len(table), -1)[:, 0] - first for n, table in enumerate(tables)
        ]
        if (ranks == first + sum(np.ix_(*moves), start=np.int64(0))).all():
            pairs = [(mode, *Table(move).simplify()) for (mode, _), move in zip(feeds, moves, strict=True)]
            return _positions(values), Coordinate(
                first + sum([more for _, more, _ in pairs]), tuple([(mode, axis) for mode, _, axis in pairs])
            )
    # The ranks are not sum: all positions in between are read, in the widest step that all moves keep.
    step = gcd(*[int(np.gcd.reduce(table - table[0])) for table in tables]) or 1
    low = sum([int(table.min()) for table in tables])
    high = sum([int(table.max()) for table in tables])
    moved = [
        (mode, *Table((table - table[0]) // step).simplify())
        for (mode, _), table in zip(feeds, tables, strict=True)
    ]
    start = sum([int(table[0]) for table in tables])
    more = sum([base for _, base, _ in moved])
    return range(constant + low, constant + high + 1, step), Coordinate(
        (start - low) // step + more, tuple([(mode, axis) for mode, _, axis in moved])
    )
