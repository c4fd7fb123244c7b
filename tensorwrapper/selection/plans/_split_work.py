"""Split a view into the read of its source, and the work on the result of the read.

A selection that acts mode by mode is exactly two: the source reads each distinct position of each mode once,
ascending; the receiver repeats, reorders and spreads these. So repetition, padding and the order of modes
cost no bytes.
"""

from collections.abc import Iterable
from math import gcd, prod
from operator import attrgetter
from typing import Any, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import different, ranked
from tensorwrapper._boxes import cut_box
from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.layout import AxisMap, Cycle, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_row_major, packed_strides, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression, Node, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._ordinals import Whole, at_ordinals
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.operations._operation import ranks_of, unravel
from tensorwrapper.selection.plans._source_reads import distinct_size, is_away, is_listed, leaves_of, mapped
from tensorwrapper.selection.routing._routes import Demand, Elements
from tensorwrapper.selection.sources._runs import Outer, Positions, Runs, Wanted
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.selection.transforms._transform import (
    Coordinate,
    Feed,
    Transform,
    layout_at,
    of_maps,
    put_together,
    take_apart,
    through,
)
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Extents, IntArray


@final
@frozen(eq=False)
class Fetch:
    """The elements of a source that a part of a view needs, and the position of each in the read.

    Attributes
    ----------
    source
        The source.
    wanted
        The positions of each mode, or runs of elements by number; none comes twice.
    layout
        From the part of the view to the row-major places of the read elements.
    transform
        The same mode by mode; None where several modes of the source are moved as one.
    """

    source: Source
    wanted: Wanted
    layout: Layout[Any]
    transform: Transform | None

    @property
    def nbytes(self) -> int:
        """Number of bytes of elements read."""
        return self.wanted.size * self.source.dtype.itemsize

    def target(self, out: Array) -> Array | None:
        """Return the part of a result as the source is to fill it; None if elements repeat, or lack order."""
        transform = self.transform
        if transform is None or out.dtype != self.source.dtype:
            return None
        order: list[int] = []
        key: list[slice | int] = [0 if n == 1 else slice(None) for n in out.shape]
        for extent, coordinate in zip(self.wanted.extents, transform.coordinates, strict=True):
            if extent == 1:
                continue
            mode, axis = coordinate.feeds[0]
            single = len(coordinate.feeds) == 1 and isinstance(axis, Stride) and abs(axis.step) == 1
            if not single or axis.extent != extent or mode in order:
                return None
            order.append(mode)
            if cast("Stride", axis).step < 0:
                key[mode] = slice(None, None, -1)
        moving = [mode for mode, own in enumerate(key) if isinstance(own, slice)]
        if sorted(order) != moving:
            return None
        turned = out[(*key, ...)].transpose([moving.index(mode) for mode in order])
        new = tuple([None if extent == 1 else slice(None) for extent in self.wanted.extents])
        return turned[(*new, ...)]

    def within(self, more: Wanted) -> Layout[Any] | None:
        """Return where the elements are in a selection that has all of these; None if no layout says it."""
        if self.transform is None or (len(self.wanted.extents) > 1 and isinstance(more, Runs)):
            return None
        base = 0
        axes: list[AxisMap] = []
        for own, around, step in zip(_modes(self.wanted), _modes(more), _steps(more), strict=True):
            places = _places(own, around)
            base += int(places[0]) * step
            if isinstance(places, range):
                axes.append(Stride(len(places), places.step * step))
            else:
                axes.append(Table((places - places[0]) * np.int64(step)))
        return through(of_maps(base, axes), self.transform)


def _modes(wanted: Wanted) -> "tuple[Positions | Runs, ...]":
    return (wanted,) if isinstance(wanted, Runs) else wanted.modes


def _steps(wanted: Wanted) -> tuple[int, ...]:
    return packed_strides(wanted.extents, range(len(wanted.extents) - 1, -1, -1))


def _places(own: "Positions | Runs", around: "Positions | Runs") -> Positions:
    """Return where the positions of a mode are among more of them, or elements among those of runs."""
    if isinstance(around, Runs):
        if isinstance(own, Runs):
            if len(own.starts) == 1:
                first = int(around.places(own.starts)[0])
                return range(first, first + own.size)
            own = own.numbers()
        return around.places(np.asarray(own, dtype=np.int64))
    if isinstance(own, Runs):
        own = own.numbers()
    if not isinstance(around, range):
        return np.searchsorted(around, np.asarray(own, dtype=np.int64))
    start, step = around.start, around.step
    if isinstance(own, range):
        # A single position has no step.
        first, even = (own.start - start) // step, max(own.step // step, 1)
        return range(first, first + even * len(own), even)
    return (own - np.int64(start)) // np.int64(step)


def fetch_of(view: Expression) -> Fetch:
    """Return the read of a source for a part of a view in normal form. O(positions of modes with tables).

    For a box it is an outer selection, or points where these are fewer: a diagonal needs only its points, not
    all combinations of their positions. For any other source it is runs of elements.
    """
    source = cast("Source", view.node.source)
    extents = view.node.extents
    if not source.shape.is_box:
        return _numbered(source, view.layout, extents)
    transform = take_apart(view.layout, extents)
    if transform is None:
        fetch = _bounding(source, view.layout, extents)
    else:
        fetch = _outer(source, transform)
        if not _moves_together(transform, fetch.wanted.extents):
            return fetch
    if distinct_size(view.layout) * view.dtype.itemsize >= fetch.nbytes:
        return fetch
    points = _numbered(source, view.layout, (prod(extents),))
    costs = points.nbytes + cast("Runs", points.wanted).nbytes
    return points if costs < fetch.nbytes else fetch


def _outer(source: Source, transform: Transform) -> Fetch:
    pairs = [_factored(coordinate) for coordinate in transform.coordinates]
    outer = Outer([positions for positions, _ in pairs])
    zeros = (0,) * len(transform.extents)
    within = Transform(transform.extents, zeros, tuple([ranks for _, ranks in pairs]))
    return Fetch(source, outer, put_together(within, outer.extents), within)


def _moves_together(transform: Transform, extents: Extents) -> bool:
    """Return True if a mode of the view moves several of the source, so that combinations are not needed."""
    fed = [
        {number for number, _ in own.feeds}
        for own, n in zip(transform.coordinates, extents, strict=True)
        if n > 1
    ]
    return sum(map(len, fed)) > len(set[int]().union(*fed))


def _numbered(source: Source, layout: Layout[Any], extents: Extents) -> Fetch:
    """Return a fetch of elements by number: `extents` are those of one mode that counts them all."""
    box = layout.implementation.strided_box()
    if box is not None and len(box[0]) == 1 and box[0][0] > 1 and box[2] == (1,):
        # Fast path for shards that are read in their order.
        (count,), first = box[0], box[3]
        within = Transform((count,), (0,), (Coordinate(0, ((0, Stride(count, 1)),)),))
        place = wrap_layout(new_row_major((count,)))
        return Fetch(source, Runs.of(range(first, first + count)), place, within)
    transform = take_apart(layout, extents)
    fetch = _bounding(source, layout, extents) if transform is None else _outer(source, transform)
    (positions,) = cast("Outer", fetch.wanted).modes
    return attrs.evolve(fetch, wanted=Runs.of(positions))


def _bounding(source: Source, layout: Layout[Any], extents: Extents) -> Fetch:
    """Return a fetch of the rows between the first and the last place of a layout, each once."""
    low, high = layout.bounds()
    start = 0
    modes: list[Positions] = []
    for mode, step in enumerate(packed_strides(extents, range(len(extents) - 1, -1, -1))):
        (first, low), (last, high) = divmod(low, step), divmod(high, step)
        modes.append(range(first, last + 1))
        start += first * step
        if first != last:
            # All modes before this one have one position, so the read is one run of places.
            modes += [range(n) for n in extents[mode + 1 :]]
            break
    base, axes = layout.implementation.mode_maps("a selection")
    return Fetch(source, Outer(modes), of_maps(base - start, axes), None)


def _factored(coordinate: Coordinate) -> tuple[Positions, Coordinate]:
    """Return the distinct positions that a coordinate takes, and their ranks as a coordinate."""
    constant, feeds = coordinate.constant, coordinate.feeds
    if len(feeds) != 1:
        return _factored_sum(constant, feeds) if feeds else (range(constant, constant + 1), Coordinate(0))
    mode, axis = feeds[0]
    distinct = range(0) if isinstance(axis, Table) else axis.distinct()
    if isinstance(distinct, range) and not isinstance(axis, Table):
        even = cast("Stride | Cycle", axis)
        low, step = distinct[0], distinct.step
        positions = range(constant + low, constant + distinct[-1] + 1, step)
        if len(distinct) == 1:
            return positions, Coordinate(0)
        if not even.step % step:
            ranks = evolve(even, step=even.step // step)
            return positions, Coordinate(-low // step, ((mode, ranks),))
    values, numbers = ranked(axis.offsets())
    more, move = Table(numbers).simplify()
    return _positions(values + constant), Coordinate(more, ((mode, move),))


def _positions(values: IntArray) -> Positions:
    steps = np.diff(values)
    if len(values) > 1 and (steps == steps[0]).all():
        return range(int(values[0]), int(values[-1]) + 1, int(steps[0]))
    return values


def _factored_sum(constant: int, feeds: tuple[Feed, ...]) -> tuple[Positions, Coordinate]:
    """Return the positions that are sums of several moves, and their ranks as sums of moves."""
    tables = [axis.offsets() for _, axis in feeds]
    if is_listed(prod([len(table) for table in tables])):
        sums: IntArray = np.asarray(constant + sum(np.ix_(*tables), start=np.int64(0)))
        values, ranks = ranked(sums)
        first = int(ranks.flat[0])
        moves = [
            np.moveaxis(ranks, n, 0).reshape(len(table), -1)[:, 0] - first for n, table in enumerate(tables)
        ]
        if (ranks == first + sum(np.ix_(*moves), start=np.int64(0))).all():
            pairs = [(mode, *Table(move).simplify()) for (mode, _), move in zip(feeds, moves, strict=True)]
            return _positions(values), Coordinate(
                first + sum([more for _, more, _ in pairs]), tuple([(mode, axis) for mode, _, axis in pairs])
            )
    # The ranks are not sum: all positions in between are read, in the widest step that all moves keep.
    step = gcd(*[int(np.gcd.reduce(table - table[0])) for table in tables]) or 1
    low = sum([int(table.min()) for table in tables])
    high = sum([int(table.max()) for table in tables])
    moved = [
        (mode, *Table((table - table[0]) // step).simplify())
        for (mode, _), table in zip(feeds, tables, strict=True)
    ]
    start = sum([int(table[0]) for table in tables])
    more = sum([base for _, base, _ in moved])
    return range(constant + low, constant + high + 1, step), Coordinate(
        (start - low) // step + more, tuple([(mode, axis) for mode, _, axis in moved])
    )


_AT_ONCE = 1 << 19  # elements of a block, where there are more: its tables take 40 MiB


def chooses(view: Expression) -> bool:
    """Return True if a view of few enough elements may need less than all elements of its parts.

    That is where a mask in memory chooses between operands, and where a selection by number, over several
    modes as one, does not take all elements.
    """
    if not is_listed(view.shape.size) or not view.node.operands:
        return False
    made = operands_first([view])
    away = _away(made)
    return any(_has_masks(own.node, away) or _is_narrow(own) for own in made)


def blocks_that_choose(view: Expression) -> tuple[tuple[slice, ...], ...]:
    """Return blocks in each of which the choice of masks in memory between remote sources can be found.

    Return None for views of a single block, and for views without masks.
    """
    if is_listed(view.shape.size) or not any(map(is_away, leaves_of(view))):
        return ()
    made = operands_first([view])
    away = _away(made)
    if not any(_has_masks(own.node, away) for own in made):
        return ()
    return tuple(cut_box(view.extents, _AT_ONCE))


def _is_narrow(view: Expression) -> bool:
    """Return True if a view surely takes only some elements of a node that is read by number."""
    node = view.node
    return isinstance(node, Whole) and distinct_size(view.layout) < node.size


def _has_masks(node: Node, away: set[int]) -> bool:
    """Return True if masks in memory decide which operands the elements of a node come from."""
    return bool(node.masks) and not any(id(mask) in away for mask in node.masks)


def _away(made: list[Expression]) -> set[int]:
    """Return the views, by id, that read remote sources; `made` has each view after its parts."""
    found: set[int] = set()
    nodes: dict[int, bool] = {}
    for own in made:
        node = own.node
        if id(node) not in nodes:
            nodes[id(node)] = is_away(own) or any(id(part) in found for part in node.operands)
        if nodes[id(node)]:
            found.add(id(own))
    return found


def with_chosen(view: Expression) -> Expression:
    """Return a view in which parts elsewhere of which not all is needed are read where it is.

    Choices of a mask, and selections from a whole, are followed through joins, extremes, casts and other
    choices. Linear in the nodes, and in the elements that are chosen at each.
    """
    if not any(map(is_away, leaves_of(view))) or not chooses(view):
        return view
    needed = _needed(view)
    return mapped(view, lambda leaf: _only(leaf, needed[id(leaf)]) if id(leaf) in needed else leaf)


def _needed(view: Expression) -> dict[int, Array]:
    """Return for parts that are elsewhere, by id, which of their elements are needed, if a mask tells it."""
    made = operands_first([view])
    away, elements = _away(made), Elements(attrgetter("node"), _in_node, _read)
    first: dict[int, int] = {}
    for number, own in enumerate(made):
        first.setdefault(id(own.node), number)
    # The needed positions of views and of nodes; those needed as a whole are in a set.
    asked: dict[int, list[IntArray]] = {}
    of_nodes: dict[int, list[IntArray]] = {}
    wholes = {id(view)}
    found: dict[int, Array] = {}
    # Backwards, so that each is met behind all that use it; a node where the last view of it is.
    for number, own in reversed(list(enumerate(made))):
        node, positions = own.node, asked.pop(id(own), [])
        if id(own) not in away:
            continue
        if not node.operands:
            if id(own) not in wholes and is_listed(own.shape.size):
                found[id(own)] = _flags(own, positions)
            continue
        here = _needed_here(own, positions, is_whole=id(own) in wholes)
        if here is None:
            wholes.add(id(node))
        else:
            of_nodes.setdefault(id(node), []).extend([_in_node(own, some) for some in here])
        if first[id(node)] != number:
            continue
        together = of_nodes.pop(id(node), [])
        there = None if id(node) in wholes else _distinct(node, together)
        for part, few in _wanted(node, there, away, elements):
            if few is None:
                wholes.add(id(part))
            else:
                asked.setdefault(id(part), []).append(few)
    return found


def _needed_here(view: Expression, positions: list[IntArray], *, is_whole: bool) -> list[IntArray] | None:
    """Return the needed positions of a view; None if all of its node is needed."""
    if not is_whole:
        return positions
    return [_all_positions(view)] if _is_narrow(view) and is_listed(view.shape.size) else None


def _flags(view: Expression, positions: list[IntArray]) -> Array:
    flags = np.zeros(view.shape.size, dtype=np.bool_)
    for own in positions:
        flags[ranks_of(own, view.extents)] = True
    return flags


def _distinct(node: Node, positions: list[IntArray]) -> IntArray:
    ranks = [ranks_of(own, node.extents) for own in positions]
    return unravel(different(np.concatenate(ranks)) if ranks else np.zeros(0, np.int64), node.extents)


def _wanted(
    node: Node, there: IntArray | None, away: set[int], elements: Elements
) -> "Iterable[tuple[Expression, IntArray | None]]":
    """Return the demand of positions of a node, or all of it, on its operands; None for all of one."""
    if there is None and is_listed(node.size) and _has_masks(node, away):
        there = _all_positions(node.masks[0])
    # A node that checks whole operands may refuse the stand-ins of elements that it does not need.
    shared = None if there is None or node.is_kept else _asks(node, there, away, elements)
    return [(part, None) for part in node.operands] if shared is None else list(shared)


def _asks(
    node: Node, there: IntArray, away: set[int], elements: Elements
) -> "list[tuple[Expression, IntArray]] | None":
    """Return the demand of positions of a node on its operands; None if it passes no elements on."""
    if _has_masks(node, away):
        shares = node.shares(there, [elements.at(mask, there) for mask in node.masks])
    elif node.deciding:
        return [(part, there) for part in node.operands]
    else:
        shares = node.shares(there, ())
    return None if shares is None else [(part, own) for part, _, own in shares]


def _only(part: Expression, chosen: Array) -> Expression:
    """Return a part that has its elements where they are chosen, and elsewhere any that are read."""
    ordinals = np.flatnonzero(chosen)
    if not len(ordinals):
        value = np.zeros((), part.dtype)[()]
        return whole(Filling(part.shape, value, part.dtype))
    few = at_ordinals(part, ordinals)
    if fetch_of(few).nbytes >= fetch_of(part).nbytes:
        return part
    ranks = np.maximum(np.cumsum(chosen, dtype=np.int64) - 1, 0)
    line = Expression(Whole(few), layout_at(ranks))
    return line if len(part.extents) == 1 else Expression(Whole(line), Layout(part.shape))


def elements_at(view: Expression, ordinals: IntArray) -> Array:
    """Return elements of a view of memory, by their numbers in row-major order."""
    return Elements(attrgetter("node"), _in_node, _read).at(view, unravel(ordinals, view.extents))


# In memory: which places are read, each once.


def places_chosen(view: Expression) -> dict[Any, IntArray]:
    """Return for each tensor that a view reads, by its source, the places of its buffer that are needed."""
    away, elements = _away(operands_first([view])), Elements(attrgetter("node"), _in_node, _read)
    demand = Demand(elements.order)
    found: dict[Any, list[IntArray]] = {}

    def ask(part: Expression, positions: IntArray) -> None:
        tensor = part.node.tensor
        if tensor is not None:
            found.setdefault(part.node.source, []).append(_places_of(part, positions))
        elif part.node.operands and len(positions):
            demand.ask(part.node, _places_of(part, positions))

    ask(view, _all_positions(view))
    while demand:
        node, (asked,) = demand.pop()
        there = unravel(different(asked), node.extents)
        for part, own in _parts(node, there, away, elements):
            ask(part, own)
    return {source: different(np.concatenate(own)) for source, own in found.items()}


def _parts(
    node: Node, there: IntArray, away: set[int], elements: Elements
) -> "Iterable[tuple[Expression, IntArray]]":
    """Return the demand of positions of a node on its operands, all of which are in memory."""
    if node.is_kept:
        return [(part, _all_positions(part)) for part in node.operands]
    shared = _asks(node, there, away, elements)
    return [(part, there) for part in node.operands] if shared is None else shared


def _all_positions(view: Expression) -> IntArray:
    return unravel(np.arange(view.shape.size, dtype=np.int64), view.extents)


def _places_of(view: Expression, positions: IntArray) -> IntArray:
    return view.layout.offsets_of(positions + np.array(view.origin, dtype=np.int64))


def _in_node(view: Expression, positions: IntArray) -> IntArray:
    return unravel(_places_of(view, positions), view.node.extents)


def _read(node: Node, positions: IntArray) -> Array:
    """Return elements of a tensor in memory, whose positions are places of its buffer."""
    return cast("Tensor[Any]", node.tensor).buffer.read_filled(positions[:, 0])
