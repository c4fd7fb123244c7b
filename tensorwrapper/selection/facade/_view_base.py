"""What all mixins of views use, and questions about a view."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Concatenate, Final, Generic, ParamSpec, Self, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_dtype
from tensorwrapper._error_text import type_text
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import evolve
from tensorwrapper.buffer.lowlevel import check_dtype
from tensorwrapper.errors import DTypeError, LayoutError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import to_inside
from tensorwrapper.selection.expressions._expression import Expression, extended, is_base, unnamed_view
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.operations._operation import OPERATIONS, Atom, Call, atoms_of, capture
from tensorwrapper.selection.optimizer._normal import normalize
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import to_index
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection.execution._single_source import Direct
    from tensorwrapper.selection.plans._plan import Plan
    from tensorwrapper.selection.routing._routes import Route, RouteGroup


def to_element_type(dtype: npt.DTypeLike, text: str = "T") -> "np.dtype[Any]":
    """Return the type that is named, which tensors must be able to hold.

    NumPy's `StringDType` is that of text, without nulls or with None for one; where `text` is ``"TO"``,
    objects are allowed: they are bytes. Where it is empty, both are refused: numbers become no text.

    Raises
    ------
    DTypeError
        If it is not a type, or tensors have no such elements.
    """
    found = to_dtype(dtype)
    if found.kind not in text:
        check_dtype(found)
    if found.kind != "T":
        return found
    missing = getattr(found, "na_object", None)
    if missing is not None:
        raise DTypeError(f"{found!r}: a null is None here, and not {missing!r}")
    plain = not hasattr(found, "na_object")
    return cast("np.dtype[Any]", np.dtypes.StringDType() if plain else np.dtypes.StringDType(na_object=None))


_P = ParamSpec("_P")


class ViewBase(ABC, Generic[ScalarT_co, IndexT_co]):
    """Abstract: `_expression`, its cached forms, `_make`, and `copy`, for the parts of `View`."""

    __slots__ = ()

    if not TYPE_CHECKING:
        # Python 3.11 has no defaults of type variables: without this, one argument were too few.
        __class_getitem__ = classmethod(GenericAlias)

    _expression: Expression
    _normal: Expression | None
    _plan: "Plan | None"
    _direct: "Direct | None"

    @classmethod
    @abstractmethod
    def _make(cls, expression: Expression) -> Self:
        """Return the view of an expression."""

    @abstractmethod
    def copy(self) -> "Tensor[Any, Any]":
        """Return the elements in new memory: the same as `compute`."""

    def _at_hand(self) -> "Tensor[ScalarT_co, IndexT_co]":
        """Return the tensor that the view shows, if it shows one; else its elements, computed."""
        view = self._expression
        source = view.node.tensor
        return self.copy() if source is None else make_tensor(view.layout, source.buffer)

    @property
    def shape(self) -> Shape[IndexT_co]:
        """The indices of the elements."""
        return self._expression.layout.shape

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        """The type of the elements."""
        return self._expression.node.dtype

    @property
    def nbytes(self) -> int:
        """The number of bytes that the elements would take."""
        return self.shape.size * self.dtype.itemsize

    @property
    def expression(self) -> Expression:
        """Expression of the view: the places of a node, and the steps that chose them."""
        return self._expression

    def normal_form(self) -> Expression:
        """Return the optimized view: selections pushed into sources, and adjacent pieces merged. Cached.

        Raises
        ------
        SizeOverflowError
            If views are nested some hundred deep, one in the other, or a table leaves 64 bits.
        """
        normal = self._normal
        if normal is None:
            try:
                normal = normalize(unnamed_view(self._expression))
            except RecursionError as error:
                raise SizeOverflowError(
                    "the steps of this view are nested deeper than Python's stack allows: put more views "
                    "together at once, or compute() some of them"
                ) from error
            # A concurrent thread finds an equal one.
            object.__setattr__(self, "_normal", normal)
        return normal

    def _by(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        positional = tuple([capture(argument) for argument in arguments])
        named = {name: capture(argument) for name, argument in options.items()} if options else {}
        recorded = (*positional, *named.values()) if named else positional
        return self._taken(operation.__name__, recorded, operation, positional, named)

    def _step(self, name: str, arguments: tuple[Any, ...]) -> Self:
        """Return the view after an operation, which is given by its name."""
        positional = tuple(map(capture, arguments))
        known = OPERATIONS.get(name)
        if known is not None and known.counts_elements and not self._expression.is_whole:
            whole = self._make(Expression(Whole(unnamed_view(self._expression)), self._in_order()))
            return whole._step(name, arguments)
        apply = getattr(Layout, name) if known is None else known.on_layout
        return self._taken(name, positional, apply, positional, {})

    def _taken(
        self,
        name: str,
        recorded: tuple[Any, ...],
        operation: Callable[..., Layout[Any]],
        positional: tuple[Any, ...],
        named: dict[str, Any],
    ) -> Self:
        old = self._expression
        layout = old.layout
        call = (name, recorded, layout.implementation.shape)
        try:
            new = operation(layout, *positional, **named)
        except LayoutError:
            if not layout.shape.is_box:
                raise
            # No layout of the places says it; one of the view's own elements, in their order, may.
            node = Whole(unnamed_view(old))
            return self._make(Expression(node, operation(self._in_order(), *positional, **named), (call,)))
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

    def _relabelled(
        self,
        operation: Callable[Concatenate[Layout[Any], _P], Layout[Any]],
        *arguments: _P.args,
        **options: _P.kwargs,
    ) -> Self:
        old = self._expression
        return self._make(evolve(old, layout=operation(old.layout, *arguments, **options)))

    def _in_order(self) -> Layout[Any]:
        """Return the layout of the elements one after the other, at the indices of this view."""
        return Layout(self.shape)


_SHOWN: Final = 3  # steps that a text lists


class ViewQueries(ViewBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: as `ViewBase`."""

    __slots__ = ()

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """The simple steps, in order, that select this view from its source, or from its joined sources.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.as_view(tw.as_tensor([[1, 2, 3], [4, 5, 6]]))
        >>> [str(atom) for atom in v[1, ::-1].rotate([1]).atoms]
        ['slice(1, 2, -1, 3)', 'chip(0, 1)', 'rotate((1,))']
        """
        return tuple([atom for call in self._expression.calls for atom in atoms_of(call)])

    def route(self, index: Iterable[SupportsIndex]) -> "Route":
        """Return where the element at an absolute index comes from: its source, and the index there.

        The steps are followed one by one, without the normal form. Routing through `where` reads the mask at
        this index; through `minimum` or `maximum` the operands. The first of several equal operands is named.

        Raises
        ------
        OutOfBoundsError
            If the index is not in the shape.
        RankError
            If it has another number of entries than the view modes.
        SizeOverflowError
            If it, or the rank of a position on the way, leaves 64 bits.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> a, b = tw.as_tensor([[1, 2, 3], [4, 5, 6]]), tw.as_tensor([[7, 8, 9]])
        >>> where = sel.concat([a, b]).reverse().route((2, 0))
        >>> where.source is a, where.index
        (True, (0, 2))
        """
        from tensorwrapper.selection.routing._routes import Route  # noqa: PLC0415 - few ask for a route

        numbers = to_index(index, self.shape.rank)
        shape = self._expression.layout.shape
        if numbers not in shape:
            raise OutOfBoundsError(f"index {numbers} is not in {shape}")
        if any(abs(number) > MAX_INT64 for number in numbers):
            raise SizeOverflowError(f"index {numbers} leaves 64 bits")
        (group,) = self.route_many(np.array([numbers], dtype=np.int64))
        return Route(group.source, tuple(group.indices[0].tolist()), group.casts)

    def route_many(self, indices: npt.ArrayLike) -> "tuple[RouteGroup, ...]":
        """Return where the elements at many absolute indices come from, those of one source together.

        Parameters
        ----------
        indices
            Integers, (..., rank). Rows of a group count them in row-major order.

        Raises
        ------
        OutOfBoundsError
            If an index is not in the shape.
        RankError
            If the last extent is not the rank.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper import selection as sel
        >>> v = sel.pad(tw.as_tensor([5, 6]), [(1, 1)])
        >>> for group in v.route_many([[-1], [0], [1], [2]]):
        ...     print(group.rows.tolist(), group.indices.tolist())
        [1, 2] [[0], [1]]
        [0, 3] [[], []]
        """
        from tensorwrapper.selection.routing._routes import routes  # noqa: PLC0415 - few ask for a route

        shape = self.shape
        given = to_inside(indices, shape)
        rows = given.reshape(math.prod(given.shape[:-1]), shape.rank)
        if shape.is_box:
            rows = rows - np.array(shape.origin, dtype=np.int64)
        return tuple(routes(self._expression, rows))

    def explain(self) -> str:
        """Return the steps of the view, the last one first, and how they are executed.

        Each line has a step, and the shape and type after it; details of a step are indented. The last part
        is the execution: the layout of each remaining source, and the number of bytes read. O(steps).

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> print(sel.pad([1, 2, 3], [(2, 2)], fill_value=9)[1:4].explain())
        slice(0, 1, 1, 3)  # Shape(3) int64
          pad(((2, 2),), fill_value=9)
            source tensor(Shape(3), int64)  # Shape(3) int64, strides (1,), offset 0
        runs as  # 1 step on pad(((2, 2),), fill_value=9); reads 16 B of 1 source
          route(mode=0)  # Shape(3) int64
            [0:1] full(9)  # Shape(1) int64, strides (1,), offset 0
            [1:3] source tensor(Shape(3), int64)  # Shape(2) int64, strides (1,), offset 0
        """
        from tensorwrapper.selection.explain._explain import explain, to_text  # noqa: PLC0415

        return to_text(explain(self._expression, self.normal_form(), cast("Any", self).plan().reads))

    def to_svg(self) -> str:
        """Return a picture: one cell per element, coloured by the source that it comes from.

        The text of a cell is the index in the source, or the constant. Views of rank 2 or less with a few
        hundred elements are drawn; others give a note.

        Examples
        --------
        >>> from tensorwrapper import selection as sel
        >>> sel.pad([[1, 2], [3, 4]], [(1, 1), (1, 1)]).to_svg().count('class="cell"')
        16
        """
        from tensorwrapper.selection.explain._explain import view_svg  # noqa: PLC0415

        return view_svg(self._expression, self.normal_form())

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: facts, sources and the steps as written; nothing is planned or read."""
        from tensorwrapper.selection.explain._explain import view_html  # noqa: PLC0415 - few are shown

        return view_html(self._expression, self._head())

    def __repr__(self) -> str:
        atoms = [str(atom) for atom in self.atoms]
        steps = "".join([f".{atom}" for atom in atoms[-_SHOWN:]])
        dots = "..." if len(atoms) > _SHOWN else ""
        return f"<View {self._head()}, not computed: {self._expression.node.name}{dots}{steps}>"

    def _head(self) -> str:
        """Return the shape in words, the type, and the bytes of the result."""
        from tensorwrapper.drawing import bytes_text  # noqa: PLC0415 - few are shown
        from tensorwrapper.shape.lowlevel import shape_words  # noqa: PLC0415

        size = bytes_text(self.shape.size * self.dtype.itemsize)
        return f"{shape_words(self.shape)}, {type_text(self.dtype)}, {size}"
