"""The source of each element of a view, found by following its steps back one by one.

This is the specification of views: it uses neither layouts nor normal forms where the steps are known. A
choice that depends on elements (`where`, `minimum`, `maximum`) reads its operands at the requested
positions.
"""

import math
from collections import deque
from collections.abc import Callable, Generator, Sequence
from heapq import heappop, heappush
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError
from tensorwrapper.selection.expressions._expression import Expression, Node, Origin, is_base
from tensorwrapper.selection.operations._operation import positions_before, ranks_of, unravel
from tensorwrapper.selection.sources._read_source import read_numbers
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Index, IntArray

NodeOf: TypeAlias = "Callable[[Expression], Node]"
"""Returns the node that has the elements of a view."""


@final
class Order:
    """Numbers of nodes: each has a greater one than all that it is made of."""

    __slots__ = ("_kept", "_numbers", "_of")

    def __init__(self, of: NodeOf) -> None:
        self._of = of
        self._numbers: dict[int, int] = {}
        self._kept: list[Node] = []  # So that no other node gets the id of one of them.

    def number(self, node: Node) -> int:
        """Return the number of a node. O(nodes below it), once."""
        numbers = self._numbers
        found = numbers.get(id(node))
        if found is not None:
            return found
        met: set[int] = set()
        waiting = [(node, False)]
        while waiting:
            own, is_done = waiting.pop()
            if is_done:
                numbers[id(own)] = len(numbers)
                self._kept.append(own)
            elif id(own) not in met and id(own) not in numbers:
                met.add(id(own))
                waiting.append((own, True))
                waiting += [(self._of(part), False) for part in own.operands]
        return numbers[id(node)]


@final
class Demand:
    """Columns of requests to nodes; a node is popped when no other node can add a request.

    Nodes are numbered only where one of several must come first: a way through a view that leads from one
    node to the next costs its length, independent of the rest of the view.
    """

    __slots__ = ("_asked", "_last", "_numbered", "_order", "_waiting")

    def __init__(self, order: Order) -> None:
        self._order = order
        self._asked: dict[int, tuple[Node, list[tuple[IntArray, ...]]]] = {}
        self._waiting: list[Node] = []  # With operands, and not numbered: one at most.
        self._numbered: list[tuple[int, int]] = []
        self._last: deque[int] = deque()  # Without operands: they make no requests.

    def __bool__(self) -> bool:
        return bool(self._asked)

    def ask(self, node: Node, *columns: IntArray) -> None:
        """Ask a node; each time with as many columns, all of one length."""
        asked = self._asked.get(id(node))
        if asked is not None:
            asked[1].append(columns)
            return
        self._asked[id(node)] = node, [columns]
        if not node.operands:
            self._last.append(id(node))
        elif not self._waiting and not self._numbered:
            self._waiting.append(node)
        else:
            for own in (*self._waiting, node):
                heappush(self._numbered, (-self._order.number(own), id(own)))
            self._waiting.clear()

    def pop(self) -> tuple[Node, tuple[IntArray, ...]]:
        """Return a node with complete requests, and all its columns concatenated."""
        if self._waiting:
            key = id(self._waiting.pop())
        elif self._numbered:
            _, key = heappop(self._numbered)
        else:
            key = self._last.popleft()
        node, asked = self._asked.pop(key)
        if len(asked) == 1:
            return node, asked[0]
        return node, tuple([np.concatenate(own) for own in zip(*asked, strict=True)])


_Request: TypeAlias = "tuple[Node, IntArray]"
_Steps: TypeAlias = "Generator[_Request, Array | None, Array]"
_Part: TypeAlias = "tuple[Any, Node, IntArray]"
"""Elements of an operand: their numbers, its node, and keys, or positions if it is read at once."""


@final
class Elements:
    """Reads elements of views, each node once for all positions requested together.

    The elements of nodes with operands are cached as long as this object exists, since nested masks are read
    repeatedly. A choice first reads its condition, and then only the chosen operands.

    Parameters
    ----------
    of
        Returns the node that has the elements of a view.
    before
        Returns where positions of a view are in that node.
    read
        Returns elements of a node that is a source.
    """

    __slots__ = ("_before", "_keys", "_of", "_read", "_values", "order")

    def __init__(
        self,
        of: NodeOf,
        before: Callable[[Expression, IntArray], IntArray],
        read: Callable[[Node, IntArray], Array],
    ) -> None:
        self._of = of
        self._before = before
        self._read = read
        self.order = Order(of)
        # Of nodes in `order`, by id: keys, ascending, and the elements there.
        self._keys: dict[int, IntArray] = {}
        self._values: dict[int, Array] = {}

    def at(self, view: Expression, positions: IntArray) -> Array:
        """Return the elements of a view at positions counted from zero, one row each."""
        return self.of_node(self._of(view), self._before(view, positions))

    def of_node(self, node: Node, positions: IntArray) -> Array:
        """Return the elements of a node at positions counted from zero, one row each."""
        if not len(positions):  # Without a request there is no result.
            return np.empty(0, dtype=node.dtype)
        # An explicit stack in place of recursion: Python's stack is limited, and views nest to any depth.
        running: list[_Steps] = [self._steps(node, positions)]
        found: Array | None = None
        while True:
            try:
                request = running[-1].send(found)
            except StopIteration as end:
                running.pop()
                found = cast("Array", end.value)
                if not running:
                    return found
            else:
                running.append(self._steps(*request))
                found = None

    def _steps(self, node: Node, positions: IntArray) -> _Steps:
        """Return elements; yield the elements needed first."""
        demand = Demand(self.order)
        wanted = self._ask(demand, slice(None), node, positions)
        done: list[tuple[Node, IntArray, IntArray, list[_Part], bool]] = []
        while demand:
            own, (all_keys, all_positions) = demand.pop()
            keys, there = self._unknown(own, all_keys, all_positions)
            if not len(keys):
                continue
            if own.source is not None:
                self._keep(own, keys, self._read(own, there))
                continue
            shares = None
            if not _is_made_of_all(own):
                given: list[Array] = []
                for part in own.deciding:
                    found = yield self._of(part), self._before(part, there)
                    given.append(cast("Array", found))
                shares = own.shares(there, given)
            parts = [(part, slice(None), there) for part in own.operands] if shares is None else shares
            below = [
                self._ask(demand, which, self._of(part), self._before(part, at))
                for part, which, at in parts
                if len(at)
            ]
            done.append((own, keys, there, below, shares is None))
        for own, keys, there, below, is_made in reversed(done):
            if is_made:
                values = own.checked_values(list(there.T), [self._found(operand) for operand in below])
                self._keep(own, keys, np.broadcast_to(values, (len(there),)))
                continue
            out = np.empty(len(there), dtype=own.dtype)
            for share in below:
                out[share[0]] = self._found(share)
            self._keep(own, keys, out)
        return self._found(wanted)

    def _ask(self, demand: Demand, which: Any, node: Node, positions: IntArray) -> _Part:  # noqa: ANN401 - a key
        if _is_at_once(node):
            return which, node, positions
        keys = _keys_of(positions, node)
        demand.ask(node, keys, positions)
        return which, node, keys

    def _found(self, part: _Part) -> Array:
        """Return requested elements."""
        _, node, asked = part
        if not _is_at_once(node):
            found: Array = self._values[id(node)][np.searchsorted(self._keys[id(node)], asked)]
            return found
        if node.source is not None:
            return self._read(node, asked)
        return np.broadcast_to(node.checked_values(list(asked.T)), (len(asked),))

    def _unknown(self, node: Node, keys: IntArray, positions: IntArray) -> tuple[IntArray, IntArray]:
        """Return keys that nothing is known of, ascending and each once, and their positions."""
        if not _is_ascending(keys):
            keys, first = np.unique(keys, return_index=True)
            positions = positions[first]
        known = self._keys.get(id(node))
        if known is None:
            return keys, positions
        places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
        new = known[places] != keys
        return keys[new], positions[new]

    def _keep(self, node: Node, keys: IntArray, values: Array) -> None:
        """Remember elements that are not known yet."""
        if id(node) in self._keys:
            keys = np.concatenate([self._keys[id(node)], keys])
            values = np.concatenate([self._values[id(node)], values])
            order = np.argsort(keys, kind="stable")
            keys, values = keys[order], values[order]
        else:
            self.order.number(node)  # It keeps a reference: no other node gets its id.
        self._keys[id(node)], self._values[id(node)] = keys, values


def _is_at_once(node: Node) -> bool:
    """Return True if elements are in memory, or made of nothing else: they are not worth being kept."""
    return not node.operands and (node.source is None or node.tensor is not None)


def _is_made_of_all(node: Node) -> bool:
    """Return True if an element is made of those of all operands, though it comes from one of them."""
    return node.is_cellwise and (bool(node.casts) or 0 < len(node.deciding) == len(node.operands))


def _keys_of(positions: IntArray, node: Node) -> IntArray:
    """Return a number for each position of a node; of a box whose places 64 bits cannot number, its row."""
    if math.prod(node.extents) <= MAX_INT64:
        return ranks_of(positions, node.extents)
    rows = np.ascontiguousarray(positions)
    # NumPy sorts, searches and compares rows as it does keys.
    found = rows.view([(f"m{mode}", np.int64) for mode in range(rows.shape[1])]).reshape(len(rows))
    return cast("IntArray", found)


def _is_ascending(keys: IntArray) -> bool:
    return keys.dtype.names is None and bool((keys[1:] > keys[:-1]).all())


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
        return source.buffer.read_filled(source.layout.offsets_of(indices))
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
