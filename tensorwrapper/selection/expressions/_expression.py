"""Expressions: what a view is made of, as values.

A node is one source, one generator, or one simple way to put views together. Its cells are numbered in
row-major order of its box; these numbers are its *places*. An expression is a node and a layout from the
indices of a view to the places of the node. So every chain of operations that only selects is one layout,
whatever its length, and is fused when it is written; what each operation was stays beside it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.lowlevel import check_dtype
from tensorwrapper.errors import DTypeError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, new_row_major, wrap_layout
from tensorwrapper.selection.expressions._atom import Call
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Extents

__all__ = ["Expression", "Node", "at_zero", "box", "extended", "promoted", "to_element_type", "whole"]


def to_element_type(dtype: npt.DTypeLike, text: str = "T") -> "np.dtype[Any]":
    """Return the type that is named, which tensors must be able to hold.

    NumPy's `StringDType` is that of text; where `text` is ``"TO"``, objects are allowed: they are bytes.

    Raises
    ------
    DTypeError
        If it is no type, or tensors have no such elements.
    """
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError) as error:
        raise DTypeError(f"{dtype!r} is no type of elements") from error
    if found.kind not in text:
        check_dtype(found)
    return found


def promoted(dtypes: Sequence["np.dtype[Any]"], numbers: Sequence[complex], what: str) -> "np.dtype[Any]":
    """Return the type that NumPy promotes types, and Python's numbers, to; `what` is done with them."""
    try:
        found: np.dtype[Any] = np.result_type(*dtypes, *numbers)
    except (TypeError, OverflowError) as error:
        names = ", ".join(dict.fromkeys([str(dtype) for dtype in dtypes]))
        raise DTypeError(f"{what}: {names} have no type in common") from error
    return found


class Node(ABC):
    """Abstract: `extents`, `dtype`, `name` and `operands`."""

    __slots__ = ()

    @property
    @abstractmethod
    def extents(self) -> Extents:
        """The box whose row-major places layouts address."""

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""

    @property
    @abstractmethod
    def name(self) -> str:
        """The word that explanations and JSON use."""

    @property
    def operands(self) -> "tuple[Expression, ...]":
        """The views that this one is made of."""
        return ()

    @property
    def size(self) -> int:
        """How many places there are."""
        return math.prod(self.extents)

    def __dask_tokenize__(self) -> tuple[object, ...]:
        # Of the parts alone: a pickle also tells which of them are one object.
        fields = [field for field in attrs.fields(cast("Any", type(self))) if field.init]
        return (type(self).__name__, *[getattr(self, field.name) for field in fields])


@final
@attrs.frozen
class Expression:
    """The places of a node that a view has, and the calls that chose them."""

    node: Node
    layout: Layout
    calls: tuple[Call, ...] = attrs.field(default=(), eq=False, repr=False)
    written: "Expression | None" = attrs.field(default=None, eq=False, repr=False)
    """What the calls were made on, as it was written, if the node is what that was optimized to."""

    @property
    def shape(self) -> Shape:
        """The indices of the view."""
        return self.layout.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.node.dtype

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return "Expression", self.node, self.layout

    @property
    def is_whole(self) -> bool:
        """Whether the view is the box of the node as it is, up to its origin."""
        held = self.layout.implementation
        return (
            isinstance(held, Strided)
            and held.extents == self.node.extents
            and (held.is_contiguous and not held.offset)
        )


_SlotSetter: TypeAlias = Callable[[object, object], None]

# The setters of the slots themselves: half the cost of ``object.__setattr__``, and every step makes one.
_set_node = cast("_SlotSetter", cast("Any", Expression).node.__set__)
_set_layout = cast("_SlotSetter", cast("Any", Expression).layout.__set__)
_set_calls = cast("_SlotSetter", cast("Any", Expression).calls.__set__)
_set_written = cast("_SlotSetter", cast("Any", Expression).written.__set__)


def extended(view: Expression, layout: Layout, call: Call) -> Expression:
    """Return the places of the same node that a view has after one more call."""
    found: Expression = object.__new__(Expression)
    _set_node(found, view.node)
    _set_layout(found, layout)
    _set_calls(found, (*view.calls, call))
    _set_written(found, view.written)
    return found


def box(extents: Extents) -> Shape:
    """Return the shape with these extents and origin zero."""
    return wrap(make_smooth(extents, (0,) * len(extents)))


def whole(node: Node) -> Expression:
    """Return the view of all places of a node, in their order."""
    return Expression(node, wrap_layout(new_row_major(node.extents)))


def at_zero(view: Expression) -> Expression:
    """Return a view of a box with its origin at zero."""
    return view if not any(view.shape.origin) else attrs.evolve(view, layout=view.layout[...])
