"""Buffers that hold no run of elements: one constant, or functions that compute them."""

from collections.abc import Callable
from typing import Any, Generic, SupportsIndex, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer._casts import check_write, fit_number
from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._elements import check_dtype
from tensorwrapper.errors import BufferSizeError, ConversionError, ReadOnlyError
from tensorwrapper.typing import Array, IntArray, ScalarT_co

Reader: TypeAlias = Callable[[IntArray], npt.ArrayLike]
"""Takes a flat int64 array of addresses, returns one element for each."""

Writer: TypeAlias = Callable[[IntArray, Array], object]
"""Takes a flat int64 array of addresses and the elements to put there."""


def constant(value: object, size: SupportsIndex, *, dtype: npt.DTypeLike | None = None) -> "Constant[Any]":
    """Return a buffer with the same element at every address; it takes no memory and is read-only.

    Raises
    ------
    DTypeError
        If tensors cannot hold such an element.
    BufferSizeError
        If `size` is negative.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.from_buffer(tw.buffer.constant(1.5, 10**12), tw.Shape(10**6, 10**6))
    >>> t[5, :2].tolist()
    [1.5, 1.5]
    """
    wanted = np.asarray(value).dtype if dtype is None else to_dtype(dtype)
    check_dtype(wanted)
    number = fit_number(value, wanted, "value")
    number.flags.writeable = False
    return Constant(number, _size(size))


def from_functions(
    size: SupportsIndex, dtype: npt.DTypeLike, read: Reader, write: Writer | None = None
) -> "Functions[Any]":
    """Return a buffer whose elements a function computes, and (with `write`) another one takes.

    Elements are not stored: each read calls the function once with all requested addresses.

    Parameters
    ----------
    size
        How many addresses there are.
    dtype
        The type of the elements.
    read
        Takes a flat int64 array of addresses, and returns an array of as many elements.
    write
        Takes such addresses, none of them twice, and as many elements; without it the buffer is read-only.

    Raises
    ------
    DTypeError
        If tensors cannot hold such elements.
    BufferSizeError
        If `size` is negative.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> squares = tw.buffer.from_functions(6, "i8", lambda address: address * address)
    >>> t = tw.from_buffer(squares, tw.Shape(2, 3))
    >>> t.permute((1, 0))[1:].tolist()
    [[1, 16], [4, 25]]
    """
    wanted = to_dtype(dtype)
    check_dtype(wanted)
    if not callable(cast("object", read)) or not (write is None or callable(cast("object", write))):
        raise ConversionError(f"a buffer of functions needs functions, not {brief(read)} and {brief(write)}")
    return Functions(wanted, _size(size), read, write)


def _size(size: SupportsIndex) -> int:
    number = to_int(size, "a buffer's size")
    if number < 0:
        raise BufferSizeError(f"a buffer has no elements or some, not {number}")
    return number


@final
@frozen(eq=False)
class Constant(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """One element, at every address."""

    value: "npt.NDArray[ScalarT_co]"
    _size: int

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        return self.value.dtype

    @property
    def size(self) -> int:
        return self._size

    @property
    def is_readonly(self) -> bool:
        return True

    def as_readonly(self) -> "Constant[ScalarT_co]":
        return self

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        return np.full(addresses.shape, self.value, dtype=self.dtype)

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError("a constant cannot be written to")


@final
@frozen(eq=False)
class Functions(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """Elements that are computed when they are read."""

    _dtype: "np.dtype[ScalarT_co]"
    _size: int
    _read: Reader
    _write: Writer | None

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        return self._dtype

    @property
    def size(self) -> int:
        return self._size

    @property
    def is_readonly(self) -> bool:
        return self._write is None

    def as_readonly(self) -> "Functions[ScalarT_co]":
        return Functions(self._dtype, self._size, self._read, None)

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        flat = addresses.reshape(-1)
        values = np.asarray(self._read(flat))
        if values.shape != flat.shape:
            raise BufferSizeError(
                f"the reader returned an array of extents {values.shape} for {len(flat)} addresses"
            )
        result: npt.NDArray[ScalarT_co] = np.empty(addresses.shape, self._dtype)
        result.reshape(-1)[...] = check_write(values, self._dtype)
        return result

    def write(self, addresses: IntArray, values: Array) -> None:
        if self._write is None:
            raise ReadOnlyError("this buffer of functions has no writer")
        self._write(addresses.reshape(-1), values.reshape(-1))
