"""What is handed to other libraries: tensors as they are, views computed."""

from typing import Any, TypeAlias

import numpy as np

from tensorwrapper.buffer.lowlevel import convert_elements
from tensorwrapper.errors import ConversionError
from tensorwrapper.selection import View
from tensorwrapper.tensor import Tensor, as_tensor
from tensorwrapper.typing import Array

__all__ = ["TensorLike", "dense_of", "native", "tensor_of"]

TensorLike: TypeAlias = Tensor[Any, Any] | View[Any, Any]


def tensor_of(value: TensorLike) -> Tensor[Any]:
    """Return the tensor; that of a view is computed, and read first."""
    return as_tensor(value)


def dense_of(value: TensorLike, library: str) -> Tensor[Any]:
    """Return the tensor if it has every element of its shape.

    Raises
    ------
    ConversionError
        If it is sparse.
    """
    tensor = tensor_of(value)
    if tensor.is_sparse:
        raise ConversionError(
            f"{library} has no sparse tensors: to_dense() has all elements of this one, to_scipy() and "
            "to_pydata() are sparse"
        )
    return tensor


def native(elements: Array) -> Array:
    """Return elements in the byte order of this machine, which most libraries know alone."""
    dtype: np.dtype[Any] = elements.dtype
    return elements if dtype.isnative else convert_elements(elements, dtype.newbyteorder("="))
