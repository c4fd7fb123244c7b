"""Where each element of a view comes from, found by following its steps back one by one.

This is the specification of views: it uses neither layouts nor normal forms where the steps are known. A
choice that depends on elements (`where`, `minimum`, `maximum`) reads what it depends on, at the positions
asked for.
"""

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.selection.expressions._expression import Expression, Origin
from tensorwrapper.selection.routing._elements import arrived, elements_at, values_at
from tensorwrapper.typing import Array, Index, IntArray

__all__ = ["Route", "RouteGroup", "routes"]


@final
@frozen
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
@frozen(eq=False)
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
        values = values_at(self.source, self.indices)
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
    view, positions = arrived(view, positions)
    node = view.node
    parts = node.shares(positions, elements_at)
    if parts is None:
        source, indices = node.origin_of(positions)
        yield RouteGroup(source, rows, indices, casts)
        return
    for operand, chosen, own in parts:
        yield from _walk(operand, own, rows[chosen], (*node.casts, *casts))
