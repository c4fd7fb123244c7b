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
from tensorwrapper.selection.expressions._expression import Expression, Origin
from tensorwrapper.selection.routing._elements import arrived, elements, end_of, values_at
from tensorwrapper.selection.routing._topological import Demand
from tensorwrapper.typing import Array, Index, IntArray

__all__ = ["Route", "RouteGroup", "routes"]


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
