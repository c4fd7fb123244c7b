"""What a tensor can be asked, and the numbers in it.

`Tensor` is one class; its methods stand in several files, each a mixin over the one before.
"""

from abc import abstractmethod
from typing import Any, Generic, Self

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer import BufferCommon, Strings
from tensorwrapper.buffer.lowlevel import flat_elements, strings_of
from tensorwrapper.errors import JaggedModeError, LayoutError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, TiledStrided
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor._common import TensorCommon
from tensorwrapper.tensor._printing import tensor_repr, tensor_str
from tensorwrapper.typing import ScalarT_co

__all__ = ["TensorQueries"]


class TensorQueries(TensorCommon[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: the attributes `_layout` and `_buffer`, and `_make`, which makes a tensor of such parts."""

    __slots__ = ()

    _layout: Layout[Any]
    _buffer: BufferCommon[ScalarT_co]

    @classmethod
    @abstractmethod
    def _make(cls, layout: Layout[Any], buffer: BufferCommon[Any]) -> Self:
        """Return a tensor of parts that fit: the offsets were checked against the buffer."""

    @property
    def shape(self) -> Shape[tuple[int, ...]]:
        """The indices of the elements."""
        return self._layout.shape

    @property
    def layout(self) -> Layout[tuple[int, ...]]:
        """Where the elements lie in the buffer, in elements."""
        return self._layout

    @property
    def buffer(self) -> BufferCommon[ScalarT_co]:
        """What holds the elements."""
        return self._buffer

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return self._buffer.dtype

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements, as if they were packed; of strings with their offsets."""
        if isinstance(self._buffer, Strings):
            return strings_of(self._layout.implementation, self._buffer).nbytes
        return self.size * self.dtype.itemsize

    @property
    def is_readonly(self) -> bool:
        """Whether writing raises: the memory may not change, or several indices share a place."""
        return not (self._buffer.writeable and self._layout.is_injective)

    @property
    def tiling(self) -> Tiling:
        """How the box underneath a tiled tensor is cut.

        Raises
        ------
        LayoutError
            If the tensor is not a tiled view.
        """
        return self._tiled("tiling").tiling

    def _tiled(self, what: str) -> TiledStrided:
        held = self._layout.implementation
        if isinstance(held, TiledStrided):
            return held
        raise LayoutError(
            f"{what} needs a tiled view, which tiled(tiling) makes of a box in strides; of tiles that lie "
            "one after the other, element(number) is one"
        )

    def _flat(self) -> Self:
        """Return the same tensor without layers."""
        if self._layout.shape.kind != "nested":
            return self
        return self._make(self._layout.flatten(), self._buffer)

    def _check_cells(self, what: str) -> None:
        if isinstance(self._layout.implementation, Strided):
            raise JaggedModeError(
                f"{what} needs a jagged or tiled tensor: a box is one cell; tiled(tiling) cuts it into tiles"
            )

    def __str__(self) -> str:
        return tensor_str(self._layout, self._buffer)

    def __repr__(self) -> str:
        return tensor_repr(self._layout, self._buffer)

    def _repr_html_(self) -> str:
        """Return what notebooks show: the elements, a few facts, and a picture of the layout."""
        # Loaded here: most programs draw nothing.
        from tensorwrapper.tensor._html import tensor_html  # noqa: PLC0415

        return tensor_html(self._layout, self._buffer, self.nbytes)

    def elements(self) -> "npt.NDArray[ScalarT_co]":
        """Return the elements as a flat array in row-major order; a view if they lie so, else a copy."""
        return flat_elements(self._layout.implementation, self._buffer)
