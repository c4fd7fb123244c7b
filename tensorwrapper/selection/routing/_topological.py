"""Requests to the nodes of a view, in topological order: nodes before their operands.

Recursion would visit a shared node once for each path to it, exponentially often. Here all requests to a node
are collected before it is processed.
"""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import TypeAlias, final

import numpy as np

from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.typing import IntArray

__all__ = ["Demand", "NodeOf", "Order"]

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
