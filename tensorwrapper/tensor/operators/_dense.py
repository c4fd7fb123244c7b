"""Ufuncs of dense tensors and numbers: the fast path for most calls."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import packed_layout

if TYPE_CHECKING:
    from tensorwrapper.layout import Layout
    from tensorwrapper.shape import Shape

__all__ = ["call_dense"]

_NUMBERS = frozenset([int, float, bool, complex])


def call_dense(ufunc: np.ufunc, inputs: "tuple[Any, ...]", kind: type) -> "Any":  # noqa: ANN401
    """Return a ufunc of a dense tensor and numbers, or another over the same indices; None for the rest.

    It gives the result of the general way: over the shape of the tensor, and packed.
    """
    found: Any = None
    for operand in inputs:
        if type(operand) in _NUMBERS:
            continue
        # Other classes, such as Awkward's, may have attributes of the same names, so check the type first.
        layout = getattr(operand, "_layout", None) if type(operand) is kind else None
        if layout is None or operand._buffer.memory is None:
            return None
        if found is None:
            found = operand
        elif layout is not found._layout and not _are_alike(layout, found._layout):
            return None
    arrays = _runs(inputs) or _boxes(inputs, found._layout.shape)
    if arrays is None:
        return None
    try:
        result = ufunc(*arrays)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return None  # the general method raises the error
    if not result.flags.c_contiguous:
        return None  # the general way keeps NumPy's order of such a result
    return found._make(_packed(found._layout), Dense(result.reshape(-1)))


def _packed(layout: "Layout[Any]") -> "Layout[Any]":
    held = layout.implementation
    return layout if held.is_contiguous and not held.offset else packed_layout(layout.shape)


def _runs(inputs: "tuple[Any, ...]") -> list[Any] | None:
    """Return operands as flat arrays without a copy; None if one has gaps or another order."""
    arrays: list[Any] = []
    for operand in inputs:
        if type(operand) in _NUMBERS:
            arrays.append(operand)
            continue
        held = operand._layout.implementation
        if not held.is_contiguous:
            return None
        begin = held.offset
        arrays.append(operand._buffer.memory[begin : begin + held.shape.size])
    return arrays


def _boxes(inputs: "tuple[Any, ...]", shape: "Shape[Any]") -> list[Any] | None:
    """Return operands as arrays of the rank of a box, without a copy; None if not possible."""
    if not shape.is_box or shape.has_layers:
        return None
    arrays: list[Any] = []
    for operand in inputs:
        is_number = type(operand) in _NUMBERS
        array = operand if is_number else operand._buffer.memory_of(operand._layout.implementation)
        if array is None:
            return None
        arrays.append(array)
    return arrays


def _are_alike(one: "Layout[Any]", other: "Layout[Any]") -> bool:
    """Return True if the result of two packed operands certainly has the layout of the other."""
    mine, theirs = one.shape, other.shape
    if mine is theirs:
        return True
    if mine.is_box:
        return mine == theirs
    if not one.implementation.is_packed or not other.implementation.is_packed:
        return False
    # Names and layers are compared in the general method.
    if any(own.has_layers or any(own.names) for own in (mine, theirs)):
        return False
    # Loaded here: most programs compute nothing on rows.
    from tensorwrapper.shape.lowlevel import OperandShapes  # noqa: PLC0415

    return OperandShapes.are_same(mine, theirs)
