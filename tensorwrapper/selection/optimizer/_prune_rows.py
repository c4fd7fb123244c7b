"""Cached nodes, shortened to the rows that are read."""

from collections.abc import Iterable
from typing import Any, cast

from tensorwrapper._value_class import evolve
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression, Node, Normalize
from tensorwrapper.selection.expressions._ordinals import pushed
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.expressions._unary import Once
from tensorwrapper.selection.transforms._maps import box_of, maps_of, moved
from tensorwrapper.selection.transforms._transform import Transform, take_apart

__all__ = ["trimmed"]


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
    done: dict[int, Expression] = {}
    nodes = dict(new)
    for own in operands_first([view], parts=_operands):
        node, layout = own.node, own.layout
        if id(node) not in nodes:
            kept = node.is_kept or not node.operands
            operands = () if kept else tuple([done[id(part)] for part in node.operands])
            nodes[id(node)] = node if kept else node.with_operands(operands)
        if firsts.get(id(node)):
            layout = moved(layout, box_of(layout)[1], firsts[id(node)])
        done[id(own)] = evolve(own, node=nodes[id(node)], layout=layout)
    return done[id(view)]
