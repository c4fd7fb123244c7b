"""Plain tensors and elements made nullable."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import BufferCommon, Dense, Nullable
from tensorwrapper.buffer.lowlevel import copy_elements, packed_layout
from tensorwrapper.tensor._tensor import Tensor, make_tensor
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.typing import Array


def buffer_beside_valid(elements: Array, valid: "npt.NDArray[np.bool_] | None") -> BufferCommon[Any]:
    """Return a buffer of the elements of another library, which are nulls where they are not valid.

    Missing times become NaT. If all elements are valid, the buffer is dense.
    """
    if valid is None or valid.all():
        return Dense(cast("Any", elements))
    if elements.dtype.kind in "mM":
        times = copy_elements(elements)
        times[~valid] = np.array("NaT", times.dtype)
        return Dense(cast("Any", times))
    return Nullable(Dense(cast("Any", elements)), Dense(cast("Any", valid)))


def make_nullable(tensor: TensorBase[Any], valid: "npt.NDArray[np.bool_]") -> Tensor[Any]:
    """Return the tensor of plain values with a truth value for each, in row-major order."""
    layout, buffer = tensor.layout, tensor.buffer
    size = tensor.shape.size
    whole = layout.is_contiguous and not layout.offset and buffer.size == size
    if not whole or layout.implementation.tiled is not None:
        layout, buffer = packed_layout(tensor.shape), buffer.pack(layout.implementation)
    marks: BufferCommon[Any] = Dense(cast("Any", valid.reshape(-1)))
    return make_tensor(layout, Nullable(buffer, marks))
