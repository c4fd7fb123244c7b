"""Nodes of one operand, and the one that makes its elements once, however many views use them."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Sequence
from typing import Any, ClassVar, Self, cast, final

import attrs
import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.selection.expressions._expression import Expression, Node, Shares
from tensorwrapper.selection.expressions._node_context import NodeWriter
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["NodeOfOne", "Once"]


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

    is_cellwise: ClassVar[bool] = False
    is_kept: ClassVar[bool] = True
    keeps_dtype: ClassVar[bool] = True

    def __attrs_post_init__(self) -> None:
        # Computed here: later, each node would call the one below it, recursively.
        object.__setattr__(self, "dtype", self.operand.dtype)

    @property
    def name(self) -> str:
        return "once"

    @property
    def is_leaf(self) -> bool:
        return True

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        # Whether to cache is decided again where the view is computed.
        return {"whole": write.view(self.operand)}
