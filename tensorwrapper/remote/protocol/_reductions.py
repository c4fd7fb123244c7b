"""Reductions common to client and server: their ufuncs and result dtypes."""

from typing import Any, Final, cast

import numpy as np

from tensorwrapper.errors import DTypeError, JaggedModeError
from tensorwrapper.remote.protocol._events import ReducedOver, Reduction
from tensorwrapper.selection import View, as_view
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import as_tensor
from tensorwrapper.tensor.lowlevel import reduced_shape
from tensorwrapper.typing import Array, Extents

_UFUNCS: Final[dict[Reduction, np.ufunc]] = {
    "add": np.add,
    "multiply": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "fmin": np.fmin,
    "fmax": np.fmax,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}


def summands(view: View[Any], name: Reduction, over: ReducedOver) -> tuple[View[Any], np.ufunc]:
    """Return the view and the ufunc of a reduction; counting sums nonzero elements.

    As in memory, rows and modes are those of the view without layers.
    """
    if view.shape.has_layers and over != "tiles":
        view = view.flatten()
    if name == "count_nonzero":
        # Zero is the epoch for times.
        return as_view(view != np.zeros((), view.dtype)[()]).astype(np.int64), np.add
    return view, _UFUNCS[name]


def numbers_over(view: View[Any], over: ReducedOver, ufunc: np.ufunc) -> Shape[Any]:
    """Return the indices of the result of a reduction, or raise the error of tensors."""
    if over == "rows":
        return view.rows().shape
    if over == "tiles":
        if view.shape.is_box:
            raise JaggedModeError(
                f"reducing tiles needs a jagged or tiled view, not {view.shape}; use tiled(tiling)"
            )
        return view.shape.outer()
    return reduced_shape(view.shape, over, f"{ufunc.__name__}.reduce")


def extents_of_numbers(shape: Shape[Any]) -> Extents:
    """Return the extents of the numbers in an answer."""
    return shape.extents if shape.is_box else (shape.size,)


def reduced_dtype(ufunc: np.ufunc, dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return the result type of a ufunc for elements of a type, or raise the errors of tensors.

    Examples
    --------
    >>> reduced_dtype(np.add, np.dtype("?")), reduced_dtype(np.logical_or, np.dtype("c8"))
    (dtype('int64'), dtype('bool'))
    """
    if dtype.kind == "T":
        raise DTypeError(f"{ufunc.__name__}: a server cannot reduce strings")
    found = as_tensor(np.ones((1, 1), dtype)).rows().reduce(ufunc)
    return np.asarray(found).dtype


def reduction_of_none(ufunc: np.ufunc, dtype: "np.dtype[Any]", initial: object) -> Array:
    """Return the reduction of no elements of a type and an initial value, or raise the error of tensors."""
    found = as_tensor(np.empty((1, 0), dtype)).rows().reduce(ufunc, initial=initial)
    return cast("Array", np.asarray(found)[0])
