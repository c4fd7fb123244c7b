"""Find normal forms: push selections down by recursion, and cache shared nodes.

Pushed under k selections, a view becomes k views; and if each of those uses another one k times, that becomes
k * k. So the first attempt is bounded. Where it exceeds the bound, or computes elements more than once, views
are cut: a view with several users, or at too large a depth, is cached, and then read as a source.
"""

from collections import Counter
from typing import Any, final

from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node, whole
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._routing import settled
from tensorwrapper.selection.expressions._traversal import laid_flat, operands_first
from tensorwrapper.selection.expressions._unary import Once
from tensorwrapper.selection.optimizer._normal import normalized
from tensorwrapper.selection.optimizer._prune_rows import trimmed
from tensorwrapper.selection.transforms._maps import canonical

__all__ = ["normalize"]

_DEEP = 40  # nested views up to which recursion goes down at once
_REACH = 16  # nested views between two cuts
_AGAIN = 64  # times that operands are pushed down again, in all, before all that is shared is cut
_KEPT = 1 << 26  # bytes up to which elements that would be computed twice are cached


class _BoundError(Exception):
    """The attempt without cuts takes too much."""


def normalize(view: Expression) -> Expression:
    """Return the normal form of a view: the same elements at the same indices.

    O(nodes that it reaches, and users of each).
    """
    operands = view.node.operands
    # The short way: parts that are shared out are pushed into leaves once each, and nothing is computed.
    if not operands or (view.node.is_sharing and all(own.node.is_leaf for own in operands)):
        return normalized(view, normalize)
    attempt = _Pushing()
    try:
        found = attempt(view)
    except _BoundError:
        return _with_cuts(view, None)
    return _with_cuts(view, attempt.twice) if attempt.twice else found


@final
class _Met:
    """State of a node: the normal forms of selections of it, and their total number of elements."""

    __slots__ = ("found", "node", "total")

    def __init__(self, node: Node) -> None:
        self.node = node  # Kept, so that no other node gets its id.
        self.found: list[tuple[Layout[Any], Expression]] = []
        self.total = 0


@final
class _Pushing:
    """Finds normal forms, and counts repeated work."""

    __slots__ = ("_again", "_cuts", "_depth", "_met", "twice")

    twice: set[int]
    """Nodes, by id, whose elements are computed more than once, and which are small enough to be kept."""

    def __init__(self, cuts: "dict[int, Expression] | None" = None) -> None:
        self._cuts = cuts
        self._met: dict[int, _Met] = {}
        self._depth = 0
        self._again = 0
        self.twice = set()

    def __call__(self, view: Expression) -> Expression:
        node = view.node
        if not node.operands or node.is_leaf or (view.is_box and 0 in view.extents):
            return normalized(view, self)
        if self._cuts is not None and id(node) in self._cuts:
            return self._of_cut(view, self._cuts[id(node)])
        met = self._met.setdefault(id(node), _Met(node))
        known = next((own for layout, own in met.found if layout == view.layout), None)
        self._count(met, view.layout.shape.size, is_new=known is None)
        if known is not None:
            return known
        self._depth += 1
        if self._depth > _DEEP and self._cuts is None:
            raise _BoundError
        found = normalized(view, self)
        self._depth -= 1
        met.found.append((view.layout, found))
        return found

    def _count(self, met: _Met, size: int, *, is_new: bool) -> None:
        is_first, node = not met.total, met.node
        met.total += size
        if is_first or self._cuts is not None:
            return
        self._again += len(node.operands) if is_new else 0
        if self._again > _AGAIN:
            raise _BoundError
        # Distributing or casting elements takes too little work to be worth caching.
        computes = node.is_cellwise and not node.casts
        if computes and met.total > node.size and node.size * node.dtype.itemsize <= _KEPT:
            self.twice.add(id(node))

    def _of_cut(self, view: Expression, inner: Expression) -> Expression:
        # A selection of a cached node is already a layout of it.
        if inner.node.is_kept and inner.is_whole:
            return normalized(Expression(inner.node, view.layout), self)
        if view.is_box:
            return settled(inner, view.layout, self)
        return Expression(Whole(inner), canonical(view.layout))


def _with_cuts(view: Expression, chosen: set[int] | None) -> Expression:
    """Return the normal form in which some nodes, or all with several users and those too deep, are cut."""
    if chosen is None:
        view = laid_flat(view)
    nodes = {id(own.node): own.node for own in operands_first([view])}
    users = Counter([id(part.node) for node in nodes.values() for part in node.operands])
    reach = _REACH if chosen is None else _DEEP
    heights: dict[int, int] = {}
    cuts: dict[int, Expression] = {}
    made: list[Once] = []
    for key, node in nodes.items():
        inside = [heights[id(part.node)] for part in node.operands]
        heights[key] = 1 + max(inside) if inside and not node.is_leaf else 0
        shared = users[key] > 1 if chosen is None else key in chosen
        if not heights[key] or node is view.node or not (shared or heights[key] >= reach):
            continue
        inner = _Pushing(cuts)(whole(node))
        if not inner.node.is_leaf:
            made.append(Once(inner))
            inner = whole(made[-1])
        cuts[key], heights[key] = inner, 0
    return trimmed(_Pushing(cuts)(view), made, _Pushing({}))
