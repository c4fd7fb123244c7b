"""Single elements of a view, read where their steps lead back to."""

import numpy as np

from tensorwrapper.errors import LayoutError
from tensorwrapper.selection.expressions._expression import Expression, Node, Origin
from tensorwrapper.selection.expressions._source_node import is_base
from tensorwrapper.selection.operations._positions import unravel
from tensorwrapper.selection.operations._table import positions_before
from tensorwrapper.selection.routing._graph import Elements
from tensorwrapper.selection.sources._read_source import read_numbers
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

__all__ = ["arrived", "elements", "end_of", "values_at"]


def arrived(view: Expression, positions: IntArray) -> tuple[Expression, IntArray]:
    """Return the view as it was written, and positions in the box of its node, or in its tensor."""
    while _is_chain(view):
        for call in reversed(view.calls):
            positions = positions_before(call, positions)
        if view.written is None:
            return view, positions
        view = view.written
    return view, _by_layout(view, positions)


def _is_chain(view: Expression) -> bool:
    """Return True if the calls lead to the box of the node, or to the tensor of its source."""
    if not view.shape.is_box or any(not call[2].is_box for call in view.calls):
        return False
    return bool(view.calls) or view.written is not None or is_base(view)


def _by_layout(view: Expression, positions: IntArray) -> IntArray:
    """Return positions in the box of the node, or in the tensor of its source, by the layout."""
    shape = view.shape
    # Those that lead to rows of several extents have been counted from the origin by then.
    there = positions + np.array(shape.origin, dtype=np.int64) if shape.is_box else positions
    places = view.layout.offsets_of(there)
    tensor = view.node.tensor
    if tensor is None:
        return unravel(places, view.node.extents)
    layout = tensor.layout
    try:
        indices = layout.indices_at(places)
    except LayoutError:
        distinct, back = np.unique(places, return_inverse=True)
        found = [layout.index_of(place) for place in distinct.tolist()]
        indices = np.array(found, dtype=np.int64).reshape(len(distinct), layout.shape.rank)[back]
    if not layout.shape.is_box:
        return indices
    return indices - np.array(layout.shape.origin, dtype=np.int64)


def end_of(view: Expression) -> Node:
    """Return the node that `arrived` comes to, whose operands the way goes on through."""
    while view.written is not None and _is_chain(view):
        view = view.written
    return view.node.routed()


def elements() -> Elements:
    """Return a reader of elements of views by their recorded steps."""
    return Elements(end_of, lambda view, positions: arrived(view, positions)[1], _read)


def values_at(source: Origin, indices: IntArray) -> Array:
    """Return the elements of a source at absolute indices."""
    if isinstance(source, Tensor):
        return source.buffer.read(source.layout.offsets_of(indices))
    if isinstance(source, Node):
        return elements().of_node(source, indices - np.array(source.origin, dtype=np.int64))
    shape = source.shape
    if shape.is_box and not shape.rank:
        return read_numbers(source, np.zeros(len(indices), dtype=np.int64))
    return read_numbers(source, shape.ordinals(indices))


def _read(node: Node, positions: IntArray) -> Array:
    return values_at(*node.origin_of(positions))
