"""Tensors for others: NumPy's protocols and DLPack."""

from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import ConversionError
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.typing import Array, ScalarT_co

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

__all__ = ["TensorExchange"]


class TensorExchange(TensorBase[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: what `TensorBase` declares."""

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
        return self._buffer.as_array(self._layout.implementation)

    def __array__(self, dtype: "np.dtype[Any] | None" = None, copy: bool | None = None) -> Array:  # noqa: FBT001
        return self._buffer.to_array(self._layout.implementation, dtype, copy)

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
