"""Places taken apart into positions of single modes, and put together for another box.

A layout gives a place of a box: one number. To push a selection into an operand one must know which
position of which mode that is. `take_apart` finds it for every layout that acts on each mode by itself (also
where several modes of the view move one of the box, or one moves several); `through` then applies the layout
of the operand.
"""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.layout import AxisMap, Cycle, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, new_strided, over_box, packed_strides, wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Extents, Index, IntArray

Spaced: TypeAlias = "tuple[int, int, int]"
"""Evenly spaced positions of a mode: the first, the step to the next, and how many."""


def maps_of(layout: Layout[Any]) -> tuple[int, tuple[AxisMap, ...]] | None:
    """Return base and axis maps of a layout; None if it keeps tiles together, and so has no rule per mode."""
    implementation = layout.implementation
    return implementation.mode_maps("a selection") if implementation.has_mode_maps else None


def box_of(layout: Layout[Any]) -> tuple[Extents, Index]:
    """Return extents and origin of the indices of a layout, which are a box."""
    box = layout.implementation.strided_box()
    if box is not None:
        return box[0], box[1]
    shape = layout.shape
    return shape.extents, shape.origin


def of_maps(base: int, axes: Sequence[AxisMap], origin: Index | None = None) -> Layout[Any]:
    """Return the layout over a box with these maps of its modes, which starts at zero by default."""
    extents = tuple([axis.extent for axis in axes])
    start = (0,) * len(extents) if origin is None else origin
    return wrap_layout(over_box(extents, start, base, tuple(axes)))


def layout_at(places: IntArray) -> Layout[Any]:
    """Return the layout of one mode that reaches some places."""
    return of_maps(0, (Table(places),))


def spaced(layout: Layout[Any], extents: Extents) -> list[Spaced] | None:
    """Return the positions of each mode of a box that a slice of it selects; None of other selections.

    The layout has elements, and addresses the places of the box in row-major order: a slice has a mode for
    each, and a step in each. O(rank); this is the short way of `take_apart`.
    """
    box = layout.implementation.strided_box()
    if box is None or len(box[0]) != len(extents):
        return None
    counts, _, strides, place = box
    found: list[Spaced] = []
    unit = 1
    for mode in range(len(extents) - 1, -1, -1):
        extent, count = extents[mode], counts[mode]
        first = place // unit % extent
        step, rest = divmod(strides[mode], unit) if count > 1 else (1, 0)
        # Positions that stay in their mode name their place in one way only.
        if rest or not step or not 0 <= first + step * (count - 1) < extent:
            return None
        found.append((first, step, count))
        unit *= extent
    return found[::-1]


def moved(layout: Layout[Any], origin: Index, by: int) -> Layout[Any]:
    """Return a layout with a rule per mode at another origin, whose places are counted from `by` on."""
    implementation = layout.implementation
    box = implementation.strided_box()
    if box is not None:
        extents, _, strides, offset = box
        return wrap_layout(new_strided(extents, origin, strides, offset - by))
    base, axes = implementation.mode_maps("a selection")
    return of_maps(base - by, axes, origin)


def canonical(layout: Layout[Any]) -> Layout[Any]:
    """Return a layout in which modes of one position have stride 0, and tables have the least number 0.

    So that layouts that select the same are equal.
    """
    implementation = layout.implementation
    box = implementation.strided_box()
    if box is not None:
        extents, origin, strides, offset = box
        if 1 not in extents:
            return layout
        steps = tuple([step if n > 1 else 0 for n, step in zip(extents, strides, strict=True)])
        return layout if steps == strides else wrap_layout(new_strided(extents, origin, steps, offset))
    if not implementation.has_mode_maps:
        return layout
    base, axes = implementation.mode_maps("a selection")
    parts = [_from_zero(axis) for axis in axes]
    base += sum([more for more, _ in parts])
    return of_maps(base, [axis for _, axis in parts], layout.shape.origin)


def _from_zero(axis: AxisMap) -> tuple[int, AxisMap]:
    if isinstance(axis, Table):
        least = int(axis.values.min())
        return (least, Table(axis.values - np.int64(least))) if least else (0, axis)
    return (0, Stride(1, 0)) if axis.extent == 1 else (0, axis)


Feed: TypeAlias = "tuple[int, AxisMap]"
"""A mode of the view, and how far its position j moves the coordinate."""


@final
@frozen
class Coordinate:
    """The position in one mode of a box: a constant, plus contributions of modes of the view.

    Coordinates are added, and multiplied by integers: O(modes), and linear in positions of modes with tables.
    """

    constant: int
    feeds: tuple[Feed, ...] = ()

    def __add__(self, other: "Coordinate | int") -> "Coordinate":
        if isinstance(other, int):
            return Coordinate(self.constant + other, self.feeds)
        return Coordinate(self.constant + other.constant, self.feeds + other.feeds)

    def __mul__(self, factor: int) -> "Coordinate":
        feeds = [(mode, _scaled(move, factor)) for mode, move in self.feeds]
        return Coordinate(self.constant * factor, tuple(feeds))

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest position."""
        if len(self.feeds) == 1:
            least, greatest = self.feeds[0][1].bounds()
            return self.constant + least, self.constant + greatest
        ends = [axis.bounds() for _, axis in self.feeds]
        return self.constant + sum([a for a, _ in ends]), self.constant + sum([b for _, b in ends])

    def changed(self, mode: int, change: Callable[[AxisMap], tuple[int, AxisMap]]) -> "Coordinate":
        """Return the same with a changed contribution of a mode of the view."""
        if all(number != mode for number, _ in self.feeds):
            return self
        moved = [(number, *(change(move) if number == mode else (0, move))) for number, move in self.feeds]
        constant = self.constant + sum([more for _, more, _ in moved])
        return Coordinate(constant, tuple([(number, move) for number, _, move in moved]))


@final
@frozen
class Transform:
    """A map from the positions of a view, counted from 0, to the positions of a box."""

    extents: Extents
    origin: Index
    coordinates: tuple[Coordinate, ...]

    def at(self, mode: int, coordinate: Coordinate) -> "Transform":
        """Return the same with another coordinate in a mode of the box."""
        old = self.coordinates
        return Transform(self.extents, self.origin, (*old[:mode], coordinate, *old[mode + 1 :]))

    def restricted(self, mode: int, start: int, step: int, count: int) -> "Transform":
        """Return a transform of some evenly spaced positions of a mode of the view."""
        if (start, step, count) == (0, 1, self.extents[mode]):
            return self
        return self._changed(mode, count, lambda move: move.take(start, step, count))

    def gathered(self, mode: int, positions: IntArray) -> "Transform":
        """Return a transform of any positions of a mode of the view."""
        return self._changed(mode, len(positions), lambda move: move.gather(positions))

    def _changed(
        self, mode: int, count: int, change: Callable[[AxisMap], tuple[int, AxisMap]]
    ) -> "Transform":
        extents = (*self.extents[:mode], count, *self.extents[mode + 1 :])
        changed = tuple([own.changed(mode, change) for own in self.coordinates])
        return Transform(extents, self.origin, changed)


_EVEN = frozenset({Stride})


def _unravel(place: int, strides: Sequence[int], extents: Extents) -> list[int]:
    return [place // step % extent for step, extent in zip(strides, extents, strict=True)]


def take_apart(layout: Layout[Any], extents: Extents) -> Transform | None:
    """Return the mode and position in a box for each index; None if this is not a rule per mode.

    The layout has elements, and addresses the places of the box in row-major order. O(rank of the view times
    rank of the box), and linear in the positions of modes that have a table.
    """
    maps = maps_of(layout)
    if maps is None:
        return None
    base, axes = maps
    own, origin = box_of(layout)
    if len(extents) == 1 and _EVEN.issuperset(map(type, axes)):
        # The place is the position.
        moving = [(m, axis) for m, axis in enumerate(axes) if own[m] > 1 and cast("Stride", axis).step]
        alone = Coordinate(base, tuple(moving))
        least, greatest = alone.bounds()
        return Transform(own, origin, (alone,)) if least >= 0 and greatest < extents[0] else None
    strides = packed_strides(extents, range(len(extents) - 1, -1, -1))
    first = base + sum([axis.at(0) for axis in axes])
    start = _unravel(first, strides, extents)
    constants = list(start)
    feeds: list[list[Feed]] = [[] for _ in extents]
    for mode, axis in enumerate(axes):
        moves = _moves(axis, first, start, strides, extents)
        if moves is None:
            return None
        for target, move in moves:
            constants[target] -= move.at(0)
            feeds[target].append((mode, move))
    coordinates = [Coordinate(c, tuple(fed)) for c, fed in zip(constants, feeds, strict=True)]
    for coordinate, extent in zip(coordinates, extents, strict=True):
        least, greatest = coordinate.bounds()
        if least < 0 or greatest >= extent:
            return None
    return Transform(own, origin, tuple(coordinates))


def _moves(
    axis: AxisMap, first: int, start: list[int], strides: Sequence[int], extents: Extents
) -> list[tuple[int, AxisMap]] | None:
    """Return which modes of the box a mode of the view moves, and how far from where it is at position 0."""
    if isinstance(axis, Table):
        places = axis.values + (first - axis.at(0))
        pairs = zip(strides, extents, start, strict=True)
        columns = [places // step % extent - here for step, extent, here in pairs]
        return [(mode, Table(own)) for mode, own in enumerate(columns) if own.any()]
    least, greatest = axis.bounds()
    if axis.extent < 2 or least == greatest:
        return []
    even = cast("Stride | Cycle", axis)
    turns = (greatest - least) // abs(even.step)
    here = first - axis.at(0)
    low, high = _unravel(here + least, strides, extents), _unravel(here + greatest, strides, extents)
    sign = 1 if even.step > 0 else -1
    found: list[tuple[int, AxisMap]] = []
    reach = 0
    for mode, (a, b) in enumerate(zip(low, high, strict=True)):
        unit, rest = divmod(b - a, turns)
        if rest:
            return None
        if unit:
            reach += unit * strides[mode]
            found.append((mode, evolve(even, step=unit * sign)))
    # Between the ends the coordinates run evenly only if one step is a step in each of them.
    return found if reach * sign == even.step else None


def through(layout: Layout[Any], transform: Transform) -> Layout[Any] | None:
    """Return the layout of an operand at the positions that a transform names; None if it needs a table.

    That is where a mode of the operand, which has no single stride, is moved by several modes of the view,
    and where the operand keeps tiles together.
    """
    maps = maps_of(layout)
    if maps is None:
        return None
    base, axes = maps
    parts: list[list[AxisMap]] = [[] for _ in transform.extents]
    for axis, coordinate in zip(axes, transform.coordinates, strict=True):
        feeds = coordinate.feeds
        if isinstance(axis, Stride):
            base += axis.step * coordinate.constant
            for mode, move in feeds:
                parts[mode].append(_scaled(move, axis.step))
        elif not feeds:
            base += axis.at(coordinate.constant)
        elif len(feeds) == 1:
            mode, move = feeds[0]
            more, part = _after(axis, coordinate.constant, move)
            base += more
            parts[mode].append(part)
        else:
            return None
    modes: list[AxisMap] = []
    for extent, own in zip(transform.extents, parts, strict=True):
        more, axis = _sum(extent, own)
        base += more
        modes.append(axis)
    return of_maps(base, modes, transform.origin)


def put_together(transform: Transform, extents: Extents) -> Layout[Any]:
    """Return the layout that addresses the row-major places of a box."""
    found = through(wrap_layout(new_row_major(extents)), transform)
    return cast("Layout[Any]", found)  # Strides take any sum of moves.


def _scaled(axis: AxisMap, factor: int) -> AxisMap:
    if factor == 1:
        return axis
    if isinstance(axis, Table):
        return Table(axis.values * np.int64(factor))
    return evolve(cast("Stride | Cycle", axis), step=cast("Stride | Cycle", axis).step * factor)


def _after(axis: AxisMap, constant: int, move: AxisMap) -> tuple[int, AxisMap]:
    """Return the map that first moves from a constant position, and then takes the place of that position."""
    if isinstance(move, Stride):
        if not move.step:
            return axis.at(constant), Stride(move.extent, 0)
        return axis.take(constant, move.step, move.extent)
    return axis.gather(move.offsets() + constant)


def _sum(extent: int, axes: list[AxisMap]) -> tuple[int, AxisMap]:
    if not axes or extent < 2:
        # Where nothing is taken twice, no step counts, but the only position may be off zero.
        return sum([axis.at(0) for axis in axes]) if extent else 0, Stride(extent, 0)
    if len(axes) == 1:
        return axes[0].simplify()
    if all(isinstance(axis, Stride) for axis in axes):
        return 0, Stride(extent, sum([cast("Stride", axis).step for axis in axes]))
    total = axes[0].offsets()
    for axis in axes[1:]:
        total = total + axis.offsets()
    return Table(total).simplify()


def box(extents: Extents) -> Shape:
    """Return the shape with these extents and origin zero."""
    return wrap(make_smooth(extents, (0,) * len(extents)))


def unnamed_layout(layout: Layout[Any]) -> Layout[Any]:
    """Return a layout without names of modes; the same layout if unnamed."""
    return layout if (held := layout.implementation).names is None else wrap_layout(held.unnamed())
