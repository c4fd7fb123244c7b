"""Symmetric tensors: packing, and the packed memory."""

from typing import TYPE_CHECKING, Generic

import numpy.typing as npt

from tensorwrapper.buffer.lowlevel import packed_layout
from tensorwrapper.errors import ConversionError
from tensorwrapper.tensor._libraries import AtHand
from tensorwrapper.tensor.facade._blocks import blocks_work
from tensorwrapper.typing import IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.shape import SymmetryLike
    from tensorwrapper.tensor._tensor import Tensor


class TensorSymmetry(AtHand[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: `_at_hand`. A view is computed, unless it shows one tensor."""

    __slots__ = ()

    def packed_values(self) -> "npt.NDArray[ScalarT_co]":
        """Return the stored elements of a symmetric or tiled tensor, as a flat array; mostly without a copy.

        The elements of a symmetric tensor are its memory, in packed order: a write changes all elements that
        share one. The elements of a tensor in blocks are its memory as well, one present tile after the
        other. The elements of a view, or of a dense tiled tensor, are copied unless they are stored in this
        order.

        Raises
        ------
        ConversionError
            If the tensor is neither symmetric nor tiled, or is a part of a symmetric one.
        LayoutError
            If it is cut so that it has no tiling any more.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor([[1.0, 2.0], [2.0, 3.0]]).to_packed("s2")
        >>> t.packed_values()[1] = 5.0
        >>> t.packed_values().tolist(), t.to_dense().tolist()
        ([1.0, 5.0, 3.0], [[1.0, 5.0], [5.0, 3.0]])
        >>> tw.blocks({(1,): [3.0, 4.0]}, tw.Tiling([3, 2])).packed_values()
        array([3., 4.])
        """
        own = self._at_hand()
        found = own._buffer.packed_of(own._layout.implementation)
        if found is not None:
            return found
        if own._buffer.in_tiles or not own.shape.is_box:
            values: npt.NDArray[ScalarT_co] = blocks_work().packed_values(own)
            return values
        if own.symmetry is None:
            raise ConversionError(
                "packed_values() needs a symmetric or tiled tensor: "
                "`tw.as_tensor([[1, 2], [2, 3]]).to_packed('s2')` makes one"
            )
        raise ConversionError(
            "packed_values() needs a whole symmetric tensor, not a part of one: `t.copy()` packs the part"
        )

    def to_packed(self, symmetry: "SymmetryLike", tolerance: float = 0.0) -> "Tensor[ScalarT_co, IndexT_co]":
        """Return the elements as a symmetric tensor, which stores each orbit once; a copy.

        Each element is compared with the one that it shall share, that at the canonical index. NaN equals
        NaN. O(size), or O(stored) from one packing to another of the same blocks: s8 to s4.

        Parameters
        ----------
        symmetry
            A symmetry, or its name or text: ``"s8"``.
        tolerance
            The largest difference that is allowed, absolute. The stored element is not a mean.

        Raises
        ------
        SymmetryError
            If an element differs by more. The text has the first index in row-major order, the index of the
            other element, and the difference. Or if the tolerance is negative or NaN.
        ExtentMismatchError, RankError
            If the shape does not fit the symmetry.
        ConversionError
            If the tensor is jagged, or has nulls.
        DTypeError
            If the elements are strings, or the symmetry needs negatives of a type without any.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> matrix = tw.as_tensor([[0, -1, 4], [1, 0, 2], [-4, -2, 0]])
        >>> matrix.to_packed("a2").packed_values().tolist()
        [1, -4, -2]
        >>> matrix.to_packed("s2")
        Traceback (most recent call last):
        tensorwrapper.errors.SymmetryError: x[0, 1] is -1, but +x[1, 0] is 1: they differ by 2, more than \
tolerance 0
        """
        # Loaded here: few tensors are packed.
        from tensorwrapper.buffer.lowlevel import packed_buffer  # noqa: PLC0415

        own = self._at_hand()
        packed = packed_buffer(own._buffer, own._layout.implementation, symmetry, tolerance)
        return own._make(packed_layout(own.shape), packed)
