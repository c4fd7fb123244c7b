"""The source of each element of a view, found by following its steps back one by one.

This is the specification of views: it uses neither layouts nor normal forms where the steps are known. A
choice that depends on elements (`where`, `minimum`, `maximum`) reads its operands at the requested
positions.
"""

from collections.abc import Sequence
from typing import Any, cast, final

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError
from tensorwrapper.selection.expressions._expression import Expression, Node, Origin, is_base
from tensorwrapper.selection.operations._operation import positions_before, unravel
from tensorwrapper.selection.routing._graph import Demand, Elements
from tensorwrapper.selection.sources._read_source import read_numbers
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Index, IntArray

__all__ = ["Route", "RouteGroup", "arrived", "elements", "routes"]


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


@final
@frozen
class Route:
    """Source of one element of a view.

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
@frozen(eq=False)
class RouteGroup:
    """Elements that have one source and the same casts.

    Attributes
    ----------
    source
        The tensor or other source that the view was made of, or the generator that computes the elements.
    rows
        Numbers of the requested indices, int64 and ascending.
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
        values = values_at(self.source, self.indices)
        for dtype in self.casts:
            values = values.astype(dtype)
        return values


def routes(view: Expression, positions: IntArray) -> list[RouteGroup]:
    """Return where the elements at positions, counted from zero, come from; those of one source together.

    O(nodes on the way, and positions at each of them), not in the size of the view; but a choice reads
    all that it depends on.
    """
    if not len(positions):
        return []
    reading, casts = elements(), _Casts()
    demand = Demand(reading.order)
    found: dict[tuple[int, int], list[RouteGroup]] = {}
    rows = np.arange(len(positions), dtype=np.int64)
    demand.ask(end_of(view), arrived(view, positions)[1], rows, np.zeros(len(rows), dtype=np.int64))
    while demand:
        node, (there, rows, numbers) = demand.pop()
        shares = node.shares(there, [reading.at(part, there) for part in node.deciding])
        if shares is None:
            source, indices = node.origin_of(there)
            for number in different(numbers).tolist():
                own = numbers == number
                group = RouteGroup(source, rows[own], indices[own], casts.names(number))
                found.setdefault((id(source), number), []).append(group)
            continue
        numbers = casts.after(node.casts, numbers)
        for operand, chosen, own in shares:
            if len(own):
                demand.ask(end_of(operand), arrived(operand, own)[1], rows[chosen], numbers[chosen])
    return [_merged(groups) for groups in found.values()]


def _merged(groups: Sequence[RouteGroup]) -> RouteGroup:
    rows = np.concatenate([group.rows for group in groups])
    indices = np.concatenate([group.indices for group in groups])
    order = np.argsort(rows)
    return RouteGroup(groups[0].source, rows[order], indices[order], groups[0].casts)


@final
class _Casts:
    """Types that elements are cast to, by number: each names one type and the number of those that follow."""

    __slots__ = ("_all", "_numbers")

    def __init__(self) -> None:
        self._all: list[tuple[np.dtype[Any] | None, int]] = [(None, 0)]
        self._numbers: dict[tuple[np.dtype[Any], int], int] = {}

    def after(self, dtypes: "tuple[np.dtype[Any], ...]", numbers: IntArray) -> IntArray:
        """Return the numbers of casts to some types, and then to those of other numbers."""
        for dtype in reversed(dtypes):
            distinct, back = np.unique(numbers, return_inverse=True)
            numbers = np.array([self._number(dtype, own) for own in distinct.tolist()], dtype=np.int64)[back]
        return numbers

    def _number(self, dtype: "np.dtype[Any]", following: int) -> int:
        found = self._numbers.setdefault((dtype, following), len(self._all))
        if found == len(self._all):
            self._all.append((dtype, following))
        return found

    def names(self, number: int) -> "tuple[np.dtype[Any], ...]":
        """Return the types of a number, in order."""
        found: list[np.dtype[Any]] = []
        while number:
            dtype, number = self._all[number]
            found.append(cast("np.dtype[Any]", dtype))
        return tuple(found)
