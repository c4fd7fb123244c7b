"""The cells and layers of a shape: the methods of the facade that go from a shape to the shapes in it."""

from collections.abc import Iterable, Iterator
from typing import Any, Generic, Self, SupportsIndex

from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape._shape_base import ShapeBase
from tensorwrapper.shape.boxes._names import Names, plain_names
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._encodings import as_jagged
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._layers import cell_table, cells, element
from tensorwrapper.shape.kinds._nested import NestedCommon, flat_of
from tensorwrapper.shape.rows._cell_table import CellTable
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IndexT_co


def rows_under(shape: ShapeBase[Any]) -> Rows:
    """Return the rows of a jagged shape, or of a box with its first mode unrolled; O(rank)."""
    return as_jagged(flat_of(shape.implementation)).rows


class ShapeCells(ShapeBase[IndexT_co], Generic[IndexT_co]):
    """Abstract: as `ShapeBase`."""

    __slots__ = ()

    def leading(self, modes: SupportsIndex) -> "ShapeBase":
        """Return the shape of the prefixes of `modes` indices: the leading modes without the rest; O(1).

        Where the cells of a jagged shape are cut short, the extents of one mode are summed: O(cells).

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.jagged([[10], [20, 30]]).leading(2)
        Shape.jagged([1, 2])
        """
        names, part = self._names, self.implementation.leading(modes)
        return self._wrap(part, None if names is None else plain_names(names[: part.rank]))

    def outer(self) -> "ShapeBase":
        """Return the shape of the first `outer_rank` modes, which number the cells; a box raises."""
        implementation = self._cellular()
        names = self._names
        return self._wrap(
            implementation.outer(), None if names is None else plain_names(names[: implementation.outer_rank])
        )

    def element(self, index: Iterable[SupportsIndex], *, layer: SupportsIndex | None = None) -> "ShapeBase":
        """Return the shape of one element, as a view.

        Parameters
        ----------
        index
            Of a nested shape: the absolute index in one or more of the outer layers. Of a jagged shape:
            the index of a cell.
        layer
            The layer where the index ends, needed only where layers without modes leave a choice: not
            given, the element is that of the innermost of them.

        Raises
        ------
        LayerError
            If the index does not end where a layer (or the unrolled modes) ends.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.nested(Shape(10, 20, 30), layers=(1, 2)).element((3,))
        Shape(20, 30)
        """
        part = element(self._cellular(), index, layer)
        return self._wrap(part, self._names_from(self.implementation.rank - part.rank))

    def cells(self, *, layer: SupportsIndex | None = None) -> "Iterator[tuple[Index, ShapeBase]]":
        """Return an iterator over outer indices and the shape of the cell under each, in row-major order.

        Parameters
        ----------
        layer
            Of a nested shape: the last layer of the outer index; the elements have the remaining layers. By
            default, it is all layers but the innermost. Negative layers count from the innermost.

        Raises
        ------
        LayerError
            If the layer does not exist, or is the innermost, or the shape is not nested.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> list(Shape.jagged([Shape(1, 2), Shape(3, 4)]).cells())
        [((0,), Shape(1, 2)), ((1,), Shape(3, 4))]
        >>> n = Shape.nested(Shape(2, 1, 5), layers=(1, 1, 1))
        >>> list(n.cells())
        [((0, 0), Shape(5)), ((1, 0), Shape(5))]
        >>> next(n.cells(layer=0))
        ((0,), Shape.nested(Shape(1, 5), layers=(1, 1)))
        """
        rest = self._names_from
        return ((index, self._wrap(cell, rest(len(index)))) for index, cell in cells(self._cellular(), layer))

    def cell_table(self) -> CellTable:
        """Return index, extents, origin and first ordinal of every cell, as arrays; O(cells).

        Raises
        ------
        JaggedModeError
            For a box, which is one cell, and a nested shape whose elements are jagged.
        SizeOverflowError
            If there are more cells, or elements, than 64 bits number.
        """
        return cell_table(self._cellular())

    def _cellular(self) -> JaggedCommon | NestedCommon:
        implementation = self.implementation
        if isinstance(implementation, SmoothCommon):
            raise JaggedModeError(
                "a smooth shape is one cell, which extents and origin describe (Shape.nested gives layers)"
            )
        return implementation

    def flatten(self) -> Self:
        """Return the same shape without layers."""
        implementation = self.implementation
        return (
            self._wrap(implementation.flat, self._names) if isinstance(implementation, NestedCommon) else self
        )

    def _names_from(self, mode: int) -> Names:
        """Return the names of the modes from this one on."""
        names = self._names
        return None if names is None else plain_names(names[mode:])
