"""Queries of a tensor, and its text."""

from typing import TYPE_CHECKING, Generic

import numpy as np

from tensorwrapper._arguments import or_absent
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape import Tiling
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.typing import IndexT_co, ScalarT_co, ValueT

if TYPE_CHECKING:
    from tensorwrapper.shape import Symmetry


class TensorQueries(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements, as if they were packed; of strings with their offsets."""
        return self._buffer.nbytes_of(self._layout.implementation)

    def __sizeof__(self) -> int:
        # Code that moves tensors, such as Dask, uses their size with elements, not that of two references.
        return object.__sizeof__(self) + self.nbytes

    def item(self: "TensorBase[np.generic[ValueT]]") -> "ValueT":
        """Return the only element as a Python number, string or bytes.

        Raises
        ------
        ConversionError
            If there is another number of elements than one.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([[1, 2], [3, 4]])[1, 0].item()
        3
        """
        array = self._buffer.memory_of(self._layout.implementation)
        size = self.shape.size if array is None else array.size
        if size != 1:
            raise ConversionError(
                f"item() reads tensors with one element, not {size}: `t[0, 1].item()` reads one, "
                f"`t.tolist()` all"
            )
        return (self.elements() if array is None else array).item()

    @property
    def is_readonly(self) -> bool:
        """True if writes raise, because memory is read-only or several indices share a position."""
        return not (not self._buffer.is_readonly and self._layout.is_injective)

    @property
    @or_absent
    def tiling(self) -> Tiling:
        """Partition of the box underneath a tiled tensor.

        Raises
        ------
        LayoutError
            If the tensor is not a tiled view.
        """
        return self._tiled("tiling").tiling

    @property
    def symmetry(self) -> "Symmetry | None":
        """The symmetry guaranteed by the storage; None if all elements are stored.

        A part of a symmetric tensor has the operations that move each mode to one of which the same is
        selected. O(order + selected positions).

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.from_packed([1.0, 2.0, 3.0], "s2", (2, 2))
        >>> t.symmetry, t[::-1].symmetry
        (Symmetry.parse('s2'), Symmetry.parse('2:'))
        """
        return self._buffer.symmetry_of(self._layout.implementation)

    def _text(self) -> str:
        from tensorwrapper.tensor.printing._printing import tensor_str  # noqa: PLC0415

        return tensor_str(self._layout, self._buffer)

    def __repr__(self) -> str:
        from tensorwrapper.tensor.printing._printing import tensor_repr  # noqa: PLC0415

        return tensor_repr(self._layout, self._buffer, self.nbytes)

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: facts, the elements, and a folded picture of the layout."""
        # Loaded here: most programs draw nothing.
        from tensorwrapper.tensor.printing._html import tensor_html  # noqa: PLC0415

        return tensor_html(self._layout, self._buffer, self.nbytes)
