"""Casts where the elements are: a source that converts sends those of the narrower type.

Only where all that a view reads of the source becomes elements of that one type: else it would be read twice.
"""

from typing import Any

import numpy as np

from tensorwrapper._value_class import evolve
from tensorwrapper.selection.expressions._elementwise import Casting
from tensorwrapper.selection.expressions._expression import Expression, Node, whole
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.plans._source_reads import is_away, mapped, source_of
from tensorwrapper.selection.sources._read_source import Converted, abilities_of
from tensorwrapper.selection.sources._source import Source

__all__ = ["with_casts", "without_casts"]


def with_casts(view: Expression) -> Expression:
    """Return a view in normal form that reads elements at the type they are cast to, where that is less."""
    if not view.node.operands:
        return view
    order = operands_first([view])
    wanted: dict[Source, set[np.dtype[Any] | None]] = {}
    for own in order:
        for part in own.node.operands:
            if is_away(part):
                wanted.setdefault(source_of(part), set()).add(_cast_of(own, part))
    at = {source: types.copy().pop() for source, types in wanted.items() if len(types) == 1}
    if not any(at.values()):
        return view
    done: dict[int, Expression] = {}
    nodes: dict[int, Node] = {}
    for own in order:
        node = own.node
        if node.source is not None or not node.operands:
            done[id(own)] = own
            continue
        (first, *_) = node.operands
        dtype = _cast_of(own, first) if is_away(first) else None
        if dtype is not None and at.get(source_of(first)) == dtype:
            source = Converted(source_of(first), dtype)
            done[id(own)] = Expression(Reading(source), first.layout)
            continue
        if id(node) not in nodes:
            operands = tuple([done[id(part)] for part in node.operands])
            same = all(a is b for a, b in zip(operands, node.operands, strict=True))
            nodes[id(node)] = node if same else node.with_operands(operands)
        new = nodes[id(node)]
        done[id(own)] = own if new is node else evolve(own, node=new)
    return done[id(view)]


def _cast_of(view: Expression, part: Expression) -> "np.dtype[Any] | None":
    """Return the type to which a source converts a part, if a view is that cast and sends less by it."""
    node = view.node
    if not isinstance(node, Casting) or node.unsafe or not view.is_whole:
        return None
    able = "casts" in abilities_of(source_of(part))
    return node.dtype if able and node.dtype.itemsize < part.dtype.itemsize else None


def without_casts(view: Expression) -> Expression:
    """Return a view that reads sources at their own types, and casts here; itself if it does so already."""
    return mapped(view, _at_own_type)


def _at_own_type(leaf: Expression) -> Expression:
    source = leaf.node.source
    if not isinstance(source, Converted):
        return leaf
    return whole(Casting(Expression(Reading(source.source), leaf.layout), source.dtype))
