"""Base of all parts of the facade: an expression, and its cached normal form and plan.

`View` is one class over sibling mixins, each in its own file: parts of the view (``_view_parts``), queries
(``_view_queries``), its elements (``_view_running``) and writing (``_view_writing``).
None builds on another. `TensorCommon` has the operations that a `Tensor` has as well.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from types import GenericAlias
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, Self

import numpy as np

from tensorwrapper._value_class import evolve
from tensorwrapper.errors import LayoutError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, extended, unnamed_view
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._source_node import is_base
from tensorwrapper.selection.operations._atom import Call, capture
from tensorwrapper.selection.operations._table import OPERATIONS
from tensorwrapper.selection.optimizer._pushdown import normalize
from tensorwrapper.shape import Shape
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import IndexT_co, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection.execution._single_source import Direct
    from tensorwrapper.selection.plans._plan import Plan

__all__ = ["ViewBase"]

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
    def copy(self) -> Tensor[Any]:
        """Return the elements in new memory: the same as `compute`."""

    def _at_hand(self) -> Tensor[Any]:
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
        call = (name, recorded, layout.shape)
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
