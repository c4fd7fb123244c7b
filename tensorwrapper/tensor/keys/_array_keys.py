"""Keys with arrays: what NumPy selects with them is read, and written, where it lies."""

from typing import Any

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import assign_indexed, index_elements
from tensorwrapper.errors import ExtentMismatchError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import addresses_of_items, numpys_errors, to_items
from tensorwrapper.typing import Array, ScalarT_co

__all__ = ["read_key", "write_key"]


def read_key(
    layout: Layout[Any], buffer: BufferCommon[ScalarT_co], key: object
) -> "npt.NDArray[ScalarT_co] | None":
    """Return what NumPy's indexing with arrays selects of a box in strides: an array of its own, or None."""
    memory = buffer.memory_of(layout.implementation)
    if memory is None:
        return None
    with numpys_errors(layout.shape):
        return index_elements(memory, to_items(key))


def write_key(layout: Layout[Any], buffer: BufferCommon[Any], key: object, values: Array) -> None:
    """Write values where NumPy's indexing with arrays would; of a place that comes twice the last counts."""
    items = to_items(key)
    memory = buffer.memory_of(layout.implementation)
    with numpys_errors(layout.shape):
        if memory is not None:
            try:
                assign_indexed(memory, items, values)
            except ValueError as error:
                raise _misfit(values, error) from error
            return
    addresses = addresses_of_items(layout, items)
    try:
        flat = np.broadcast_to(values, addresses.shape).reshape(-1)[::-1]
    except ValueError as error:
        raise _misfit(values, error) from error
    distinct, first = np.unique(addresses.reshape(-1)[::-1], return_index=True)
    buffer.write(distinct, flat[first])


def _misfit(values: Array, error: ValueError) -> ExtentMismatchError:
    return ExtentMismatchError(
        f"a value of extents {values.shape} does not fit what the key selects: {error}"
    )
