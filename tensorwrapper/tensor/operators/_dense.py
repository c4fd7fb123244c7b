"""Ufuncs of dense tensors and numbers: the fast path for most calls."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.layout.lowlevel import wrap_layout

if TYPE_CHECKING:
    from tensorwrapper.layout import Layout

GIVEN = frozenset([int, float, bool, complex, np.ndarray])
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
    is_flat, extents = arrays is not None, None
    if arrays is None:
        box = layout.implementation.strided_box()
        if box is None:
            return None
        extents = box[0]
        arrays = _boxes(inputs, len(extents))
        if arrays is None:
            return None
    try:
        result = ufunc(*arrays)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return None  # the general method raises the error
    if extents is not None:
        if result.shape != extents or not result.flags.c_contiguous:
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
    beside: list[int] = []
    for number, operand in enumerate(inputs):
        if type(operand) in GIVEN:
            if arrays is not None:
                arrays.append(operand)
            if type(operand) is np.ndarray:
                beside.append(number)
            continue
        # Other classes, such as Awkward's, may have attributes of the same names, so check the type first.
        own: Any = getattr(operand, "_layout", None) if type(operand) is kind else None
        memory = None if own is None else operand._buffer.memory
        if memory is None:
            return None, None
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
    if beside and arrays is not None and not (found is not None and _flatten(arrays, beside, found._layout)):
        arrays = None
    return found, arrays


def _flatten(arrays: list[Any], beside: list[int], layout: "Layout[Any]") -> bool:
    """Flatten the arrays beside a tensor without a copy; return False if one may broadcast."""
    box = layout.implementation.strided_box()
    if box is None:
        return False
    for number in beside:
        array = arrays[number]
        if array.shape != box[0] or array.dtype.kind not in "biufc" or not array.flags.c_contiguous:
            return False
        arrays[number] = array.reshape(-1)
    return True


def _boxes(inputs: "tuple[Any, ...]", rank: int) -> list[Any] | None:
    """Return operands as arrays of the rank of a box, without a copy; None if not possible."""
    arrays: list[Any] = []
    for operand in inputs:
        kind = type(operand)
        if kind is np.ndarray and (operand.dtype.kind not in "biufc" or operand.ndim > rank):
            return None
        array = operand if kind in GIVEN else operand._held_array()
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
