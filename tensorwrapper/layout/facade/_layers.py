"""Layers of a layout, and what it says about memory: methods of the facade."""

from abc import ABC
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, Self, SupportsIndex, TypeVar

from tensorwrapper._integers import to_ints
from tensorwrapper.errors import LayoutError
from tensorwrapper.layout.boxes._named import named_layout
from tensorwrapper.layout.facade._layout_base import LayoutBase, implementation_of
from tensorwrapper.layout.operations._nested import NestedLayout
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IndexT_co

if TYPE_CHECKING:
    from tensorwrapper.layout.copies._hints import LayoutHints

_LayoutT = TypeVar("_LayoutT", bound="LayoutLayers[Any]")


class LayoutLayers(LayoutBase[IndexT_co], ABC, Generic[IndexT_co]):
    """Abstract: as `LayoutBase`."""

    __slots__ = ()

    @classmethod
    def nested(cls, layout: _LayoutT, *, layers: Iterable[SupportsIndex]) -> _LayoutT:
        """Return a layout with its modes split into layers, without moving elements.

        Layers define the elements of existing memory; `hints` tells whether these are contiguous.
        ``Layout(Shape.nested(...))`` is the layout with contiguous ones. Layers of a layout that has some are
        replaced.

        Parameters
        ----------
        layout
            The layout to nest.
        layers
            Number of modes in each layer, from the outermost; entries may be 0.

        Raises
        ------
        LayerError
            If the layers do not add up to the rank, or one of them is negative.
        LayoutError
            If the layout is composite.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> columns = Layout.nested(Layout(Shape(3, 4)).permute((1, 0)), layers=(1, 1))
        >>> columns.element((2,)).strides, columns.hints().layers[0].is_one_run
        ((4,), False)
        """
        implementation = implementation_of(layout, "nested").without_layers()
        names = layout.implementation.names
        if implementation.is_composite:
            raise LayoutError("a composite layout has ordinals, and no layers")
        implementation = implementation.as_strided() or implementation
        counts = to_ints(layers, "the numbers of modes per layer")
        # Raises if they do not deal the modes.
        Shape.nested(implementation.shape, layers=counts)
        return layout._wrap(named_layout(NestedLayout(implementation, counts), names))

    def flatten(self) -> Self:
        """Return the same layout without layers.

        (`tensorwrapper.layout.flatten` takes the nesting out of modes, which are another thing.)

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> Layout(Shape.nested(Shape(2, 3), layers=(1, 1))).flatten() == Layout(Shape(2, 3))
        True
        """
        return self._wrap(named_layout(self.implementation.without_layers(), self.implementation.names))

    def hints(self) -> "LayoutHints":
        """Return properties of the layout's memory, for planning copies, selections and tasks.

        For each layer it has the number and sizes of the blocks, their contiguous runs, and the alignment of
        their starts. For the whole it has the best order of traversal, and a tiling into chunks. O(rank) for
        strided layouts, O(sum of extents) for those with cycles and tables, O(cells) for those of jagged
        shapes. Layouts without a rule (tile-major with gaps or layers, composites) are searched up to 2**20
        elements; in larger ones every element counts as a run.

        Examples
        --------
        >>> from tensorwrapper import Layout, Shape
        >>> hints = Layout(Shape.nested(Shape(10, 20, 30), layers=(1, 2)), orders=["C", "F"]).hints()
        >>> hints.layers[0]
        BlockHints(count=10, least=600, greatest=600, runs=10, is_one_run=True, alignment=600)
        >>> hints.order, hints.orders, hints.row_runs
        ((1, 2, 0), ((0,), (0, 1)), 5991)
        """
        from tensorwrapper.layout.copies._hints import hints_of  # noqa: PLC0415

        return hints_of(self.implementation.unnamed())
