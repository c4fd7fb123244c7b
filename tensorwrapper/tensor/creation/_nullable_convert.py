"""Tensors some of whose elements are nulls, from values and truth values."""

from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shown_array
from tensorwrapper.buffer.lowlevel import copy_elements, holds_strings
from tensorwrapper.errors import ConversionError, DTypeError, ExtentMismatchError
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.creation._convert import as_tensor
from tensorwrapper.tensor.creation._to_nullable import make_nullable
from tensorwrapper.tensor.operators._operand import check_argument
from tensorwrapper.typing import IndexT_co as J
from tensorwrapper.typing import ScalarT_co as S


@overload
def nullable(
    values: "Tensor[S, J] | np.ndarray[J, np.dtype[S]]", valid: "npt.ArrayLike | Tensor[Any] | None" = None
) -> Tensor[S, J]:
    """Return a tensor of these values, with nulls where they are not valid."""


@overload
def nullable(values: object, valid: "npt.ArrayLike | Tensor[Any] | None" = None) -> Tensor[Any]: ...
def nullable(values: object, valid: "npt.ArrayLike | Tensor[Any] | None" = None) -> Tensor[Any]:
    """Return a tensor of these values, with nulls where they are not valid.

    Values without gaps in row-major order are shared, and so are the truth values. The value under a null is
    never shown.

    Parameters
    ----------
    values
        Any value that `as_tensor` takes, of any shape.
    valid
        True for each value that is there. A tensor of the same shape or an array: of the extents of a box, or
        of all elements of another shape in order. If not given, all values are valid.

    Raises
    ------
    ExtentMismatchError
        If there is not one truth value for each element.
    DTypeError
        If `valid` has no truth values, or the values are strings: ``strings(..., nullable=True)``.

    Examples
    --------
    >>> t = nullable([3, 0, 1], [True, False, True])
    >>> t.tolist(), t.null_count, t.fill_null(9).tolist()
    ([3, None, 1], 1, [3, 9, 1])
    """
    tensor = as_tensor(values)
    if holds_strings(tensor.dtype):
        raise DTypeError("strings may be null already: strings(values, nullable=True) has room for nulls")
    if tensor.buffer.fill_value is not None:
        raise ConversionError("a sparse tensor does not become nullable: to_dense() has all its elements")
    marks = _marks_of(valid, tensor)
    sides = tensor.buffer.sides
    if sides is not None:
        marks = marks & tensor.buffer.valid_of(tensor.layout.implementation)
        tensor = make_tensor(tensor.layout, sides[0])
    return make_nullable(tensor, marks)


def _marks_of(valid: "npt.ArrayLike | Tensor[Any] | None", tensor: Tensor[Any]) -> "npt.NDArray[np.bool_]":
    size = tensor.shape.size
    if valid is None:
        return np.ones(size, np.bool_)
    shown: object
    if isinstance(valid, TensorCommon):
        given: TensorBase[Any] = valid._as_operand()
        fits, elements, shown = given.shape.is_congruent(tensor.shape), given.elements(), given.shape
    else:
        check_argument(valid, "nullable")
        try:
            elements = shown_array(valid)
        except ValueError as error:
            raise ConversionError(
                "truth values of rows come one after the other, or as a tensor of the same shape: "
                "`tw.jagged([[True], [False, True]])`"
            ) from error
        flat = tensor.shape.flatten()
        fits, shown = elements.shape == (flat.extents if flat.is_box else (size,)), elements.shape
    if not fits:
        raise ExtentMismatchError(f"truth values of shape {shown} are not those of {tensor.shape!r}")
    if elements.dtype != np.bool_:
        raise DTypeError(f"valid= has truth values, not {elements.dtype}")
    marks = elements.reshape(-1)
    return marks if marks.flags.c_contiguous else copy_elements(marks)
