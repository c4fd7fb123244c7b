"""The normal form: selections pushed into operands as far as they go, and pieces that fit made one.

Nothing is computed here. Of a view that is one chain over one source the normal form is its layout; of
others it is a tree of pieces, each of them one layout of one source or generator.
"""

from typing import Any, cast

import attrs
import numpy as np

from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    AxisMap,
    Based,
    Separable,
    Stride,
    Strided,
    Table,
    new_row_major,
    new_strided,
    over_box,
    wrap_layout,
)
from tensorwrapper.selection.expressions._expression import Expression, Node, box, whole
from tensorwrapper.selection.expressions._generators import Filling, Generator, RandomField, Sampling
from tensorwrapper.selection.expressions._nodes import (
    Casting,
    Choosing,
    Extreme,
    Interleaving,
    Joining,
    Padding,
    Piece,
    Reading,
    Routing,
    Stacking,
    Whole,
)
from tensorwrapper.selection.normal._merging import route
from tensorwrapper.selection.normal._pieces import (
    Run,
    Shared,
    operand_at,
    parts_of_run,
    parts_of_table,
    runs_of,
)
from tensorwrapper.selection.normal._transform import (
    Coordinate,
    Transform,
    maps_of,
    put_together,
    take_apart,
    through,
)
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Index, IntArray

__all__ = ["normalize", "push"]


def normalize(view: Expression) -> Expression:
    """Return the normal form of a view: the same elements at the same indices. O(nodes that it reaches)."""
    node = view.node
    if view.shape.kind != "smooth":
        return Expression(node, view.layout) if _is_leaf(node) else _as_it_lies(view)
    if not view.shape.size:
        return _placed(_filled(view.shape, node, "" if node.dtype.kind in "TSUO" else 0), view)
    if isinstance(node, Filling):
        return _placed(_filled(view.shape, node, node.value), view)
    if _is_leaf(node):
        return Expression(node, _canonical(view.layout))
    return _placed(_lowered(view), view)


def _is_leaf(node: Node) -> bool:
    return isinstance(node, Reading) or (isinstance(node, Generator) and not node.operands)


def push(operand: Expression, transform: Transform) -> Expression:
    """Return the part of an operand that a transform selects."""
    layout = through(operand.layout, transform)
    if layout is not None:
        return Expression(operand.node, layout)
    return Expression(Whole(operand), put_together(transform, operand.shape.extents))


def _placed(found: Expression, view: Expression) -> Expression:
    """Return a view with the origin of another one of its extents."""
    origin = view.shape.origin
    return found if found.shape.origin == origin else Expression(found.node, _moved(found.layout, origin))


def _moved(layout: Layout[Any], origin: Index) -> Layout[Any]:
    held = cast("Strided | Separable", layout.implementation)
    if isinstance(held, Strided):
        return wrap_layout(new_strided(held.extents, origin, held.strides, held.offset))
    return wrap_layout(over_box(held.shape.extents, origin, held.base, held.axes))


def _filled(shape: Shape[Any], node: Node, value: object) -> Expression:
    return whole(Filling(box(shape.extents), value, node.dtype))


def _canonical(layout: Layout[Any]) -> Layout[Any]:
    """Return a layout in which modes of one position have stride 0, and tables have the least number 0.

    So that layouts that select the same are equal.
    """
    held = layout.implementation
    if isinstance(held, Strided):
        pairs = list(zip(held.extents, held.strides, strict=True))
        if any(step and n == 1 for n, step in pairs):
            steps = tuple([step if n > 1 else 0 for n, step in pairs])
            return wrap_layout(new_strided(held.extents, held.origin, steps, held.offset))
    if isinstance(held, Separable):
        parts = [_from_zero(axis) for axis in held.axes]
        base = held.base + sum([more for more, _ in parts])
        return wrap_layout(Separable(held.shape, base, tuple([axis for _, axis in parts])))
    return layout


def _from_zero(axis: AxisMap) -> Based:
    if isinstance(axis, Table):
        least = int(axis.values.min())
        return (least, Table(axis.values - np.int64(least))) if least else (0, axis)
    return (0, Stride(1, 0)) if axis.extent == 1 else (0, axis)


def _unsqueezed(part: Expression, mode: int) -> Expression:
    if maps_of(part.layout) is None:
        part = whole(Whole(part))
    return Expression(part.node, part.layout.unsqueeze(mode))


def _lowered(view: Expression) -> Expression:
    """Return the normal form of a view over a node with operands."""
    node = view.node
    if isinstance(node, Padding):
        return normalize(Expression(_as_joined(node), view.layout))
    if isinstance(node, Stacking):
        parts = [_unsqueezed(part, node.mode) for part in node.operands]
        return normalize(Expression(Joining(node.mode, tuple(parts)), view.layout))
    transform = take_apart(view.layout, node.extents)
    found = None if transform is None else _selected(node, transform)
    return _spread(view) if found is None else found


def _selected(node: Node, transform: Transform) -> Expression | None:
    """Return the normal form, from zero on, of a selection of a node with operands; None if none says it."""
    transform = attrs.evolve(transform, origin=(0,) * len(transform.extents))
    if isinstance(node, Joining | Interleaving | Routing):
        return _routed(node, transform)
    if isinstance(node, Whole):
        layout = through(node.operand.layout, transform)
        return None if layout is None else normalize(Expression(node.operand.node, layout))
    if isinstance(node, Sampling):
        layout = through(node.layout, transform)
        parts = _pushed(node, transform) if layout is not None else ()
        return None if layout is None else whole(attrs.evolve(node, layout=layout, operands=parts))
    parts = _pushed(node, transform)
    if isinstance(node, Casting):
        return cast_to(parts[0], node.dtype)
    if isinstance(node, Choosing):
        return _chosen(cast("tuple[Expression, Expression, Expression]", parts))
    if isinstance(node, Extreme):
        distinct = tuple(dict.fromkeys(parts))
        return distinct[0] if len(distinct) == 1 else whole(Extreme(node.kind, distinct))
    return whole(Sampling(_field(cast("RandomField", node)), put_together(transform, node.extents), parts))


def _field(node: RandomField) -> RandomField:
    """Return a field whose parameters are in normal form, so that equal ones are equal."""
    given = [normalize(own) if isinstance(own, Expression) else own for own in node.parameters]
    return attrs.evolve(node, parameters=tuple(given))


def _pushed(node: Node, transform: Transform) -> tuple[Expression, ...]:
    return tuple([normalize(push(operand, transform)) for operand in node.operands])


def cast_to(view: Expression, dtype: "np.dtype[Any]") -> Expression:
    """Return the elements of a view in normal form as ones of another type: pieces are cast by themselves."""
    node = view.node
    if node.dtype == dtype:
        return view
    if isinstance(node, Routing):
        pieces = [attrs.evolve(piece, view=cast_to(piece.view, dtype)) for piece in node.pieces]
        return route(node.mode, node.extents, pieces)
    if isinstance(node, Filling):
        with np.errstate(all="ignore"):
            value = np.array(node.value, dtype=node.dtype).astype(dtype)[()]
        return whole(attrs.evolve(node, value=value, dtype=dtype))
    return whole(Casting(view, dtype))


def _chosen(parts: tuple[Expression, Expression, Expression]) -> Expression:
    mask, left, right = parts
    if isinstance(mask.node, Filling):
        return left if mask.node.value else right
    return left if left == right else whole(Choosing(parts))


def _as_joined(node: Padding) -> Node:
    """Return a padded operand as joined ones, mode by mode; pads around pads of one constant are one."""
    inner, widths = node.operand, node.widths
    while isinstance(inner.node, Padding) and inner.is_whole and inner.node.fill == node.fill:
        own = zip(widths, inner.node.widths, strict=True)
        widths = tuple([(a + c, b + d) for (a, b), (c, d) in own])
        inner = inner.node.operand
    for mode in reversed(range(len(widths))):
        before, after = widths[mode]
        if before or after:
            extents = inner.shape.extents
            parts = [_constant(node, extents, mode, before), inner, _constant(node, extents, mode, after)]
            inner = whole(Joining(mode, tuple(parts)))
    return inner.node if inner.is_whole else Whole(inner)


def _constant(node: Padding, extents: Index, mode: int, count: int) -> Expression:
    wanted = box((*extents[:mode], count, *extents[mode + 1 :]))
    return Expression(node.fill.node, node.fill.layout.broadcast(wanted))


def _routed(node: Shared, transform: Transform) -> Expression | None:
    """Return the pieces that a selection of a joined or interleaved mode consists of."""
    coordinate = transform.coordinates[node.mode]
    feeds = list(coordinate.feeds)
    if not feeds:
        operand, position = operand_at(node, coordinate.constant)
        return normalize(push(operand, _at(transform, node.mode, Coordinate(position))))
    if len(feeds) > 1:
        return None
    mode, move = feeds[0]
    runs = runs_of(coordinate.constant, move)
    if runs is None:
        return _tabled(node, transform, mode, move.offsets() + coordinate.constant)
    return _of_runs(node, transform, mode, runs)


def _of_runs(node: Shared, transform: Transform, mode: int, runs: list[Run]) -> Expression:
    pieces: list[Piece] = []
    for run in runs:
        for part in parts_of_run(node, run):
            within = _restricted(transform, mode, part.start, part.step, part.count)
            here = Coordinate(part.first, ((mode, Stride(part.count, part.stride)),))
            found = normalize(push(part.operand, _at(within, node.mode, here)))
            pieces.append(Piece(part.start, part.step, found))
    return route(mode, transform.extents, pieces)


def _tabled(node: Shared, transform: Transform, mode: int, positions: Any) -> Expression:  # noqa: ANN401
    """Return the positions of a table grouped by operand, under a table that puts them in order."""
    alone = sum(number == mode for c in transform.coordinates for number, _ in c.feeds) == 1
    inverse = None
    if alone:
        # What comes twice is fetched once.
        positions, inverse = np.unique(positions, return_inverse=True)
        transform = attrs.evolve(
            transform, extents=(*transform.extents[:mode], len(positions), *transform.extents[mode + 1 :])
        )
        first, even = Table(positions).simplify()
        if isinstance(even, Stride):
            run = 0, len(positions), first, even.step
            return _reordered(_of_runs(node, transform, mode, [run]), mode, inverse)
    order, groups = parts_of_table(node, positions)
    pieces: list[Piece] = []
    done = 0
    for operand, own in groups:
        chosen = order[done : done + len(own)]
        within = _gathered(transform, mode, chosen)
        more, axis = Table(own).simplify()
        here = Coordinate(more, ((mode, axis),)) if len(own) > 1 else Coordinate(more)
        pieces.append(Piece(done, 1, normalize(push(operand, _at(within, node.mode, here)))))
        done += len(own)
    found = route(mode, transform.extents, pieces)
    places = np.argsort(order)
    return _reordered(found, mode, places if inverse is None else places[inverse])


def _reordered(found: Expression, mode: int, places: IntArray) -> Expression:
    """Return a view whose positions along a mode are some of those of another view, starting at zero."""
    if len(places) == found.shape.extents[mode] and (places == np.arange(len(places))).all():
        return found
    base, axis = Table(np.ascontiguousarray(places)).simplify()
    held = new_row_major(found.shape.extents)
    step = held.strides[mode]
    axes = [Stride(n, s) for n, s in zip(held.extents, held.strides, strict=True)]
    moved: AxisMap
    if isinstance(axis, Table):
        moved = Table(axis.values * np.int64(step))
    else:
        moved = Stride(axis.extent, cast("Stride", axis).step * step)
    maps: tuple[AxisMap, ...] = (*axes[:mode], moved, *axes[mode + 1 :])
    extents = tuple([own.extent for own in maps])
    layout = wrap_layout(over_box(extents, (0,) * len(extents), base * step, maps))
    if isinstance(found.node, Routing) and found.node.mode == mode and isinstance(axis, Table):
        # This order is what pieces, which are grouped by operand, cannot say.
        return Expression(Whole(found), _canonical(layout))
    return _settled(found, layout)


def _at(transform: Transform, mode: int, coordinate: Coordinate) -> Transform:
    old = transform.coordinates
    return attrs.evolve(transform, coordinates=(*old[:mode], coordinate, *old[mode + 1 :]))


def _restricted(transform: Transform, mode: int, start: int, step: int, count: int) -> Transform:
    """Return a transform of some evenly spaced positions of a mode of the view."""
    if (start, step, count) == (0, 1, transform.extents[mode]):
        return transform

    def part(coordinate: Coordinate) -> Coordinate:
        if all(number != mode for number, _ in coordinate.feeds):
            return coordinate
        moved = [
            (number, *(move.take(start, step, count) if number == mode else (0, move)))
            for number, move in coordinate.feeds
        ]
        constant = coordinate.constant + sum([more for _, more, _ in moved])
        return Coordinate(constant, tuple([(number, move) for number, _, move in moved]))

    extents = (*transform.extents[:mode], count, *transform.extents[mode + 1 :])
    return attrs.evolve(transform, extents=extents, coordinates=tuple(map(part, transform.coordinates)))


def _gathered(transform: Transform, mode: int, positions: Any) -> Transform:  # noqa: ANN401
    """Return a transform of any positions of a mode of the view."""

    def part(coordinate: Coordinate) -> Coordinate:
        if all(number != mode for number, _ in coordinate.feeds):
            return coordinate
        moved = [
            (number, *(move.gather(positions) if number == mode else (0, move)))
            for number, move in coordinate.feeds
        ]
        constant = coordinate.constant + sum([more for _, more, _ in moved])
        return Coordinate(constant, tuple([(number, move) for number, _, move in moved]))

    extents = (*transform.extents[:mode], len(positions), *transform.extents[mode + 1 :])
    return attrs.evolve(transform, extents=extents, coordinates=tuple(map(part, transform.coordinates)))


def _spread(view: Expression) -> Expression:
    """Return a view whose node is evaluated where the layout reaches, rows of its first mode, as it lies."""
    node = view.node
    if maps_of(view.layout) is None or (isinstance(node, Whole) and maps_of(node.operand.layout) is None):
        return _as_it_lies(view)
    least, greatest = view.layout.bounds()
    row = node.size // node.extents[0]
    first, last = least // row, greatest // row
    rows = wrap_layout(new_row_major(node.extents))[first : last + 1]
    if isinstance(node, Whole):
        transform = cast("Transform", take_apart(rows, node.extents))  # A slice moves each mode by itself.
        inner = push(node.operand, transform)
    else:
        inner = Expression(node, rows)
    return _settled(normalize(inner), _shifted(view.layout, first * row))


def _settled(inner: Expression, layout: Layout[Any]) -> Expression:
    """Return the elements of a normal form that a layout selects; if they are, as parts of its own leaves."""
    node = inner.node
    transform = take_apart(layout, inner.shape.extents)
    found: Expression | None = None
    if transform is not None and (_is_leaf(node) or isinstance(node, Whole)):
        own = through(inner.layout, transform)
        if own is not None and isinstance(node, Whole):
            return _settled(node.operand, own)
        found = None if own is None else Expression(node, own)
    elif transform is not None:
        found = _selected(node, transform)
    if found is None:
        return Expression(Whole(inner), _canonical(layout))
    return normalize(found) if _is_leaf(found.node) else found


def _as_it_lies(view: Expression) -> Expression:
    """Return a view of all elements of its node in their order, where they are not taken apart."""
    node = view.node
    inner = normalize(node.operand if isinstance(node, Whole) else whole(node))
    return Expression(Whole(inner), _canonical(view.layout))


def _shifted(layout: Layout[Any], by: int) -> Layout[Any]:
    """Return a layout of places that are counted from a later one on, with origin zero."""
    held = cast("Strided | Separable", layout.implementation)
    zeros = (0,) * held.shape.rank
    if isinstance(held, Strided):
        return wrap_layout(new_strided(held.extents, zeros, held.strides, held.offset - by))
    return wrap_layout(over_box(held.shape.extents, zeros, held.base - by, held.axes))
