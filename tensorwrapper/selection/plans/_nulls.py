"""Views of elements some of which are nulls: as a view of the values, and one of whether they are valid.

Selections move both alike, so that a node defines the validity only where it computes.
"""

from typing import Any

import numpy as np

from tensorwrapper.buffer import Dense, Nullable
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression, Node, same
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._layouts import box
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor

__all__ = ["has_nullable", "null_of", "sides_of_view", "truth_of"]


def has_nullable(view: Expression) -> bool:
    """Return True if a leaf of a view has room for nulls. O(nodes)."""
    return any(_sides(own.node) is not None for own in operands_first([view]))


def sides_of_view(view: Expression, *, to_compute: bool = True) -> "tuple[Expression, Expression] | None":
    """Return a view of the values, and one of whether they are valid; None where no leaf has room for nulls.

    Views of strings give None. O(nodes); a cast in a view that is to be computed copies the values, to clear
    those under nulls.
    """
    order = operands_first([view])
    if all(_sides(own.node) is None for own in order):
        return None
    cleared = to_compute and any(own.node.name == "cast" for own in order)
    values: dict[int, Expression] = {}
    valid: dict[int, Expression] = {}
    nodes: dict[int, tuple[Node, Node]] = {}
    for own in order:
        node = own.node
        if id(node) not in nodes:
            nodes[id(node)] = (
                _of_values(node, cleared=cleared)
                if node.source is not None
                else node.mapped(lambda part: values[id(part)]),
                _of_validity(node)
                if node.source is not None
                else node.validity(lambda part: values[id(part)], lambda part: valid[id(part)]),
            )
        one, other = nodes[id(node)]
        values[id(own)] = own if one is node else Expression(one, own.layout)
        valid[id(own)] = Expression(other, own.layout)
    return values[id(view)], valid[id(view)]


def truth_of(view: Expression) -> Expression:
    """Return a view of True at each of the same indices, of the same kind of shape: to be padded."""
    valid: dict[int, Expression] = {}
    for own in operands_first([view]):
        node = own.node
        made = _truth(node) if node.source is not None else node.validity(same, lambda part: valid[id(part)])
        valid[id(own)] = Expression(made, own.layout)
    return valid[id(view)]


def null_of(dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Return a null of a type: a tensor of rank 0."""
    nothing = Nullable(Dense(np.zeros(1, dtype)), Dense(np.zeros(1, np.bool_)))
    return make_tensor(wrap_layout(new_row_major(())), nothing)


def _truth(node: Node) -> Node:
    return Filling(box(node.extents), np.True_, np.dtype(np.bool_))


def _sides(node: Node) -> "tuple[Any, Any] | None":
    """Return the two buffers of a tensor, or the sources of one elsewhere; None without room for nulls."""
    tensor = node.tensor
    if tensor is not None:
        return tensor.buffer.sides
    return None if node.source is None else getattr(node.source, "sides", None)


def _of_values(node: Node, *, cleared: bool) -> Node:
    sides = _sides(node)
    if sides is None:
        return node
    values, validity = sides
    if cleared and node.tensor is not None:
        flat = values.read_run(0, values.size).copy()
        flat[~validity.read_run(0, validity.size)] = np.zeros((), flat.dtype)
        values = Dense(flat)
    return _reading(node, values)


def _of_validity(node: Node) -> Node:
    sides = _sides(node)
    if sides is None:
        return _truth(node)
    return _reading(node, sides[1])


def _reading(node: Node, side: Any) -> Node:  # noqa: ANN401 - a buffer, or a source
    return Reading(side if node.tensor is None else TensorSource(make_tensor(node.tensor.layout, side)))
