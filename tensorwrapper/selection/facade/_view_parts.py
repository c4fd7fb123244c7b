"""Parts of a view, and the same elements elsewhere; nothing here reads an element."""

from collections.abc import Callable, Iterable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Final,
    Generic,
    Literal,
    Self,
    SupportsIndex,
    TypeAlias,
    TypeVar,
    cast,
    final,
)

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_count, to_counts
from tensorwrapper._value_class import evolve, frozen
from tensorwrapper.buffer.lowlevel import fit_number, holds_strings
from tensorwrapper.errors import ConversionError, JaggedModeError, LayoutError
from tensorwrapper.layout import Boundary, Layout, PadWidths
from tensorwrapper.layout.lowlevel import (
    addresses_of_items,
    choose,
    is_basic,
    new_row_major,
    outer_product,
    positions_of_rows,
    split_points,
    to_items,
    wrap_layout,
)
from tensorwrapper.selection.expressions._elementwise import Choosing
from tensorwrapper.selection.expressions._expression import Expression, Node, at_zero, unnamed_view, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._padding import Padding, padded
from tensorwrapper.selection.expressions._source_node import reading_of
from tensorwrapper.selection.facade._computed_rows import is_computed
from tensorwrapper.selection.facade._view_base import ViewBase
from tensorwrapper.selection.jagged._rows import joined_rows, put_together_rows, with_margins
from tensorwrapper.selection.operations._operation import capture
from tensorwrapper.selection.plans._nulls import check_joined_fills, null_of, truth_of
from tensorwrapper.selection.plans._source_reads import is_away, leaves_of
from tensorwrapper.selection.sources._source import TensorSource
from tensorwrapper.selection.transforms._transform import box
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import (
    key_of_names,
    mode_of,
    names_of,
    picked_names,
    unnamed_shape,
)
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.tensor.lowlevel import TensorCommon, are_points, is_running, padded_cells
from tensorwrapper.typing import Array, ArrayKey, Extents, IndexT_co, IntArray, NamedKey, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection._view import View
    from tensorwrapper.shape import IndexIterator

_BEYOND_LAYOUTS: Final = {
    "choose": "__getitem__",
    "_cut": "unflatten",
    "untiled": "untiled",
    "select_tiles": "select_tiles",
}
"""Calls that views record and layouts have no method for: the method of views that makes them."""


class ViewParts(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    def optimize(self) -> Self:
        """Return the same view, made of its normal form: of fewer steps, which later operations start from.

        The recorded steps are kept: `as_written` returns them, and `route` follows them.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.pad([1, 2, 3, 4], [(2, 3)], fill_value=9)[2:6].optimize()
        >>> v.atoms, v.normal_form().node.name
        ((), 'source')
        >>> [str(atom) for atom in v.as_written().atoms]
        ['slice(0, 2, 1, 4)']
        """
        normal, old = self.normal_form(), self._expression
        layout = wrap_layout(normal.layout.implementation, old.layout.implementation.names)
        view = self._make(evolve(normal, layout=layout, written=old))
        object.__setattr__(view, "_normal", normal)
        return view

    def as_written(self) -> Self:
        """Return the view made of the steps that were written before `optimize`; itself if there are none."""
        last = self._expression
        if last.written is None:
            return self
        view = self._make(last.written).as_written()
        for name, arguments, _ in last.calls:
            method = _BEYOND_LAYOUTS.get(name)
            view = view._step(name, arguments) if method is None else getattr(view, method)(*arguments)
        return view

    def pad(
        self,
        widths: PadWidths,
        *,
        boundary: Literal["constant"] | Boundary = "constant",
        fill_value: object = 0,
    ) -> Self:
        """Return a view that goes on beyond its ends, as NumPy's pad; its own elements keep their indices.

        Each row, cell or tile is extended by itself: modes that lead to them have no widths.

        Parameters
        ----------
        widths
            For each mode how many positions come before and after.
        boundary
            Values beyond the ends: a constant, or elements of the view in one of the ways of a layout.
        fill_value
            The constant.

        Raises
        ------
        RankError
            If there is not one pair per mode.
        JaggedModeError
            If a mode that leads to rows or cells is padded, or cells of several modes not by a constant.
        LayoutError
            If a boundary repeats positions of an empty mode.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([1, 2, 3]).pad([(2, 1)], fill_value=9)
        >>> v.compute().tolist(), v.shape
        ([9, 9, 1, 2, 3, 9], Shape(6, origin=(-2,)))
        >>> sel.as_view([1, 2, 3]).pad([(2, 1)], boundary="wrap").compute().tolist()
        [2, 3, 1, 2, 3, 1]
        >>> import tensorwrapper as tw
        >>> sel.as_view(tw.jagged([[1, 2], []])).pad([(0, 0), (1, 1)]).compute().tolist()
        [[0, 1, 2, 0], [0, 0]]
        """
        if not isinstance(cast("object", widths), Iterable) or getattr(widths, "ndim", None) == 0:
            raise ConversionError(f"widths are one pair (before, after) per mode, not {widths!r}")
        pairs = cast("tuple[tuple[int, int], ...]", tuple([to_counts(pair, "widths") for pair in widths]))
        if fill_value is None and not holds_strings(self.dtype):
            return self._around_with_nulls(lambda view, value: view.pad(pairs, fill_value=value))
        if fill_value is None and _is_text_without_nulls(self.dtype):
            return self._with_room().pad(pairs, fill_value=None)
        if not self.shape.is_box:
            return self._with_margins(pairs, boundary, fill_value)
        if boundary == "constant":
            found = padded(self._expression, pairs, fill_value)
            check_joined_fills("pad", [self._expression, cast("Padding", found.node).fill], _FILL)
            return self._make(found)
        return self._by(Layout.pad, pairs, boundary=boundary)

    def _with_margins(
        self,
        widths: tuple[tuple[int, int], ...],
        boundary: Literal["constant"] | Boundary,
        fill_value: object,
    ) -> Self:
        """Return rows, cells or tiles that go on beyond their ends, each by itself."""
        shape, names = self.shape, names_of(self.shape)
        made = padded_cells(unnamed_shape(shape).flatten(), widths)
        if not any(map(any, widths)):
            return self
        if boundary == "constant":
            value = fit_number(fill_value, self.dtype, "fill_value")[()]
            fill = whole(Filling(box(()), value, self.dtype))
            check_joined_fills("pad", [self._expression, fill], _FILL)
            found = with_margins(self._expression, widths, value)
        else:
            last = shape.rank - 1
            if made.outer_rank < last:
                raise JaggedModeError(
                    f"pad: boundary={boundary!r} goes along the last mode of rows, and the cells of {shape} "
                    "have several modes; a constant goes round each"
                )
            key = _keys_beyond(shape, last, *widths[last], boundary)
            found = joined_rows(last, [at_zero(self._of_each_row(key)._expression)])
        if shape.has_layers:
            made = Shape.nested(made, layers=shape.layers)
        found = evolve(found, layout=Layout(made))
        padded_view = self._make(found)
        return padded_view if names is None else cast("Any", padded_view).named(*names)

    def pad_rows(
        self, length: SupportsIndex, *, fill_value: object = 0, mode: SupportsIndex = -1, clip: bool = False
    ) -> Self:
        """Return the view in which `mode` has at least `length` indices; the new elements are `fill_value`.

        As `Tensor.pad_rows`; nothing is computed.

        Parameters
        ----------
        length
            How many indices the mode gets under every prefix; more stay unless they are clipped.
        fill_value
            Value of the new elements.
        mode
            The last mode, or another one of a box.
        clip
            Whether longer rows lose their last elements.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view([[1, 2, 3]])
        >>> v.pad_rows(5).compute().tolist(), v.pad_rows(2, clip=True).compute().tolist()
        ([[1, 2, 3, 0, 0]], [[1, 2]])
        """
        if fill_value is None and not holds_strings(self.dtype):
            return self._around_with_nulls(
                lambda view, value: view.pad_rows(length, fill_value=value, mode=mode, clip=clip)
            )
        if fill_value is None and _is_text_without_nulls(self.dtype):
            return self._with_room().pad_rows(length, fill_value=None, mode=mode, clip=clip)
        if not self.shape.is_box:
            return self._padded_rows(to_count(length, "a length"), fill_value, mode, clip=clip)
        rank, count = self.shape.rank, to_count(length, "a length")
        number = mode_of(mode, rank)
        fit_number(fill_value, self.dtype, "fill_value")
        if any(self.shape.origin):
            return self._at((...,)).pad_rows(count, fill_value=fill_value, mode=number, clip=clip)
        extent = self.shape.extent(number)
        if extent >= count:
            return self._at((slice(None),) * number + (slice(count),)) if clip else self
        widths = [(0, count - extent if other == number else 0) for other in range(rank)]
        return self.pad(widths, fill_value=fill_value)

    def _with_room(self) -> Self:
        """Return the view of text as one of nullable text."""
        own: Any = self
        return cast("Self", own.astype(np.dtypes.StringDType(na_object=None)))

    def _around_with_nulls(self, goes_on: "Callable[[Any, object], Any]") -> Self:
        """Return the view after an operation that adds elements, which are nulls."""
        is_own, values = goes_on(self._make(truth_of(self._expression)), False), goes_on(self, 0)
        parts = [at_zero(unnamed_view(own._expression)) for own in (is_own, values)]
        null, shape = reading_of(TensorSource(null_of(self.dtype))), values.shape
        if shape.is_box:
            node: Node = Choosing((*parts, Expression(null.node, null.layout.broadcast(box(shape.extents)))))
        else:
            node = put_together_rows("where", [*parts, null]).node
        return self._make(Expression(node, Layout(shape)))

    def _padded_rows(self, length: int, fill_value: object, mode: SupportsIndex, *, clip: bool) -> Self:
        shape = self.shape
        number = mode_of(mode, shape.rank)
        value = fit_number(fill_value, self.dtype, "fill_value")[()]
        fill = whole(Filling(box((1,)), value, self.dtype))
        check_joined_fills("pad_rows", [self._expression, fill], _FILL)
        is_row = not shape.has_layers and number == shape.rank - 1 == shape.outer_rank
        where = () if is_row else (number,)
        rows = self._make(put_together_rows("pad_rows", [self._expression, fill], length, clip, *where))
        names = names_of(shape)
        return rows if names is None else cast("Any", rows).named(*names)

    def _of_each_row(self, key: ArrayKey) -> Self:
        """Return the selection of a key with arrays mode by mode, or of a jagged key row by row."""
        given: Any = key
        if isinstance(given, ViewBase):
            given = _known_key(cast("ViewBase[Any]", given))
        rows = cast("Tensor[Any]", given)
        if isinstance(given, Tensor) and rows.dtype == np.bool_ and rows.is_nullable:
            given = rows = rows.fill_null(False)
        if not isinstance(given, TensorCommon) or rows.shape.is_box:
            # The function that gathers views is declared beside this class, for tensors and views.
            selected: Self = outer_product(cast("Any", self), _known_items(cast("ArrayKey", given)))
            return selected
        layout = self._expression.layout
        own = layout.implementation
        chosen = choose(own.unnamed(), unnamed_shape(rows.shape), rows.elements())
        return self._after(("choose", (rows,), layout.shape), wrap_layout(chosen, own.names))

    def _at(self, key: "ArrayKey | NamedKey") -> Self:
        """Return the part that a key selects, by NumPy's rules."""
        view = self._expression
        if type(key) is np.ndarray and _are_rows_at_zero(view, key):
            # Most keys with an array are such: an outer product, of which nothing is left to take.
            return self._see_by(Layout.gather, 0, key)
        is_one = type(key) is slice or type(key) is int
        if is_one or is_basic(key):
            # Such a key counts no elements: it needs no look at the table of operations.
            recorded = (key if is_one else capture(key),)
            return self._taken("__getitem__", recorded, Layout.__getitem__, recorded, {})
        if isinstance(key, Mapping):
            return self._at(key_of_names(key, names_of(self.shape), self.shape.rank))
        if not view.is_box or _is_of_rows(key):
            return cast("Self", self.vindex[key]) if are_points(key) else self._of_each_row(key)
        self._check_smooth("positions")
        items = to_items(_known_items(key), self.shape)
        if _is_of_one_mode(items, self.shape.extents):
            # Positions of one mode beside slices are an outer product: no place is written down.
            selected: Self = outer_product(cast("Any", self), items)
            return selected
        whole = wrap_layout(new_row_major(self.shape.extents), names_of(self.shape))
        return self._picked(whole, items)

    @property
    def oindex(self) -> "OuterView[View[ScalarT_co]]":
        """Outer indexing: ``v.oindex[key]`` takes the positions of each mode by themselves."""
        view: Any = self
        return OuterView(view)

    @property
    def vindex(self) -> "PointView[View[ScalarT_co]]":
        """Pointwise indexing: ``v.vindex[key]`` takes one element per point; their modes come first."""
        view: Any = self
        return PointView(view)

    def _picked(self, layout: Layout[Any], items: tuple[Any, ...]) -> Self:
        """Return the view of the elements whose ranks the items of a key select of a layout."""
        points, names = self._points(addresses_of_items(layout, items)), names_of(layout.shape)
        return points if names is None else points._relabelled(Layout.named, *picked_names(names, items))

    def _points(self, ranks: IntArray) -> Self:
        """Return the view of the elements with these ranks in row-major order."""
        line = self if self.shape.is_box and not self.shape.has_layers else self._in_line()
        points = line._step("points", (ranks.reshape(-1),))
        return points if ranks.ndim == 1 else points._by(Layout.reshape, ranks.shape)

    def _in_line(self) -> Self:
        """Return the view of the elements in row-major order, in one mode."""
        line = self._by(Layout.flatten) if self.shape.has_layers else self
        while line.shape.rank > 1:
            line = line._by(cast("Any", Layout.merge_rows), line.shape.rank - 1)
        return line

    def _check_smooth(self, what: str) -> None:
        if not self.shape.is_box:
            raise JaggedModeError(f"{what} are selected of a box, not of {self.shape}: select rows by slices")

    def __copy__(self) -> Self:
        return self._make(self._expression)

    def __deepcopy__(self, memo: object) -> Self:
        return self._make(self._expression)


def _keys_beyond(shape: Shape, mode: int, before: int, after: int, boundary: Boundary) -> Tensor[Any]:
    """Return the positions of a mode in each cell, including those beyond its ends."""
    leading = unnamed_shape(shape).flatten().zero_based().leading(mode + 1).as_jagged()
    lengths: IntArray = leading.lengths(mode)
    if not lengths.all():
        raise LayoutError(
            f"mode {mode} has extent 0 in a cell of {shape}: there is no position to pad it with; "
            "a constant needs none"
        )
    made = padded_cells(leading, [*[(0, 0)] * mode, (before, after)])
    return from_buffer(positions_of_rows(lengths, before, after, boundary), made.zero_based())


def _known_key(key: ViewBase[Any]) -> Tensor[Any]:
    """Return the elements of a key of rows, if no remote source has to be read for them."""
    # Positions computed within rows are meant to be keys.
    if any(is_away(leaf) and not is_computed(leaf) for leaf in leaves_of(key.normal_form())):
        raise ConversionError(
            "which elements there are would depend on a key that is not read yet: compute() the key"
        )
    return key.copy()


def _is_of_rows(key: object) -> bool:
    """Return True if a key is jagged: it has a separate selection for each row."""
    return isinstance(key, TensorCommon) and not cast("TensorCommon[Any]", key).shape.flatten().is_box  # type: ignore[redundant-cast]


def _known_item(own: object) -> object:
    if not isinstance(own, ViewBase):
        return own
    known = _known_key(cast("ViewBase[Any]", own))
    return known if known.is_sparse or known.is_nullable else np.asarray(known)


_FILL: Final = "`fill_value=s.fill_value` is the one that there is, and `s.to_dense()` takes any"


def _are_rows_at_zero(view: Expression, key: Array) -> bool:
    """Return True if a key has positions of the first mode of a box from zero on."""
    if key.ndim != 1 or key.dtype.kind not in "iu" or not view.is_box:
        return False
    extents = view.extents
    return len(extents) > 0 and 0 not in extents and not any(view.origin)


def _is_of_one_mode(items: tuple[Any, ...], extents: Extents) -> bool:
    """Return True if a key has one array of positions beside slices."""
    arrays = [item for item in items if type(item) is not slice]
    if len(arrays) != 1 or len(items) > len(extents) or 0 in extents:
        return False
    if not isinstance(arrays[0], np.ndarray):
        return False
    array = cast("Array", arrays[0])
    return array.ndim == 1 and array.dtype.kind in "iu"


def _known_items(key: ArrayKey) -> ArrayKey:
    """Return a key with the elements of views in it, if no remote source has to be read for them."""
    items = cast("tuple[object, ...]", key if isinstance(key, tuple) else (key,))
    if not any(isinstance(own, ViewBase) for own in items):
        return key
    known = tuple([_known_item(own) for own in items])
    return cast("ArrayKey", known)


_T = TypeVar("_T", bound=ViewParts[Any])

Value: TypeAlias = "npt.ArrayLike | Tensor[Any] | ViewBase[Any]"


@final
@frozen(eq=False)
class OuterView(Generic[_T]):
    """Result of `oindex`, to be indexed."""

    _view: _T

    def __getitem__(self, key: ArrayKey) -> _T:
        """Return the view of the outer product of the positions."""
        return self._view._of_each_row(key)

    def __setitem__(self, key: ArrayKey, value: "Value") -> None:
        """Write into the outer product of the positions, as `View.assign` does."""
        cast("Any", self[key]).assign(value)


@final
@frozen(eq=False)
class PointView(Generic[_T]):
    """Result of `vindex`, to be indexed."""

    _view: _T

    def __getitem__(self, key: "ArrayKey | IndexIterator[Any]") -> _T:
        """Return the view of the elements at the points.

        A running iterator over indices gives the points that are left, and goes on behind them.
        """
        view, shape = self._view, self._view.shape
        if is_running(key):
            return view._points(Layout(shape.flatten()).offsets_of(key))
        if shape.is_box and not shape.has_layers:
            whole = wrap_layout(new_row_major(shape.extents), names_of(shape))
        else:
            # The numbers of elements, in the order in which their line has them.
            whole = Layout(shape.flatten())
        layout, points = split_points(whole, _known_items(key))
        return view._picked(layout, points)

    def __setitem__(self, key: "ArrayKey | IndexIterator[Any]", value: "Value") -> None:
        """Write into the elements at the points, as `View.assign` does."""
        cast("Any", self[key]).assign(value)


def _is_text_without_nulls(dtype: "np.dtype[Any]") -> bool:
    return dtype.kind == "T" and not hasattr(dtype, "na_object")
