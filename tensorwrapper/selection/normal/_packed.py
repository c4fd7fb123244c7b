"""Views made smaller before they are sent: of each buffer only the run that their tensors reach."""

from collections.abc import Iterator
from typing import Any, cast

import attrs

from tensorwrapper.buffer import Dense
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Separable, Strided, new_strided, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._nodes import Piece, Reading
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.tensor.lowlevel import make_tensor

__all__ = ["packed"]


def packed(view: Expression) -> Expression:
    """Return the same view over shorter buffers, where layouts can be counted from a later place on.

    O(nodes); no element is copied.
    """
    runs: dict[int, tuple[Dense[Any], int, int]] = {}
    kept: set[int] = set()
    for part in _parts_of(view):
        if not (isinstance(part.node, Reading) and isinstance(part.node.source, TensorSource)):
            continue
        source = part.node.source
        owner = source.owner
        layouts = (part.layout, source.tensor.layout)
        if not isinstance(owner, Dense) or not all(
            isinstance(own.implementation, Strided | Separable) for own in layouts
        ):
            kept.add(id(owner))
            continue
        for least, greatest in [own.bounds() for own in layouts if own.shape.size]:
            _, low, high = runs.get(id(owner), (owner, least, greatest))
            runs[id(owner)] = owner, min(low, least), max(high, greatest)
    moves = {
        key: (Dense(owner.flat[low : high + 1]), low)
        for key, (owner, low, high) in runs.items()
        if key not in kept and high - low + 1 < owner.size
    }
    return _rewritten(view, moves, {}) if moves else view


_Moves = dict[int, tuple[Dense[Any], int]]


def _parts_of(view: Expression) -> Iterator[Expression]:
    """Yield a view and everything that it is made of, each once."""
    seen: set[int] = set()
    waiting = [view]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        yield part
        waiting += _within(part)


def _within(view: Expression) -> list[Expression]:
    found = list(view.node.operands)
    fill = getattr(view.node, "fill", None)
    return [*found, *[own for own in (fill, view.written) if own is not None]]


def _rewritten(value: object, moves: _Moves, done: dict[int, Any]) -> Any:  # noqa: ANN401 - of the type that was given
    """Return a value in which the sources are others; what comes twice is still one."""
    if isinstance(value, tuple):
        return tuple([_rewritten(item, moves, done) for item in cast("tuple[object, ...]", value)])
    if not isinstance(value, Expression | Piece):
        return value
    if id(value) not in done:
        done[id(value)] = _changed(value, moves, done)
    return done[id(value)]


def _changed(value: Expression | Piece, moves: _Moves, done: dict[int, Any]) -> Expression | Piece:
    if isinstance(value, Piece):
        return attrs.evolve(value, view=_rewritten(value.view, moves, done))
    written = _rewritten(value.written, moves, done)
    node = value.node
    if not isinstance(node, Reading):
        fields = [field for field in attrs.fields(cast("Any", type(node))) if field.init]
        parts = {field.alias: _rewritten(getattr(node, field.name), moves, done) for field in fields}
        return attrs.evolve(value, node=type(node)(**parts), written=written)
    source = node.source
    if not isinstance(source, TensorSource) or id(source.owner) not in moves:
        return attrs.evolve(value, written=written)
    buffer, by = moves[id(source.owner)]
    key = id(source)
    if key not in done:
        done[key] = Reading(TensorSource(make_tensor(_shifted(source.tensor.layout, by), buffer)))
    return attrs.evolve(value, node=done[key], layout=_shifted(value.layout, by), written=written)


def _shifted(layout: Layout[Any], by: int) -> Layout[Any]:
    held = layout.implementation
    if isinstance(held, Strided):
        return wrap_layout(new_strided(held.extents, held.origin, held.strides, held.offset - by))
    held = cast("Separable", held)
    return wrap_layout(Separable(held.shape, held.base - by, held.axes))
