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
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.expressions._generators import Generator, RandomField, Sampling
from tensorwrapper.selection.expressions._nodes import (
    Casting,
    Choosing,
    Extreme,
    Interleaving,
    Joining,
    Padding,
    Reading,
    Routing,
    Stacking,
    is_base,
)
from tensorwrapper.selection.routing._coordinates import positions_before, unravel
from tensorwrapper.selection.sources._source import Outer, Source, TensorSource
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Index, IntArray

__all__ = ["Origin", "Route", "RouteGroup", "routes"]

Origin: TypeAlias = "Tensor[Any] | Source | Generator"
"""What an element comes from: the tensor or other source that was given, or what computes it."""


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
    if isinstance(node, Reading | Generator | Sampling):
        source, indices = _leaf(node, positions)
        yield RouteGroup(source, rows, indices, casts)
        return
    if isinstance(node, Casting):
        casts = (node.dtype, *casts)
    for operand, chosen, own in _shared_out(view, positions):
        yield from _walk(operand, own, rows[chosen], casts)


def _arrived(view: Expression, positions: IntArray) -> tuple[Expression, IntArray]:
    """Return the view as it was written, and positions in the box of its node, or in its tensor."""
    while _is_chain(view):
        for call in reversed(view.calls):
            positions = positions_before(call, positions)
        if view.written is None:
            return view, positions
        view = view.written
    return view, _by_layout(view, positions)


def _leaf(node: Reading | Generator | Sampling, positions: IntArray) -> tuple[Origin, IntArray]:
    """Return what elements come from, and the absolute indices in it."""
    if isinstance(node, Reading):
        source = node.source
        given = source.tensor if isinstance(source, TensorSource) else source
        return given, _absolute(positions, given)
    if isinstance(node, Sampling):
        places = node.layout.offsets_of(_absolute(positions, node.layout))
        return node.field, _absolute(unravel(places, node.field.extents), node.field)
    return node, _absolute(positions, node)


def _is_chain(view: Expression) -> bool:
    """Tell whether the calls lead to the box of the node, or to the tensor of its source."""
    if view.shape.kind != "smooth" or any(call[2].kind != "smooth" for call in view.calls):
        return False
    return bool(view.calls) or view.written is not None or is_base(view)


def _absolute(positions: IntArray, given: Any) -> IntArray:  # noqa: ANN401 - whatever has a shape
    shape = given.shape
    # Those that lead to rows of several extents have been counted from the origin by then.
    return positions + np.array(shape.origin, dtype=np.int64) if shape.kind == "smooth" else positions


def _by_layout(view: Expression, positions: IntArray) -> IntArray:
    """Return positions in the box of the node, or in the tensor of its source, by what the layout says."""
    places = view.layout.offsets_of(_absolute(positions, view))
    node = view.node
    if not (isinstance(node, Reading) and isinstance(node.source, TensorSource)):
        return unravel(places, node.extents)
    layout = node.source.tensor.layout
    try:
        indices = layout.indices_at(places)
    except LayoutError:
        distinct, back = np.unique(places, return_inverse=True)
        found = [layout.index_of(place) for place in distinct.tolist()]
        indices = np.array(found, dtype=np.int64).reshape(len(distinct), layout.shape.rank)[back]
    if layout.shape.kind != "smooth":
        return indices
    return indices - np.array(layout.shape.origin, dtype=np.int64)


_Shares: TypeAlias = "Iterator[tuple[Expression, Any, IntArray]]"
"""Operands, which of the positions come from each, and the positions in it."""


def _shared_out(view: Expression, positions: IntArray) -> _Shares:
    node = view.node
    if isinstance(node, Joining | Interleaving | Stacking):
        return _along_mode(node, positions)
    if isinstance(node, Padding):
        return _in_and_around(node, positions)
    if isinstance(node, Routing):
        return _in_pieces(node, positions)
    if isinstance(node, Choosing | Extreme):
        return _by_choice(node, positions)
    return iter([(node.operands[0], slice(None), positions)])


def _along_mode(node: Joining | Interleaving | Stacking, positions: IntArray) -> _Shares:
    column = positions[..., node.mode]
    local = None
    if isinstance(node, Joining):
        numbers = np.searchsorted(node.offsets, column, "right") - 1
        local = column - node.offsets[numbers]
    elif isinstance(node, Interleaving):
        local, numbers = np.divmod(column, len(node.operands))
    else:
        numbers = column
    for number in np.unique(numbers).tolist():
        chosen = numbers == number
        own = np.delete(positions[chosen], node.mode, axis=-1)
        if local is not None:
            own = np.insert(own, node.mode, local[chosen], axis=-1)
        yield node.operands[number], chosen, own


def _in_and_around(node: Padding, positions: IntArray) -> _Shares:
    inner = positions - np.array([before for before, _ in node.widths], dtype=np.int64)
    extents = np.array(node.operand.shape.extents, dtype=np.int64)
    inside = ((inner >= 0) & (inner < extents)).all(axis=-1)
    yield node.operand, inside, inner[inside]
    yield node.fill, ~inside, np.empty((np.count_nonzero(~inside), 0), dtype=np.int64)


def _in_pieces(node: Routing, positions: IntArray) -> _Shares:
    for piece in node.pieces:
        places, rest = np.divmod(positions[..., node.mode] - piece.start, piece.step)
        chosen = (rest == 0) & (places >= 0) & (places < piece.count(node.mode))
        own = positions[chosen]
        own[..., node.mode] = places[chosen]
        yield piece.view, chosen, own


def _by_choice(node: Choosing | Extreme, positions: IntArray) -> _Shares:
    numbers = _chosen(node, positions)
    for number in np.unique(numbers).tolist():
        chosen = numbers == number
        yield node.operands[number], chosen, positions[chosen]


def _chosen(node: "Choosing | Extreme", positions: IntArray) -> IntArray:
    """Return the number of the operand that each position comes from, which its elements decide."""
    if isinstance(node, Choosing):
        return np.where(_elements_at(node.operands[0], positions), 1, 2)
    given = np.stack([_elements_at(operand, positions) for operand in node.operands])
    best = _extreme(node, list(given))
    # Not-a-number wins, and is not equal to itself.
    wins = (given == best) | ((given != given) & (best != best))  # noqa: PLR0124
    numbers: IntArray = np.argmax(wins, axis=0)
    return numbers


def _elements_at(view: Expression, positions: IntArray) -> Array:
    """Return the elements at positions; each operand is asked once, however choices are nested."""
    out = np.empty(len(positions), dtype=view.dtype)
    if not len(positions):
        return out
    view, positions = _arrived(view, positions)
    node = view.node
    if isinstance(node, Reading | Generator | Sampling):
        out[...] = _values_at(*_leaf(node, positions))
    elif isinstance(node, Extreme):
        out[...] = _extreme(node, [_elements_at(operand, positions) for operand in node.operands])
    elif isinstance(node, Casting):
        out[...] = _elements_at(node.operand, positions).astype(node.dtype)
    else:
        for operand, chosen, own in _shared_out(view, positions):
            out[chosen] = _elements_at(operand, own)
    return out


def _extreme(node: Extreme, given: Sequence[Array]) -> Array:
    found: Array = (np.minimum if node.kind == "minimum" else np.maximum).reduce(given)
    return found


def _values_at(source: Origin, indices: IntArray) -> Array:
    if isinstance(source, Tensor):
        return source.buffer.read(source.layout.offsets_of(indices))
    shape = source.shape
    positions = indices - np.array(shape.origin, dtype=np.int64)
    if isinstance(source, Generator):
        columns = list(positions.T)
        if isinstance(source, RandomField):
            values = source.draw(columns, [_elements_at(own, positions) for own in source.operands])
        else:
            values = source.values(columns)
        return np.broadcast_to(values, (len(indices),))
    return _read_points(source, positions)


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
