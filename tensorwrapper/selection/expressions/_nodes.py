"""The simple ways in which views are put together, one class for each.

A node knows its box and its operands, and computes nothing. Builders check that operands fit.
"""

# The field of a frozen class is read as the property that it stands for.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable
from typing import Any, Literal, final

import attrs
import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.buffer.lowlevel import fit_number
from tensorwrapper.errors import RankError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._expression import Expression, Node, at_zero, box, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.sources._source import Source, TensorSource
from tensorwrapper.shape.lowlevel import make_smooth, wrap
from tensorwrapper.typing import Extents, IntArray

__all__ = [
    "Casting",
    "Choosing",
    "Extreme",
    "Interleaving",
    "Joining",
    "Padding",
    "Piece",
    "Reading",
    "Routing",
    "Stacking",
    "Whole",
    "is_base",
    "padded",
]


@final
@attrs.frozen
class Reading(Node):
    """The elements of a source. The places of a tensor in memory are those of its buffer."""

    source: Source

    @property
    def extents(self) -> Extents:
        source = self.source
        if isinstance(source, TensorSource):
            return (source.tensor.buffer.size,)
        return source.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.source.dtype

    @property
    def name(self) -> str:
        return "source"


def is_base(view: Expression) -> bool:
    """Tell whether a view is the whole box of its node, or the tensor of its source, as it is."""
    node = view.node
    if isinstance(node, Reading) and isinstance(node.source, TensorSource):
        given = node.source.tensor.layout
        return view.layout is given or view.layout == given
    return view.is_whole


def _with_extent(extents: Extents, mode: int, extent: int) -> Extents:
    return (*extents[:mode], extent, *extents[mode + 1 :])


class _Alike(Node):
    """Abstract: `operands`, all of one type; `extents` and `name`."""

    __slots__ = ()

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.operands[0].dtype


class _OfOne(Node):
    """Abstract: `operand`, the only one, and `name`; box and type are those of the operand."""

    __slots__ = ()

    operand: Expression

    @property
    def operands(self) -> tuple[Expression, ...]:
        return (self.operand,)

    @property
    def extents(self) -> Extents:
        return self.operand.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.operand.dtype


@final
@attrs.frozen
class Joining(_Alike):
    """One operand after the other along a mode, of one dtype."""

    mode: int
    operands: tuple[Expression, ...]
    offsets: IntArray = attrs.field(init=False, eq=False, repr=False)
    """Where each operand begins along the mode, and after them all the extent."""

    def __attrs_post_init__(self) -> None:
        lengths = [part.shape.extents[self.mode] for part in self.operands]
        if sum(lengths) > MAX_INT64:
            raise SizeOverflowError(f"mode {self.mode} of {len(lengths)} views has {sum(lengths)} positions")
        offsets = np.concatenate([[0], np.cumsum(np.array(lengths, dtype=np.int64))])
        offsets.flags.writeable = False
        object.__setattr__(self, "offsets", offsets)

    @property
    def extents(self) -> Extents:
        return _with_extent(self.operands[0].shape.extents, self.mode, int(self.offsets[-1]))

    @property
    def name(self) -> str:
        return "concat"

    def __reduce__(self) -> "tuple[Callable[..., Joining], tuple[int, tuple[Expression, ...]]]":
        return Joining, (self.mode, self.operands)


@final
@attrs.frozen
class Interleaving(_Alike):
    """Position p of a mode is position ``p div k`` of operand ``p mod k``, of k operands of one dtype."""

    mode: int
    operands: tuple[Expression, ...]

    @property
    def extents(self) -> Extents:
        total = sum([part.shape.extents[self.mode] for part in self.operands])
        return _with_extent(self.operands[0].shape.extents, self.mode, total)

    @property
    def name(self) -> str:
        return "interleave"


@final
@attrs.frozen
class Stacking(_Alike):
    """Operands of one shape and dtype under a new mode that counts them."""

    mode: int
    operands: tuple[Expression, ...]

    @property
    def extents(self) -> Extents:
        inner = self.operands[0].shape.extents
        return (*inner[: self.mode], len(self.operands), *inner[self.mode :])

    @property
    def name(self) -> str:
        return "stack"


@final
@attrs.frozen
class Padding(_OfOne):
    """An operand with a constant around it: for each mode how many positions before and after."""

    operand: Expression
    widths: tuple[tuple[int, int], ...]
    fill: Expression
    """A view without modes: the constant."""

    @property
    def extents(self) -> Extents:
        inner = zip(self.operand.shape.extents, self.widths, strict=True)
        return tuple([before + extent + after for extent, (before, after) in inner])

    @property
    def name(self) -> str:
        return "pad"


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
    origin = [start - before for start, (before, _) in zip(inner.shape.origin, widths, strict=True)]
    value = fit_number(fill_value, inner.dtype, "fill_value")[()]
    node = Padding(at_zero(inner), widths, whole(Filling(box(()), value, inner.dtype)))
    return Expression(node, Layout(wrap(make_smooth(node.extents, tuple(origin)))))


@final
@attrs.frozen
class Choosing(Node):
    """Elements of the second operand where the first is true, else of the third; all of one box."""

    operands: tuple[Expression, Expression, Expression]

    @property
    def extents(self) -> Extents:
        return self.operands[0].shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.operands[1].dtype

    @property
    def name(self) -> str:
        return "where"


@final
@attrs.frozen
class Extreme(_Alike):
    """The least or the greatest of the operands, cell by cell; all of one box and dtype."""

    kind: Literal["minimum", "maximum"]
    operands: tuple[Expression, ...]

    @property
    def extents(self) -> Extents:
        return self.operands[0].shape.extents

    @property
    def name(self) -> str:
        return self.kind


@final
@attrs.frozen
class Casting(_OfOne):
    """The operand as elements of another type, as NumPy casts: what does not fit wraps round."""

    operand: Expression
    _dtype: "np.dtype[Any]"

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self._dtype

    @property
    def name(self) -> str:
        return "cast"


@final
@attrs.frozen
class Whole(_OfOne):
    """All elements of the operand in row-major order: where no layout of its own places could say it."""

    operand: Expression

    @property
    def name(self) -> str:
        return "whole"


@final
@attrs.frozen
class Piece:
    """Which positions of a mode come from which view: ``start + step * i`` is its position i."""

    start: int
    step: int
    view: Expression

    def count(self, mode: int) -> int:
        """Return how many positions they are."""
        extents: Extents = self.view.shape.extents
        return extents[mode]


@final
@attrs.frozen
class Routing(Node):
    """Pieces that share out the positions of a mode: what joining and interleaving come down to."""

    mode: int
    extents: Extents
    pieces: tuple[Piece, ...]

    @property
    def operands(self) -> tuple[Expression, ...]:
        return tuple([piece.view for piece in self.pieces])

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.pieces[0].view.dtype

    @property
    def name(self) -> str:
        return "route"
