"""Fills of operands: whether a view of sparse tensors and others has a meaning, told when it is written."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper.errors import ConversionError
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.tensor.lowlevel import DENSE, check_beside, check_one_fill
from tensorwrapper.typing import Array

__all__ = ["check_fills"]

_LOOKED = 64  # nodes of an operand that are looked at: one that is deeper is looked at when it is computed


def check_fills(what: str, masks: Sequence[Expression], choices: Sequence[Expression], hint: str) -> None:
    """Raise if operands of which one is sparse make no sparse tensor; nothing is read.

    Parameters
    ----------
    what
        What is done with them.
    masks
        What only decides between the others.
    choices
        The others, of one type.
    hint
        What else computes fills that differ: views have one.

    Raises
    ------
    ConversionError
        If dense elements would be in the result, or elements of several fills.
    """
    found = [_fill_of(part, [_LOOKED]) for part in (*masks, *choices)]
    if not any(is_sparse for _, is_sparse in found):
        return
    fills = [fill for fill, _ in found]
    check_beside(what, fills[: len(masks)], fills[len(masks) :])
    if not any(is_sparse for _, is_sparse in found[len(masks) :]):
        raise ConversionError(f"{what}: a view of a sparse mask chooses from sparse tensors: {hint}")
    known = [fill for fill in fills[len(masks) :] if fill is not None]
    if known:
        check_one_fill(f"{what}: a view", known, hint)


def _fill_of(part: Expression, left: list[int]) -> tuple[object, bool]:
    """Return the fill of a view, and whether it is sparse.

    Of a constant that is its value, of dense elements `DENSE`, and None where more than `left` nodes tell.
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
    found: tuple[object, bool] | None = None
    for own in node.operands[len(node.masks) :]:
        other = _fill_of(own, left)
        if other[1] or other[0] is DENSE or other[0] is None:
            found = other
            break
        # Constants of which no two differ are one.
        found = other if found is None or bool(found[0] == other[0]) else (DENSE, False)
    fill, is_sparse = found or (DENSE, False)
    return (_as(cast("Array", fill), node.dtype) if isinstance(fill, np.ndarray) else fill), is_sparse


def _as(fill: Array, dtype: "np.dtype[Any]") -> Array:
    """Return a fill as one of a type; that it fits is found out when elements are cast."""
    if fill.dtype == dtype:
        return fill
    own: Any = fill.real if fill.dtype.kind == "c" != dtype.kind else fill
    with np.errstate(all="ignore"):
        return cast("Array", own.astype(dtype))
