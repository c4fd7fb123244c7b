"""`Layout`, the one class that users meet: where each index of a shape lives, counted in elements."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, Generic, SupportsIndex, cast, final, overload

from tensorwrapper._error_text import brief
from tensorwrapper._hints import hint
from tensorwrapper._integers import one_sequence, to_int, to_ints
from tensorwrapper._value_class import slot_setters, value_class
from tensorwrapper.errors import ConversionError, LayoutError
from tensorwrapper.layout.boxes import _mode_operations, _modes
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.boxes._named import agreed_layout, check_meant, named_layout
from tensorwrapper.layout.boxes._orders import to_tiling
from tensorwrapper.layout.boxes._strided import Strided, new_row_major, row_major
from tensorwrapper.layout.cells._blocked import Packed
from tensorwrapper.layout.facade._choice import of_flat, of_layers
from tensorwrapper.layout.facade._constructors import LayoutConstructors
from tensorwrapper.layout.facade._exchange import LayoutExchange
from tensorwrapper.layout.facade._layers import LayoutLayers
from tensorwrapper.layout.facade._layout_base import implementation_of
from tensorwrapper.layout.facade._moves import LayoutMoves
from tensorwrapper.layout.facade._ordinals import LayoutOrdinals
from tensorwrapper.layout.facade._queries import LayoutQueries
from tensorwrapper.layout.facade._rows import LayoutRows
from tensorwrapper.layout.operations._nested import LayerOrders, NestedLayout, element_of
from tensorwrapper.layout.operations._simplify import simplify
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.shape import Shape, ShapeLike, Tiling
from tensorwrapper.shape.lowlevel import ModeNames, names_of, unnamed_shape
from tensorwrapper.typing import (
    Extents,
    IndexT,
    IndexT_co,
    Integer,
    IntegerAndSlice,
    Modes,
    NamedKey,
    Order,
    PositionalKey,
    Rank1,
    Rank2,
    Rank3,
    Rank4,
    Rank6,
    Slices,
    UnknownRank,
)

if TYPE_CHECKING:
    from tensorwrapper.layout.copies._plan import CopyPlan

_ROW_MAJOR: Final = "C"  # what is given for an order most of the time: one and the same string


@final
@value_class(repr=False, getstate_setstate=False)
class Layout(
    LayoutQueries[IndexT_co],
    LayoutMoves[IndexT_co],
    LayoutOrdinals[IndexT_co],
    LayoutLayers[IndexT_co],
    LayoutRows[IndexT_co],
    LayoutExchange[IndexT_co],
    LayoutConstructors[IndexT_co],
    Generic[IndexT_co],
):
    """A map from the indices of a shape to offsets in elements.

    A layout of a box is strided. A layout of a jagged shape is packed, row after row (for a tiled shape: tile
    after tile). For a nested shape, every element of every layer is contiguous. `Layout.tiled` keeps the
    tiles of a box contiguous, `as_tiled` divides a strided layout into tiles. A layout holds no data.

    Parameters
    ----------
    shape
        The shape of the indices.
    order
        The modes from the fastest: "C" (the last first), "F" (the first first), or a permutation whose entry
        k is the k-th fastest mode, as Boost's storage order. For a nested shape it is the order of the modes
        of every layer. For a jagged shape it is that of the modes of every cell (the last
        ``rank - outer_rank`` modes, counted from 0); the cells come one after another, in row-major order.
    orders
        For a nested shape, instead of `order`: one such order for each layer, the outermost first.
    ascend
        Per mode, whether offsets ascend with the index; all do by default.
    strides
        The step of each mode, instead of `order` and `ascend`.
    offset
        The offset of the element at the shape's origin; by default the least that makes all offsets
        non-negative (0 with `strides`).

    Raises
    ------
    LayoutError
        If options exclude each other, or a jagged shape is given `ascend` or `strides`.
    LayerError
        If an order is not one of the modes of its layer.

    Examples
    --------
    >>> from tensorwrapper import Layout
    >>> row = Layout((3, 4))
    >>> row.strides, row.offset_of((2, 1)), row.index_of(9)
    ((4, 1), 9, (2, 1))
    """

    implementation: LayoutCommon

    def __init__(
        self,
        shape: Shape[IndexT_co],
        *,
        order: Order | Iterable[SupportsIndex] = "C",
        orders: LayerOrders | None = None,
        ascend: Iterable[bool] | None = None,
        strides: Iterable[SupportsIndex] | None = None,
        offset: SupportsIndex | None = None,
    ) -> None:
        space = unnamed_shape(shape)
        start = None if offset is None else to_int(offset, "an offset")
        plain = orders is None and order is _ROW_MAJOR and ascend is None and strides is None
        made: LayoutCommon
        if plain and space.implementation.is_box:
            made = row_major(space, start or 0)  # The most frequent case, without further checks.
        elif space.implementation.has_layers:
            made = NestedLayout(of_layers(space, order, orders, ascend, strides, start), space.layers)
        elif orders is not None:
            raise LayoutError(f"orders are for the layers of nested shapes; {space} is {space.kind}")
        elif plain:
            made = Packed(space, start or 0)
        else:
            made = of_flat(space, order, ascend, strides, start)
        if space is not shape:
            made = named_layout(made, names_of(shape))
        _set_implementation(self, made)

    @overload
    def __getitem__(self, key: Slices) -> "Layout[IndexT_co]": ...
    @overload
    def __getitem__(self: "Layout[UnknownRank]", key: PositionalKey) -> "Layout": ...
    @overload
    def __getitem__(self: "Layout[tuple[int, *Modes]]", key: Integer) -> "Layout[tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "Layout[tuple[int, int, *Modes]]", key: tuple[Integer, Integer]
    ) -> "Layout[tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "Layout[tuple[int, int, *Modes]]", key: IntegerAndSlice
    ) -> "Layout[tuple[int, *Modes]]": ...
    @overload
    def __getitem__(self: "Layout[tuple[*Modes]]", key: None) -> "Layout[tuple[int, *Modes]]": ...
    @overload
    def __getitem__(self, key: PositionalKey | NamedKey) -> "Layout": ...
    def __getitem__(self, key: PositionalKey | NamedKey) -> "Layout[Any]":
        """Return the layout of a selection by a positional key or by names, as NumPy's basic indexing."""
        whole = self.implementation
        positional: Any = key  # to cast it would be a call
        part = whole.at(positional)
        if type(whole) is not Strided:
            check_meant(whole, part, key)
        return wrap_layout(part)

    def element(self, index: Iterable[SupportsIndex], *, layer: SupportsIndex | None = None) -> "Layout":
        """Return the layout of one element, at its own indices: those of ``shape.element(index)``.

        Parameters
        ----------
        index
            Of a nested shape: the absolute index in one or more of the outer layers. Of a jagged shape:
            the index of a cell.
        layer
            The layer where the index ends, needed only where layers without modes leave a choice.

        Raises
        ------
        LayerError
            If the index does not end where a layer (or the unrolled modes) ends.
        OutOfBoundsError
            If it is not in the shape.

        Examples
        --------
        >>> n = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
        >>> Layout(n, orders=["C", "F"]).element((3,))
        Layout(Shape(20, 30), strides=(1, 20), offset=1800)
        """
        return wrap_layout(element_of(self.implementation, index, layer))

    @overload
    def broadcast(self, shape: Shape[IndexT]) -> "Layout[IndexT]": ...
    @overload
    def broadcast(self, shape: ShapeLike) -> "Layout": ...
    def broadcast(self, shape: ShapeLike) -> "Layout[Any]":
        """Return the layout over `shape` that repeats modes of extent 1 and adds leading modes.

        Raises
        ------
        LayoutError
            If the layout is over no box, or another mode would have to change its extent.
        """
        made = self.implementation.change(_mode_operations.broadcasting(unnamed_shape(shape)))
        return wrap_layout(agreed_layout(made, shape, "broadcast"))

    @overload
    def squeeze(self: "Layout[UnknownRank]", *modes: Integer | Iterable[Integer]) -> "Layout": ...
    @overload
    def squeeze(self: "Layout[tuple[int, *Modes]]", mode: Integer, /) -> "Layout[tuple[*Modes]]": ...
    @overload
    def squeeze(self, *modes: Integer | Iterable[Integer]) -> "Layout": ...
    def squeeze(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> "Layout[Any]":
        """Return the layout without the given modes, which must have extent 1; all such if none is given.

        Parameters
        ----------
        *modes
            Loose or as one sequence.

        Raises
        ------
        ExtentError
            If a given mode has another extent.

        Examples
        --------
        >>> Layout(Shape(1, 3, 1)).squeeze(0).shape
        Shape(3, 1)
        """
        given = to_ints(one_sequence(modes), "modes") if modes else None
        return wrap_layout(self.implementation.change(_mode_operations.squeezing(given)))

    @overload
    def unsqueeze(self: "Layout[UnknownRank]", *modes: Integer | Iterable[Integer]) -> "Layout": ...
    @overload
    def unsqueeze(self: "Layout[tuple[*Modes]]", mode: Integer, /) -> "Layout[tuple[int, *Modes]]": ...
    @overload
    def unsqueeze(self, *modes: Integer | Iterable[Integer]) -> "Layout": ...
    def unsqueeze(self, *modes: SupportsIndex | Iterable[SupportsIndex]) -> "Layout[Any]":
        """Return the layout with new modes of extent 1, which become the modes `modes` of it.

        Examples
        --------
        >>> Layout(Shape(3)).unsqueeze(0).shape
        Shape(1, 3)
        """
        return wrap_layout(_mode_operations.unsqueezed(self.implementation, one_sequence(modes)))

    @overload
    def reshape(self, extents: UnknownRank, /) -> "Layout": ...
    @overload
    def reshape(self, extents: Integer | tuple[Integer], /) -> "Layout[Rank1]": ...
    @overload
    def reshape(self, extents: tuple[Integer, Integer], /) -> "Layout[Rank2]": ...
    @overload
    def reshape(self, a: Integer, b: Integer, /) -> "Layout[Rank2]": ...
    @overload
    def reshape(self, extents: tuple[Integer, Integer, Integer], /) -> "Layout[Rank3]": ...
    @overload
    def reshape(self, a: Integer, b: Integer, c: Integer, /) -> "Layout[Rank3]": ...
    @overload
    def reshape(self, extents: tuple[Integer, Integer, Integer, Integer], /) -> "Layout[Rank4]": ...
    @overload
    def reshape(self, extents: Iterable[Integer], /) -> "Layout": ...
    @overload
    def reshape(self, *extents: Integer) -> "Layout": ...
    def reshape(self, *extents: SupportsIndex | Iterable[SupportsIndex]) -> "Layout[Any]":
        """Return the layout of the same elements, in row-major order, under new extents; nothing moves.

        NumPy's rule for views, with signed strides: modes are regrouped only where they follow one another
        in memory.

        Parameters
        ----------
        *extents
            Loose or as one sequence. One may be -1: it becomes what the others leave.

        Raises
        ------
        ExtentError
            If the number of elements changes.
        LayoutError
            If only a copy could have these extents, in which case the text names the modes that are in the
            way, or if the layout is not strided.

        Examples
        --------
        >>> Layout(Shape(4, 6)).reshape((2, 2, 6)).strides
        (12, 6, 1)
        """
        return wrap_layout(
            _modes.reshape(self._strided("reshape"), to_ints(one_sequence(extents), "extents"))
        )

    def reshape_obstacle(self, *extents: SupportsIndex | Iterable[SupportsIndex]) -> tuple[int, int] | None:
        """Return the two neighbouring modes that keep `reshape` from being a view; None if it is one.

        Answered from the layout alone, without data.

        Raises
        ------
        ExtentError
            If the number of elements changes.
        LayoutError
            If the layout is not strided.

        Examples
        --------
        >>> Layout(Shape(4, 6))[:, :5].reshape_obstacle((20,))
        (0, 1)
        """
        return _modes.reshape_obstacle(self._strided("reshape"), to_ints(one_sequence(extents), "extents"))

    @overload
    def sliding_window(self: "Layout[UnknownRank]", mode: Integer, length: Integer) -> "Layout": ...
    @overload
    def sliding_window(
        self: "Layout[tuple[*Modes]]", mode: Integer, length: Integer
    ) -> "Layout[tuple[int, *Modes]]": ...
    def sliding_window(self, mode: SupportsIndex, length: SupportsIndex) -> "Layout[Any]":
        """Return the layout of all runs of `length` positions of `mode`; a new last mode counts in the run.

        Raises
        ------
        ExtentError
            If the mode is shorter than `length`.
        LayoutError
            If the mode has no single stride, as one that is rotated.

        Examples
        --------
        >>> Layout(Shape(4)).sliding_window(0, 3).to_numpy().tolist()
        [[0, 1, 2], [1, 2, 3]]
        """
        return wrap_layout(self.implementation.change(_mode_operations.window_sliding(mode, length)))

    @overload
    def diagonal(self: "Layout[UnknownRank]", first: Integer = 0, second: Integer = 1) -> "Layout": ...
    @overload
    def diagonal(
        self: "Layout[tuple[int, int, *Modes]]", first: Integer = 0, second: Integer = 1
    ) -> "Layout[tuple[int, *Modes]]": ...
    def diagonal(self, first: SupportsIndex = 0, second: SupportsIndex = 1) -> "Layout[Any]":
        """Return the layout of the elements whose positions in two modes agree; the new mode is the last.

        Raises
        ------
        RankError
            If both are the same mode.

        Examples
        --------
        >>> Layout(Shape(3, 4)).diagonal().to_numpy().tolist()
        [0, 5, 10]
        """
        return wrap_layout(self.implementation.change(_mode_operations.diagonal_of(first, second)))

    def split_mode(self, mode: SupportsIndex, extents: Iterable[SupportsIndex]) -> "Layout":
        """Return the layout with one mode split into several, the last of them fastest.

        Raises
        ------
        ExtentError
            If the extents do not multiply to that of the mode.
        LayoutError
            If the offsets of the mode are not a sum over the parts.

        Examples
        --------
        >>> Layout(Shape(6)).split_mode(0, (2, 3)).strides
        (3, 1)
        """
        return wrap_layout(self.implementation.change(_mode_operations.splitting(mode, extents)))

    def merge_modes(self, first: SupportsIndex, last: SupportsIndex) -> "Layout":
        """Return the layout in which the modes `first` to `last` count as one, the last of them fastest.

        Raises
        ------
        LayoutError
            If they do not follow one another in memory.

        Examples
        --------
        >>> Layout(Shape(2, 3, 4)).merge_modes(0, 1).strides
        (4, 1)
        """
        return wrap_layout(self.implementation.change(_mode_operations.merging(first, last)))

    def simplify(self) -> "Layout":
        """Return the layout of the same elements, in row-major order, with the fewest modes; it starts at 0.

        Modes of extent 1 are dropped, and neighbours are merged if the outer continues the inner, for strides
        of any sign; a mode that repeats or reverses its inner mode is merged with it. A jagged or tiled
        layout becomes one mode if it is contiguous, and else stays. O(modes), or O(cells) for a table of
        them.

        Examples
        --------
        >>> Layout(Shape(2, 3, 4)).simplify()
        Layout(Shape(24), strides=(1,), offset=0)
        >>> Layout(Shape(2, 4, 8))[:, :, ::2].simplify().strides
        (2,)
        >>> Layout(Shape(2, 4, 8))[:, :, :4].simplify().shape
        Shape(8, 4)
        """
        return wrap_layout(simplify(self.implementation))

    def copy_plan(self, target: "Layout[Any]") -> "CopyPlan":
        """Return how to move each element from where this layout puts it to where `target` does.

        Without data, before anything is copied. O(modes) in strides, else O(tiles per mode, tables or rows).

        Parameters
        ----------
        target
            A layout of the same shape; its origin may differ.

        Raises
        ------
        LayoutError
            If the shapes differ, or `target` puts several elements at one place.

        Examples
        --------
        >>> plan = Layout(Shape(4, 4)).copy_plan(Layout.tiled(Tiling([2, 2], [2, 2])))
        >>> plan, plan.inverse().run_length
        (<CopyPlan of Shape(4, 4): strided, 16 elements in 8 runs of 2>, (2, 2))
        """
        from tensorwrapper.layout.copies._plan import plan_copy  # noqa: PLC0415 - most layouts make no plan

        return plan_copy(self.implementation.unnamed(), implementation_of(target, "copy_plan"))

    @overload
    def as_tiled(self: "Layout[UnknownRank]", tiling: Tiling) -> "Layout": ...
    @overload
    def as_tiled(self: "Layout[Rank1]", tiling: Tiling[Rank1]) -> "Layout[Rank2]": ...
    @overload
    def as_tiled(self: "Layout[Rank2]", tiling: Tiling[Rank2]) -> "Layout[Rank4]": ...
    @overload
    def as_tiled(self: "Layout[Rank3]", tiling: Tiling[Rank3]) -> "Layout[Rank6]": ...
    def as_tiled(self, tiling: Tiling[Any]) -> "Layout[Any]":
        """Return the tiled view, of rank 2r with tile numbers first; memory does not change.

        Raises
        ------
        LayoutError
            If the layout is neither strided nor made of tiles, or the tiling does not cover its shape, or has
            a tile that spans several tiles without being contiguous.

        Examples
        --------
        >>> view = Layout(Shape(3, 4)).as_tiled(Tiling([1, 2], [3, 1]))
        >>> view.shape, view.offset_of((1, 0, 1, 2))
        (Shape.tiled([1, 2], [3, 1]), 10)
        """
        unnamed = self.implementation.unnamed()
        layout = unnamed if unnamed.keeps_tiles else self._strided("as_tiled")
        tiling = to_tiling(tiling, "as_tiled")
        if tiling.elements != layout.shape:
            raise LayoutError(f"a tiling of {tiling.elements} does not cover the shape {layout.shape}")
        if not tiling.rank:
            raise LayoutError("a scalar has no tiles")
        made = layout.as_tiled(tiling)
        if made is not None:
            return wrap_layout(made)
        return wrap_layout(TiledStrided(tiling, cast("Strided", layout), (0,) * tiling.rank))

    @classmethod
    def _wrap(cls, layout: LayoutCommon) -> "Layout[IndexT_co]":
        return wrap_layout(layout)

    def __repr__(self) -> str:
        return self.implementation.expression()

    def __reduce__(self) -> tuple[Callable[[LayoutCommon], "Layout[Any]"], tuple[LayoutCommon]]:
        return wrap_layout, (self.implementation,)


(_set_implementation,) = slot_setters(Layout, "implementation")  # half the cost of `object.__setattr__`
hint(Layout, "Layout")


def wrap_layout(implementation: LayoutCommon, names: ModeNames | None = None) -> "Layout[Any]":
    """Return the facade over an implementation, with names of its modes if any are given."""
    layout: Layout[Any] = object.__new__(Layout)
    _set_implementation(layout, implementation if names is None else named_layout(implementation, names))
    return layout


@lru_cache(maxsize=1024)
def row_major_layout(extents: Extents) -> "Layout[Any]":
    """Return the row-major layout of a box from zero on; tensors of the same extents share it."""
    return wrap_layout(new_row_major(extents))


def as_layout(layout: "Layout[Any] | LayoutCommon") -> "Layout":
    """Return a custom implementation (see `CustomLayout`) as a layout; a layout unchanged.

    Examples
    --------
    >>> from tensorwrapper.layout import as_layout
    >>> as_layout(Layout((2, 3)).implementation) == Layout((2, 3))
    True
    """
    if isinstance(layout, Layout):
        return cast("Layout", layout)
    if isinstance(cast("object", layout), LayoutCommon):
        return wrap_layout(layout)
    raise ConversionError(f"a layout is a Layout or an implementation of LayoutCommon, not {brief(layout)}")
