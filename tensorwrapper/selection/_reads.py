"""What a view reads of each source: as few selections as serve all of its parts, for one read of each."""

from collections.abc import Iterable, Iterator
from math import prod
from typing import Any, cast, final

import attrs

from tensorwrapper.layout import Layout
from tensorwrapper.layout._separable import Separable
from tensorwrapper.layout._strided import Strided
from tensorwrapper.selection._expression import Expression, whole
from tensorwrapper.selection._generators import Sampling
from tensorwrapper.selection._nodes import Casting, Choosing, Extreme, Piece, Reading, Routing, Whole
from tensorwrapper.selection._outer import Outer
from tensorwrapper.selection._source import Source, TensorSource
from tensorwrapper.selection._split import Fetch, fetch_of

__all__ = [
    "Request",
    "Share",
    "distinct_size",
    "is_away",
    "leaves_of",
    "requests_of",
    "source_of",
    "with_points",
]

_ASKING = 64  # bytes that it costs to name one more selection
_MERGED = 64  # selections up to which each two are looked at


def is_away(view: Expression) -> bool:
    """Tell whether a part of a view reads a source that is not in this process."""
    return isinstance(view.node, Reading) and not isinstance(view.node.source, TensorSource)


def source_of(leaf: Expression) -> Source:
    """Return what a part of a view that reads a source reads."""
    return cast("Reading", leaf.node).source


def leaves_of(view: Expression) -> Iterator[Expression]:
    """Return an iterator over the parts of a view in normal form that read sources."""
    if isinstance(view.node, Reading):
        yield view
    elif isinstance(view.node, Routing | Whole | Casting | Choosing | Extreme | Sampling):
        for operand in view.node.operands:
            yield from leaves_of(operand)


def with_points(view: Expression) -> Expression:
    """Return a view in which single points of a source elsewhere are read one by one, where that is less.

    The points of a diagonal lie in a box of all combinations of their positions, which is what an outer
    selection would read.
    """
    if is_away(view):
        return _pointwise(view)
    node = view.node
    match node:
        case Routing():
            pieces = [attrs.evolve(piece, view=with_points(piece.view)) for piece in node.pieces]
            return attrs.evolve(view, node=attrs.evolve(node, pieces=tuple(pieces)))
        case Whole() | Casting():
            return attrs.evolve(view, node=attrs.evolve(node, operand=with_points(node.operand)))
        case Choosing() | Extreme() | Sampling():
            operands: Any = tuple([with_points(operand) for operand in node.operands])
            return attrs.evolve(view, node=attrs.evolve(node, operands=operands))
        case _:
            return view


def _pointwise(view: Expression) -> Expression:
    fetch = fetch_of(view)
    transform = fetch.transform
    if transform is None:
        return view
    itemsize = view.dtype.itemsize
    for mode, extent in enumerate(transform.extents):
        pairs = zip(fetch.outer.extents, transform.coordinates, strict=True)
        fed = [n for n, c in pairs if n > 1 and any(number == mode for number, _ in c.feeds)]
        if len(fed) > 1 and extent * (fetch.outer.size // prod(fed) * itemsize + _ASKING) < fetch.nbytes:
            before = (slice(None),) * mode
            layouts = [view.layout[(*before, slice(n, n + 1))] for n in range(extent)]
            pieces = [Piece(n, 1, _pointwise(Expression(view.node, own))) for n, own in enumerate(layouts)]
            return whole(Routing(mode, transform.extents, tuple(pieces)))
    return view


@final
@attrs.frozen(eq=False)
class Share:
    """A part of a view, the number of the selection that has it, and where in it the elements are."""

    view: Expression
    number: int
    layout: Layout[Any]
    fetch: Fetch | None
    """How the selection can be read straight into the result; None if it serves more than this part."""


@final
@attrs.frozen(eq=False)
class Request:
    """All that is read of one source, and which part of the view each piece of it is for."""

    source: Source
    selections: tuple[Outer, ...]
    shares: tuple[Share, ...]

    @property
    def nbytes(self) -> int:
        """How many bytes of elements are read."""
        return sum([own.size for own in self.selections]) * self.source.dtype.itemsize


def requests_of(leaves: Iterable[Expression]) -> tuple[Request, ...]:
    """Return one request for each source elsewhere that parts of a view read.

    Equal selections are one. Two are read as the box around both, and one as the box around it, if the
    source says that this costs less.
    """
    fetches: dict[Source, dict[Expression, Fetch]] = {}
    for leaf in leaves:
        if is_away(leaf):
            fetch = fetch_of(leaf)
            fetches.setdefault(fetch.source, {}).setdefault(leaf, fetch)
    return tuple([_request(source, own) for source, own in fetches.items()])


def _request(source: Source, fetches: dict[Expression, Fetch]) -> Request:
    groups: dict[Outer, list[Fetch]] = {}
    for fetch in fetches.values():
        groups.setdefault(fetch.outer, []).append(fetch)
    boxed = [_boxed(source, outer, own) for outer, own in groups.items()]
    merged = _merged(source, boxed) if len(boxed) <= _MERGED else boxed
    numbers = {id(fetch): n for n, (_, own) in enumerate(merged) for fetch in own}
    shares: list[Share] = []
    for view, fetch in fetches.items():
        number = numbers[id(fetch)]
        outer, own = merged[number]
        if outer == fetch.outer:
            shares.append(Share(view, number, fetch.layout, fetch if len(own) == 1 else None))
        else:
            layout = cast("Layout[Any]", fetch.within(outer))  # It was made sure of that there is one.
            shares.append(Share(view, number, layout, None))
    return Request(source, tuple([outer for outer, _ in merged]), tuple(shares))


def _boxed(source: Source, outer: Outer, own: list[Fetch]) -> tuple[Outer, list[Fetch]]:
    box = outer.bounding_box()
    if box != outer and source.cost(box) < source.cost(outer) and _fit(own, box):
        return box, own
    return outer, own


def _fit(fetches: list[Fetch], box: Outer) -> bool:
    return all(fetch.within(box) is not None for fetch in fetches)


def _merged(source: Source, groups: list[tuple[Outer, list[Fetch]]]) -> list[tuple[Outer, list[Fetch]]]:
    """Return selections of which no two cost more than the box around them."""
    costs = [source.cost(outer) for outer, _ in groups]
    found = True
    while found:
        found = False
        for i in range(len(groups)):
            for j in range(len(groups) - 1, i, -1):
                hull = groups[i][0].hull(groups[j][0])
                cost = source.cost(hull)
                own = groups[i][1] + groups[j][1]
                if cost < costs[i] + costs[j] and _fit(own, hull):
                    groups[i], costs[i] = (hull, own), cost
                    del groups[j], costs[j]
                    found = True
    return groups


def distinct_size(layout: Layout[Any]) -> int:
    """Return how many elements a layout reaches, counted mode by mode: an upper bound if modes overlap."""
    held = layout._held
    if isinstance(held, Strided):
        count = prod([n for n, step in zip(held.extents, held.strides, strict=True) if step])
    elif isinstance(held, Separable):
        count = prod([len(axis.distinct()) for axis in held.axes])
    else:
        count = layout.shape.size
    least, greatest = layout.bounds()
    return min(count, greatest + 1 - least)
