"""Nulls and fills: views of values and of whether they are valid, and what sparse ones have elsewhere."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer import Dense, Nullable
from tensorwrapper.buffer.lowlevel import is_fill
from tensorwrapper.layout.lowlevel import new_row_major, wrap_layout
from tensorwrapper.selection.expressions._elementwise import Choosing
from tensorwrapper.selection.expressions._expression import Expression, Node, same, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._source_node import Reading
from tensorwrapper.selection.expressions._traversal import operands_first
from tensorwrapper.selection.jagged._rows import Rows
from tensorwrapper.selection.plans._source_reads import is_number
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import box
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import DENSE, check_beside, check_one_fill, make_tensor
from tensorwrapper.typing import Array


def has_nullable(view: Expression) -> bool:
    """Return True if a leaf of a view has room for nulls. O(nodes)."""
    return any(_sides(own.node) is not None for own in operands_first([view]))


def has_null_bytes(view: Expression) -> bool:
    """Return True if a tensor in a view of bytes may have nulls, which their type does not tell. O(nodes)."""
    leaves = [own.node.tensor for own in operands_first([view])]
    return any(tensor is not None and tensor.buffer.nullable for tensor in leaves)


def with_room_for_nulls(tensor: Tensor[Any]) -> Tensor[Any]:
    """Return a tensor of strings in which an element may be a null; no copy."""
    from tensorwrapper.buffer import Strings  # noqa: PLC0415 - for strings alone

    if tensor.buffer.nullable:
        return tensor
    return make_tensor(tensor.layout, Strings(cast("Strings", tensor.buffer).stored, nullable=True))


def sides_of_view(view: Expression, *, to_compute: bool = True) -> "tuple[Expression, Expression] | None":
    """Return a view of the values, and one of whether they are valid; None where no leaf has room for nulls.

    Views of strings give None. O(nodes); a cast in a view that is to be computed copies the values, to clear
    those under nulls.
    """
    order = operands_first([view])
    if all(_sides(own.node) is None for own in order):
        return None
    cleared = to_compute and any(own.node.name == "cast" for own in order)
    values: dict[int, Expression] = {}
    valid: dict[int, Expression] = {}
    nodes: dict[int, tuple[Node, Node]] = {}
    for own in order:
        node = own.node
        if id(node) not in nodes:
            nodes[id(node)] = (
                _of_values(node, cleared=cleared)
                if node.source is not None
                else node.mapped(lambda part: values[id(part)]),
                _of_validity(node)
                if node.source is not None
                else node.validity(lambda part: values[id(part)], lambda part: valid[id(part)]),
            )
            if cleared and node.name == "where":
                nodes[id(node)] = _where_valid(*nodes[id(node)])
        one, other = nodes[id(node)]
        values[id(own)] = own if one is node else Expression(one, own.layout)
        valid[id(own)] = Expression(other, own.layout)
    return values[id(view)], valid[id(view)]


def truth_of(view: Expression) -> Expression:
    """Return a view of True at each of the same indices, of the same kind of shape: to be padded."""
    valid: dict[int, Expression] = {}
    for own in operands_first([view]):
        node = own.node
        made = _truth(node) if node.source is not None else node.validity(same, lambda part: valid[id(part)])
        valid[id(own)] = Expression(made, own.layout)
    return valid[id(view)]


def null_of(dtype: "np.dtype[Any]") -> Tensor[Any]:
    """Return a null of a type: a tensor of rank 0."""
    nothing = Nullable(Dense(np.zeros(1, dtype)), Dense(np.zeros(1, np.bool_)))
    return make_tensor(wrap_layout(new_row_major(())), nothing)


def _truth(node: Node) -> Node:
    return Filling(box(node.extents), np.True_, np.dtype(np.bool_))


def _sides(node: Node) -> "tuple[Any, Any] | None":
    """Return the two buffers of a tensor, or the sources of one elsewhere; None without room for nulls."""
    tensor = node.tensor
    if tensor is not None:
        return tensor.buffer.sides
    return None if node.source is None else getattr(node.source, "sides", None)


def _of_values(node: Node, *, cleared: bool) -> Node:
    sides = _sides(node)
    if sides is None:
        return node
    values, validity = sides
    if cleared and node.tensor is not None:
        flat = values.read_run(0, values.size).copy()
        flat[~validity.read_run(0, validity.size)] = np.zeros((), flat.dtype)
        values = Dense(flat)
    return _reading(node, values)


def _where_valid(values: Node, valid: Node) -> tuple[Node, Node]:
    """Return elements with zero where a mask was null, and the validity."""
    zeros = Filling(box(values.extents), np.zeros((), values.dtype)[()], values.dtype)
    return Choosing((whole(valid), whole(values), whole(zeros))), valid


def _of_validity(node: Node) -> Node:
    sides = _sides(node)
    if sides is None:
        return _truth(node)
    return _reading(node, sides[1])


def _reading(node: Node, side: Any) -> Node:  # noqa: ANN401 - a buffer, or a source
    return Reading(side if node.tensor is None else TensorSource(make_tensor(node.tensor.layout, side)))


_LOOKED = 16  # nodes and numbers of an operand that are checked: others are checked when they are computed


def check_fills(what: str, masks: Sequence[Expression], choices: Sequence[Expression]) -> None:
    """Raise if operands of which one is sparse make no sparse tensor cell by cell; nothing is read.

    Parameters
    ----------
    what
        Name of the operation.
    masks
        Operands that only choose between the others.
    choices
        The others, of one type.

    Raises
    ------
    ConversionError
        If dense elements would be in the result, or a dense mask chooses between several fills.
    """
    found = [
        _fill_of(part, [_LOOKED]) if part.shape.rank else _fill_of_operand(part, [_LOOKED])
        for part in (*masks, *choices)
    ]
    if any(is_one for _, is_one in found):
        fills = [fill for fill, _ in found]
        check_beside(what, fills[: len(masks)], fills[len(masks) :])


def check_joined_fills(
    what: str,
    parts: Sequence[Expression],
    hint: str = "one of them needs another fill, or `s.to_dense()` of each",
) -> None:
    """Raise if parts of one type, of which one is sparse, make no sparse tensor side by side.

    Raises
    ------
    ConversionError
        If dense elements would be in the result, or several fills.
    """
    found = [_fill_of(part, [_LOOKED]) for part in parts]
    if any(is_one for _, is_one in found):
        fills = [fill for fill, _ in found]
        check_beside(what, (), fills)
        check_one_fill(what, fills, hint)


def _fill_of_operand(part: Expression, left: list[int]) -> tuple[object, bool]:
    """Return `_fill_of` of an operand of a cell-wise node, where a number is its own fill."""
    is_one = is_number(part) and not part.node.is_constant
    tensor = part.node.tensor
    if tensor is not None and tensor.buffer.nullable:
        return DENSE, False  # A null cannot be a fill.
    if not is_one:
        return _fill_of(part, left)
    left[0] -= 1
    return _value_of(part), False


def _value_of(number: Expression) -> Array | None:
    """Return the element that a number is now, if a tensor in memory has it."""
    tensor = number.node.tensor
    place = np.array([number.layout.bounds()[0]])
    return None if tensor is None else cast("Array", tensor.buffer.read(place).reshape(()))


def _fill_of(part: Expression, left: list[int]) -> tuple[object, bool]:
    """Return the fill of a view, and whether it is sparse.

    The fill of a constant is its value, of dense elements `DENSE`, and None where it is unknown: after more
    than `left` nodes, or if it depends on an element.
    """
    left[0] -= 1
    if left[0] < 0:
        return None, False
    node = part.node
    if node.tensor is not None:
        own_fill = node.tensor.buffer.fill_value
        return (DENSE, False) if own_fill is None else (np.asarray(own_fill), True)
    if node.is_constant:
        value: Any = getattr(node, "value", None)
        return np.asarray(value, node.dtype), False
    if node.is_elementwise:
        return _fill_of_cells(node, left)
    if isinstance(node, Rows):
        return _fill_of(node.flat, left)
    found: tuple[object, bool] | None = None
    for own in node.operands:
        other = _fill_of(own, left)
        if other[1] or other[0] is DENSE or other[0] is None:
            return other
        # Constants of which no two differ are one.
        found = other if found is None or bool(found[0] == other[0]) else (DENSE, False)
    return found or (DENSE, False)


def _fill_of_cells(node: Node, left: list[int]) -> tuple[object, bool]:
    """Return `_fill_of` of a cell-wise node."""
    found: list[tuple[object, bool]] = []
    for own in node.operands:
        if left[0] <= 0:
            found.append((None, False))
            break
        found.append(_fill_of_operand(own, left))
    fills, is_one = [fill for fill, _ in found], any(own for _, own in found)
    masks, choices = fills[: len(node.masks)], fills[len(node.masks) :]
    if any(fill is DENSE for fill in choices):
        return DENSE, is_one
    if any(fill is None for fill in fills):
        return None, is_one
    arrays = cast("list[Array]", choices)
    if any(fill is DENSE for fill in masks):
        alike = all(is_fill(own, arrays[0]).all() for own in arrays[1:])
        return (arrays[0] if alike else None if is_one else DENSE), is_one
    if len(fills) == 1:
        return _as(arrays[0], node.dtype), is_one
    return np.asarray(node.values((), cast("list[Array]", fills))), is_one


def _as(fill: Array, dtype: "np.dtype[Any]") -> Array:
    """Return a fill as one of a type; that it fits is found out when elements are cast."""
    if fill.dtype == dtype:
        return fill
    own: Any = fill.real if fill.dtype.kind == "c" != dtype.kind else fill
    with np.errstate(all="ignore"):
        return cast("Array", own.astype(dtype))
