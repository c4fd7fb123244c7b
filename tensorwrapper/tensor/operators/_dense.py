"""Ufuncs of dense tensors and numbers: the short way for what most calls are."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorwrapper.buffer import Dense

if TYPE_CHECKING:
    from tensorwrapper.layout import Layout

__all__ = ["call_dense"]

_NUMBERS = frozenset([int, float, bool, complex])


def call_dense(ufunc: np.ufunc, inputs: "tuple[Any, ...]", kind: type) -> "Any":  # noqa: ANN401
    """Return a ufunc of a dense tensor and numbers, or another over the same indices; None for the rest.

    It gives what the general way gives: results over the shape of the tensor, and over its layout where that
    is packed.
    """
    found: Any = None
    arrays: list[Any] = []
    for operand in inputs:
        if type(operand) in _NUMBERS:
            arrays.append(operand)
            continue
        # Not asked for its attributes: those of strangers, such as Awkward's, have the names of ours.
        layout = getattr(operand, "_layout", None) if type(operand) is kind else None
        if layout is None:
            return None
        memory = operand._buffer.memory
        if memory is None:
            return None
        implementation = layout.implementation
        if not implementation.is_contiguous or implementation.offset:
            return None
        if found is None:
            found = operand
        elif layout is not found._layout and not _are_alike(layout, found._layout):
            return None
        arrays.append(memory[: implementation.shape.size])
    try:
        result = ufunc(*arrays)
    except (TypeError, ValueError, OverflowError):
        return None  # the general way says what is wrong
    return found._make(found._layout, Dense(result))


def _are_alike(one: "Layout[Any]", other: "Layout[Any]") -> bool:
    """Tell whether what is made of two packed operands is over the layout of the other, and no question."""
    mine, theirs = one.shape, other.shape
    if mine is theirs:
        return True
    if mine.is_box:
        return mine == theirs
    if not one.implementation.is_packed or not other.implementation.is_packed:
        return False
    # Names and layers are what operands agree on.
    if any(own.has_layers or any(own.names) for own in (mine, theirs)):
        return False
    # Loaded here: most programs compute nothing on rows.
    from tensorwrapper.shape.lowlevel import OperandShapes  # noqa: PLC0415

    return OperandShapes.are_same(mine, theirs)
