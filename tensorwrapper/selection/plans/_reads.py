"""Reads of a view from each source: as few selections as serve all of its parts, for one read of each."""

from collections.abc import Iterable
from typing import Any, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.layout import Layout, Table
from tensorwrapper.layout.lowlevel import over_box, packed_strides, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._overlaps import Group, are_few, numbers_of, without_overlaps
from tensorwrapper.selection.plans._source_reads import is_away
from tensorwrapper.selection.plans._split_work import Fetch, fetch_of
from tensorwrapper.selection.sources._read_source import cost_of
from tensorwrapper.selection.sources._runs import Runs, Wanted
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.typing import Extents, IntArray

__all__ = ["Request", "Share", "requests_of"]


@final
@frozen(eq=False)
class Share:
    """A part of a view, the number of the selection that has it, and where in it the elements are.

    The layout is that of the part, or of all of its elements in row-major order.
    """

    view: Expression
    number: int
    layout: Layout[Any]
    fetch: Fetch | None
    """Read of the selection straight into the result; None if it serves other parts, too."""


@final
@frozen(eq=False)
class Request:
    """Selections of one source, and the part of the view for each."""

    source: Source
    selections: tuple[Wanted, ...]
    shares: tuple[Share, ...]

    @property
    def nbytes(self) -> int:
        """Number of bytes of elements read."""
        return sum([own.size for own in self.selections]) * self.source.dtype.itemsize


def requests_of(leaves: Iterable[Expression]) -> tuple[Request, ...]:
    """Return one request for each source elsewhere that parts of a view read, with no element twice.

    Equal selections are one, and so are those that share elements. Two are read as the box around both, and
    one as the box around it, if the source says that this costs less. Several runs
    become one only if the elements between them have fewer bytes than the runs' own numbers.
    """
    fetches: dict[Source, dict[Expression, Fetch]] = {}
    for leaf in leaves:
        if is_away(leaf):
            fetch = fetch_of(leaf)
            fetches.setdefault(fetch.source, {}).setdefault(leaf, fetch)
    return tuple([_request(source, own) for source, own in fetches.items()])


def _request(source: Source, fetches: dict[Expression, Fetch]) -> Request:
    if len(fetches) == 1:
        groups = [(fetch.wanted, [(view, fetch)]) for view, fetch in fetches.items()]
    else:
        equal: dict[Wanted, list[tuple[Expression, Fetch]]] = {}
        for view, fetch in fetches.items():
            equal.setdefault(fetch.wanted, []).append((view, fetch))
        groups = list(equal.items())
    boxed = [_boxed(source, wanted, own) for wanted, own in groups]
    merged = _merged(source, boxed) if are_few(boxed) else boxed
    found = without_overlaps(source, merged)
    shares = [
        _share(view, number, fetch, found[number])
        for number, (_, own) in enumerate(found)
        for view, fetch in own
    ]
    return Request(source, tuple([wanted for wanted, _ in found]), tuple(shares))


def _share(view: Expression, number: int, fetch: Fetch, group: Group) -> Share:
    wanted, own = group
    if wanted is fetch.wanted or wanted == fetch.wanted:
        return Share(view, number, fetch.layout, fetch if len(own) == 1 else None)
    layout = fetch.within(wanted)
    if layout is None:
        # No layout of modes says it: for each element where it is.
        places = _places(wanted, numbers_of(view), view.node.extents)
        layout = wrap_layout(over_box((len(places),), (0,), 0, (Table(places),)))
    return Share(view, number, layout, None)


def _places(wanted: Wanted, numbers: IntArray, extents: Extents) -> IntArray:
    """Return where elements are in a selection, by their row-major numbers in a source."""
    if isinstance(wanted, Runs):
        return wanted.places(numbers)
    places: IntArray = np.zeros(numbers.shape, dtype=np.int64)
    for mode, step in zip(
        wanted.modes, packed_strides(extents, range(len(extents) - 1, -1, -1)), strict=True
    ):
        index, numbers = np.divmod(numbers, step)
        places *= len(mode)
        places += np.searchsorted(np.asarray(mode, dtype=np.int64), index)
    return places


def _boxed(source: Source, wanted: Wanted, own: list[tuple[Expression, Fetch]]) -> Group:
    box = wanted.bounding_box()
    if box is wanted or box == wanted:
        return wanted, own
    # The elements between points may be the whole source. They are read if the numbers take more bytes.
    spare = wanted.nbytes // max(source.dtype.itemsize, 1)
    if isinstance(wanted, Runs) and box.size - wanted.size > spare:
        return wanted, own
    if cost_of(source, box) < cost_of(source, wanted) and _fit(own, box):
        return box, own
    return wanted, own


def _around(one: Wanted, other: Wanted) -> Wanted | None:
    """Return a selection that has all of both: a box around two, the runs of two; None of one of each."""
    if isinstance(one, Runs):
        return one.union(other) if isinstance(other, Runs) else None
    return None if isinstance(other, Runs) else one.hull(other)


def _fit(own: list[tuple[Expression, Fetch]], box: Wanted) -> bool:
    return all(fetch.within(box) is not None for _, fetch in own)


def _merged(source: Source, groups: list[Group]) -> list[Group]:
    """Return selections of which no two cost more than the box around them."""
    costs = [cost_of(source, wanted) for wanted, _ in groups]
    found = True
    while found:
        found = False
        for i in range(len(groups)):
            for j in range(len(groups) - 1, i, -1):
                hull = _around(groups[i][0], groups[j][0])
                if hull is None:
                    continue
                cost = cost_of(source, hull)
                own = groups[i][1] + groups[j][1]
                if cost < costs[i] + costs[j] and _fit(own, hull):
                    groups[i], costs[i] = (hull, own), cost
                    del groups[j], costs[j]
                    found = True
    return groups
