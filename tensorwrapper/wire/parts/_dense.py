"""Dense elements written in their memory order, without a copy, where that is not row-major."""

from typing import Any

import numpy as np

from tensorwrapper._arrays import are_truths
from tensorwrapper._json import Json
from tensorwrapper.errors import LayoutError
from tensorwrapper.tensor import Tensor


def as_it_lies(tensor: Tensor[Any], dtype: "np.dtype[Any]") -> tuple[memoryview, dict[str, Json]] | None:
    """Return the memory of a tensor and the values of ``order`` and ``ascend``.

    None if it is row-major already, has gaps, repeats elements, or is not as it is to be written.
    """
    if tensor.dtype != dtype or not tensor.size or tensor.layout.is_contiguous:
        return None
    array = tensor.buffer.memory_of(tensor.layout.implementation)
    if array is None or not are_truths(array):
        return None
    try:
        found = tensor.layout.storage_order()
    except LayoutError:
        return None
    described: dict[str, Json] = {}
    if found.order != tuple(range(tensor.rank - 1, -1, -1)):
        described["order"] = list(found.order)
    if not all(found.ascend):
        described["ascend"] = list(found.ascend)
    upwards = array[tuple([slice(None, None, 1 if up else -1) for up in found.ascend])]
    return upwards.transpose(found.order[::-1]).reshape(-1).view(np.uint8).data, described
