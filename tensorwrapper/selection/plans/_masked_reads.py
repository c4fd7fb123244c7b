"""Reduce reads to the elements that a mask chooses, or that are needed of a node computed as a whole.

The elements of a mask in memory are known before anything else is read. They may change at any time, so
results that depend on them are not cached.
"""

from collections.abc import Iterable
from typing import Any, cast

import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._boxes import cut_box
from tensorwrapper.layout import Layout, Table
from tensorwrapper.layout.lowlevel import over_box, wrap_layout
from tensorwrapper.selection.expressions._expression import Expression, Node, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.operations._operation import ranks_of, unravel
from tensorwrapper.selection.plans._source_reads import distinct_size, is_away, is_listed, leaves_of, mapped
from tensorwrapper.selection.plans._split_work import fetch_of
from tensorwrapper.selection.routing._graph import Demand, Elements
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

__all__ = ["blocks_that_choose", "chooses", "elements_at", "places_chosen", "with_chosen"]

_AT_ONCE = 1 << 19  # elements of a block, where there are more: its tables take 40 MiB


def chooses(view: Expression) -> bool:
    """Return True if a view of few enough elements may need less than all elements of its parts.

    That is where a mask in memory chooses between operands, and where a selection by number, over several
    modes as one, does not take all elements.
    """
    if not is_listed(view.shape.size) or not view.node.operands:
        return False
    made = operands_first([view])
    away = _away(made)
    return any(_has_masks(own.node, away) or _is_narrow(own) for own in made)


def blocks_that_choose(view: Expression) -> tuple[tuple[slice, ...], ...]:
    """Return blocks in each of which the choice of masks in memory between remote sources can be found.

    Return None for views of a single block, and for views without masks.
    """
    if is_listed(view.shape.size) or not any(map(is_away, leaves_of(view))):
        return ()
    made = operands_first([view])
    away = _away(made)
    if not any(_has_masks(own.node, away) for own in made):
        return ()
    return tuple(cut_box(view.extents, _AT_ONCE))


def _is_narrow(view: Expression) -> bool:
    """Return True if a view surely takes only some elements of a node that is read by number."""
    node = view.node
    return isinstance(node, Whole) and distinct_size(view.layout) < node.size


def _has_masks(node: Node, away: set[int]) -> bool:
    """Return True if masks in memory decide which operands the elements of a node come from."""
    return bool(node.masks) and not any(id(mask) in away for mask in node.masks)


def _away(made: list[Expression]) -> set[int]:
    """Return the views, by id, that read remote sources; `made` has each view after its parts."""
    found: set[int] = set()
    nodes: dict[int, bool] = {}
    for own in made:
        node = own.node
        if id(node) not in nodes:
            nodes[id(node)] = is_away(own) or any(id(part) in found for part in node.operands)
        if nodes[id(node)]:
            found.add(id(own))
    return found


def with_chosen(view: Expression) -> Expression:
    """Return a view in which parts elsewhere of which not all is needed are read where it is.

    Choices of a mask, and selections from a whole, are followed through joins, extremes, casts and other
    choices. Linear in the nodes, and in the elements that are chosen at each.
    """
    if not any(map(is_away, leaves_of(view))) or not chooses(view):
        return view
    needed = _needed(view)
    return mapped(view, lambda leaf: _only(leaf, needed[id(leaf)]) if id(leaf) in needed else leaf)


def _needed(view: Expression) -> dict[int, Array]:
    """Return for parts that are elsewhere, by id, which of their elements are needed, if a mask tells it."""
    made = operands_first([view])
    away, elements = _away(made), Elements(_node_of, _in_node, _read)
    first: dict[int, int] = {}
    for number, own in enumerate(made):
        first.setdefault(id(own.node), number)
    # The needed positions of views and of nodes; those needed as a whole are in a set.
    asked: dict[int, list[IntArray]] = {}
    of_nodes: dict[int, list[IntArray]] = {}
    wholes = {id(view)}
    found: dict[int, Array] = {}
    # Backwards, so that each is met behind all that use it; a node where the last view of it is.
    for number, own in reversed(list(enumerate(made))):
        node, positions = own.node, asked.pop(id(own), [])
        if id(own) not in away:
            continue
        if not node.operands:
            if id(own) not in wholes and is_listed(own.shape.size):
                found[id(own)] = _flags(own, positions)
            continue
        here = _needed_here(own, positions, is_whole=id(own) in wholes)
        if here is None:
            wholes.add(id(node))
        else:
            of_nodes.setdefault(id(node), []).extend([_in_node(own, some) for some in here])
        if first[id(node)] != number:
            continue
        together = of_nodes.pop(id(node), [])
        there = None if id(node) in wholes else _distinct(node, together)
        for part, few in _wanted(node, there, away, elements):
            if few is None:
                wholes.add(id(part))
            else:
                asked.setdefault(id(part), []).append(few)
    return found


def _needed_here(view: Expression, positions: list[IntArray], *, is_whole: bool) -> list[IntArray] | None:
    """Return the needed positions of a view; None if all of its node is needed."""
    if not is_whole:
        return positions
    return [_all_positions(view)] if _is_narrow(view) and is_listed(view.shape.size) else None


def _flags(view: Expression, positions: list[IntArray]) -> Array:
    flags = np.zeros(view.shape.size, dtype=np.bool_)
    for own in positions:
        flags[ranks_of(own, view.extents)] = True
    return flags


def _distinct(node: Node, positions: list[IntArray]) -> IntArray:
    ranks = [ranks_of(own, node.extents) for own in positions]
    return unravel(different(np.concatenate(ranks)) if ranks else np.zeros(0, np.int64), node.extents)


def _wanted(
    node: Node, there: IntArray | None, away: set[int], elements: Elements
) -> "Iterable[tuple[Expression, IntArray | None]]":
    """Return the demand of positions of a node, or all of it, on its operands; None for all of one."""
    if there is None and is_listed(node.size) and _has_masks(node, away):
        there = _all_positions(node.masks[0])
    # A node that checks whole operands may refuse the stand-ins of elements that it does not need.
    shared = None if there is None or node.is_kept else _asks(node, there, away, elements)
    return [(part, None) for part in node.operands] if shared is None else list(shared)


def _asks(
    node: Node, there: IntArray, away: set[int], elements: Elements
) -> "list[tuple[Expression, IntArray]] | None":
    """Return the demand of positions of a node on its operands; None if it passes no elements on."""
    if _has_masks(node, away):
        shares = node.shares(there, [elements.at(mask, there) for mask in node.masks])
    elif node.deciding:
        return [(part, there) for part in node.operands]
    else:
        shares = node.shares(there, ())
    return None if shares is None else [(part, own) for part, _, own in shares]


def _only(part: Expression, chosen: Array) -> Expression:
    """Return a part that has its elements where they are chosen, and elsewhere any that are read."""
    node = part.node
    ordinals = np.flatnonzero(chosen)
    if not len(ordinals):
        value = np.zeros((), part.dtype)[()]
        return whole(Filling(part.shape, value, part.dtype))
    base, axis = Table(part.layout.offsets_of_ordinals(ordinals)).simplify()
    few = Expression(node, wrap_layout(over_box((len(ordinals),), (0,), base, (axis,))))
    if fetch_of(few).nbytes >= fetch_of(part).nbytes:
        return part
    ranks = np.maximum(np.cumsum(chosen, dtype=np.int64) - 1, 0)
    line = Expression(Whole(few), wrap_layout(over_box((len(ranks),), (0,), 0, (Table(ranks),))))
    return line if len(part.extents) == 1 else Expression(Whole(line), Layout(part.shape))


def elements_at(view: Expression, ordinals: IntArray) -> Array:
    """Return elements of a view of memory, by their numbers in row-major order."""
    return Elements(_node_of, _in_node, _read).at(view, unravel(ordinals, view.extents))


# In memory: which places are read, each once.


def places_chosen(view: Expression) -> dict[Any, IntArray]:
    """Return for each tensor that a view reads, by its source, the places of its buffer that are needed."""
    away, elements = _away(operands_first([view])), Elements(_node_of, _in_node, _read)
    demand = Demand(elements.order)
    found: dict[Any, list[IntArray]] = {}

    def ask(part: Expression, positions: IntArray) -> None:
        tensor = part.node.tensor
        if tensor is not None:
            found.setdefault(part.node.source, []).append(_places(part, positions))
        elif part.node.operands and len(positions):
            demand.ask(part.node, _places(part, positions))

    ask(view, _all_positions(view))
    while demand:
        node, (asked,) = demand.pop()
        there = unravel(different(asked), node.extents)
        for part, own in _parts(node, there, away, elements):
            ask(part, own)
    return {source: different(np.concatenate(own)) for source, own in found.items()}


def _parts(
    node: Node, there: IntArray, away: set[int], elements: Elements
) -> "Iterable[tuple[Expression, IntArray]]":
    """Return the demand of positions of a node on its operands, all of which are in memory."""
    if node.is_kept:
        return [(part, _all_positions(part)) for part in node.operands]
    shared = _asks(node, there, away, elements)
    return [(part, there) for part in node.operands] if shared is None else shared


def _all_positions(view: Expression) -> IntArray:
    return unravel(np.arange(view.shape.size, dtype=np.int64), view.extents)


def _node_of(view: Expression) -> Node:
    return view.node


def _places(view: Expression, positions: IntArray) -> IntArray:
    return view.layout.offsets_of(positions + np.array(view.origin, dtype=np.int64))


def _in_node(view: Expression, positions: IntArray) -> IntArray:
    return unravel(_places(view, positions), view.node.extents)


def _read(node: Node, positions: IntArray) -> Array:
    """Return elements of a tensor in memory, whose positions are places of its buffer."""
    return cast("Tensor[Any]", node.tensor).buffer.read(positions[:, 0])
