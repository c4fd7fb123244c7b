"""Ufuncs of dense tensors and numbers: the fast path for most calls."""

from typing import TYPE_CHECKING, Any

import numpy as np

from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.layout.lowlevel import wrap_layout

if TYPE_CHECKING:
    from tensorwrapper.layout import Layout
    from tensorwrapper.shape import Shape

NUMBERS = frozenset([int, float, bool, complex])
"""Types of numbers that NumPy takes as they are."""
_GIVEN = NUMBERS | {np.ndarray}


def call_dense(ufunc: np.ufunc, inputs: "tuple[Any, ...]", kind: type) -> "Any":  # noqa: ANN401
    """Return a ufunc of a dense tensor and numbers, or others over the same indices; None for the rest.

    Arrays of NumPy are others too, if they have the extents of a box.

    It gives the result of the general way: over the shape of the tensor, and packed.
    """
    extents, flat = _flattened(inputs)
    found, arrays = (None, None) if flat is None else _runs(flat, kind)
    if found is None or not (extents is None or (arrays and _has_extents(found._layout.shape, extents))):
        return None
    layout = found._layout
    is_flat = arrays is not None
    if arrays is None:
        arrays = _boxes(inputs, layout.shape)
        if arrays is None:
            return None
    try:
        result = ufunc(*arrays)
    except (TypeError, ValueError, OverflowError, MemoryError):
        return None  # the general method raises the error
    if not is_flat:
        if not result.flags.c_contiguous:
            return None  # the general way keeps NumPy's order of such a result
        result = result.reshape(-1)
    if not is_flat:
        layout = packed_layout(layout.shape)
    elif layout.implementation.offset:
        moved = layout.implementation.moved_to_zero()
        layout = packed_layout(layout.shape) if moved is None else wrap_layout(moved)
    return found._make(layout, Dense(result))


def _flattened(inputs: "tuple[Any, ...]") -> "tuple[tuple[int, ...] | None, tuple[Any, ...] | None]":
    """Return the extents of all arrays, and operands with flat arrays; None if one has no such form."""
    if np.ndarray not in map(type, inputs):
        return None, inputs
    arrays = [own for own in inputs if type(own) is np.ndarray]
    extents: tuple[int, ...] = arrays[0].shape
    for own in arrays:
        if own.shape != extents or not own.flags.c_contiguous or own.dtype.kind not in "biufc":
            return None, None
    return extents, tuple([own.reshape(-1) if type(own) is np.ndarray else own for own in inputs])


def _has_extents(shape: "Shape[Any]", extents: "tuple[int, ...]") -> bool:
    return shape.is_box and not shape.has_layers and shape.extents == extents


def _runs(inputs: "tuple[Any, ...]", kind: type) -> "tuple[Any, list[Any] | None]":
    """Return the first tensor, and operands as flat arrays without a copy, as far as there are such."""
    found: Any = None
    arrays: list[Any] | None = []
    layout: Any = None
    run: slice | None = None
    for operand in inputs:
        if type(operand) in _GIVEN:
            if arrays is not None:
                arrays.append(operand)
            continue
        # Other classes, such as Awkward's, may have attributes of the same names, so check the type first.
        own: Any = getattr(operand, "_layout", None) if type(operand) is kind else None
        memory = None if own is None else operand._buffer.memory
        if memory is None:
            return None, None
        if found is None:
            found = operand
        elif own is not found._layout and not _are_alike(own, found._layout):
            return None, None
        if own is not layout:
            layout, run = own, own.implementation.run()
        if run is None:
            arrays = None
        elif arrays is not None:
            arrays.append(memory[run])
    return found, arrays


def _boxes(inputs: "tuple[Any, ...]", shape: "Shape[Any]") -> list[Any] | None:
    """Return operands as arrays of the rank of a box, without a copy; None if not possible."""
    if not shape.is_box or shape.has_layers:
        return None
    arrays: list[Any] = []
    for operand in inputs:
        is_number = type(operand) in NUMBERS
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
