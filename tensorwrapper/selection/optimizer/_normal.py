"""Normal forms: layouts are pushed into operands, and rows that nothing reads are left out."""

from collections import Counter
from collections.abc import Iterable
from typing import Any, cast, final

import attrs

from tensorwrapper._value_class import evolve
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Node,
    Normalize,
    at_zero,
    check_boxes,
    whole,
)
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._ordinals import Once, Whole, pushed, sampled
from tensorwrapper.selection.expressions._routing import handed_on, settled
from tensorwrapper.selection.expressions._traversal import changed, laid_flat, operands_first
from tensorwrapper.selection.jagged._flatten import in_order
from tensorwrapper.selection.transforms._transform import (
    Transform,
    box,
    box_of,
    canonical,
    maps_of,
    moved,
    take_apart,
)


def normalized(view: Expression, normalize: Normalize) -> Expression:
    """Return the normal form of a view: the same elements at the same indices.

    `normalize` returns that of the parts of operands that the view selects.
    """
    node = view.node
    if not view.is_box:
        if node.is_leaf:
            return Expression(node, view.layout)
        if len(node.extents) == 1:
            # Rows are ordinals: the elements are a box of rank 1, under the rows of the view.
            return Expression(Whole(normalize(in_order(view))), Layout(view.shape))
        return _as_it_lies(view, normalize)
    extents = view.extents
    if node.is_constant or 0 in extents:
        value = _nothing(node.dtype) if 0 in extents else cast("Filling", node).value
        return _placed(whole(Filling(box(extents), value, node.dtype)), view)
    if node.is_leaf:
        return Expression(node, canonical(view.layout))
    return _placed(_lowered(view, normalize), view)


def _nothing(dtype: Any) -> object:  # noqa: ANN401 - a type of elements
    return "" if dtype.kind in "TSUO" else 0


def _placed(found: Expression, view: Expression) -> Expression:
    """Return a view with the origin of another one of its extents."""
    origin = view.origin
    return found if found.origin == origin else Expression(found.node, moved(found.layout, origin, 0))


def _lowered(view: Expression, normalize: Normalize) -> Expression:
    """Return the normal form of a view over a node with operands."""
    node = view.node
    lowered = node.lowered()
    if lowered is not node:
        return normalize(Expression(lowered, view.layout))
    handed = handed_on(at_zero(view), normalize)
    if handed is not None:
        return handed
    transform = take_apart(view.layout, node.extents)
    if transform is not None:
        transform = attrs.evolve(transform, origin=(0,) * len(transform.extents))
        found = node.selected(transform, normalize)
        if found is not None:
            return found
        if node.is_cellwise:
            check_boxes(node)
            return sampled(node, transform, normalize)
    return _spread(view, normalize)


def _spread(view: Expression, normalize: Normalize) -> Expression:
    """Return a view whose node is evaluated only for the rows of its first mode that the layout reaches."""
    node, ordered = view.node, view.node.ordered
    if maps_of(view.layout) is None or (ordered is not None and maps_of(ordered.layout) is None):
        return _as_it_lies(view, normalize)
    least, greatest = view.layout.bounds()
    row = node.size // node.extents[0]
    first, last = least // row, greatest // row
    rows = wrap_layout(new_row_major(node.extents))[first : last + 1]
    if ordered is None and rows == view.layout:
        raise ConversionError(
            f"{node.name!r} is not cellwise, and does not say what rows of it are: it needs `selected`, "
            "`lowered` or `ordered`"
        )
    if ordered is not None:
        transform = cast("Transform", take_apart(rows, node.extents))  # A slice moves each mode by itself.
        inner = pushed(ordered, transform)
    else:
        inner = Expression(node, rows)
    layout = moved(view.layout, (0,) * view.shape.rank, first * row)
    return settled(normalize(inner), layout, normalize)


def _as_it_lies(view: Expression, normalize: Normalize) -> Expression:
    """Return a view of all elements of its node in their order, where they are not taken apart."""
    node, ordered = view.node, view.node.ordered
    inner = normalize(whole(node) if ordered is None else ordered)
    return Expression(Whole(inner), canonical(view.layout))


def trimmed(view: Expression, made: list[Once], normalize: Normalize) -> Expression:
    """Return a normal form in which cached nodes have only the rows between the ends of reads.

    Parameters
    ----------
    view
        The normal form.
    made
        Its cached nodes, each after those that it reads.
    normalize
        Returns the normal form of a part of a normal form.
    """
    read: dict[int, list[Layout[Any]]] = {}
    _collect(view, read)
    firsts: dict[int, int] = {}
    inner: dict[int, Expression] = {}
    for once in reversed(made):
        if id(once) not in read:
            continue
        firsts[id(once)], inner[id(once)] = _rows_of(once, read[id(once)], normalize)
        _collect(inner[id(once)], read)
    if all(inner[id(once)] is once.operand for once in made if id(once) in inner):
        return view
    new: dict[int, Node] = {}
    for once in made:
        if id(once) in inner:
            new[id(once)] = Once(_replaced(inner[id(once)], new, firsts))
    return _replaced(view, new, firsts)


def _operands(view: Expression) -> Iterable[Expression]:
    return () if view.node.is_kept else view.node.operands


def _collect(view: Expression, read: dict[int, list[Layout[Any]]]) -> None:
    """Add the selections of cached nodes that a view reads directly, not through other cached nodes."""
    for own in operands_first([view], parts=_operands):
        if own.node.is_kept:
            read.setdefault(id(own.node), []).append(own.layout)


def _rows_of(once: Once, layouts: list[Layout[Any]], normalize: Normalize) -> tuple[int, Expression]:
    """Return the first place that is read, and the elements from the first to the last row of the reads."""
    operand, extents = once.operand, once.extents
    whole_rows = 0, operand
    if not extents or any(maps_of(layout) is None for layout in (*layouts, operand.layout)):
        return whole_rows
    ends = [layout.bounds() for layout in layouts]
    row = once.size // extents[0]
    first, last = min([low for low, _ in ends]) // row, max([high for _, high in ends]) // row
    if (first, last) == (0, extents[0] - 1):
        return whole_rows
    rows = wrap_layout(new_row_major(extents))[first : last + 1]
    part = pushed(operand, cast("Transform", take_apart(rows, extents)))
    return first * row, normalize(part)


def _replaced(view: Expression, new: dict[int, Node], firsts: dict[int, int]) -> Expression:
    """Return a view that reads the shortened nodes."""

    def shortened(own: Expression) -> Expression | None:
        first, layout = firsts.get(id(own.node)), own.layout
        if first:
            layout = moved(layout, box_of(layout)[1], first)
        return evolve(own, node=new[id(own.node)], layout=layout) if id(own.node) in new else None

    return changed(view, shortened, _operands)


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
