"""What a view is and how parts of it are selected; nothing here reads an element."""

from abc import abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast, final

import attrs
import numpy as np

from tensorwrapper.errors import JaggedModeError, LayoutError, SizeOverflowError
from tensorwrapper.layout import Layout, PadMode
from tensorwrapper.layout.lowlevel import Widths, expand_positional, new_row_major, wrap_layout
from tensorwrapper.selection.expressions._atom import Atom, Call, atoms_of, capture
from tensorwrapper.selection.expressions._expression import Expression, extended
from tensorwrapper.selection.expressions._nodes import Whole, is_base
from tensorwrapper.selection.normal._normal import normalize
from tensorwrapper.shape import Shape
from tensorwrapper.tensor.lowlevel import (
    ArrayKey,
    TensorCommon,
    addresses_of_key,
    is_basic,
    positions_of,
    split_points,
    to_items,
)
from tensorwrapper.typing import IntArray, PositionalItem, PositionalKey, ScalarT_co

__all__ = ["ViewParts"]

_P = ParamSpec("_P")


class ViewParts(TensorCommon[ScalarT_co], Generic[ScalarT_co]):
    """Abstract: `_expression`, `_normal`, `_make` and `elements`."""

    __slots__ = ()

    _expression: Expression
    _normal: Expression | None

    @classmethod
    @abstractmethod
    def _make(cls, expression: Expression) -> Self:
        """Return the view of an expression."""

    @property
    def shape(self) -> Shape[tuple[int, ...]]:
        """The indices of the elements."""
        return self._expression.layout.shape

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return self._expression.node.dtype

    @property
    def nbytes(self) -> int:
        """The number of bytes that the elements would take."""
        return self.size * self.dtype.itemsize

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The simple steps, in order, that select this view from the source, or from what joins sources.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view(tw.as_tensor([[1, 2, 3], [4, 5, 6]]))
        >>> [str(atom) for atom in v[1, ::-1].rotate([1]).atoms]
        ['slice(1, 2, -1, 3)', 'chip(0, 1)', 'rotate((1,))']
        """
        return tuple([atom for call in self._expression.calls for atom in atoms_of(call)])

    def normal_form(self) -> Expression:
        """Return what runs: selections pushed into sources, and pieces that fit made one. Found once.

        Raises
        ------
        SizeOverflowError
            If views are nested some hundred deep, one in the other, or a table leaves 64 bits.
        """
        normal = self._normal
        if normal is None:
            try:
                normal = normalize(self._expression)
            except RecursionError as error:
                raise SizeOverflowError(
                    "the steps of this view are nested deeper than Python's stack allows: put more views "
                    "together at once, or compute() some of them"
                ) from error
            # Whoever else finds it at the same time finds an equal one.
            object.__setattr__(self, "_normal", normal)
        return normal

    def optimize(self) -> Self:
        """Return the same view, made of its normal form: of fewer steps, which later operations start from.

        What was written stays beside it: `as_written` gives it back, and `route` follows it.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> v = sel.pad([1, 2, 3, 4], [(2, 3)], value=9)[2:6].optimize()
        >>> v.atoms, v.normal_form().node.name
        ((), 'source')
        >>> [str(atom) for atom in v.as_written().atoms]
        ['slice(0, 2, 1, 4)']
        """
        normal = self.normal_form()
        view = self._make(attrs.evolve(normal, written=self._expression))
        object.__setattr__(view, "_normal", normal)
        return view

    def as_written(self) -> Self:
        """Return the view made of the steps that were written before `optimize`; itself if there are none."""
        last = self._expression
        if last.written is None:
            return self
        view = self._make(last.written).as_written()
        for name, arguments, _ in last.calls:
            view = view._again(name, arguments)
        return view

    def _again(self, name: str, arguments: tuple[Any, ...]) -> Self:
        if name == "pad":
            return self._by(Layout.pad, arguments[0], mode=arguments[1])
        if name == "points":
            return self._points(arguments[0])
        return self._by(_get_item if name == "__getitem__" else getattr(Layout, name), *arguments)

    def _by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        positional = tuple([capture(argument) for argument in arguments])
        named = {name: capture(argument) for name, argument in options.items()} if options else {}
        old = self._expression
        layout = old.layout
        call = (operation.__name__, (*positional, *named.values()) if named else positional, layout.shape)
        apply = cast("Callable[..., Layout[Any]]", operation)
        try:
            new = apply(layout, *positional, **named)
        except LayoutError:
            if layout.shape.kind != "smooth":
                raise
            # No layout of the places says it; one of the view's own elements, in their order, may.
            node = Whole(old)
            return self._make(Expression(node, apply(self._in_order(), *positional, **named), (call,)))
        return self._after(call, new)

    def _after(self, call: Call, layout: Layout[Any]) -> Self:
        """Return the view of the same node after a call that made this layout."""
        old = self._expression
        if not old.calls and old.written is None and not is_base(old):
            # The calls begin at a part of the node, which no call tells of.
            return self._make(Expression(old.node, layout, (call,), old))
        return self._make(extended(old, layout, call))

    def _see_by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        return self._by(operation, *arguments, **options)

    def _in_order(self) -> Layout[Any]:
        """Return the layout of the elements one after the other, at the indices of this view."""
        return Layout(self.shape)

    def pad(self, widths: Widths, *, mode: PadMode) -> Self:
        """Return the view whose modes go on beyond their ends; the elements keep their indices.

        `selection.pad` also pads with a constant.
        """
        pairs = tuple([tuple(pair) for pair in widths])
        return self._by(Layout.pad, cast("Widths", pairs), mode=mode)

    def __getitem__(self, key: ArrayKey) -> Self:
        """Return the selected part, which starts at zero; NumPy's rules, and nothing is copied.

        Integers, slices, ellipses and None move the modes; lists, arrays and masks pick positions as NumPy
        does: several of them together pick points.

        Raises
        ------
        OutOfBoundsError
            If a position does not exist, or a mask has other extents.
        TooManyIndicesError
            If there are more indices than modes.
        """
        if is_basic(key):
            return self._by(_get_item, cast("PositionalKey", key))
        self._check_smooth("positions")
        return self._points(addresses_of_key(wrap_layout(new_row_major(self.shape.extents)), key))

    @property
    def oindex(self) -> "OuterView[Self]":
        """Outer indexing: ``v.oindex[key]`` takes the positions of each mode by themselves."""
        return OuterView(self)

    @property
    def vindex(self) -> "PointView[Self]":
        """Pointwise indexing: ``v.vindex[key]`` takes one element per point; their modes come first."""
        return PointView(self)

    def _points(self, ranks: IntArray) -> Self:
        """Return the view of the elements with these ranks in row-major order."""
        layout = wrap_layout(new_row_major((self.size,))).gather(0, ranks.reshape(-1))
        call = ("points", (ranks.reshape(-1),), self.shape)
        old = self._expression
        if old.is_whole:
            points = self._after(call, layout)
        else:
            points = self._make(Expression(Whole(old), layout, (call,)))
        return points if ranks.ndim == 1 else points.reshape(ranks.shape)

    def _check_smooth(self, what: str) -> None:
        if self.shape.kind != "smooth":
            raise JaggedModeError(f"{what} are selected of a box, not of {self.shape}: select rows by slices")

    def __iter__(self) -> Iterator[Self]:
        return (self[k] for k in range(len(self)))

    def __copy__(self) -> Self:
        return self._make(self._expression)

    def __deepcopy__(self, memo: object) -> Self:
        return self._make(self._expression)


def _get_item(layout: Layout[Any], key: PositionalKey) -> Layout[Any]:
    return layout[key]


_get_item.__name__ = "__getitem__"

_T = TypeVar("_T", bound=ViewParts[Any])


@final
@attrs.frozen(eq=False)
class OuterView(Generic[_T]):
    """What stands before the brackets of `oindex`."""

    _view: _T

    def __getitem__(self, key: ArrayKey) -> _T:
        """Return the view of the outer product of the positions."""
        view = self._view
        view._check_smooth("positions")
        basic: list[PositionalItem] = []
        mode = 0
        for item in expand_positional(cast("PositionalKey", to_items(key)), view.rank):
            if item is None or is_basic(item):
                basic.append(item)
            else:
                extent = view.shape.extents[mode]
                view = view._by(Layout.gather, mode, positions_of(cast("IntArray", item), extent, mode))
                basic.append(slice(None))
            mode += item is not None
        return view._by(_get_item, tuple(basic))


@final
@attrs.frozen(eq=False)
class PointView(Generic[_T]):
    """What stands before the brackets of `vindex`."""

    _view: _T

    def __getitem__(self, key: ArrayKey) -> _T:
        """Return the view of the elements at the points."""
        view = self._view
        view._check_smooth("points")
        layout, points = split_points(wrap_layout(new_row_major(view.shape.extents)), key)
        return view._points(addresses_of_key(layout, points))
