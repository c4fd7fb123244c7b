"""Views: parts of a tensor, and the same elements in another order or under another shape, without copies."""

from collections.abc import Iterable, Iterator
from typing import Any, Generic, Self, SupportsIndex

import numpy.typing as npt

from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.layout import Layout
from tensorwrapper.layout._layout import wrap_layout
from tensorwrapper.shape import ShapeLike, Tiling
from tensorwrapper.tensor._queries import TensorQueries
from tensorwrapper.tensor._rows import TensorRows
from tensorwrapper.tensor._tiles import cell_layouts
from tensorwrapper.typing import Index, ScalarT_co

__all__ = ["TensorParts", "guard"]


def guard(layout: Layout[Any], buffer: BufferCommon[ScalarT_co]) -> BufferCommon[ScalarT_co]:
    """Return `buffer`, read-only if indices share a place in it: then every view of the tensor is as well."""
    return buffer.guarded() if buffer.writeable and not layout.is_injective else buffer


class TensorParts(TensorQueries[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_layout`, `_buffer` and `_make`."""

    __slots__ = ()

    def _see(self, layout: Layout[Any]) -> Self:
        """Return the same elements through a layout that may give several indices one place."""
        return self._make(layout, guard(layout, self._buffer))

    def window(self, region: ShapeLike) -> Self:
        """Return the view of the elements of `region`, which keeps its origin.

        Raises
        ------
        OutOfBoundsError
            If the region leaves the shape.
        """
        return self._make(self._layout.window(region), self._buffer)

    def permute(self, order: Iterable[SupportsIndex]) -> Self:
        """Return the view whose mode k is mode ``order[k]``."""
        return self._make(self._layout.permute(order), self._buffer)

    def reverse(self, *modes: SupportsIndex) -> Self:
        """Return the view with the order of the given modes reversed; all of them if none is given."""
        return self._make(self._layout.reverse(*modes), self._buffer)

    def rotate(self, shifts: Iterable[SupportsIndex]) -> Self:
        """Return the view with every mode turned round, by one shift per mode; upwards as NumPy's roll.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2, 3]).rotate([1]).tolist()
        [3, 1, 2]
        """
        return self._make(self._layout.rotate(shifts), self._buffer)

    def repeat(self, times: Iterable[SupportsIndex]) -> Self:
        """Return the view with every mode repeated whole, `times` of that mode; it is read-only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2]).repeat([2]).tolist()
        [1, 2, 1, 2]
        """
        return self._see(self._layout.repeat(times))

    def repeat_each(self, mode: SupportsIndex, times: SupportsIndex) -> Self:
        """Return the view with every position of `mode` repeated `times` times; it is read-only.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([1, 2]).repeat_each(0, 2).tolist()
        [1, 1, 2, 2]
        """
        return self._see(self._layout.repeat_each(mode, times))

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> Self:
        """Return the view of the given positions of `mode`, in their order; read-only if one is repeated.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> tw.as_tensor([10, 20, 30]).gather(0, [2, 0]).tolist()
        [30, 10]
        """
        return self._see(self._layout.gather(mode, positions))

    def broadcast(self, shape: ShapeLike) -> Self:
        """Return the view that repeats modes of extent 1 and adds leading modes; it is read-only."""
        return self._see(self._layout.broadcast(shape))

    def squeeze(self, *modes: SupportsIndex) -> Self:
        """Return the view without the given modes of extent 1; without all such if none is given."""
        return self._make(self._layout.squeeze(*modes), self._buffer)

    def unsqueeze(self, mode: SupportsIndex) -> Self:
        """Return the view with a new mode of extent 1, which becomes mode `mode`."""
        return self._make(self._layout.unsqueeze(mode), self._buffer)

    def reshape(self, extents: Iterable[SupportsIndex]) -> Self:
        """Return the view of the same elements, in row-major order, under new extents; never a copy.

        Raises
        ------
        ExtentError
            If the number of elements changes.
        LayoutError
            If only a copy could have these extents: ``copy().reshape(...)`` makes it.
        """
        return self._make(self._layout.reshape(extents), self._buffer)

    def sliding_window(self, mode: SupportsIndex, length: SupportsIndex) -> Self:
        """Return the view of all runs of `length` positions of `mode`; a new last mode counts in the run."""
        return self._see(self._layout.sliding_window(mode, length))

    def diagonal(self, first: SupportsIndex = 0, second: SupportsIndex = 1) -> Self:
        """Return the view of the elements whose positions in two modes agree; the new mode is the last."""
        return self._make(self._layout.diagonal(first, second), self._buffer)

    def split_mode(self, mode: SupportsIndex, extents: Iterable[SupportsIndex]) -> Self:
        """Return the view in which one mode counts in several, the last of them fastest."""
        return self._make(self._layout.split_mode(mode, extents), self._buffer)

    def merge_modes(self, first: SupportsIndex, last: SupportsIndex) -> Self:
        """Return the view in which the modes `first` to `last` count as one, the last of them fastest."""
        return self._make(self._layout.merge_modes(first, last), self._buffer)

    def tiled(self, tiling: Tiling) -> Self:
        """Return the tiled view: rank 2r, tile numbers first; memory stays as it is."""
        return self._make(self._layout.as_tiled(tiling), self._buffer)

    def untiled(self) -> Self:
        """Return the box underneath a tiled view, where it lies."""
        return self._make(wrap_layout(self._tiled("untiled").under), self._buffer)

    def tile(self, *number: SupportsIndex) -> Self:
        """Return the view of one tile of a tiled view; its origin is where it lies in the box."""
        return self._make(wrap_layout(self._tiled("tile").tile(number)), self._buffer)

    def element(self, index: Iterable[SupportsIndex], *, layer: SupportsIndex | None = None) -> Self:
        """Return the view of one element of a layer, or of one cell of a jagged tensor; it keeps its origin.

        Parameters
        ----------
        index
            Of a nested tensor: the absolute index in one or more of the outer layers. Of a jagged tensor:
            the index of a cell.
        layer
            The layer where the index ends, where layers without modes leave a choice.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> shape = tw.Shape.nested(tw.Shape(2, 3), layers=(1, 1))
        >>> tw.full(shape, 1, dtype="i8").element((1,)).tolist()
        [1, 1, 1]
        """
        return self._make(self._layout.element(index, layer=layer), self._buffer)

    def cells(self) -> Iterator[tuple[Index, Self]]:
        """Return an iterator over the cells: index and view, whose origin says where the cell lies.

        The cells of a jagged tensor are boxes, those of a nested one the elements of its innermost layer.

        Raises
        ------
        JaggedModeError
            If the tensor is a box, which is one cell.
        """
        self._check_cells("cells")
        if self.shape.kind == "nested":
            return ((index, self.element(index)) for index, _ in self.shape.cells())
        layouts = cell_layouts(self._layout._held, self.shape.cell_table())
        return ((index, self._make(wrap_layout(cell), self._buffer)) for index, cell in layouts)

    def __iter__(self) -> Iterator[Self]:
        if self.rank == 2 and self.shape.kind == "jagged":
            return iter(TensorRows[Self, Self](self))
        return (self._make(self._layout[k], self._buffer) for k in range(len(self)))
