"""The structure of rows changed: modes counted as one, rows dealt anew, rows made longer."""

from typing import Any, Generic, Self, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_count
from tensorwrapper.buffer import Sparse
from tensorwrapper.buffer.lowlevel import buffer_of, fit_number
from tensorwrapper.errors import ConversionError, ExtentError, RankError
from tensorwrapper.layout.lowlevel import contiguous, merge_mode, split_mode_by, wrap_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import integer_array, mode_of, to_index_array
from tensorwrapper.tensor._pad import pad_mode
from tensorwrapper.tensor._queries import TensorQueries
from tensorwrapper.tensor._sparse import TensorSparse
from tensorwrapper.typing import IntArray, ScalarT_co

__all__ = ["TensorStructure"]


class TensorStructure(TensorSparse[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_layout`, `_buffer` and `_make`."""

    __slots__ = ()

    def flatten(self, mode: SupportsIndex | None = None) -> Self:
        """Return the view in which `mode` counts on in the mode before it; all modes start at zero then.

        The rows of a jagged mode follow one another without brackets, as Awkward Array's ``flatten`` has
        them. Of a nested tensor, without a mode: the view without layers. Nothing is copied; O(1) where the
        elements are packed, beside the splits of the new shape, else as many steps as there are cells.

        Parameters
        ----------
        mode
            The mode that loses its brackets; 1 if not given.

        Raises
        ------
        RankError
            If there is no such mode, or none before it.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[[1, 2], [3]], [], [[4]]])
        >>> t.flatten().tolist(), t.flatten(2).tolist()
        ([[1, 2], [3], [4]], [[1, 2, 3], [], [4]])
        """
        if mode is None and self.shape.kind == "nested":
            return self._flat()
        flat = self._flat()
        number = mode_of(1 if mode is None else mode, flat.rank)
        return self._make(wrap_layout(merge_mode(flat._layout.implementation, number)), self._buffer)

    def unflatten(
        self, counts: "SupportsIndex | npt.ArrayLike | TensorQueries[Any]", mode: SupportsIndex = 0
    ) -> Self:
        """Return the view in which `mode` is dealt to rows of these lengths; all modes start at zero then.

        Nothing is copied; O(counts) where the elements are packed.

        Parameters
        ----------
        counts
            The length of each new row, under one prefix of `mode` indices after the other; one number for
            rows of one length. A jagged tensor, such as `num` gives, also says which rows belong to which
            prefix, so ``t.flatten(m).unflatten(t.num(m), m - 1)`` has the rows of ``t`` again.
        mode
            The mode that is cut.

        Raises
        ------
        ExtentError
            If the counts do not add up to the extent of the mode under each prefix.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2, 3, 4]).unflatten([1, 0, 3]).tolist()
        [[1], [], [2, 3, 4]]
        """
        flat = self._flat()
        number = mode_of(mode, flat.rank)
        if not isinstance(counts, TensorQueries) and not np.ndim(cast("Any", counts)):
            return flat._unflatten_evenly(to_count(cast("SupportsIndex", counts), "a count"), number)
        lengths, parents = _lengths_of(counts, number)
        held = split_mode_by(flat._layout.implementation, number, lengths, parents)
        return self._make(wrap_layout(held), self._buffer)

    def _unflatten_evenly(self, count: int, mode: int) -> Self:
        shape: Shape[Any] = self.shape
        if shape.kind == "smooth":
            if not count or shape.extents[mode] % count:
                raise ExtentError(f"mode {mode} of extent {shape.extents[mode]} makes no rows of {count}")
            layout = self._layout[()].split_mode(mode, (shape.extents[mode] // count, count))
            return self._make(layout, self._buffer)
        extents = shape.lengths(mode)
        if not count or (extents % count).any():
            raise ExtentError(f"there is an extent of mode {mode} that makes no rows of {count}")
        parents = np.zeros(len(extents) + 1, dtype=np.int64)
        np.cumsum(extents // count, out=parents[1:])
        held = split_mode_by(self._layout.implementation, mode, np.full(int(parents[-1]), count), parents)
        return self._make(wrap_layout(held), self._buffer)

    def pad(
        self, length: SupportsIndex, *, fill: object = 0, mode: SupportsIndex = -1, clip: bool = False
    ) -> Self:
        """Return a copy in which `mode` has at least `length` indices, the new ones filled with `fill`.

        Parameters
        ----------
        length
            How many indices the mode gets under every prefix; more stay unless they are clipped.
        fill
            What the new elements are.
        mode
            The last mode, or another one of a box or of the cells of a jagged tensor.
        clip
            Whether rows that are longer lose their last elements. If then every mode has one extent, the
            result is a box.

        Raises
        ------
        JaggedModeError
            If the mode leads to cells: nothing says how long the rows under a new index are.
        SizeOverflowError, ConversionError
            If the elements cannot be `fill`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[1, 2, 3], [4]])
        >>> t.pad(2).tolist(), t.pad(2, fill=-1, clip=True).to_numpy().tolist()
        ([[1, 2, 3], [4, 0]], [[1, 2], [4, -1]])
        """
        if isinstance(self._buffer, Sparse):
            raise ConversionError("a sparse tensor is not filled without being asked: to_dense().pad(...)")
        flat = self._flat()
        number, extent = mode_of(mode, flat.rank), to_count(length, "a length")
        value = fit_number(fill, self.dtype, "fill")
        shape, padded = pad_mode(flat.elements(), flat.shape, number, extent, value, clip=clip)
        return self._make(wrap_layout(contiguous(shape, 0)), buffer_of(padded))


def _lengths_of(counts: object, mode: int) -> tuple[IntArray, IntArray | None]:
    """Return the counts as a flat array, and where those of each prefix begin, if they say so."""
    if not isinstance(counts, TensorQueries):
        given = integer_array(cast("npt.ArrayLike", counts), "counts")
        if given.ndim != 1:
            raise RankError(f"counts form one axis, not an array of shape {given.shape}")
        return to_index_array(given[:, np.newaxis], 1)[:, 0], None
    tensor = cast("TensorQueries[Any]", counts)  # type: ignore[redundant-cast]
    flat = to_index_array(integer_array(tensor.elements(), "counts")[:, np.newaxis], 1)[:, 0]
    if tensor.rank == 1:
        return flat, None
    if tensor.rank != mode + 1:
        raise RankError(f"counts of rank {tensor.rank} do not cut mode {mode}: one mode, or {mode + 1}")
    if tensor.shape.kind == "smooth":
        *outer, inner = tensor.shape.extents
        return flat, np.arange(int(np.prod(outer, dtype=np.object_)) + 1) * inner
    return flat, tensor.shape.splits(mode)
