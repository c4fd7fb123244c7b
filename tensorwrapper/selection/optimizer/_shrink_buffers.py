"""Views made smaller before they are sent: of each buffer only the run that their tensors reach."""

from typing import Any, cast

from tensorwrapper._value_class import evolve
from tensorwrapper.buffer import Dense
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import box_of, moved
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array

__all__ = ["compacted"]


def compacted(view: Expression) -> Expression:
    """Return the same view over shorter buffers, where layouts can be counted from a later place on.

    O(nodes); no element is copied.
    """
    runs: dict[int, tuple[Array, int, int]] = {}
    kept: set[int] = set()
    for part in operands_first([view], everything=True):
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
    return _rewritten(view, moves) if moves else view


_Moves = dict[int, tuple[Dense[Any], int]]


def _rewritten(view: Expression, moves: _Moves) -> Expression:
    """Return a view with replaced sources; shared nodes stay shared."""
    done: dict[int, Expression] = {}
    nodes: dict[int, Node] = {}
    sources: dict[int, Node] = {}
    for own in operands_first([view], everything=True):
        written = None if own.written is None else done[id(own.written)]
        node, layout = own.node, own.layout
        owner = cast("TensorSource", node.source).owner if node.tensor is not None else None
        if id(node) not in nodes:
            if owner is None or id(owner) not in moves:
                nodes[id(node)] = node.mapped(lambda part: done[id(part)])
            else:
                buffer, by = moves[id(owner)]
                key, tensor = id(node.source), cast("Tensor[Any]", node.tensor)
                if key not in sources:
                    moved_source = TensorSource(make_tensor(_shifted(tensor.layout, by), buffer))
                    sources[key] = Reading(moved_source)
                nodes[id(node)] = sources[key]
        if owner is not None and id(owner) in moves:
            layout = _shifted(layout, moves[id(owner)][1])
        done[id(own)] = evolve(own, node=nodes[id(node)], layout=layout, written=written)
    return done[id(view)]


def _shifted(layout: Layout[Any], by: int) -> Layout[Any]:
    return moved(layout, box_of(layout)[1], by)
