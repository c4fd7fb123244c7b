"""The buffer under an array of NumPy, with the strides that it has there, and that of a flat array."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import strided
from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer._elements import check_dtype, holds_strings
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout.lowlevel import packed_strides
from tensorwrapper.typing import Array, Index, ScalarT_co


def as_dense(array: "npt.NDArray[ScalarT_co]") -> "tuple[Dense[ScalarT_co], Index, int]":
    """Return the buffer under an array, with strides and offset in elements; never a copy.

    Raises
    ------
    DTypeError
        If a tensor cannot hold such elements.
    ConversionError
        If the steps of the array are not multiples of its element size, so that offsets cannot count them.
    """
    check_dtype(array.dtype)
    if array.flags.c_contiguous:
        return Dense(array.reshape(-1)), packed_strides(array.shape, range(array.ndim - 1, -1, -1)), 0
    if array.flags.f_contiguous:
        return Dense(array.T.reshape(-1)), packed_strides(array.shape, range(array.ndim)), 0
    size = array.dtype.itemsize
    # The step of a mode with one index is never taken, and may be anything.
    if any(step % size for n, step in zip(array.shape, array.strides, strict=True) if n > 1):
        raise ConversionError(
            f"an array with steps of {array.strides} bytes and elements of {size} bytes has no strides in "
            "elements; pass a copy of it"
        )
    steps = tuple([step // size for step in array.strides])
    # From the lowest address on: the array with its descending modes turned round starts there.
    turned = array[tuple([slice(None, None, -1 if step < 0 else 1) for step in steps])]
    reach = zip(array.shape, steps, strict=True)
    span = 1 + sum([(extent - 1) * abs(step) for extent, step in reach]) if array.size else 0
    flat = strided(turned, (span,), (size,), writeable=array.flags.writeable)
    offset = sum([(n - 1) * -step for n, step in zip(array.shape, steps, strict=True) if step < 0 and n])
    return Dense(cast("np.ndarray[tuple[int], np.dtype[ScalarT_co]]", flat)), steps, offset


def buffer_of(flat: Array) -> BufferCommon[Any]:
    """Return the buffer of a new flat array: its memory, or the strings in it."""
    if holds_strings(flat.dtype):
        from tensorwrapper.buffer._strings import strings_of_array  # noqa: PLC0415 - numbers need none

        return strings_of_array(flat)
    line: Any = flat
    return Dense(line)
