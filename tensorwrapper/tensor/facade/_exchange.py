"""Exchange protocols: NumPy's protocols and DLPack."""

from typing import TYPE_CHECKING, Any, Generic, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import ConversionError, ExportError
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.typing import IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from typing_extensions import CapsuleType

_NUMBERS = "biufc"


class TensorExchange(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    def to_numpy(self) -> "np.ndarray[IndexT_co, np.dtype[ScalarT_co]]":
        """Return the array over the same memory; it is read-only where the tensor is.

        Raises
        ------
        ConversionError
            If the tensor is jagged, tiled or sparse: `to_dense` is explicit. If it has strings, elements that
            are computed or decompressed when they are read, or a mode without a single stride (rotated,
            gathered): no array can be over them, and ``np.asarray`` reads them all.
        """
        buffer: Any = self._buffer
        array: np.ndarray[IndexT_co, np.dtype[ScalarT_co]] = buffer.as_array(self._layout.implementation)
        return array

    def _as_array(self, dtype: "np.dtype[Any] | None", copy: bool | None) -> Any:  # noqa: ANN401, FBT001
        if dtype is None and copy is None:
            array = self._held_array()
            if array is not None:
                return array.view()  # The caller may change the flags of the array.
        # An array has no layers.
        layout = self._flat()._layout if self._layout.shape.has_layers else self._layout
        return self._buffer.to_array(layout.implementation, dtype, copy)

    def as_memoryview(self) -> memoryview:
        """Return the memory with its extents and strides, for consumers of the buffer protocol; no copy.

        From Python 3.12 on, ``memoryview(tensor)`` is the same.

        Raises
        ------
        ConversionError
            If the tensor is not an array (see `to_numpy`), or the protocol does not support its elements
            (times).

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
        return _capsule_of(self, stream, {"max_version": max_version, "dl_device": dl_device, "copy": copy})

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)  # the CPU


def _capsule_of(tensor: "TensorExchange[Any]", stream: object, options: dict[str, object]) -> "CapsuleType":
    """Return the memory of a tensor as a capsule of DLPack.

    Raises
    ------
    ExportError
        If it is not one strided memory, or is read-only and an old version was requested, or DLPack does not
        support the elements.
    """
    if stream is not None:
        raise ConversionError("this memory is the CPU's, which has no streams")
    # NumPy 2.0 accepts none of these options: pass on only those that were given.
    asked: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    try:
        return cast("npt.NDArray[np.number[Any]]", tensor.to_numpy()).__dlpack__(**asked)
    except ConversionError as error:
        raise ExportError(str(error)) from error
    except BufferError as error:
        raise ExportError(
            f"DLPack does not take {tensor.dtype} of this memory: {error}{_advice(tensor)}"
        ) from error


def _advice(tensor: "TensorExchange[Any]") -> str:
    if tensor.dtype.kind == "V":
        return "; to_torch() takes those of ml_dtypes"
    if tensor.dtype.kind not in _NUMBERS or not tensor.dtype.isnative:
        return "; astype() has numbers in the byte order of this machine"
    return "; copy() has memory that can be written to"
