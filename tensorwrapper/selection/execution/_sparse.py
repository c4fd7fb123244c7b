"""Computed views of sparse tensors: only stored entries are moved to their positions in the view.

Every part of a normal form is a layout of one tensor, or pieces side by side. A layout is a sparse tensor by
itself; pieces are their entries, moved along one mode. The entries of a cached node are found once.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import is_fill, make_sparse
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.plans._source_reads import is_away, is_number, is_sparse, leaves_of
from tensorwrapper.selection.plans._split_work import elements_at
from tensorwrapper.selection.transforms._transform import layout_at
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import at_places, make_tensor
from tensorwrapper.typing import Array, IntArray


@final
@frozen
class _Entries:
    """The stored entries of a box.

    Attributes
    ----------
    ordinals
        Where they are, ascending.
    values
        Their elements.
    fill
        All other elements.
    title
        Description for errors, if the operand is a constant and not a sparse tensor.
    """

    ordinals: IntArray
    values: Array
    fill: Array
    title: str | None = None


_Compute: TypeAlias = Callable[[Expression], Array]
"""Returns the elements of a view that is read elsewhere."""


@final
@frozen(eq=False)
class _Known:
    """Cached results while entries are found.

    Attributes
    ----------
    made
        The entries of cached nodes, by the id of the node.
    compute
        Computes masks that are not in memory.
    brought
        Buffers elsewhere that several operands read, with their elements at hand, by the id of the buffer.
    """

    made: dict[int, _Entries]
    compute: _Compute
    brought: dict[int, BufferCommon[Any]]


def sparse_of(view: Expression, shape: Shape[Any], compute: _Compute) -> Tensor[Any]:
    """Return the sparse tensor that a view in normal form is, at the indices of the shape of the view.

    O(entries log entries), and O(parts). No entry is equal to the fill. Elements of masks that are not in
    memory are computed by `compute`: no more than there are entries. The result is in blocks, if all operands
    are in tiles that fit together.

    Raises
    ------
    ConversionError
        If it also has elements that are not of a sparse tensor with the same fill.
    """
    known = _Known({}, compute, _brought(view))
    for own in operands_first([view], parts=_valued):
        if own.node.is_kept and id(own.node) not in known.made:
            known.made[id(own.node)] = _entries(own.node.operands[0], known)
    found = _entries(view, known)
    if any(own.node.tensor is not None and own.node.tensor.buffer.in_tiles for own in leaves_of(view)):
        from tensorwrapper.selection.execution._blocks import in_blocks  # noqa: PLC0415 - few are in tiles

        made = in_blocks(view, shape, found.ordinals, found.values, found.fill)
        if made is not None:
            return made
    kept = ~is_fill(found.values, found.fill)
    ordinals, values = (
        (found.ordinals, found.values) if kept.all() else (found.ordinals[kept], found.values[kept])
    )
    return make_tensor(Layout(shape), make_sparse(ordinals, values, shape.size, found.fill))


def _brought(view: Expression) -> dict[int, BufferCommon[Any]]:
    """Return buffers that several operands read; what they need of one elsewhere is fetched together."""
    readers: dict[int, list[Expression]] = {}
    for own in operands_first([view], parts=_valued):
        if own.node.tensor is not None:
            readers.setdefault(id(own.node.tensor.buffer), []).append(own)
    return {
        key: found[0].node.tensor.buffer.fetched_for([own.layout.implementation for own in found])
        for key, found in readers.items()
        if len(found) > 1 and found[0].node.tensor is not None
    }


def nothing_stored(fill: Array, shape: Shape[Any], dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Return a sparse tensor of which nothing is stored."""
    nothing = np.empty(0, np.int64), np.empty(0, dtype)
    return make_tensor(Layout(shape), make_sparse(*nothing, shape.size, fill.astype(dtype)))


def _valued(view: Expression) -> Iterable[Expression]:
    """Return the operands of which entries are needed: all but dense masks."""
    masks = view.node.masks
    return (*filter(is_sparse, masks), *view.node.operands[len(masks) :])


def _entries(view: Expression, known: _Known) -> _Entries:
    """Return the stored entries of a view."""
    node, tensor = view.node, view.node.tensor
    if tensor is not None:
        if tensor.buffer.fill_value is None:
            raise _dense(f"the dense tensor {tensor.shape!r}")
        buffer = known.brought.get(id(tensor.buffer), tensor.buffer)
        ordinals, values = buffer.stored_of(view.layout.implementation)
        return _Entries(ordinals, values, np.asarray(tensor.buffer.fill_value, view.dtype))
    if node.is_kept:
        return _selected(view, known.made[id(node)])
    if node.is_elementwise:
        return _selected(view, _of_cells(node, known))
    if node.ordered is not None:
        return _selected(view, _entries(node.ordered, known))
    pieces = node.shared()
    if pieces:
        return _selected(view, _joined(node.extents, pieces, known))
    if node.is_constant:
        fill: Array = np.asarray(getattr(node, "value", None), view.dtype)
        return _Entries(np.empty(0, np.int64), np.empty(0, view.dtype), fill, node.title)
    raise _dense(node.title)


def _of_cells(node: Node, known: _Known) -> _Entries:
    """Return the entries of a cell-wise node: no more than those of all operands."""
    masks = len(node.masks)
    operands = node.operands
    found = [_operand(own, known, is_mask=n < masks) for n, own in enumerate(operands)]
    given = [own for own in found if own is not None]
    if len(given) < len(found):
        _agreed(given[-(len(found) - masks) :])  # a dense mask can only choose between equal fills
    ordinals = given[0].ordinals
    if len(given) > 1:
        ordinals = different(np.concatenate([own.ordinals for own in given]))
    columns = [
        _chosen(part, ordinals, known.compute)
        if own is None
        else at_places(ordinals, own.ordinals, own.values, own.fill)
        for own, part in zip(found, operands, strict=True)
    ]
    fills = [np.asarray(False) if own is None else own.fill for own in found]
    title = None if any(own.title is None for own in given) else given[-1].title
    return _Entries(ordinals, node.values((), columns), np.asarray(node.values((), fills)), title)


def _operand(part: Expression, known: _Known, *, is_mask: bool) -> _Entries | None:
    """Return the entries of an operand, empty for a number; None for a dense mask."""
    if is_number(part) and not part.node.is_constant:
        value = _chosen(part, np.zeros(1, np.int64), known.compute)
        return _Entries(np.empty(0, np.int64), value[:0], value[0], part.node.title)
    return None if is_mask and not is_sparse(part) else _entries(part, known)


def _chosen(mask: Expression, ordinals: IntArray, compute: _Compute) -> Array:
    """Return elements of a mask, wherever it is."""
    if not any(map(is_away, leaves_of(mask))):
        return elements_at(mask, ordinals)
    return compute(Expression(Whole(mask), layout_at(ordinals)))


def _selected(view: Expression, own: _Entries) -> _Entries:
    """Return the entries that a layout selects of those of a box in its order."""
    if view.is_whole:
        return own
    buffer = make_sparse(own.ordinals, own.values, view.node.size, own.fill)
    ordinals, values = buffer.stored_of(view.layout.implementation)
    return attrs.evolve(own, ordinals=ordinals, values=values)


def _joined(
    extents: tuple[int, ...], pieces: tuple[tuple[int, range, Expression], ...], known: _Known
) -> _Entries:
    box = Shape(*extents)
    found = [_entries(view, known) for _, _, view in pieces]
    fill = _agreed(found)
    all_ordinals: list[IntArray] = []
    for own, (mode, positions, view) in zip(found, pieces, strict=True):
        indices = Shape(*view.shape.extents).indices_at(own.ordinals)
        indices[:, mode] = positions.start + positions.step * indices[:, mode]
        all_ordinals.append(box.ordinals(indices))
    return _ascending(all_ordinals, [own.values for own in found], fill)


def _ascending(ordinals: Sequence[IntArray], values: Sequence[Array], fill: Array) -> _Entries:
    """Return entries put together that share no place."""
    places = np.concatenate(ordinals)
    order = np.argsort(places, kind="stable")
    return _Entries(places[order], np.concatenate(values)[order], fill)


def _agreed(found: Sequence[_Entries]) -> Array:
    """Return the one fill of all operands; raise if there is none."""
    first = next((own for own in found if own.title is None), found[0])
    for own in found:
        if is_fill(own.fill, first.fill).all():
            continue
        if own.title is not None:
            raise ConversionError(
                f"{own.title} is {own.fill[()]} everywhere, and others are sparse with the fill "
                f"{first.fill[()]}: to_dense() of those"
            )
        raise ConversionError(
            f"sparse tensors of fills {first.fill[()]} and {own.fill[()]} are not one sparse tensor: "
            "to_dense() of them"
        )
    return first.fill


def _dense(what: str) -> ConversionError:
    return ConversionError(f"{what} has an element everywhere, and others are sparse: to_dense() of those")
