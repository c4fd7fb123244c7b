"""Views: parts of a tensor, and the same elements in another order or under another shape, without copies."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, Self, SupportsIndex

from tensorwrapper.buffer import BufferCommon
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import wrap_layout
from tensorwrapper.tensor._queries import TensorQueries
from tensorwrapper.tensor._rows import TensorRows
from tensorwrapper.tensor._tiles import cell_layouts
from tensorwrapper.typing import Index, ScalarT_co

__all__ = ["TensorParts", "guard"]

_P = ParamSpec("_P")


def guard(layout: Layout[Any], buffer: BufferCommon[ScalarT_co]) -> BufferCommon[ScalarT_co]:
    """Return `buffer`, read-only if indices share a place in it: then every view of the tensor is as well."""
    return buffer.guarded() if buffer.writeable and not layout.is_injective else buffer


class TensorParts(TensorQueries[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_layout`, `_buffer` and `_make`."""

    __slots__ = ()

    def _see(self, layout: Layout[Any]) -> Self:
        """Return the same elements through a layout that may give several indices one place."""
        return self._make(layout, guard(layout, self._buffer))

    def _by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        return self._make(operation(self._layout, *arguments, **options), self._buffer)

    def _see_by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        return self._see(operation(self._layout, *arguments, **options))

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
        layouts = cell_layouts(self._layout.implementation, self.shape.cell_table())
        return ((index, self._make(wrap_layout(cell), self._buffer)) for index, cell in layouts)

    def __iter__(self) -> Iterator[Self]:
        if self.rank == 2 and self.shape.kind == "jagged":
            return iter(TensorRows[Self, Self](self))
        return (self._make(self._layout[k], self._buffer) for k in range(len(self)))
