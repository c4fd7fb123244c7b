"""Shapes of operands and of the targets of results, by the rules of ``shape``."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorwrapper.errors import ExtentMismatchError
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, check_names, unnamed_shape
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.operators._operand import Operand


def _given(operand: Operand) -> OperandShapes.Given:
    """Return the shape of a tensor, and the extents of an array or a number."""
    return operand.shape if isinstance(operand, TensorBase) else np.shape(operand)


def reference_of(operands: Sequence[Operand]) -> "TensorBase[Any] | None":
    """Return the jagged or tiled operand of highest rank, the first of several; None if all are boxes."""
    number = OperandShapes.reference([_given(operand) for operand in operands])
    found = None if number is None else operands[number]
    return found if isinstance(found, TensorBase) else None


def box_of_result(operands: Sequence[Operand], name: str) -> Shape[Any]:
    """Return the box that boxes broadcast to, as `OperandShapes.box`."""
    return OperandShapes.box([_given(operand) for operand in operands], name)


def rows_of_result(operands: Sequence[Operand], reference: "TensorBase[Any]", name: str) -> Shape[Any]:
    """Return the shape of the reference, with the names and layers that all tensors agree on."""
    return OperandShapes.rows([reference.shape, *[_given(operand) for operand in operands]], 0, name)


def shape_of(operands: Sequence[Operand], name: str) -> "tuple[Shape[Any], TensorBase[Any] | None]":
    """Return the shape of the result, and the rows among the operands that it is of; None of boxes."""
    reference = reference_of(operands)
    shape = box_of_result(operands, name) if reference is None else rows_of_result(operands, reference, name)
    return shape, reference


def leading_modes(operand: Operand, reference: Shape[Any], name: str) -> int:
    """Return how many modes of the reference an operand has, as `OperandShapes.leading_modes`."""
    return OperandShapes.leading_modes(_given(operand), reference, name)


def check_out(out: TensorCommon[Any], shape: Shape[Any], name: str) -> None:
    """Raise unless a result of a shape goes into ``out=``, which keeps its own names of modes.

    Raises
    ------
    ExtentMismatchError
        If it has another shape.
    ModeNameError
        If a mode has another name.
    """
    if out.shape != shape:
        check_names(out.shape, shape, f"{name}: out=")
        if unnamed_shape(out.shape) != unnamed_shape(shape):
            raise ExtentMismatchError(f"{name}: out= has the shape {out.shape!r}, the result {shape!r}")
