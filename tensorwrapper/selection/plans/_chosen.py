"""What is read where a mask chooses: of each operand only what it is chosen for.

A mask in memory says it before anything else is read. It may change between two looks, so what follows from
it is kept by nobody.
"""

from collections.abc import Iterator
from typing import Any, TypeAlias

import attrs
import numpy as np

from tensorwrapper.layout import Layout, Table
from tensorwrapper.layout.lowlevel import over_box, wrap_layout
from tensorwrapper.selection.expressions._cellwise import Casting, Choosing
from tensorwrapper.selection.expressions._expression import Expression, Node, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._walks import operands_first
from tensorwrapper.selection.expressions._whole import Whole
from tensorwrapper.selection.plans._leaves import is_away, leaves_of
from tensorwrapper.selection.plans._split import fetch_of
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["chooses", "places_chosen", "with_chosen"]

_LISTED = 1 << 22  # elements of a view up to which it is found for each what it is chosen of

_Places: TypeAlias = "tuple[Expression, IntArray]"


def chooses(view: Expression) -> bool:
    """Tell whether in a view of few enough elements a mask in memory chooses between operands."""
    return view.shape.size <= _LISTED and any(
        isinstance(own.node, Choosing) and _is_here(own.node.operands[0]) for own in operands_first([view])
    )


def _is_here(mask: Expression) -> bool:
    return not any(map(is_away, leaves_of(mask)))


def with_chosen(view: Expression) -> Expression:
    """Return a view in which operands elsewhere, between which a mask chooses, are read where it does."""
    if not any(map(is_away, leaves_of(view))) or not chooses(view):
        return view
    done: dict[int, Expression] = {}
    nodes: dict[int, Node] = {}
    for own in operands_first([view]):
        node = own.node
        if node.operands and id(node) not in nodes:
            operands = tuple([done[id(part)] for part in node.operands])
            same = all(a is b for a, b in zip(operands, node.operands, strict=True))
            new = node if same else node.with_operands(operands)
            nodes[id(node)] = _only_chosen(new) if isinstance(new, Choosing) else new
        changed = nodes.get(id(node), node)
        done[id(own)] = own if changed is node else attrs.evolve(own, node=changed)
    return done[id(view)]


def _only_chosen(node: Choosing) -> Choosing:
    mask, left, right = node.operands
    if not _is_here(mask) or not (_reads_away(left) or _reads_away(right)):
        return node
    true = _elements(mask, _all_positions(mask)).astype(np.bool_, copy=False)
    return Choosing((mask, _only(left, true), _only(right, ~true)))


def _reads_away(part: Expression) -> bool:
    return is_away(part.node.operand if isinstance(part.node, Casting) and part.is_whole else part)


def _only(part: Expression, chosen: Array) -> Expression:
    """Return an operand that has its elements where they are chosen, and elsewhere any that are read."""
    if not _reads_away(part):
        return part
    node = part.node
    if isinstance(node, Casting):
        return attrs.evolve(part, node=node.with_operands((_only(node.operand, chosen),)))
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


# In memory: which places are read, each once.


def places_chosen(view: Expression) -> dict[Any, IntArray]:
    """Return for each tensor that a view reads, by its source, the places of its buffer that are needed.

    Each node is asked once, for the places that all that use it need: linear in the nodes.
    """
    order = operands_first([view])
    first = {id(own.node): own for own in reversed(order)}
    needed: dict[int, list[IntArray]] = {id(view): [_all_positions(view)]}
    places: dict[int, list[IntArray]] = {}
    found: dict[Any, IntArray] = {}
    for own in reversed(order):
        node = own.node
        for positions in needed.pop(id(own), ()):
            places.setdefault(id(node), []).append(_places(own, positions))
        if first[id(node)] is not own or id(node) not in places:
            continue
        there = np.unique(np.concatenate(places.pop(id(node))))
        if node.source is not None:
            if not is_away(own):
                known = found.get(node.source)
                found[node.source] = there if known is None else np.union1d(known, there)
            continue
        for part, positions in _asked_of_parts(node, _unraveled(there, node.extents)):
            needed.setdefault(id(part), []).append(positions)
    return found


def _asked_of_parts(node: Node, there: IntArray) -> Iterator[_Places]:
    if node.is_kept:
        for part in node.operands:
            yield part, _all_positions(part)
    elif isinstance(node, Choosing) and _is_here(node.operands[0]):
        mask, *sides = node.operands
        true = _elements(mask, there).astype(np.bool_, copy=False)
        yield mask, there
        for side, chosen in zip(sides, (true, ~true), strict=True):
            yield side, there[chosen]
    else:
        shares = None if node.is_choosing else node.shares(there, _elements)
        for part, _, own in [(part, None, there) for part in node.operands] if shares is None else shares:
            yield part, own


def _all_positions(view: Expression) -> IntArray:
    return _unraveled(np.arange(view.shape.size), view.extents)


def _places(view: Expression, positions: IntArray) -> IntArray:
    return view.layout.offsets_of(positions + np.array(view.origin, dtype=np.int64))


def _in_node(view: Expression, positions: IntArray) -> IntArray:
    return _unraveled(_places(view, positions), view.node.extents)


def _unraveled(places: IntArray, extents: Extents) -> IntArray:
    return np.stack(np.unravel_index(places, extents), axis=-1).reshape(len(places), len(extents))


def _elements(view: Expression, positions: IntArray) -> Array:
    """Return elements of a view of tensors in memory."""
    tensor = view.node.tensor
    if tensor is not None:
        return tensor.buffer.read(_places(view, positions))
    return view.node.at(_in_node(view, positions), _elements)
