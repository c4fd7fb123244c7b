"""Single elements of a view, read where their steps lead back to."""

import numpy as np

from tensorwrapper.errors import LayoutError
from tensorwrapper.selection.expressions._expression import Expression, Node, Origin
from tensorwrapper.selection.expressions._reading import is_base
from tensorwrapper.selection.operations._positions import unravel
from tensorwrapper.selection.operations._table import positions_before
from tensorwrapper.selection.sources._asking import read_numbers
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

__all__ = ["arrived", "elements_at", "values_at"]


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
    """Tell whether the calls lead to the box of the node, or to the tensor of its source."""
    if view.shape.kind != "smooth" or any(call[2].kind != "smooth" for call in view.calls):
        return False
    return bool(view.calls) or view.written is not None or is_base(view)


def _by_layout(view: Expression, positions: IntArray) -> IntArray:
    """Return positions in the box of the node, or in the tensor of its source, by what the layout says."""
    shape = view.shape
    # Those that lead to rows of several extents have been counted from the origin by then.
    there = positions + np.array(shape.origin, dtype=np.int64) if shape.kind == "smooth" else positions
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
    if layout.shape.kind != "smooth":
        return indices
    return indices - np.array(layout.shape.origin, dtype=np.int64)


def elements_at(view: Expression, positions: IntArray) -> Array:
    """Return the elements at positions; each operand is asked once, however choices are nested."""
    out = np.empty(len(positions), dtype=view.dtype)
    if len(positions):
        view, positions = arrived(view, positions)
        node = view.node
        read = node.source is None
        out[...] = node.at(positions, elements_at) if read else values_at(*node.origin_of(positions))
    return out


def values_at(source: Origin, indices: IntArray) -> Array:
    """Return the elements at absolute indices of what they come from."""
    if isinstance(source, Tensor):
        return source.buffer.read(source.layout.offsets_of(indices))
    if isinstance(source, Node):
        return source.at(indices - np.array(source.origin, dtype=np.int64), elements_at)
    shape = source.shape
    if shape.kind == "smooth" and not shape.rank:
        return read_numbers(source, np.zeros(len(indices), dtype=np.int64))
    return read_numbers(source, shape.ordinals(indices))
