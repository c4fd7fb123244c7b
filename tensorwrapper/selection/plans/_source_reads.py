"""The parts of a view in normal form that read sources, and the source reads of a plan."""

from collections.abc import Callable
from math import prod
from typing import Any, cast

import numpy as np

from tensorwrapper._value_class import evolve
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.selection.transforms._maps import maps_of
from tensorwrapper.typing import Array

__all__ = [
    "distinct_size",
    "is_away",
    "is_number",
    "is_sparse",
    "leaves_of",
    "leaves_read",
    "mapped",
    "source_of",
    "sparse_unread",
]


def is_away(view: Expression) -> bool:
    """Return True if a part of a view reads a source that is not in this process."""
    node = view.node
    return node.source is not None and node.tensor is None


def source_of(leaf: Expression) -> Source:
    """Return the source of a part of a view."""
    return cast("Source", leaf.node.source)


def leaves_of(view: Expression) -> list[Expression]:
    """Return the parts of a view in normal form that read sources; one that is used many times once."""
    if not view.node.made_of:
        return [view] if view.node.source is not None else []
    return [own for own in operands_first([view]) if own.node.source is not None]


def leaves_read(view: Expression) -> list[Expression]:
    """Return the parts of a view in normal form whose elements it has: all but masks in memory."""
    if not view.node.made_of:
        return [view] if view.node.source is not None else []
    return [own for own in operands_first([view], parts=_without_mask) if own.node.source is not None]


def _without_mask(view: Expression) -> tuple[Expression, ...]:
    masks, operands = view.node.masks, view.node.operands
    if any(is_away(leaf) for mask in masks for leaf in leaves_of(mask)):
        return operands
    return operands[len(masks) :]


def mapped(view: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Return a view in normal form with each part that reads a source as `change` returns it."""
    if not view.node.operands:
        return change(view) if view.node.source is not None else view
    done: dict[int, Expression] = {}
    nodes: dict[int, Node] = {}
    for own in operands_first([view]):
        node = own.node
        if node.source is not None:
            done[id(own)] = change(own)
            continue
        if id(node) not in nodes:
            operands = tuple([done[id(part)] for part in node.operands])
            same = all(a is b for a, b in zip(operands, node.operands, strict=True))
            nodes[id(node)] = node if same else node.with_operands(operands)
        new = nodes[id(node)]
        done[id(own)] = own if new is node else evolve(own, node=new)
    return done[id(view)]


def distinct_size(layout: Layout[Any]) -> int:
    """Return how many elements a layout reaches, counted mode by mode: an upper bound if modes overlap."""
    maps = maps_of(layout)
    count = layout.shape.size if maps is None else prod([axis.distinct_count() for axis in maps[1]])
    least, greatest = layout.bounds()
    return min(count, greatest + 1 - least)


def is_sparse(view: Expression) -> bool:
    """Return True if a view in normal form reads a sparse tensor. O(parts)."""
    return any(
        leaf.node.tensor is not None and leaf.node.tensor.buffer.fill_value is not None
        for leaf in leaves_of(view)
    )


def is_number(view: Expression) -> bool:
    """Return True if a box is one dense element, stretched: beside sparse tensors it has no entries."""
    if not view.is_box or not view.shape.size:
        return False
    least, greatest = view.layout.bounds()
    return least == greatest and not is_sparse(view)


def sparse_unread(view: Expression, normal: Expression) -> Array | None:
    """Return the fill of a view of sparse tensors without any of their elements; otherwise None.

    That is a view without elements, or of a constant around: a view of sparse operands is sparse, even if it
    reads nothing of them. O(nodes) for such views, O(1) for others.
    """
    if view.shape.size and not normal.node.is_constant:
        return None
    for own in operands_first([view], parts=_made_of):
        tensor = own.node.tensor
        if tensor is not None and tensor.is_sparse:
            value = getattr(normal.node, "value", None) if view.shape.size else tensor.fill_value
            return cast("Array", np.asarray(value))
    return None


def _made_of(view: Expression) -> "list[Expression]":
    """Return the operands of a view, and the original that it was optimized from."""
    return [*view.node.operands, *([] if view.written is None else [view.written])]
