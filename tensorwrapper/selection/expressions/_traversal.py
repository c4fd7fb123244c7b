"""Traverse, compare and flatten expressions in loops: views may be used many times, and nest to any depth.

Recursion would visit a shared view once for each path to it, exponentially often, and overflow Python's
stack. Here each view is visited once.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from tensorwrapper._value_class import evolve

if TYPE_CHECKING:
    from tensorwrapper.selection.expressions._expression import Expression, Node

_SHORT = 16
"""Operands up to which a node is merged at once when it becomes an operand of the same operation.

So a loop that appends copies a bounded number each time; the rest is merged when the whole view is used.
"""


def inlined(parts: "Iterable[Expression]", fits: "Callable[[Expression], bool]") -> "tuple[Expression, ...]":
    """Return parts, where the short ones that fit are replaced by their operands."""
    flat: list[Expression] = []
    for part in parts:
        below = part.node.operands if fits(part) else ()
        flat += below if 0 < len(below) <= _SHORT else [part]
    return tuple(flat)


def operands_first(
    views: "Iterable[Expression]",
    known: "Callable[[Expression], bool] | None" = None,
    parts: "Callable[[Expression], Iterable[Expression]] | None" = None,
    *,
    everything: bool = False,
) -> "list[Expression]":
    """Return views and all their operands, direct and indirect, each object once, after its own operands.

    Parameters
    ----------
    views
        Where to begin.
    known
        Function that excludes a view, and with it all views that only it leads to.
    parts
        Function of a view to its operands, if not those of its node.
    everything
        Whether to include the originals of optimized views, and views that a node has besides its operands.
    """
    found: list[Expression] = []
    met: set[int] = set()
    nodes: set[int] = set()
    waiting: list[tuple[Expression, bool]] = [(view, False) for view in views][::-1]
    while waiting:
        view, is_done = waiting.pop()
        if is_done:
            found.append(view)
            continue
        if id(view) in met or (known is not None and known(view)):
            continue
        met.add(id(view))
        below: Sequence[Expression] = ()
        if parts is not None:
            below = tuple(parts(view))
        elif id(view.node) not in nodes:
            nodes.add(id(view.node))
            below = view.node.made_of if everything else view.node.operands
        if not below and not (everything and view.written is not None):
            found.append(view)  # Most are leaves, which wait for nothing.
            continue
        waiting.append((view, True))
        if everything and view.written is not None:
            waiting.append((view.written, False))
        waiting += [(own, False) for own in reversed(below)]
    return found


def changed(
    view: "Expression",
    change: "Callable[[Expression], Expression | None]",
    parts: "Callable[[Expression], Iterable[Expression]] | None" = None,
    *,
    everything: bool = False,
) -> "Expression":
    """Return a view with each part as `change` returns it, or of changed operands if None.

    Shared nodes stay shared. `parts` and `everything` are those of `operands_first`.
    """
    done: dict[int, Expression] = {}
    nodes: dict[int, Node] = {}
    for own in operands_first([view], parts=parts, everything=everything):
        node, found = own.node, change(own)
        if found is None:
            if id(node) not in nodes:
                below = node.made_of if everything else node.operands
                same = all(done[id(part)] is part for part in below)
                nodes[id(node)] = node if same else node.mapped(lambda part: done.get(id(part), part))
            new = nodes[id(node)]
            found = own if new is node else evolve(own, node=new)
        if everything and own.written is not None and done[id(own.written)] is not own.written:
            found = evolve(found, written=done[id(own.written)])
        done[id(own)] = found
    return done[id(view)]


def are_equal(one: "Expression", other: "Expression") -> bool:
    """Return True if two expressions select the same places of equal nodes.

    Linear in the size of both: equal views are merged into classes, so no pair is compared twice.
    """
    # Hopcroft and Karp's comparison of automata: classes of views that are equal if all comparisons hold.
    leaders: dict[int, int] = {}
    waiting = [(one, other)]
    while waiting:
        a, b = waiting.pop()
        here, there = _leader(leaders, id(a)), _leader(leaders, id(b))
        if here == there:
            continue
        leaders[here] = there
        if a.layout != b.layout:
            return False
        if a.node is not b.node:
            pairs = _pairs(a.node, b.node)
            if pairs is None:
                return False
            waiting += pairs
    return True


def _leader(leaders: dict[int, int], key: int) -> int:
    while key in leaders:
        above = leaders[key]
        leaders[key] = leaders.get(above, above)
        key = above
    return key


def _lying(view: "Expression") -> object:
    """Return the extents of a box, or the shape of rows, which have no extents."""
    return view.extents if view.is_box else view.shape


def _pairs(a: "Node", b: "Node") -> "list[tuple[Expression, Expression]] | None":
    """Return the pairs that must be equal for two nodes to be equal; None if they differ otherwise."""
    mine, yours = a.made_of, b.made_of
    if type(a) is not type(b) or [_lying(own) for own in mine] != [_lying(own) for own in yours]:
        return None
    # With the operands of the other, which are then identical, nodes compare all else that they have.
    left = iter(yours)
    same = a.mapped(lambda _: next(left)) == b
    return list(zip(mine, yours, strict=True)) if same else None


def laid_flat(view: "Expression") -> "Expression":
    """Return the same view with operands of the same operation merged, where no other node uses them.

    So a view to which a loop has appended repeatedly is one node. Linear in the size of the view.
    """
    nodes = {id(own.node): own.node for own in operands_first([view])}
    users = Counter([id(part.node) for node in nodes.values() for part in node.operands])

    def inside(node: "Node", part: "Expression") -> "Sequence[Expression]":
        alone = users[id(part.node)] == 1 and node.takes_in(part)
        return part.node.operands if alone else ()

    gone = {id(part.node) for node in nodes.values() for part in node.operands if inside(node, part)}
    new: dict[int, Node] = {}
    views: dict[int, Expression] = {}
    for key, node in nodes.items():
        if key in gone:
            continue
        flat: list[Expression] = []
        left = list(reversed(node.operands))
        while left:
            part = left.pop()
            below = inside(node, part)
            left += reversed(below)
            if not below:
                if id(part) not in views:
                    same = new[id(part.node)] is part.node
                    views[id(part)] = part if same else evolve(part, node=new[id(part.node)])
                flat.append(views[id(part)])
        same = len(flat) == len(node.operands) and all(
            a is b for a, b in zip(flat, node.operands, strict=True)
        )
        new[key] = node if same else node.with_operands(tuple(flat))
    found = new[id(view.node)]
    return view if found is view.node else evolve(view, node=found)


Row = tuple["Node", Any, tuple[Any, ...], int | None]
"""A node whose operands are numbers of rows before it, a layout, calls, and the row that was optimized."""


def flattened(view: "Expression", stand_in: "Callable[[int, Expression], Expression]") -> "tuple[Row, ...]":
    """Return a view as rows, each of which refers to rows before it: a form to pickle without recursion.

    `stand_in` returns the stand-in of an operand, by its row, in a node that is written alone.
    """
    numbers: dict[int, int] = {}
    nodes: dict[int, Node] = {}
    rows: list[Row] = []
    for own in operands_first([view], everything=True):
        node = nodes.get(id(own.node))
        if node is None:
            node = nodes[id(own.node)] = own.node.mapped(lambda part: stand_in(numbers[id(part)], part))
        written = None if own.written is None else numbers[id(own.written)]
        numbers[id(own)] = len(rows)
        rows.append((node, own.layout, own.calls, written))
    return tuple(rows)


def rebuilt(
    rows: "Sequence[Row]",
    make: "Callable[..., Expression]",
    number_of: "Callable[[Expression], int]",
) -> "Expression":
    """Return the view of rows of a table; nodes that were shared are shared again.

    `number_of` returns the row number of a stand-in for an operand.
    """
    views: list[Expression] = []
    nodes: dict[int, Node] = {}
    for given, layout, calls, written in rows:
        node = nodes.get(id(given))
        if node is None:
            node = nodes[id(given)] = given.mapped(lambda own: views[number_of(own)])
        views.append(make(node, layout, calls, None if written is None else views[written]))
    return views[-1]
