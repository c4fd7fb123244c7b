"""Where each element of a view comes from, found by following its steps back one by one.

This is the specification of views: it uses neither layouts nor normal forms where the steps are known. A
choice that depends on elements (`where`, `minimum`, `maximum`) reads what it depends on, at the positions
asked for.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper.errors import LayoutError
from tensorwrapper.selection.expressions._expression import Expression, Node, Origin
from tensorwrapper.selection.expressions._reading import is_base
from tensorwrapper.selection.operations._positions import unravel
from tensorwrapper.selection.operations._table import positions_before
from tensorwrapper.selection.sources._source import Outer, Source
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Index, IntArray

__all__ = ["Route", "RouteGroup", "routes"]


@final
@attrs.frozen
class Route:
    """Where one element of a view comes from.

    Attributes
    ----------
    source
        The tensor or other source that the view was made of, or the generator that computes the element.
    index
        The absolute index in it.
    casts
        The types that the element is cast to on the way, in order.
    """

    source: Origin
    index: Index
    casts: "tuple[np.dtype[Any], ...]" = ()


@final
@attrs.frozen(eq=False)
class RouteGroup:
    """Where those elements come from that have one source and the same casts.

    Attributes
    ----------
    source
        The tensor or other source that the view was made of, or the generator that computes the elements.
    rows
        Which of the indices that were asked for these are: int64, ascending.
    indices
        For each of them the absolute index in the source: int64, one row each.
    casts
        The types that the elements are cast to on the way, in order.
    """

    source: Origin
    rows: IntArray
    indices: IntArray
    casts: "tuple[np.dtype[Any], ...]" = ()

    def read(self) -> Array:
        """Return the elements, one per row."""
        values = _values_at(self.source, self.indices)
        for dtype in self.casts:
            values = values.astype(dtype)
        return values


_Casts: TypeAlias = "tuple[np.dtype[Any], ...]"


def routes(view: Expression, positions: IntArray) -> list[RouteGroup]:
    """Return where the elements at positions, counted from zero, come from; those of one source together."""
    found: dict[tuple[int, _Casts], list[RouteGroup]] = {}
    for group in _walk(view, positions, np.arange(len(positions), dtype=np.int64), ()):
        found.setdefault((id(group.source), group.casts), []).append(group)
    return [_merged(groups) for groups in found.values()]


def _merged(groups: Sequence[RouteGroup]) -> RouteGroup:
    first = groups[0]
    if len(groups) == 1:
        return first
    rows = np.concatenate([group.rows for group in groups])
    indices = np.concatenate([group.indices for group in groups])
    order = np.argsort(rows)
    return RouteGroup(first.source, rows[order], indices[order], first.casts)


def _walk(view: Expression, positions: IntArray, rows: IntArray, casts: _Casts) -> Iterator[RouteGroup]:
    """Yield where elements come from; `casts` are those that follow."""
    if not len(rows):
        return
    view, positions = _arrived(view, positions)
    node = view.node
    parts = node.shares(positions, _elements_at)
    if parts is None:
        source, indices = node.origin_of(positions)
        yield RouteGroup(source, rows, indices, casts)
        return
    for operand, chosen, own in parts:
        yield from _walk(operand, own, rows[chosen], (*node.casts, *casts))


def _arrived(view: Expression, positions: IntArray) -> tuple[Expression, IntArray]:
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


def _elements_at(view: Expression, positions: IntArray) -> Array:
    """Return the elements at positions; each operand is asked once, however choices are nested."""
    out = np.empty(len(positions), dtype=view.dtype)
    if len(positions):
        view, positions = _arrived(view, positions)
        node = view.node
        read = node.source is None
        out[...] = node.at(positions, _elements_at) if read else _values_at(*node.origin_of(positions))
    return out


def _values_at(source: Origin, indices: IntArray) -> Array:
    if isinstance(source, Tensor):
        return source.buffer.read(source.layout.offsets_of(indices))
    if isinstance(source, Node):
        return source.at(indices - np.array(source.origin, dtype=np.int64), _elements_at)
    return _read_points(source, indices - np.array(source.shape.origin, dtype=np.int64))


def _read_points(source: Source, positions: IntArray) -> Array:
    """Return the elements at some positions of a source that reads only combinations of positions."""
    distinct, back = np.unique(positions, axis=0, return_inverse=True)
    selections = [Outer(tuple([range(p, p + 1) for p in row])) for row in distinct.tolist()]
    out = np.empty(len(distinct), dtype=source.dtype)
    rank = positions.shape[-1]
    targets = [out[k : k + 1].reshape((1,) * rank) for k in range(len(distinct))]
    for _ in source.read(selections, targets).completed():
        pass
    return out[back]
