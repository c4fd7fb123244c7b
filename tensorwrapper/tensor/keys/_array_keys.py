"""Read and write selections by keys with arrays, as in NumPy's indexing."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.buffer.lowlevel import assign_indexed, fit_extents, index_elements
from tensorwrapper.errors import ExtentMismatchError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import addresses_of_items, numpys_errors, to_items
from tensorwrapper.typing import Array, ScalarT_co

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from tensorwrapper.shape import IndexIterator


def is_running(key: object) -> "TypeIs[IndexIterator[Any]]":
    """Return True if a key is a running iterator, which leads to indices and has no positions."""
    if not isinstance(key, Iterator):
        return False
    from tensorwrapper.shape import IndexIterator  # noqa: PLC0415 - few keys are iterators

    return isinstance(key, IndexIterator)


def read_key(
    layout: Layout[Any], buffer: BufferCommon[ScalarT_co], key: object
) -> "npt.NDArray[ScalarT_co] | None":
    """Return the selection of NumPy's indexing with arrays from a strided box: a new array, or None."""
    memory = buffer.memory_of(layout.implementation)
    if memory is None:
        return None
    with numpys_errors(layout.shape):
        return index_elements(memory, to_items(key, layout.shape))


def write_key(layout: Layout[Any], buffer: BufferCommon[Any], key: object, values: Array) -> None:
    """Write values as NumPy's indexing with arrays does; the last value counts for repeated positions."""
    items = to_items(key, layout.shape)
    memory = buffer.memory_of(layout.implementation)
    while values.ndim > 1 and values.shape[0] == 1:
        values = values[0]  # NumPy broadcasts these modes for all keys but masks of a whole array.
    with numpys_errors(layout.shape):
        if memory is not None:
            try:
                assign_indexed(memory, items, values)
            except (TypeError, ValueError) as error:
                raise _misfit(values, error) from error
            return
    addresses = addresses_of_items(layout, items)
    flat = np.broadcast_to(fit_extents(values, addresses.shape), addresses.shape).reshape(-1)[::-1]
    distinct, first = np.unique(addresses.reshape(-1)[::-1], return_index=True)
    buffer.write(distinct, flat[first])


def _misfit(values: Array, error: Exception) -> ExtentMismatchError:
    return ExtentMismatchError(
        f"a value of extents {values.shape} does not fit what the key selects: {error}"
    )
