"""Writing into tensors."""

from typing import Generic

import numpy.typing as npt

from tensorwrapper.buffer._copy import assign_elements
from tensorwrapper.errors import LayoutError, ReadOnlyError
from tensorwrapper.layout._separable import Separable
from tensorwrapper.layout._strided import Strided
from tensorwrapper.tensor._copies import TensorCopies
from tensorwrapper.tensor._places import memory_of
from tensorwrapper.typing import PositionalKey, ScalarT_co

__all__ = ["TensorWrites"]


class TensorWrites(TensorCopies[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_layout`, `_buffer` and `_make`."""

    __slots__ = ()

    def __setitem__(self, key: PositionalKey, value: npt.ArrayLike) -> None:
        """Write `value`, broadcast as NumPy does, into the selected part.

        Raises
        ------
        ReadOnlyError
            If the memory may not change, or several indices share a place; the text names the mode.
        """
        self._check_writeable()
        array = memory_of(self._layout[key]._held, self._buffer)
        if array is None:
            raise LayoutError("assignment to a jagged tensor goes cell by cell: t[row] = value")
        assign_elements(array, value)

    def _check_writeable(self) -> None:
        # The layout first: the memory under one that repeats is read-only as well, but that is not why.
        if not self._layout.is_injective:
            held = self._layout._held
            mode = held.repeated_mode() if isinstance(held, Strided | Separable) else None
            where = "modes that overlap" if mode is None else f"mode {mode}, which repeats its elements"
            raise ReadOnlyError(f"indices share a place because of {where}; copy() gives each its own")
        if not self._buffer.writeable:
            raise ReadOnlyError(
                "the memory of this tensor is read-only, or repeated in a tensor of which this is a view; "
                "copy() gives one that can change"
            )
