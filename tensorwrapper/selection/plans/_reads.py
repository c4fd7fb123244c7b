"""Reads of a view from each source: as few selections as serve all of its parts, for one read of each."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any, TypeAlias, final

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._progressions import solve_progression
from tensorwrapper._value_class import frozen
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import packed_strides
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._source_reads import is_away
from tensorwrapper.selection.plans._split_work import Fetch, fetch_of
from tensorwrapper.selection.sources._read_source import abilities_of, cost_of
from tensorwrapper.selection.sources._runs import Outer, Positions, Runs, Wanted
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.selection.transforms._transform import layout_at
from tensorwrapper.typing import Extents, IntArray

Group: TypeAlias = tuple[Wanted, list[tuple[Expression, Fetch]]]
"""A selection, and the parts of a view that it is read for."""

_PAIRS = 64  # selections up to which all pairs are compared
_LISTED = 1 << 24  # elements up to which those of selections that share some are listed
_BOXES = 1 << 10  # runs up to which a source without the ability is read by boxes instead


def are_few(groups: list[Group]) -> bool:
    """Return True if all pairs of selections may be compared."""
    return len(groups) <= _PAIRS


def without_overlaps(source: Source, groups: list[Group]) -> list[Group]:
    """Return selections with the same elements, of which no two have one in common.

    Selections that share elements become one: more positions of one mode, or runs of elements. They stay
    where the source says that this costs more, or where they are too many elements to list.
    """
    if len(groups) < 2:
        return groups
    extents = source.shape.extents if source.shape.is_box else (source.shape.size,)
    found: list[Group] = []
    for cluster in _clusters(groups, extents):
        for component in _components(cluster):
            found += [component[0]] if len(component) == 1 else _made_one(source, component)
    return found


def _clusters(groups: list[Group], extents: Extents) -> Iterator[list[Group]]:
    """Return groups whose hulls of elements by number overlap, in the order in which they begin."""
    steps = packed_strides(extents, range(len(extents) - 1, -1, -1))
    spans = sorted(
        [(*_span(wanted, steps), number) for number, (wanted, _) in enumerate(groups) if wanted.size]
    )
    cluster: list[Group] = []
    end = -1
    for low, high, number in spans:
        if cluster and low > end:
            yield cluster
            cluster = []
        cluster.append(groups[number])
        end = max(end, high)
    if cluster:
        yield cluster
    yield from [[own] for own in groups if not own[0].size]


def _span(wanted: Wanted, steps: Sequence[int]) -> tuple[int, int]:
    if isinstance(wanted, Runs):
        return wanted.starts.item(0), int(wanted.ends[-1]) - 1
    pairs = list(zip(wanted.modes, steps, strict=True))
    return sum([int(own[0]) * step for own, step in pairs]), sum([int(own[-1]) * step for own, step in pairs])


def _components(cluster: list[Group]) -> list[list[Group]]:
    """Return groups of which each meets another one; where they are many, all that may."""
    if len(cluster) < 2 or not are_few(cluster):
        return [cluster]
    leaders = list(range(len(cluster)))
    for a, b in combinations(range(len(cluster)), 2):
        if leaders[a] != leaders[b] and _meet(cluster[a][0], cluster[b][0]):
            old, new = leaders[b], leaders[a]
            leaders = [new if own == old else own for own in leaders]
    return [
        [cluster[k] for k, own in enumerate(leaders) if own == leader] for leader in dict.fromkeys(leaders)
    ]


def _meet(one: Wanted, other: Wanted) -> bool:
    """Return True if two selections may have an element in common; of boxes, whether they have."""
    if isinstance(one, Runs) or isinstance(other, Runs):
        return True
    return all(_positions_meet(a, b) for a, b in zip(one.modes, other.modes, strict=True))


def _positions_meet(one: Positions, other: Positions) -> bool:
    low, high = max(one[0], other[0]), min(one[-1], other[-1])
    if low > high or not (isinstance(one, range) and isinstance(other, range)):
        return bool(low <= high)
    met = solve_progression(one.start, one.step, other.step, len(one), other.start % other.step)
    # The first common place that is not below the greater of the two starts.
    below = -((one.start - low) // one.step)
    first = max(-((met.start - below) // met.step), 0)
    return first < len(met) and one[met[first]] <= high


def _made_one(source: Source, groups: list[Group]) -> list[Group]:
    wanted = _together(source, groups)
    total = sum([own.size for own, _ in groups])
    if wanted is None or wanted.size == total:
        return groups
    if cost_of(source, wanted) > sum([cost_of(source, own) for own, _ in groups]):
        return groups
    return [(wanted, [pair for _, own in groups for pair in own])]


def _together(source: Source, groups: list[Group]) -> Wanted | None:
    """Return the elements of all groups: an outer selection if they differ in one mode only, else runs."""
    outer = [own for own, _ in groups if isinstance(own, Outer)]
    if len(outer) == len(groups):
        modes = outer[0].modes
        differ = [m for m, own in enumerate(modes) if any(not _same(own, more.modes[m]) for more in outer)]
        if len(differ) == 1:
            mode = differ[0]
            positions = _union([more.modes[mode] for more in outer])
            return Outer([*modes[:mode], positions, *modes[mode + 1 :]])
    elif not outer:
        return _runs_of_all([own for own, _ in groups if isinstance(own, Runs)])
    if sum([view.shape.size for _, own in groups for view, _ in own]) > _LISTED:
        return None
    numbers = [numbers_of(view) for _, own in groups for view, _ in own]
    runs = Runs(different(np.concatenate(numbers)))
    is_known = "runs" in abilities_of(source) or not source.shape.is_box
    return runs if is_known or len(runs.starts) <= _BOXES else None


def numbers_of(view: Expression) -> IntArray:
    """Return the row-major numbers in its source of the elements of a part of a view, in order."""
    found: IntArray = view.layout.offsets_of_ordinals(np.arange(view.shape.size, dtype=np.int64))
    return found


def _runs_of_all(runs: list[Runs]) -> Runs:
    # By halves, so that each run is sorted as often as the number of selections can be halved.
    while len(runs) > 1:
        pairs = zip(runs[::2], runs[1::2], strict=False)
        runs = [*[a.union(b) for a, b in pairs], *runs[len(runs) // 2 * 2 :]]
    return runs[0]


def _same(one: Positions, other: Positions) -> bool:
    if isinstance(one, range) or isinstance(other, range):
        return isinstance(one, range) and isinstance(other, range) and one == other
    return np.array_equal(one, other)


def _union(parts: list[Positions]) -> Positions:
    if all(isinstance(own, range) and own.step == 1 for own in parts):
        ends = sorted([(own[0], own[-1] + 1) for own in parts])
        stop = ends[0][1]
        gapless = True
        for low, high in ends[1:]:
            gapless = gapless and low <= stop
            stop = max(stop, high)
        if gapless:
            return range(ends[0][0], stop)
    return different(np.concatenate([np.asarray(own, dtype=np.int64) for own in parts]))


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
        layout = layout_at(places)
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
