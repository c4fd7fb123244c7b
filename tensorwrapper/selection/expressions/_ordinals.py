"""Nodes for selections without a simpler form: elements by their number, and cells at their positions."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError
from tensorwrapper.layout import Layout, Table
from tensorwrapper.selection.expressions._expression import (
    Expression,
    Job,
    Node,
    NodeFields,
    NodeWriter,
    Normalize,
    Origin,
    Shares,
    at_zero,
    whole,
)
from tensorwrapper.selection.operations._operation import unravel
from tensorwrapper.selection.runners._cells import write_by_number, write_cells
from tensorwrapper.selection.transforms._transform import (
    Transform,
    of_maps,
    put_together,
    take_apart,
    through,
)
from tensorwrapper.typing import Array, Extents, IntArray


class NodeOfOne(Node):
    """Abstract: `operand` and `name`; as `Node` otherwise. It has the box and the type of its one operand."""

    __slots__ = ()

    operand: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.operand,)

    @property
    def extents(self) -> Extents:
        return self.operand.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.operand.dtype

    def with_operands(self, operands: tuple[Expression, ...]) -> Self:
        (operand,) = operands
        found: Self = attrs.evolve(cast("Any", self), operand=operand)
        return found

    def shares(self, positions: IntArray, given: Sequence[Array]) -> "Shares | None":  # noqa: ARG002
        return ((self.operand, slice(None), positions),)


@final
@frozen
class Once(NodeOfOne):
    """The elements of the operand in row-major order, computed once before they are read.

    A selection is not pushed into the operand: it is a layout of the computed elements, as of a source.
    """

    operand: Expression
    dtype: "np.dtype[Any]" = attrs.field(init=False, eq=False, repr=False)

    name: ClassVar[str] = "once"
    is_cellwise: ClassVar[bool] = False
    is_kept: ClassVar[bool] = True
    is_leaf: ClassVar[bool] = True
    keeps_dtype: ClassVar[bool] = True

    def __attrs_post_init__(self) -> None:
        # Computed here: later, each node would call the one below it, recursively.
        object.__setattr__(self, "dtype", self.operand.dtype)

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        # Whether to cache is decided again where the view is computed.
        return {"whole": write.view(self.operand)}


@final
@frozen
class Whole(NodeOfOne):
    """The elements of an operand in row-major order, where no layout can describe them."""

    operand: Expression

    name: ClassVar[str] = "whole"
    json_names: ClassVar[tuple[str, ...]] = ("whole",)
    is_cellwise: ClassVar[bool] = False

    @property
    def ordered(self) -> Expression:
        return self.operand

    def split(self, view: Expression) -> Expression | None:
        inner = at_zero(self.operand)
        transform = take_apart(view.layout, inner.extents)
        layout = None if transform is None else through(inner.layout, transform)
        return None if layout is None else Expression(inner.node, layout)

    def cast(self, view: Expression, dtype: "np.dtype[Any]") -> Expression | None:
        # An element that is not selected may be one that does not fit the type.
        if view.shape.size != self.operand.shape.size or not view.layout.is_injective:
            return None
        found = self.operand.node.cast(self.operand, dtype)
        return None if found is None else Expression(Whole(found), view.layout)

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        found = self.split(view)
        if found is None:
            write_by_number(job.elements(self.operand), view.layout, out)
        else:
            found.node.write_into(found, out, job)

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        return {"whole": write.view(self.operand)}

    @classmethod
    def from_json(cls, given: NodeFields) -> "Whole":
        given.only()
        return Whole(given.part("whole"))


@final
@frozen
class Sampling(Node):
    """Selected positions of a node whose elements depend on their position.

    The operands are those of the node there.
    """

    field: Node
    layout: Layout
    operands: tuple[Expression, ...]

    is_cellwise: ClassVar[bool] = False

    @property
    def extents(self) -> Extents:
        return self.layout.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.field.dtype

    @property
    def name(self) -> str:
        return self.field.name

    @property
    def made_of(self) -> tuple[Expression, ...]:
        return (*self.operands, *self.field.made_of)

    def mapped(self, change: Callable[[Expression], Expression]) -> "Sampling":
        operands = tuple([change(own) for own in self.operands])
        return Sampling(self.field.mapped(change), self.layout, operands)

    def selected(self, transform: Transform, normalize: Normalize) -> Expression | None:
        layout = through(self.layout, transform)
        if layout is None:
            return None
        operands = tuple([normalize(pushed(own, transform)) for own in self.operands])
        return whole(Sampling(self.field, layout, operands))

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        if view.is_whole:
            given = tuple(map(job.elements, self.operands))
            write_cells(self.field.checked_values, self.layout, self.field.extents, given, out)
        else:
            job.cells(view, out)

    def _places(self, positions: IntArray) -> IntArray:
        places = self.layout.offsets_of(positions + np.array(self.layout.shape.origin, dtype=np.int64))
        return unravel(places, self.field.extents)

    def values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:
        there = np.stack(np.broadcast_arrays(*places), axis=-1)
        rows = self._places(there.reshape(-1, there.shape[-1]))
        columns = [own.reshape(there.shape[:-1]) for own in rows.T]
        return self.field.values(columns, given)

    @property
    def deciding(self) -> tuple[Expression, ...]:
        return self.operands[: len(self.field.deciding)]

    def shares(self, positions: IntArray, given: Sequence[Array]) -> "Shares | None":
        found = self.field.shares(self._places(positions), given)
        if found is None:
            return None
        operands = [id(own) for own in self.field.operands]
        pairs = [(self.operands[operands.index(id(own))], chosen) for own, chosen, _ in found]
        return [(own, chosen, positions[chosen]) for own, chosen in pairs]

    def origin_of(self, positions: IntArray) -> tuple[Origin, IntArray]:
        return self.field.origin_of(self._places(positions))

    @property
    def refusal(self) -> str:
        return self.field.refusal

    def to_json(self, write: NodeWriter) -> dict[str, Json]:  # noqa: ARG002
        raise ConversionError(
            f'{self.name}, of which views are parameters, is written as steps only: form="steps"'
        )


def pushed(operand: Expression, transform: Transform) -> Expression:
    """Return the part of an operand that a transform selects."""
    layout = through(operand.layout, transform)
    if layout is not None:
        return Expression(operand.node, layout)
    return Expression(Whole(operand), put_together(transform, operand.extents))


def at_ordinals(view: Expression, ordinals: IntArray) -> Expression:
    """Return some elements of a view, by their numbers in row-major order, as a box of rank 1."""
    base, axis = Table(view.layout.offsets_of_ordinals(ordinals)).simplify()
    return Expression(view.node, of_maps(base, (axis,)))


def sampled(node: Node, transform: Transform, normalize: Normalize) -> Expression:
    """Return the normal form of a selection of a node whose elements depend on where they are."""
    operands = tuple([normalize(pushed(own, transform)) for own in node.operands])
    # Operands in normal form, so that equal nodes are equal.
    return whole(Sampling(node.mapped(normalize), put_together(transform, node.extents), operands))
