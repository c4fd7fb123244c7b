"""A view with a constant around it."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Sequence
from typing import Any, ClassVar, cast, final

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_elements, fit_number
from tensorwrapper.errors import RankError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import (
    Change,
    Expression,
    Job,
    Node,
    NodeFields,
    NodeWriter,
    Shares,
    at_zero,
    same,
    whole,
)
from tensorwrapper.selection.expressions._fields import json_of_value, to_integers, to_list, to_value
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._joining import Joining
from tensorwrapper.selection.expressions._ordinals import NodeOfOne, Whole
from tensorwrapper.selection.runners._leaves import full_window
from tensorwrapper.selection.transforms._transform import box
from tensorwrapper.shape.lowlevel import make_smooth, names_of, wrap
from tensorwrapper.typing import Array, Extents, Index, IntArray


@final
@frozen
class Padding(NodeOfOne):
    """An operand with a constant around it: for each mode how many positions before and after."""

    operand: Expression
    widths: tuple[tuple[int, int], ...]
    fill: Expression
    """A view without modes: the constant."""

    name: ClassVar[str] = "pad"
    json_names: ClassVar[tuple[str, ...]] = ("pad",)
    is_sharing: ClassVar[bool] = True
    is_cellwise: ClassVar[bool] = False

    @property
    def extents(self) -> Extents:
        inner = zip(self.operand.extents, self.widths, strict=True)
        return tuple([before + extent + after for extent, (before, after) in inner])

    def validity(self, values: Change = same, valid: Change = same) -> Node:  # noqa: ARG002
        truth = whole(Filling(box(()), np.True_, np.dtype(np.bool_)))
        return Padding(valid(self.operand), self.widths, truth)

    @property
    def _value(self) -> Any:  # noqa: ANN401 - of the type of the elements
        return cast("Filling", self.fill.node).value

    @property
    def title(self) -> str:
        return f"pad({self.widths}, fill_value={self._value})"

    @property
    def hidden_parts(self) -> int:
        return 2 * len(self.widths)

    def lowered(self) -> Node:
        """Return joined views, mode by mode; pads around pads of one constant are one."""
        inner, widths = self.operand, self.widths
        while isinstance(inner.node, Padding) and inner.is_whole and inner.node.fill == self.fill:
            own = zip(widths, inner.node.widths, strict=True)
            widths = tuple([(a + c, b + d) for (a, b), (c, d) in own])
            inner = inner.node.operand
        for mode in reversed(range(len(widths))):
            before, after = widths[mode]
            if before or after:
                extents = inner.extents
                parts = (self._side(extents, mode, before), inner, self._side(extents, mode, after))
                inner = whole(Joining(mode, parts))
        return inner.node if inner.is_whole else Whole(inner)

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        if not view.is_whole:
            super().write_into(view, out, job)
            return
        part: Array = out
        for mode, (before, after) in enumerate(self.widths):
            ends = (slice(0, before), slice(part.shape[mode] - after, None))
            lines = (slice(None),) * mode
            for side in ends:
                edge = part[(*lines, side)]
                if edge.size:
                    assign_elements(edge, self._value)
            part = part[(*lines, slice(before, part.shape[mode] - after))]
        job.elements(self.operand).fill(full_window(part.shape), part, job.threads)

    def _side(self, extents: Index, mode: int, count: int) -> Expression:
        wanted = box((*extents[:mode], count, *extents[mode + 1 :]))
        return Expression(self.fill.node, self.fill.layout.broadcast(wanted))

    def shares(self, positions: IntArray, given: Sequence[Array]) -> Shares:  # noqa: ARG002
        inner = positions - np.array([before for before, _ in self.widths], dtype=np.int64)
        extents = np.array(self.operand.extents, dtype=np.int64)
        inside = ((inner >= 0) & (inner < extents)).all(axis=-1)
        yield self.operand, inside, inner[inside]
        yield self.fill, ~inside, np.empty((np.count_nonzero(~inside), 0), dtype=np.int64)

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        return {
            "pad": [list(pair) for pair in self.widths],
            "value": json_of_value(self._value, self.dtype),
            "part": write.view(self.operand),
        }

    @classmethod
    def from_json(cls, given: NodeFields) -> "Padding":
        given.only("value", "part")
        part = given.part("part")
        where = given.where
        pairs = to_list(given.json("pad"), f"{where}.pad")
        widths = [to_integers(pair, f"{where}.pad[{n}]", 0, count=2) for n, pair in enumerate(pairs)]
        if len(widths) != part.shape.rank:
            raise given.refused("bounds", f".pad has {len(widths)} pairs for {part.shape.rank} modes")
        value = to_value(given.json("value"), part.dtype, f"{where}.value")
        fill = whole(Filling(box(()), value, part.dtype))
        return Padding(part, cast("tuple[tuple[int, int], ...]", tuple(widths)), fill)


def padded(inner: Expression, widths: tuple[tuple[int, int], ...], fill_value: object) -> Expression:
    """Return a box with a constant around it, whose own elements keep their indices.

    Raises
    ------
    RankError
        If there is not one pair of widths per mode.
    """
    rank = inner.shape.rank
    if len(widths) != rank or any(len(pair) != 2 for pair in widths):
        raise RankError(f"widths are one pair per mode, {rank} in all, not {widths}")
    origin = [start - before for start, (before, _) in zip(inner.origin, widths, strict=True)]
    value = fit_number(fill_value, inner.dtype, "fill_value")[()]
    node = Padding(at_zero(inner), widths, whole(Filling(box(()), value, inner.dtype)))
    return Expression(node, Layout(wrap(make_smooth(node.extents, tuple(origin)), names_of(inner.shape))))
