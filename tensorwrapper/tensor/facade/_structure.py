"""Changes to the structure of rows: merge modes, split rows, pad rows."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, Literal, Self, SupportsIndex, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shown_array
from tensorwrapper._integers import to_count
from tensorwrapper.errors import ExtentError, RankError
from tensorwrapper.layout import Boundary, Layout
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape.lowlevel import mode_of
from tensorwrapper.tensor._lazy_imports import padded, view_of
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.typing import AnyRank, IndexT_co, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection import View
    from tensorwrapper.tensor._tensor import Tensor

_J = TypeVar("_J", bound=AnyRank)


class TensorStructure(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    def pad(
        self,
        widths: "Iterable[tuple[SupportsIndex, SupportsIndex]]",
        *,
        boundary: "Literal['constant'] | Boundary" = "constant",
        fill_value: object = 0,
    ) -> "View[ScalarT_co, IndexT_co]":
        """Return a padded view, as NumPy's pad, without copying.

        The elements keep their indices. Rows, cells and tiles go on each by itself, as of `View.pad`;
        `pad_rows` makes rows as long as one another, in a copy.

        Parameters
        ----------
        widths
            For each mode how many positions come before and after.
        boundary
            Values beyond the ends: a constant, or elements of the tensor in one of the ways of a layout.
        fill_value
            The constant.

        Raises
        ------
        RankError
            If there is not one pair per mode.
        JaggedModeError
            If a mode that leads to rows or cells is padded.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> v = tw.as_tensor([1, 2, 3]).pad([(2, 1)], fill_value=9)
        >>> v.shape, v.compute().tolist()
        (Shape(6, origin=(-2,)), [9, 9, 1, 2, 3, 9])
        """
        view: View[ScalarT_co, IndexT_co] = padded(self, widths, boundary=boundary, fill_value=fill_value)
        return view

    @overload
    def broadcast(self, shape: Shape[_J]) -> "Tensor[ScalarT_co, _J]":
        """Return the view that repeats modes of extent 1 and adds leading modes; it is read-only."""

    @overload
    def broadcast(self, shape: ShapeLike) -> "Tensor[ScalarT_co]": ...
    def broadcast(self, shape: ShapeLike) -> Any:
        """Return the view that repeats modes of extent 1 and adds leading modes; it is read-only."""
        return self._see_by(Layout.broadcast, shape)

    def pad_rows(
        self, length: SupportsIndex, *, fill_value: object = 0, mode: SupportsIndex = -1, clip: bool = False
    ) -> Self:
        """Return a copy in which `mode` has at least `length` indices; the new elements are `fill_value`.

        Parameters
        ----------
        length
            How many indices the mode gets under every prefix; more stay unless they are clipped.
        fill_value
            Value of the new elements.
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
            If the elements cannot be `fill_value`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> t = tw.jagged([[1, 2, 3], [4]])
        >>> t.pad_rows(2).tolist(), t.pad_rows(2, fill_value=-1, clip=True).to_numpy().tolist()
        ([[1, 2, 3], [4, 0]], [[1, 2], [4, -1]])
        """
        seen: Any = view_of(self)
        made: Self = seen.pad_rows(length, fill_value=fill_value, mode=mode, clip=clip).compute()
        return made


def cut_rows(
    layout: Layout[Any], counts: "SupportsIndex | npt.ArrayLike | TensorBase[Any]", mode: SupportsIndex
) -> Layout[Any]:
    """Return the layout without layers in which `mode` is split into rows of these lengths."""
    flat = layout.flatten()
    number = mode_of(mode, flat.shape.rank)
    if not isinstance(counts, TensorBase) and not shown_array(counts).ndim:
        return _cut_evenly(flat, to_count(cast("SupportsIndex", counts), "a count"), number)
    if not isinstance(counts, TensorBase):
        return cast("Layout[Any]", flat.split_rows(cast("npt.ArrayLike", counts), number))
    lengths, parents = _lengths_of(counts, number)
    return cast("Layout[Any]", flat.split_rows(lengths, number, parents=parents))


def _cut_evenly(layout: Layout[Any], count: int, mode: int) -> Layout[Any]:
    shape: Shape[Any] = layout.shape
    if shape.is_box:
        if not count or shape.extents[mode] % count:
            raise ExtentError(f"mode {mode} of extent {shape.extents[mode]} makes no rows of {count}")
        return layout[()].split_mode(mode, (shape.extents[mode] // count, count))
    extents = shape.lengths(mode)
    if not count or (extents % count).any():
        raise ExtentError(f"there is an extent of mode {mode} that makes no rows of {count}")
    parents = np.zeros(len(extents) + 1, dtype=np.int64)
    np.cumsum(extents // count, out=parents[1:])
    lengths = np.full(int(parents[-1]), count)
    return cast("Layout[Any]", layout.split_rows(lengths, mode, parents=parents))


def _lengths_of(tensor: TensorBase[Any], mode: int) -> tuple[IntArray, IntArray | None]:
    """Return the counts as a flat array, and the starts of each prefix's counts, if given."""
    flat: IntArray = tensor.elements()
    if tensor.shape.rank == 1:
        return flat, None
    if tensor.shape.rank != mode + 1:
        raise RankError(f"counts of rank {tensor.shape.rank} do not cut mode {mode}: one mode, or {mode + 1}")
    if tensor.shape.is_box:
        *outer, inner = tensor.shape.extents
        return flat, np.arange(int(np.prod(outer, dtype=np.object_)) + 1) * inner
    return flat, tensor.shape.splits(mode)
