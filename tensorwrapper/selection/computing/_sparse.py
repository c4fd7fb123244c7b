"""Views of sparse tensors computed: stored entries are brought to where they are seen, and nothing else.

Every part of a normal form is a layout of one tensor, or pieces side by side. A layout is a sparse tensor by
itself; pieces are their entries, moved along one mode.
"""

from typing import Any

import numpy as np

from tensorwrapper.buffer.lowlevel import convert_elements, is_fill, make_sparse
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._cellwise import Casting, Choosing, Extreme
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.selection.plans._chosen import elements_at
from tensorwrapper.selection.plans._leaves import leaves_of
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, IntArray

__all__ = ["is_sparse", "sparse_of"]


def is_sparse(view: Expression) -> bool:
    """Tell whether a view in normal form reads a sparse tensor. O(parts)."""
    return any(
        leaf.node.tensor is not None and leaf.node.tensor.buffer.fill_value is not None
        for leaf in leaves_of(view)
    )


def sparse_of(view: Expression, shape: Shape[Any]) -> Tensor[Any]:
    """Return the sparse tensor that a view in normal form is, at the indices of the shape of the view.

    O(entries log entries), and O(parts).

    Raises
    ------
    ConversionError
        If it also has elements that are not of a sparse tensor with the same fill.
    """
    fills = [leaf.node.tensor.buffer.fill_value for leaf in leaves_of(view) if leaf.node.tensor is not None]
    known = [fill for fill in fills if fill is not None]
    fill = np.asarray(known[0], view.dtype)
    if any(not is_fill(np.asarray(other, view.dtype), fill).all() for other in known):
        raise ConversionError(
            f"sparse tensors of fills {known[0]} and {known[-1]} are no one sparse tensor: to_dense() of them"
        )
    ordinals, values = _entries(view, fill)
    return make_tensor(Layout(shape), make_sparse(ordinals, values, shape.size, fill))


def _entries(view: Expression, fill: Array) -> tuple[IntArray, Array]:
    """Return the ordinals of stored entries, ascending, and their values."""
    node, tensor = view.node, view.node.tensor
    if tensor is not None:
        if tensor.buffer.fill_value is None:
            raise _dense(f"the dense tensor {tensor.shape!r}")
        ordinals, values = tensor.buffer.stored_of(view.layout.implementation)
        return ordinals, convert_elements(values, fill.dtype)
    if isinstance(node, Casting | Choosing | Extreme):
        return _selected(view, *_of_cells(node, fill), fill)
    if node.ordered is not None:
        return _selected(view, *_entries(node.ordered, fill), fill)
    pieces = node.shared()
    if pieces:
        found = _joined(node.extents, pieces, fill)
        return found if view.is_whole else _selected(view, *found, fill)
    if node.is_constant and is_fill(np.asarray(getattr(node, "value", None), fill.dtype), fill).all():
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=fill.dtype)
    raise _dense(node.title)


def _of_cells(node: "Casting | Choosing | Extreme", fill: Array) -> tuple[IntArray, Array]:
    """Return the entries of what is made cell by cell: no more than those of all operands."""
    if isinstance(node, Casting):
        ordinals, values = _entries(node.operand, np.asarray(fill, node.operand.dtype))
        return ordinals, convert_elements(values, fill.dtype)
    if isinstance(node, Choosing):
        mask, *sides = node.operands
        found = [_entries(side, fill) for side in sides]
        chosen = [elements_at(mask, own).astype(np.bool_) for own, _ in found]
        kept = [chosen[0], ~chosen[1]]
        ordinals = np.concatenate([own[keep] for (own, _), keep in zip(found, kept, strict=True)])
        values = np.concatenate([own[keep] for (_, own), keep in zip(found, kept, strict=True)])
        order = np.argsort(ordinals, kind="stable")
        return ordinals[order], values[order]
    found = [_entries(part, fill) for part in node.operands]
    ordinals = np.unique(np.concatenate([own for own, _ in found]))
    better = np.minimum if node.kind == "minimum" else np.maximum
    columns: list[Array] = []
    for own, values in found:
        side = np.full(len(ordinals), fill, dtype=fill.dtype)
        side[np.searchsorted(ordinals, own)] = values
        columns.append(side)
    return ordinals, better.reduce(columns)


def _selected(view: Expression, ordinals: IntArray, values: Array, fill: Array) -> tuple[IntArray, Array]:
    """Return the entries that a layout selects of those of a box in its order."""
    if view.is_whole:
        return ordinals, values
    buffer = make_sparse(ordinals, values, view.node.size, fill)
    found: tuple[IntArray, Array] = buffer.stored_of(view.layout.implementation)
    return found


def _joined(
    extents: tuple[int, ...], pieces: tuple[tuple[int, range, Expression], ...], fill: Array
) -> tuple[IntArray, Array]:
    box = Shape(*extents)
    all_ordinals: list[IntArray] = []
    all_values: list[Array] = []
    for mode, positions, view in pieces:
        own, values = _entries(view, fill)
        indices = Shape(*view.shape.extents).indices_at(own)
        indices[:, mode] = positions.start + positions.step * indices[:, mode]
        all_ordinals.append(box.ordinals(indices))
        all_values.append(values)
    ordinals = np.concatenate(all_ordinals)
    order = np.argsort(ordinals, kind="stable")
    return ordinals[order], np.concatenate(all_values)[order]


def _dense(what: str) -> ConversionError:
    return ConversionError(f"{what} has an element everywhere, and others are sparse: to_dense() of those")
