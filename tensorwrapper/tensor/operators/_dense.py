"""Ufuncs of dense tensors and numbers: the fast path for most calls."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.layout.lowlevel import wrap_layout

if TYPE_CHECKING:
    from tensorwrapper.layout import Layout
    from tensorwrapper.shape import Shape
    from tensorwrapper.typing import Array

NUMBERS = frozenset([int, float, bool, complex])
"""Types of numbers that NumPy takes as they are."""
PLAIN = NUMBERS | {np.ndarray}
"""Types of operands that NumPy takes as they are."""


def call_dense(ufunc: np.ufunc, inputs: "tuple[Any, ...]", kind: type) -> "Any":  # noqa: ANN401
    """Return a ufunc of a dense tensor and numbers, or another over the same indices; None for the rest.

    Arrays of numbers that broadcast to a box are taken, too. The result is that of the general way:
    over the shape of the tensor, and packed.
    """
    found, arrays = _runs(inputs, kind)
    if found is None:
        return None
    layout = found._layout
    is_flat, shape = arrays is not None, None
    if arrays is None:
        shape = layout.shape
        arrays = _boxes(inputs, shape)
        if arrays is None:
            return None
    try:
        result = ufunc(*arrays)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return None  # the general method raises the error
    if result.dtype.isbuiltin == 2:
        return None  # it refuses integers that types of ml_dtypes would wrap
    if shape is not None:
        if result.shape != shape.extents or not result.flags.c_contiguous:
            return None  # the general way says what broadcasts, and keeps NumPy's order of such a result
        result = result.reshape(-1)
        # Where elements are in order, so are those of the result.
        is_flat = layout.implementation.run() is not None
    if not is_flat:
        layout = packed_layout(layout.shape)
    elif layout.implementation.offset:
        moved = layout.implementation.moved_to_zero()
        layout = packed_layout(layout.shape) if moved is None else wrap_layout(moved)
    return found._make(layout, Dense(result))


def _have_units(one: "np.dtype[Any]", other: "np.dtype[Any]") -> bool:
    """Return True for times of two units: the general way casts them to one, where NumPy wraps."""
    return one.kind in "mM" and other.kind in "mM" and one != other


def _runs(inputs: "tuple[Any, ...]", kind: type) -> "tuple[Any, list[Any] | None]":  # noqa: C901 - one hot loop
    """Return the first tensor, and operands as flat arrays without a copy, as far as there are such."""
    found: Any = None
    first: Any = None
    arrays: list[Any] | None = []
    layout: Any = None
    run: slice | None = None
    for operand in inputs:
        if type(operand) in NUMBERS:
            if arrays is not None:
                arrays.append(operand)
            continue
        # Other classes, such as Awkward's, may have attributes of the same names, so check the type first.
        own: Any = getattr(operand, "_layout", None) if type(operand) is kind else None
        memory = None if own is None else operand._buffer.memory
        if memory is None:
            if type(operand) is not np.ndarray:
                return None, None
            arrays = _with_array(arrays, operand, layout)
            continue
        if found is None:
            found, first = operand, memory
        elif own is not found._layout and not _are_alike(own, found._layout):
            return None, None
        if memory is not first and memory.dtype is not first.dtype and _have_units(memory.dtype, first.dtype):
            return None, None
        if own is not layout:
            layout, run = own, own.implementation.run()
        if run is None:
            arrays = None
        elif arrays is not None:
            arrays.append(memory[run])
    return found, arrays


def _with_array(arrays: list[Any] | None, array: "Array", layout: "Layout[Any] | None") -> list[Any] | None:
    """Return flat operands and an array of numbers of the shape of a packed box; None if it may broadcast."""
    if arrays is None or layout is None or array.dtype.kind not in "biufc" or not array.flags.c_contiguous:
        return None
    shape = layout.shape
    if not shape.is_box or array.shape != shape.extents or shape.has_layers:
        return None
    arrays.append(array.reshape(-1))
    return arrays


def _boxes(inputs: "tuple[Any, ...]", shape: "Shape[Any]") -> list[Any] | None:
    """Return operands as arrays of the rank of a box, without a copy; None if not possible."""
    if not shape.is_box or shape.has_layers:
        return None
    arrays: list[Any] = []
    for operand in inputs:
        kind = type(operand)
        if kind is np.ndarray and (operand.dtype.kind not in "biufc" or operand.ndim > shape.rank):
            return None
        array = operand if kind in PLAIN else operand._held_array()
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
