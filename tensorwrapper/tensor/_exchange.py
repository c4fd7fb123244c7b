"""Tensors for others: NumPy's protocols and DLPack."""

from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import Dense, Sparse, Strings
from tensorwrapper.buffer.lowlevel import (
    copy_elements,
    flat_elements,
    memory_of,
    own_elements,
    strings_as_array,
)
from tensorwrapper.errors import ConversionError
from tensorwrapper.tensor._facade import TensorFacade
from tensorwrapper.typing import Array, ScalarT_co

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

__all__ = ["TensorExchange"]


class TensorExchange(TensorFacade[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: what `TensorFacade` declares."""

    __slots__ = ()

    def to_numpy(self) -> "npt.NDArray[ScalarT_co]":
        """Return the array over the same memory; it is read-only where the tensor is.

        Raises
        ------
        ConversionError
            If the tensor is jagged, tiled or sparse: nothing is densified without being asked. If it has
            strings, elements that are computed or decompressed when they are read, or a mode without a
            single stride (rotated, gathered): no array can be over them, and ``np.asarray`` reads them all.
        """
        held = self._layout.implementation
        array = memory_of(held, self._buffer)
        if isinstance(self._buffer, Sparse):
            ways = "to_dense() fills it" if self.shape.kind == "smooth" else "to_padded() and cells() fill it"
            raise ConversionError(
                f"a sparse tensor is no array: {ways}, coords() and values() have its parts"
            )
        if isinstance(self._buffer, Strings):
            raise ConversionError(
                "no array is over the bytes of strings: np.asarray(t), with a dtype or not, copies them, and "
                "to_string_data() has them without a copy"
            )
        if array is None and self.shape.kind == "smooth":
            what = "a mode of several strides" if isinstance(self._buffer, Dense) else f"{self._buffer!r}"
            raise ConversionError(
                f"no array is over the elements of {what}: np.asarray(t) and t.copy() read them all"
            )
        if array is None:
            raise ConversionError(
                f"a tensor of shape {self.shape} is no array: to_padded() fills it, cells() has its parts"
            )
        if array.flags.writeable and not held.is_injective:
            array.flags.writeable = False
        return array

    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array:  # noqa: FBT001
        if isinstance(self._buffer, Strings):
            return strings_as_array(self._layout.implementation, self._buffer, dtype, copy)
        held, buffer = self._layout.implementation, self._buffer
        boxed = self.shape.kind == "smooth" and not isinstance(buffer, Sparse)
        if copy is not False and boxed and memory_of(held, buffer) is None:
            # What no strides reach, or lies nowhere, is read into an array of its own.
            read = own_elements if copy else flat_elements
            array, copy = read(held, buffer).reshape(self.shape.extents), None
        else:
            array = self.to_numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ConversionError(f"elements of {array.dtype} become {dtype} only by a copy; copy=False")
            return copy_elements(array, cast("Any", np.dtype(dtype)))
        return copy_elements(array) if copy else array

    def as_memoryview(self) -> memoryview:
        """Return the memory with its extents and strides, for whoever takes the buffer protocol; no copy.

        From Python 3.12 on, ``memoryview(tensor)`` is the same.

        Raises
        ------
        ConversionError
            If the tensor is no array (see `to_numpy`), or the protocol has no word for its elements (times).

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> view = tw.as_tensor(np.arange(6, dtype="u1").reshape(2, 3)).permute((1, 0)).as_memoryview()
        >>> view.shape, view.strides, view.format
        ((3, 2), (1, 3), 'B')
        """
        array = self.to_numpy()
        try:
            return memoryview(cast("Any", array))
        except ValueError as error:
            raise ConversionError(f"a memoryview has no format for elements of {array.dtype}") from error

    def __buffer__(self, flags: int) -> memoryview:
        return self.as_memoryview()

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> "CapsuleType":
        if stream is not None:
            raise ConversionError("this memory is the CPU's, which has no streams")
        options = {"max_version": max_version, "dl_device": dl_device, "copy": copy}
        # NumPy 2.0 knows none of them: only what was asked for is passed on.
        asked: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
        return cast("npt.NDArray[np.number[Any]]", self.to_numpy()).__dlpack__(**asked)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU
