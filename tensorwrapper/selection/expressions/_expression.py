"""Expressions: the trees of nodes behind views, as values.

A node is one source, one generator, or one simple way to put views together. Its cells are numbered in
row-major order of its box; these numbers are its *places*. An expression is a node and a layout from the
indices of a view to the places of the node. So every chain of operations that only selects is one layout,
whatever its length, and is fused when it is written; the operations are recorded beside it.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import shown_array
from tensorwrapper._json import Json
from tensorwrapper._value_class import evolve, frozen, slot_setters, token_of, value_class
from tensorwrapper.errors import ConversionError, ExtentMismatchError, JaggedModeError, SelectionError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import Strided, new_row_major, wrap_layout
from tensorwrapper.selection.expressions._fields import (
    LARGEST,
    check_keys,
    to_dtype,
    to_integer,
    to_list,
    to_range,
)
from tensorwrapper.selection.expressions._traversal import are_equal, flattened, operands_first, rebuilt
from tensorwrapper.selection.operations._operation import Call
from tensorwrapper.selection.runners._cells import fitting, write_cells
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.selection.sources._read_source import layout_of
from tensorwrapper.selection.sources._source import Source
from tensorwrapper.selection.transforms._transform import Transform, unnamed_layout
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import ModeNames
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, Extents, Index, IntArray

Origin: TypeAlias = "Tensor[Any] | Source | Node"
"""Origin of an element: a tensor or another source, or the node that computes it."""

Shares: TypeAlias = "Iterable[tuple[Expression, Any, IntArray]]"
"""Operands, which of the positions come from each, and the positions in it."""

Normalize: TypeAlias = "Callable[[Expression], Expression]"
"""Returns the normal form of a view."""


Change: TypeAlias = "Callable[[Expression], Expression]"
"""Function that returns the replacement of an operand."""


def same(view: "Expression") -> "Expression":
    """Return a view as it is."""
    return view


class Node(ABC):
    """Abstract: `extents`, `dtype` and `name`, and `values`, or `lowered`.

    A node that computes its elements has `values`; others are `lowered` to simpler nodes. A node that
    distributes elements among operands also has `shares`. A node with operands has the field `operands`, or
    `operands` and `with_operands`. One with a JSON form has `json_names`, `to_json` and `from_json`, and is
    registered by `register_node`. All other methods have defaults, which a node may override for speed. Where
    `is_cellwise` is not overridden, operands have the box of the node, and an element depends only on their
    elements at its own position.
    """

    __slots__ = ()

    json_names: ClassVar[tuple[str, ...]] = ()
    """The keys by which JSON tells the node; none if it cannot be written."""
    is_constant: ClassVar[bool] = False
    """True if all elements are equal, whatever the box: then it has a `value`."""
    is_sharing: ClassVar[bool] = False
    """True if each element comes from one operand, not from all of them."""
    is_cellwise: ClassVar[bool] = True
    """True if an element depends only on its position and on elements of operands of the same box there."""
    is_kept: ClassVar[bool] = False
    """True if the elements of the only operand are cached in memory before they are read."""
    is_of_rows: ClassVar[bool] = False
    """True if it combines rows, whose elements are computed in their order."""
    keeps_dtype: ClassVar[bool] = False
    """True if `dtype` is an attribute, without a look-up in operands."""
    is_elementwise: ClassVar[bool] = False
    """True if an element is `values` of the operands' elements alone, whatever its position."""

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
        """Number of places."""
        return math.prod(self.extents)

    @property
    def origin(self) -> Index:
        """The absolute index of the first place; routes tell indices that count from it."""
        return (0,) * len(self.extents)

    @property
    def is_leaf(self) -> bool:
        """True if a selection of it is only a layout: for a source, or computed elements."""
        return False

    @property
    def source(self) -> "Source | None":
        """The source whose elements these are, if it is one."""
        return None

    @property
    def tensor(self) -> "Tensor[Any] | None":
        """The tensor in this process whose buffer has these elements, if it is one."""
        return None

    @property
    def is_dense(self) -> bool:
        """True if all its elements are known to be stored in this process, in one tensor or in many."""
        return False

    @property
    def made_of(self) -> "tuple[Expression, ...]":
        """The views that `mapped` changes, in order."""
        return self.operands

    # Other operands.

    def with_operands(self, operands: "tuple[Expression, ...]") -> "Node":
        """Return the same node of other operands; by default its field `operands` is replaced."""
        if not operands:
            return self
        if isinstance(type(self).operands, property):
            raise ConversionError(f"{self.name} is made of no other views")
        return evolve(self, operands=operands)

    def mapped(self, change: "Callable[[Expression], Expression]") -> "Node":
        """Return the same node with each view that it is made of changed."""
        operands = self.operands
        return self.with_operands(tuple([change(own) for own in operands])) if operands else self

    def validity(self, values: "Change" = same, valid: "Change" = same) -> "Node":  # noqa: ARG002
        """Return the node of truth values at the same places: True for valid elements.

        Parameters
        ----------
        values, valid
            Return for an operand the view of its values, and the one of whether they are valid.
        """
        return self.mapped(valid)

    # The normal form.

    def takes_in(self, operand: "Expression") -> bool:  # noqa: ARG002
        """Return True if the operands of an operand may replace it, as it is the same operation."""
        return False

    def lowered(self) -> "Node":
        """Return the replacement of this node in normal forms."""
        return self

    def all(self) -> "Expression":
        """Return the view of all places, at the indices that they have."""
        return whole(self)

    def split(self, view: "Expression") -> "Expression | Split | None":  # noqa: ARG002
        """Return a view of this node, a box with elements, as views of the operands; None if it computes.

        The result is a view of one operand, or parts that partition a mode.
        """
        return None

    def ascending(self, view: "Expression") -> "tuple[Expression, int, IntArray] | None":  # noqa: ARG002
        """Return a view of the distinct positions that a table selects, in order, and how it leads to a view.

        That is the mode of the view, and for each of its positions the number of the distinct one. None
        unless positions of operands in order may be fewer parts.
        """
        return None

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

    def repeated(self, extents: Extents) -> Array:
        """Return the `value` of a constant as an array that takes no memory."""
        raise ConversionError(f"the elements of {self.name}() of {extents} differ")

    def values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:  # noqa: ARG002
        """Return elements.

        Parameters
        ----------
        places
            Positions counted from 0, one array per mode, which broadcast together.
        given
            For each operand its elements there.

        Returns
        -------
        Array
            They have this `dtype`, and the extents of the places, or broadcast to them.
        """
        raise ConversionError(f"a {self.name} is not a node of a normal form")

    def checked_values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:
        """Return `values`, over all the places; not to be overridden.

        Raises
        ------
        DTypeError
            If they are of another type than `dtype`: a silent cast would hide the mistake.
        ExtentMismatchError
            If they are not as many as the places.
        """
        return fitting(shown_array(self.values(places, given)), self.dtype, (*places, *given), self.name)

    @property
    def is_filled(self) -> bool:
        """True if `write_into` writes the elements once those of the operands are in memory."""
        kind = type(self)
        return self.is_cellwise or kind.write_into is not Node.write_into or kind.lowered is not Node.lowered

    def write_into(self, view: "Expression", out: Array, job: "Job") -> None:
        """Write the elements of a view of this node, a box from zero on, all of whose leaves are in memory.

        Parameters
        ----------
        view
            The view.
        out
            Memory of its extents, which has elements; of any strides, and a type that its own fits.
        job
            The writer of the operands.
        """
        lowered = self.lowered()
        if lowered is not self:
            lowered.write_into(Expression(lowered, view.layout), out, job)
        else:
            job.cells(view, out)

    def write_cells(self, view: "Expression", given: tuple[Runner, ...], out: Array, threads: int) -> None:  # noqa: ARG002
        """Write the elements of a view cell by cell.

        Parameters
        ----------
        view
            The view.
        given
            For each operand the runner of its elements at the places of the view.
        out
            Memory of the extents of the view.
        threads
            How many threads copy large parts.
        """
        write_cells(self.checked_values, view.layout, self.extents, given, out)

    # Routes: which element of which source each one is.

    @property
    def casts(self) -> "tuple[np.dtype[Any], ...]":
        """The types that elements are cast to when they pass."""
        return ()

    @property
    def masks(self) -> "tuple[Expression, ...]":
        """The first operands, if their elements only decide which of the others one comes from."""
        return ()

    @property
    def deciding(self) -> "tuple[Expression, ...]":
        """The first operands, whose elements at a position decide which operand the one there comes from."""
        return self.masks

    def shares(self, positions: IntArray, given: Sequence[Array]) -> "Shares | None":  # noqa: ARG002
        """Return which operand the elements at positions come from; None if they come from the node itself.

        Parameters
        ----------
        positions
            Counted from zero, one row each.
        given
            For each operand of `deciding` its elements there.
        """
        return None

    def routed(self) -> "Node":
        """Return the node whose operands routes follow, if not those of this one; of the same places."""
        return self

    def origin_of(self, positions: IntArray) -> tuple[Origin, IntArray]:
        """Return the origin of elements that come from no operand, and their absolute indices in it."""
        return self, positions + np.array(self.origin, dtype=np.int64)

    # Words.

    @property
    def title(self) -> str:
        """Title of the node in an explanation."""
        return self.name

    def label(self, number: int) -> str:  # noqa: ARG002
        """Return the label of an operand in an explanation, before its own text."""
        return ""

    @property
    def text_at(self) -> "Callable[[int], str] | None":
        """Function from a place to the text of its cell in a picture; None for no text."""
        return None

    @property
    def refusal(self) -> str:
        """Description of elements that cannot be written to, for the error."""
        return f"the result of {self.name}()"

    # JSON.

    def to_json(self, write: "NodeWriter") -> dict[str, Json]:  # noqa: ARG002
        """Return the fields that say the node, the first of `json_names` that is met being its kind."""
        raise ConversionError(f"{self.name} is not written as JSON")

    @classmethod
    def from_json(cls, given: "NodeFields") -> "Node":
        """Return the node of possibly untrusted fields."""
        raise given.refused("schema", "is of a kind that is not read")

    @property
    def hidden_parts(self) -> int:
        """Number of parts that a normal form may have beside those of the operands."""
        return 0

    def __dask_tokenize__(self) -> object:
        # Of the parts alone: a pickle also tells which of them are one object.
        fields = [field for field in attrs.fields(cast("Any", type(self))) if field.init]
        return token_of(type(self).__name__, *[getattr(self, field.name) for field in fields])


@final
@frozen(eq=False)
class Split:
    """Views that share out the positions of a mode.

    Attributes
    ----------
    mode
        The mode of the view that is split.
    parts
        Positions of that mode, from zero on, and the view that has the elements there: a box of the extents
        of the whole in all other modes.
    """

    mode: int
    parts: "Sequence[tuple[range | IntArray, Expression]]"


@final
@value_class(getstate_setstate=False)
class Expression:
    """The places of a node that a view has, and the calls that chose them."""

    node: Node
    layout: Layout[Any]
    calls: tuple[Call, ...] = ()
    written: "Expression | None" = None
    """Base of the recorded calls as it was written, if the node is the optimized form of that."""
    _hash: int = attrs.field(init=False)
    _dtype: "np.dtype[Any]" = attrs.field(init=False)

    if TYPE_CHECKING:

        def __init__(
            self,
            node: Node,
            layout: Layout,
            calls: tuple[Call, ...] = (),
            written: "Expression | None" = None,
        ) -> None: ...

    @property
    def shape(self) -> Shape:
        """The indices of the view."""
        return self.layout.shape

    # Every step uses the following properties, and a strided layout has them without a call: so its class is
    # checked.

    @property
    def extents(self) -> Extents:
        """The extents of a box."""
        known = self.layout.implementation
        found: Extents = known.extents if type(known) is Strided else self.layout.shape.extents
        return found

    @property
    def origin(self) -> Index:
        """The first index of a box."""
        known = self.layout.implementation
        found: Index = known.origin if type(known) is Strided else self.layout.shape.origin
        return found

    @property
    def is_box(self) -> bool:
        """True if the indices are a box."""
        known = self.layout.implementation
        return type(known) is Strided or known.shape.is_box

    @property
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""
        # Kept, since nodes ask their operands: else each step would ask all the way down.
        try:
            return self._dtype
        except AttributeError:
            node = self.node
            if not node.keeps_dtype and not all(map(_knows_dtype, node.operands)):
                for below in operands_first([self], _knows_dtype):
                    _set_dtype(below, below.node.dtype)
                return self._dtype
            found = node.dtype
            _set_dtype(self, found)
            return found

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return are_equal(self, other) if isinstance(other, Expression) else NotImplemented

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            for own in operands_first([self], lambda own: hasattr(own, "_hash"), everything=True):
                _set_hash(own, hash((own.node, own.layout)))
            return self._hash

    def __repr__(self) -> str:
        return f"<Expression {self.shape!r} {self.dtype} of {self.node.name}>"

    def __reduce__(self) -> "tuple[Callable[..., Expression], tuple[Any, ...]]":
        if not self.node.made_of and self.written is None:
            return Expression, (self.node, self.layout, self.calls)
        return _rebuilt, (flattened(self, _stand_in),)

    def __dask_tokenize__(self) -> object:
        from dask.base import tokenize  # noqa: PLC0415

        if isinstance(self.node, _StandIn):
            return self.node.number
        tokens: dict[int, str] = {}
        for own in operands_first([self], everything=True):
            node = own.node.mapped(lambda part: _stand_in(tokens[id(part)], part))
            tokens[id(own)] = tokenize("Expression", node, own.layout)
        return tokens[id(self)]

    @property
    def is_fresh(self) -> bool:
        """True if no step was taken after the node: the view is all of it."""
        return not self.calls and self.written is None and self.is_whole

    @property
    def is_whole(self) -> bool:
        """True if the view is the whole box of the node in its order, up to its origin."""
        known = self.layout.implementation
        if type(known) is not Strided:
            known = known.unnamed()
        return (
            type(known) is Strided
            and known.extents == self.node.extents
            and (known.is_contiguous and not known.offset)
        )


# The setters of the slots themselves: half the cost of ``object.__setattr__``, and every step makes one.
(_set_node, _set_layout, _set_calls, _set_written, _set_hash, _set_dtype) = slot_setters(
    Expression, "node", "layout", "calls", "written", "_hash", "_dtype"
)


def _knows_dtype(view: Expression) -> bool:
    return view.node.keeps_dtype or hasattr(view, "_dtype")


def _rebuilt(rows: Any) -> Expression:  # noqa: ANN401 - what `flattened` returns
    return rebuilt(rows, Expression, lambda own: cast("Any", own.node).number)


@final
@frozen
class _StandIn(Node):
    """Number or token in place of an operand, in a node that is sent or hashed alone."""

    number: int | str
    extents: Extents  # pyright: ignore[reportIncompatibleMethodOverride]
    dtype: "np.dtype[Any]"  # pyright: ignore[reportIncompatibleMethodOverride]
    name: ClassVar[str] = "operand"  # pyright: ignore[reportIncompatibleMethodOverride]


def _stand_in(number: int | str, part: Expression) -> Expression:
    return Expression(_StandIn(number, part.node.extents, part.dtype), part.layout)


def extended(view: Expression, layout: Layout, call: Call) -> Expression:
    """Return the places of the same node that a view has after one more call."""
    found: Expression = object.__new__(Expression)
    _set_node(found, view.node)
    _set_layout(found, layout)
    _set_calls(found, (*view.calls, call))
    _set_written(found, view.written)
    return found


def unnamed_view(view: Expression) -> Expression:
    """Return a view without names of modes: nodes number the modes of their operands."""
    held = view.layout.implementation
    return view if held.names is None else evolve(view, layout=wrap_layout(held.unnamed()))


def whole(node: Node, names: ModeNames | None = None) -> Expression:
    """Return the view of all places of a node, in their order; its modes may be given names."""
    made: Expression = object.__new__(Expression)
    _set_node(made, node)
    _set_layout(made, wrap_layout(new_row_major(node.extents), names))
    _set_calls(made, ())
    _set_written(made, None)
    return made


def is_base(view: Expression) -> bool:
    """Return True if a view is the whole box of its node, or the tensor of its source, as it is."""
    tensor = view.node.tensor
    source = view.node.source if tensor is None else None
    given = tensor.layout if tensor is not None else None if source is None else layout_of(source)
    if given is None:
        # A box of all elements of remote rows differs from their source.
        return view.is_whole and (source is None or source.shape.is_box)
    return view.layout is given or unnamed_layout(view.layout) == unnamed_layout(given)


def at_zero(view: Expression) -> Expression:
    """Return a view with its origin at zero, and without names of modes."""
    known = view.layout.implementation
    strided = known.strided_box()
    if strided is not None and known.names is None and not any(strided[1]):
        return view
    if known.names is not None:
        view = unnamed_view(view)
    if not view.is_box:
        try:
            origin: Index | None = view.shape.origin
        except JaggedModeError:
            origin = None
        return evolve(view, layout=view.layout[...]) if origin is None or any(origin) else view
    return view if not any(view.origin) else evolve(view, layout=view.layout[...])


def memory_of(view: Expression) -> Array | None:
    """Return the array that has the elements of a view in memory, or repeats one; None if there is none."""
    node = view.node
    tensor = node.tensor
    if tensor is not None:
        return tensor.buffer.memory_of(view.layout.implementation)
    return node.repeated(view.extents) if node.is_constant else None


def memories_of(views: Iterable[Expression]) -> list[Array] | None:
    """Return the arrays of `memory_of` for views; None if an array is missing."""
    found: list[Array] = []
    for view in views:
        array = memory_of(view)
        if array is None:
            return None
        found.append(array)
    return found


def check_boxes(node: Node) -> None:
    """Raise unless the operands of a cellwise node have its box.

    They would be read as if they had it: other elements, and no error.
    """
    extents = node.extents
    for number, operand in enumerate(node.operands):
        if operand.extents != extents:
            raise ExtentMismatchError(
                f"operand {number} of {node.name!r} has extents {operand.extents}, and the node has "
                f"{extents}: those of a cellwise node are alike; `broadcast` the operand"
            )


class Job(ABC):
    """Abstract: `threads`, `elements`, `cells` and `by_number`: services for a node that is written."""

    __slots__ = ()

    @property
    @abstractmethod
    def threads(self) -> int:
        """Number of threads that copy large parts."""

    @abstractmethod
    def elements(self, view: Expression) -> Runner:
        """Return a runner of a box: over its memory, or else one that fills requested parts."""

    @abstractmethod
    def cells(self, view: Expression, out: Array) -> None:
        """Write a view of a cellwise node: each element by those that the operands have at its place."""

    @abstractmethod
    def by_number(self, node: Node, layout: Layout[Any], out: Array) -> bool:
        """Write elements that a layout without a rule per mode selects; tell whether they are that many."""


class NodeWriter(ABC):
    """Abstract: `is_normal`, `view`, `normal` and `source`: services for a node that is written as JSON."""

    __slots__ = ()

    @property
    @abstractmethod
    def is_normal(self) -> bool:
        """True if normal forms are written instead of the recorded steps."""

    @abstractmethod
    def view(self, view: Expression) -> dict[str, Json]:
        """Return the JSON of an operand."""

    @abstractmethod
    def normal(self, view: Expression) -> dict[str, Json]:
        """Return the JSON of an operand that is in normal form, in either form of the document."""

    @abstractmethod
    def source(self, source: Source) -> str:
        """Return the name of a source."""


@final
@frozen(eq=False, repr=False)
class NodeFields:
    """Fields of a node in JSON, each checked for its type, or refused.

    Attributes
    ----------
    kind
        The key of the node: one of its `json_names`.
    where
        Path of the node in the document, for messages.
    """

    kind: str
    where: str
    _given: dict[str, Json] = attrs.field(alias="given")
    _read: Callable[[Json, str], Expression] = attrs.field(alias="read")
    """Returns the view of a value, which starts at zero."""
    _memory: Callable[[Json, str], Node] = attrs.field(alias="memory")
    """Returns the node of the memory of a tensor that a value names."""
    _count: Callable[[int, str, int | None], None] = attrs.field(alias="count")
    """Counts positions of a table, or rows that are made beyond those of the parts."""
    # A kind of node may read parts twice, first to find out what they are.
    _met: dict[str, Expression] = attrs.field(factory=dict[str, Expression], init=False)

    def only(self, *names: str) -> None:
        """Raise unless these fields are there beside that of the kind, and no others."""
        check_keys(self._given, self.where, {self.kind, *names})

    def json(self, name: str) -> Json:
        """Return a field as it is."""
        if name not in self._given:
            check_keys(self._given, self.where, {name}, frozenset(self._given))
        return self._given[name]

    def _path(self, name: str) -> str:
        return f"{self.where}.{name}"

    def integer(self, name: str, least: int = -LARGEST, most: int = LARGEST) -> int:
        """Return a field that is an integer between two bounds, both of which it may be."""
        return to_integer(self.json(name), self._path(name), least, most)

    def dtype(self, name: str = "dtype") -> "np.dtype[Any]":
        """Return a field that names a type."""
        return to_dtype(self.json(name), self._path(name))

    def box(self, name: str = "range") -> Shape:
        """Return a field that is a box: where it starts and ends."""
        start, extents = to_range(self.json(name), self._path(name))
        shape = Shape(*extents, origin=start)
        if shape.size > LARGEST:
            raise self.refused("limit", f" has {shape.size} elements; {LARGEST} are allowed")
        return shape

    def part(self, name: str) -> Expression:
        """Return a field that is a view, which starts at zero."""
        return self.view(self.json(name), self._path(name))

    def parts(self, name: str) -> tuple[Expression, ...]:
        """Return a field that is a list of at least one view, which start at zero."""
        path = self._path(name)
        items = to_list(self.json(name), path)
        if not items:
            raise SelectionError("schema", f"{path} must not be empty")
        return tuple([self.view(item, f"{path}[{n}]") for n, item in enumerate(items)])

    def view(self, value: Json, where: str) -> Expression:
        """Return the view that a value within a field says, which starts at zero."""
        if where not in self._met:
            self._met[where] = self._read(value, where)
        return self._met[where]

    def memory(self, name: str) -> Node:
        """Return the node of the memory of a tensor that a field names."""
        return self._memory(self.json(name), self._path(name))

    def alike(self, parts: tuple[Expression, ...], mode: int = -1) -> None:
        """Raise unless views have one type, one rank, and one extent in all modes but one."""
        if not parts:
            raise SelectionError("schema", f"{self.where} must have at least one part")
        first = parts[0]
        if mode >= first.shape.rank:
            raise SelectionError("bounds", f"{self.where}: there is no mode {mode} to join in {first.shape}")
        extents, dtype = first.shape.extents, first.dtype
        for part in parts:
            if part.shape.extents == extents and part.dtype == dtype:
                continue
            same = part.shape.rank == first.shape.rank and all(
                a == b or m == mode
                for m, (a, b) in enumerate(zip(part.shape.extents, first.shape.extents, strict=True))
            )
            if not same or part.dtype != first.dtype:
                raise SelectionError(
                    "bounds",
                    f"{self.where}: {part.shape} of {part.dtype} does not fit {first.shape} of {first.dtype}",
                )

    def work(self, count: int, *, more: int | None = None) -> None:
        """Count positions of a table to be checked; raise if they are too many.

        With `more`, so many rows are made beyond those of the parts, and the others are in tables already.
        """
        self._count(count, self.where, more)

    def refused(self, reason: str, text: str) -> SelectionError:
        """Return the error that says why these fields say no node."""
        return SelectionError(cast("Any", reason), f"{self.where}{text}")
