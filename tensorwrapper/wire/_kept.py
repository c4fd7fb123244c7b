"""Elements that leave as they lie: without gaps, but in another order than row-major."""

from typing import Any

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper.buffer import Dense
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.lowlevel import Strided, storage_order_of
from tensorwrapper.tensor import Tensor

__all__ = ["as_it_lies"]


def as_it_lies(tensor: Tensor[Any], dtype: "np.dtype[Any]") -> tuple[memoryview, dict[str, Json]] | None:
    """Return the memory of a tensor and what ``order`` and ``ascend`` say of it.

    None if it is row-major already, has gaps, repeats elements, or is not of the type to be written.
    """
    held, buffer = tensor.layout.implementation, tensor.buffer
    if not isinstance(held, Strided) or not isinstance(buffer, Dense) or tensor.dtype != dtype:
        return None
    if held.is_contiguous or not tensor.size:
        return None
    try:
        found = storage_order_of(held)
    except LayoutError:
        return None
    lowest = held.offset
    for extent, stride in zip(held.shape.extents, held.strides, strict=True):
        lowest += min(0, (extent - 1) * stride)
    described: dict[str, Json] = {}
    if found.order != tuple(range(held.shape.rank - 1, -1, -1)):
        described["order"] = list(found.order)
    if not all(found.ascend):
        described["ascend"] = list(found.ascend)
    return buffer.flat[lowest : lowest + tensor.size].view(np.uint8).data, described
