"""Elements of views at positions, with shared and deeply nested nodes."""

import math
from collections import deque
from collections.abc import Callable, Generator
from heapq import heappop, heappush
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.operations._operation import ranks_of
from tensorwrapper.typing import Array, IntArray

__all__ = ["Demand", "Elements", "Order"]

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
