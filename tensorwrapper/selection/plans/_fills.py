"""Check fills of operands when a view is written: whether sparse and other operands can be combined."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import is_fill
from tensorwrapper.selection.expressions._expression import Expression, Node
from tensorwrapper.selection.jagged._rows import Rows
from tensorwrapper.selection.plans._source_reads import is_number
from tensorwrapper.tensor.lowlevel import DENSE, check_beside, check_one_fill
from tensorwrapper.typing import Array

__all__ = ["check_fills", "check_joined_fills"]

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
