"""Views made smaller before they are sent: of each buffer only the run that their tensors reach."""

from collections.abc import Iterator
from typing import Any, cast

import attrs

from tensorwrapper.buffer import Dense
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._reading import Reading
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._maps import box_of, moved
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array

__all__ = ["packed"]


def packed(view: Expression) -> Expression:
    """Return the same view over shorter buffers, where layouts can be counted from a later place on.

    O(nodes); no element is copied.
    """
    runs: dict[int, tuple[Array, int, int]] = {}
    kept: set[int] = set()
    for part in _parts_of(view):
        tensor = part.node.tensor
        if tensor is None:
            continue
        owner = cast("TensorSource", part.node.source).owner
        layouts = (part.layout, tensor.layout)
        memory = owner.memory
        if memory is None or not all(own.implementation.has_mode_maps for own in layouts):
            kept.add(id(owner))
            continue
        for least, greatest in [own.bounds() for own in layouts if own.shape.size]:
            _, low, high = runs.get(id(owner), (memory, least, greatest))
            runs[id(owner)] = memory, min(low, least), max(high, greatest)
    moves = {
        key: (Dense(cast("Any", memory[low : high + 1])), low)
        for key, (memory, low, high) in runs.items()
        if key not in kept and high - low + 1 < len(memory)
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
        waiting += part.node.operands
        if part.written is not None:
            waiting.append(part.written)


def _rewritten(view: Expression, moves: _Moves, done: dict[int, Any]) -> Expression:
    """Return a view in which the sources are others; what comes twice is still one."""
    found = done.get(id(view))
    if found is None:
        found = done[id(view)] = _changed(view, moves, done)
    return cast("Expression", found)


def _changed(view: Expression, moves: _Moves, done: dict[int, Any]) -> Expression:
    written = None if view.written is None else _rewritten(view.written, moves, done)
    node, source = view.node, view.node.source
    if source is None:
        return attrs.evolve(view, node=node.mapped(lambda own: _rewritten(own, moves, done)), written=written)
    tensor = node.tensor
    if tensor is None or id(cast("TensorSource", source).owner) not in moves:
        return attrs.evolve(view, written=written)
    buffer, by = moves[id(cast("TensorSource", source).owner)]
    key = id(source)
    if key not in done:
        done[key] = Reading(TensorSource(make_tensor(_shifted(tensor.layout, by), buffer)))
    return attrs.evolve(view, node=done[key], layout=_shifted(view.layout, by), written=written)


def _shifted(layout: Layout[Any], by: int) -> Layout[Any]:
    return moved(layout, box_of(layout)[1], by)
