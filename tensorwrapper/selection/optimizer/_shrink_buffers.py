"""Views made smaller before they are sent: of each buffer only the run that their tensors reach."""

from typing import Any, cast

from tensorwrapper._value_class import evolve
from tensorwrapper.buffer import Dense
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import changed, operands_first
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import box_of, moved
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array


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
    sources: dict[int, Node] = {}

    def shortened(own: Expression) -> Expression | None:
        tensor, key = own.node.tensor, id(own.node.source)
        if tensor is None or id(cast("TensorSource", own.node.source).owner) not in moves:
            return None
        buffer, by = moves[id(cast("TensorSource", own.node.source).owner)]
        if key not in sources:
            sources[key] = Reading(TensorSource(make_tensor(_shifted(tensor.layout, by), buffer)))
        return evolve(own, node=sources[key], layout=_shifted(own.layout, by))

    return changed(view, shortened, everything=True) if moves else view


def _shifted(layout: Layout[Any], by: int) -> Layout[Any]:
    return moved(layout, box_of(layout)[1], by)
