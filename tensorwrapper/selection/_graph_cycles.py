"""Cycles of a directed graph, each as the strongly connected nodes that form it."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TypeVar

__all__ = ["cycles_of"]

K = TypeVar("K", bound=Hashable)


def cycles_of(follows: Mapping[K, Sequence[K]]) -> Iterator[list[K]]:
    """Return an iterator over the strongly connected sets of more than one node; O(nodes + edges).

    It keeps its own stack, so that no chain is too long for Python's.

    Source: R. Tarjan, Depth-first search and linear graph algorithms (1972).

    Examples
    --------
    >>> [sorted(ring) for ring in cycles_of({1: [2], 2: [3], 3: [1, 4], 4: []})]
    [[1, 2, 3]]
    """
    order: dict[K, int] = {}
    low: dict[K, int] = {}
    open_nodes: list[K] = []
    is_open: set[K] = set()
    for root in list(follows):
        if root in order:
            continue
        work = [(root, iter(follows.get(root, ())))]
        order[root] = low[root] = len(order)
        open_nodes.append(root)
        is_open.add(root)
        while work:
            node, rest = work[-1]
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == order[node]:
                    place = _last(open_nodes, node)
                    ring = open_nodes[place:]
                    del open_nodes[place:]
                    is_open.difference_update(ring)
                    if len(ring) > 1:
                        yield ring
            elif following not in order:
                order[following] = low[following] = len(order)
                open_nodes.append(following)
                is_open.add(following)
                work.append((following, iter(follows.get(following, ()))))
            elif following in is_open:
                low[node] = min(low[node], order[following])


def _last(nodes: Sequence[K], node: K) -> int:
    place = len(nodes) - 1
    while nodes[place] != node:
        place -= 1
    return place
