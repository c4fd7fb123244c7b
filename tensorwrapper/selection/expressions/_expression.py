"""Expressions: what a view is made of, as values.

A node is one source, one generator, or one simple way to put views together. Its cells are numbered in
row-major order of its box; these numbers are its *places*. An expression is a node and a layout from the
indices of a view to the places of the node. So every chain of operations that only selects is one layout,
whatever its length, and is fused when it is written; what each operation was stays beside it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._value_class import slot_setters
from tensorwrapper.errors import ConversionError, SelectionError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, new_row_major, wrap_layout
from tensorwrapper.selection.operations._atom import Call
from tensorwrapper.selection.runners._cells import CellRunner
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.selection.transforms._transform import Transform
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Extents, Index, IntArray

__all__ = [
    "Expression",
    "Node",
    "NodeFields",
    "NodeWriter",
    "Normalize",
    "Origin",
    "ReadAt",
    "ReaderOf",
    "Shares",
    "at_zero",
    "box",
    "extended",
    "whole",
]


Origin: TypeAlias = "Tensor[Any] | Source | Node"
"""What an element comes from: the tensor or other source that was given, or what computes it."""

Shares: TypeAlias = "Iterable[tuple[Expression, Any, IntArray]]"
"""Operands, which of the positions come from each, and the positions in it."""

ReadAt: TypeAlias = "Callable[[Expression, IntArray], Array]"
"""Returns the elements of a view at positions that are counted from zero."""

ReaderOf: TypeAlias = "Callable[[Expression], Runner]"
"""What has the elements that a part of a view reads from a source that is not in memory."""

Normalize: TypeAlias = "Callable[[Expression], Expression]"
"""Returns the normal form of a view."""


class Node(ABC):
    """Abstract: `extents`, `dtype` and `name`, and `values`, or `lowered`.

    What computes its elements has `values`; what other nodes can say is `lowered` to them. What shares out
    elements among operands also has `shares`. A node with operands has `operands` and `with_operands`; one
    that JSON may say has `json_names`, `to_json` and `from_json`, and is made known by `register_node`. All
    else follows, and is there to be overridden by what can do better. Where `is_cellwise` stays, operands
    have the box of the node, and an element depends on their elements at its own position, and on that.
    """

    __slots__ = ()

    json_names: ClassVar[tuple[str, ...]] = ()
    """The keys by which JSON tells the node; none if it cannot be written."""
    is_constant: ClassVar[bool] = False
    """Whether all elements are the same, whatever the box: then it has a `value`."""
    is_sharing: ClassVar[bool] = False
    """Whether each element comes from one operand, not from all of them."""
    is_cellwise: ClassVar[bool] = True
    """Whether elements depend on those of operands of the same box, at their own position, and on that."""
    is_choosing: ClassVar[bool] = False
    """Whether elements of operands decide which operand an element comes from."""

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

    @property
    def origin(self) -> Index:
        """The absolute index of the first place; routes tell indices that count from it."""
        return (0,) * len(self.extents)

    @property
    def is_leaf(self) -> bool:
        """Whether a layout says all that there is to say of a selection: a source, or what is computed."""
        return False

    @property
    def source(self) -> "Source | None":
        """The source whose elements these are, if it is one."""
        return None

    @property
    def tensor(self) -> "Tensor[Any] | None":
        """The tensor in this process whose buffer has these elements, if it is one."""
        return None

    # Other operands.

    def with_operands(self, operands: "tuple[Expression, ...]") -> "Node":
        """Return the same node of other operands."""
        if operands:
            raise ConversionError(f"{self.name} is made of no other views")
        return self

    def mapped(self, change: "Callable[[Expression], Expression]") -> "Node":
        """Return the same node with each view that it is made of changed."""
        operands = self.operands
        return self.with_operands(tuple([change(own) for own in operands])) if operands else self

    # The normal form.

    def lowered(self) -> "Node":
        """Return the node that stands for this one in normal forms."""
        return self

    def all(self) -> "Expression":
        """Return the view of all places, at the indices that they have."""
        return whole(self)

    def selected(self, transform: Transform, normalize: Normalize) -> "Expression | None":  # noqa: ARG002
        """Return the normal form, from zero on, of a selection; None if any node's will do."""
        return None

    def cast(self, view: "Expression", dtype: "np.dtype[Any]") -> "Expression | None":  # noqa: ARG002
        """Return a view of this node with elements of another type; None if they are cast one by one."""
        return None

    def shared(self) -> "tuple[tuple[int, range, Expression], ...]":
        """Return a mode, positions of it and a view, for each part; none if it is not made of parts."""
        return ()

    @property
    def ordered(self) -> "Expression | None":
        """The view whose elements these are, in row-major order, if there is nothing more to it."""
        return None

    # Elements.

    def values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:  # noqa: ARG002
        """Return elements.

        Parameters
        ----------
        places
            Positions counted from 0, one array per mode, which broadcast together.
        given
            For each operand its elements there.
        """
        raise ConversionError(f"a {self.name} is no node of a normal form")

    def runner(self, view: "Expression", given: tuple[Runner, ...], reader: ReaderOf) -> Runner:  # noqa: ARG002
        """Return what computes a view of this node that is in normal form.

        Parameters
        ----------
        view
            The view.
        given
            What computes the operands.
        reader
            Returns what has the elements of a part of a source that is not in this process.
        """
        return CellRunner.of(self.values, self.dtype, view.layout, self.extents, given)

    # Routes: which element of which source each one is.

    @property
    def casts(self) -> "tuple[np.dtype[Any], ...]":
        """The types that elements are cast to when they pass."""
        return ()

    def shares(self, positions: IntArray, read: ReadAt) -> "Shares | None":  # noqa: ARG002
        """Return which operand the elements at positions come from; None if they come from the node itself.

        Parameters
        ----------
        positions
            Counted from zero, one row each.
        read
            Returns the elements of an operand at some of its positions.
        """
        return None

    def at(self, positions: IntArray, read: ReadAt) -> Array:
        """Return the elements at positions, where the operands have those that `read` returns."""
        found = self.shares(positions, read)
        if found is None:
            given = [read(operand, positions) for operand in self.operands]
            return np.broadcast_to(self.values(list(positions.T), given), (len(positions),))
        out = np.empty(len(positions), dtype=self.dtype)
        for operand, chosen, own in found:
            out[chosen] = read(operand, own)
        return out

    def origin_of(self, positions: IntArray) -> tuple[Origin, IntArray]:
        """Return what elements that come from no operand come from, and their absolute indices in it."""
        return self, positions + np.array(self.origin, dtype=np.int64)

    # Words.

    @property
    def title(self) -> str:
        """What an explanation says of the node."""
        return self.name

    def label(self, number: int) -> str:  # noqa: ARG002
        """Return what an explanation says of an operand, before its own text."""
        return ""

    @property
    def text_at(self) -> "Callable[[int], str] | None":
        """What stands in the cell of a place in a picture; None for nothing."""
        return None

    @property
    def refusal(self) -> str:
        """Why elements cannot be written to: what they are."""
        return f"the result of {self.name}()"

    # JSON.

    def to_json(self, write: "NodeWriter") -> dict[str, Json]:  # noqa: ARG002
        """Return the fields that say the node, the first of `json_names` that is met being its kind."""
        raise ConversionError(f"{self.name} is not written as JSON")

    @classmethod
    def from_json(cls, given: "NodeFields") -> "Node":
        """Return the node that fields say, which a stranger may have written."""
        raise given.refused("schema", "is of a kind that is not read")

    @property
    def hidden_parts(self) -> int:
        """How many parts a normal form may have beside those of the operands."""
        return 0

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

    # Every step asks what follows. Most layouts have strides, and such a one knows its box without a shape or
    # a call: that is why its class is asked for here, and nowhere else in views.

    @property
    def extents(self) -> Extents:
        """The extents of a box."""
        known = self.layout.implementation
        found: Extents = known.extents if isinstance(known, Strided) else self.layout.shape.extents
        return found

    @property
    def origin(self) -> Index:
        """The first index of a box."""
        known = self.layout.implementation
        found: Index = known.origin if isinstance(known, Strided) else self.layout.shape.origin
        return found

    @property
    def is_box(self) -> bool:
        """Whether the indices are a box."""
        return isinstance(self.layout.implementation, Strided) or self.layout.shape.kind == "smooth"

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        return self.node.dtype

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return "Expression", self.node, self.layout

    @property
    def is_fresh(self) -> bool:
        """Whether no step was taken after the node: the view is all of it."""
        return not self.calls and self.written is None and self.is_whole

    @property
    def is_whole(self) -> bool:
        """Whether the view is the box of the node as it is, up to its origin."""
        known = self.layout.implementation
        return (
            isinstance(known, Strided)
            and known.extents == self.node.extents
            and (known.is_contiguous and not known.offset)
        )


# The setters of the slots themselves: half the cost of ``object.__setattr__``, and every step makes one.
(_set_node, _set_layout, _set_calls, _set_written) = slot_setters(
    Expression, "node", "layout", "calls", "written"
)


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
    return view if not any(view.origin) else attrs.evolve(view, layout=view.layout[...])


class NodeWriter(ABC):
    """Abstract: `is_normal`, `view`, `normal` and `source`: what a node asks while it is written as JSON."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_normal(self) -> bool:
        """Whether normal forms are written, not the steps that were taken."""

    @abstractmethod
    def view(self, view: Expression) -> dict[str, Json]:
        """Return what says an operand."""

    @abstractmethod
    def normal(self, view: Expression) -> dict[str, Json]:
        """Return what says an operand that is in normal form, whatever else is written."""

    @abstractmethod
    def source(self, source: Source) -> str:
        """Return the name of a source."""


class NodeFields(ABC):
    """Abstract: every method; fields of a node in JSON, each taken for what it must be, or refused."""

    __slots__ = ()

    @property
    @abstractmethod
    def kind(self) -> str:
        """The key by which the node was told: one of its `json_names`."""

    @property
    @abstractmethod
    def where(self) -> str:
        """Where in the document the node stands, for messages."""

    @abstractmethod
    def only(self, *names: str) -> None:
        """Raise unless these fields are there beside that of the kind, and no others."""

    @abstractmethod
    def json(self, name: str) -> Json:
        """Return a field as it is."""

    @abstractmethod
    def integer(self, name: str, least: int = ..., most: int = ...) -> int:
        """Return a field that is an integer between two bounds, both of which it may be."""

    @abstractmethod
    def dtype(self, name: str = "dtype") -> "np.dtype[Any]":
        """Return a field that names a type."""

    @abstractmethod
    def box(self, name: str = "range") -> Shape:
        """Return a field that is a box: where it starts and ends."""

    @abstractmethod
    def part(self, name: str) -> Expression:
        """Return a field that is a view, which starts at zero."""

    @abstractmethod
    def parts(self, name: str) -> tuple[Expression, ...]:
        """Return a field that is a list of at least one view, which start at zero."""

    @abstractmethod
    def view(self, value: Json, where: str) -> Expression:
        """Return the view that a value within a field says, which starts at zero."""

    @abstractmethod
    def memory(self, name: str) -> Node:
        """Return the node of the memory of a tensor that a field names."""

    @abstractmethod
    def alike(self, parts: tuple[Expression, ...], mode: int = -1) -> None:
        """Raise unless views have one type, one rank, and one extent in all modes but one."""

    @abstractmethod
    def work(self, count: int) -> None:
        """Tell that so many positions will be looked at, in a table; raise if they are too many."""

    @abstractmethod
    def refused(self, reason: str, text: str) -> SelectionError:
        """Return the error that says why these fields say no node."""
