"""Operations on rows: the shape of the result, and the box of rank 1 with its elements.

Each operation has two parts: the shape of the result, and its elements in row-major order. Shapes compute the
first; the second are operations on boxes of rank 1: one after the other, pieces of several, chosen, cast.
"""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar, Final, Literal, TypeAlias, assert_never, cast, final

import attrs
import numpy as np

from tensorwrapper._arrays import frozen_array, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._json import Json, dump_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentMismatchError, JaggedModeError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._elementwise import Casting, Choosing, Extreme
from tensorwrapper.selection.expressions._expression import (
    Change,
    Expression,
    Node,
    NodeFields,
    NodeWriter,
    at_zero,
    extended,
    same,
    unnamed_view,
    whole,
)
from tensorwrapper.selection.expressions._fields import dtype_name, said_shape
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._joining import Interleaving, Joining
from tensorwrapper.selection.expressions._ordinals import Whole
from tensorwrapper.selection.expressions._traversal import inlined
from tensorwrapper.selection.jagged._flatten import ConcatenatedRows, Filled, Form, Pieces, Spread, in_order
from tensorwrapper.selection.transforms._transform import box
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes
from tensorwrapper.tensor.lowlevel import padded_lines
from tensorwrapper.typing import Extents, IntArray


def held_rows(shape: Shape) -> int:
    """Return how many rows there are, of all levels, and extents of cells; of a box how many lines it has.

    A grid of tiles counts each tile, although they stay a product until something moves them. O(modes).
    """
    flat = shape.flatten()
    if flat.is_box:
        return sum([math.prod(flat.extents[:mode]) for mode in range(1, flat.rank)])
    counts = [indices_of(flat, mode) for mode in range(flat.outer_rank)]
    return sum(counts) + counts[-1] * (flat.rank - flat.outer_rank - 1)


def indices_of(shape: Shape, mode: int) -> int:
    """Return how many indices a mode has under all prefixes, or a bound of that within cells. O(modes)."""
    flat = shape.flatten()
    if flat.is_box:
        return math.prod(flat.extents[: mode + 1])
    if mode == flat.rank - 1 == flat.outer_rank:
        return flat.size
    count = 1
    for own in range(min(mode + 1, flat.outer_rank)):
        count = count * flat.extent(own) if _is_even(flat, own) else int(flat.splits(own)[-1])
    return count * math.prod([flat.extent_bounds(own)[1] for own in range(flat.outer_rank, mode + 1)])


def held_under(shape: Shape, mode: int) -> IntArray:
    """Return for each index of a mode before cells how many rows are under it, itself too. O(rows)."""
    flat = shape.flatten()
    count = indices_of(flat, mode)
    held: IntArray = np.ones(count, dtype=np.int64)
    starts: IntArray = np.arange(count + 1, dtype=np.int64)
    for inner in range(mode + 1, flat.outer_rank):
        starts = starts * flat.extent(inner) if _is_even(flat, inner) else flat.splits(inner)[starts]
        held += np.diff(starts)
    held += np.diff(starts) * (flat.rank - flat.outer_rank - 1)
    return held


def _is_even(shape: Shape, mode: int) -> bool:
    return not shape.dependencies(mode)


RowsKind: TypeAlias = Literal[
    "concat", "interleave", "stack", "where", "minimum", "maximum", "cast", "pad_rows", "spread"
]
_Made: TypeAlias = tuple[Shape, Expression]
_Arguments: TypeAlias = tuple[Any, ...]


@final
@frozen
class Rows(Node):
    """Views put together whose shapes are not all boxes; places are the ordinals of the result.

    Parameters
    ----------
    name
        Name of the operation.
    operands
        The views, of any kind of shape.
    arguments
        Further arguments of the operation: a mode, a type.
    """

    name: RowsKind
    operands: tuple[Expression, ...]
    arguments: _Arguments = ()
    dtype: "np.dtype[Any]" = attrs.field(init=False, eq=False, repr=False)
    _found: "_Made | None" = attrs.field(default=None, init=False, eq=False, repr=False)

    json_names: ClassVar[tuple[str, ...]] = ("pad_rows", "pad_cells", "spread", "spread_over")
    is_cellwise: ClassVar[bool] = False
    is_of_rows: ClassVar[bool] = True
    keeps_dtype: ClassVar[bool] = True

    def __attrs_post_init__(self) -> None:
        # Computed here: later, each node would call the one below it, recursively.
        own = self.operands[1 if self.name == "where" else 0]
        object.__setattr__(self, "dtype", self.arguments[0] if self.name == "cast" else own.dtype)

    def _made(self) -> _Made:
        found = self._found
        if found is None:
            found = _OPERATIONS[self.name](self.operands, *self.arguments)
            # A concurrent thread finds the same.
            object.__setattr__(self, "_found", found)
        return found

    @property
    def shape(self) -> Shape:
        """The indices of the result."""
        return self._made()[0]

    @property
    def flat(self) -> Expression:
        """The elements of the result in row-major order, as a box of rank 1."""
        return self._made()[1]

    @property
    def extents(self) -> Extents:
        return self.flat.extents

    @property
    def title(self) -> str:
        return f"{self.name}({', '.join(map(str, self.arguments))})" if self.arguments else self.name

    def __reduce__(self) -> "tuple[type[Rows], tuple[RowsKind, tuple[Expression, ...], _Arguments]]":
        return Rows, (self.name, self.operands, self.arguments)

    def takes_in(self, operand: Expression) -> bool:
        return self.name == "concat" and _joins(operand, *self.arguments)

    def validity(self, values: Change = same, valid: Change = same) -> Node:
        there = tuple(map(valid, self.operands))
        match self.name:
            case "minimum" | "maximum":
                return Rows("minimum", there)
            case "cast":
                return Rows("cast", there, (np.dtype(np.bool_), False))
            case "where":
                chosen = Rows("where", (values(self.operands[0]), *there[1:]))
                return Rows("minimum", (there[0], chosen.all()))
            case "concat" | "interleave" | "stack" | "pad_rows" | "spread":
                return Rows(self.name, there, self.arguments)
            case _:
                assert_never(self.name)

    def all(self) -> Expression:
        return Expression(self, Layout(self.shape))

    def lowered(self) -> Node:
        # For one row, a single number of an operand is a layout over the node that has it.
        flat = self.flat
        return flat.node if flat.is_whole else Whole(flat)

    def routed(self) -> Node:
        return self.lowered()

    @classmethod
    def from_json(cls, given: NodeFields) -> "Rows":
        if given.kind == "spread":
            given.only()
            parts = given.parts("spread")
            if len(parts) != 2 or not parts[0].is_box or parts[1].shape.is_box or parts[1].shape.has_layers:
                raise given.refused("bounds", ".spread needs a box, and a view of rows, whose shape is taken")
            return _read(given, "spread", parts[:1], parts[1].shape)
        if given.kind == "spread_over":
            given.only("part")
            shape, part = Shape.from_json(dump_json(given.json("spread_over"))), given.part("part")
            if not part.is_box or shape.is_box:
                raise given.refused("bounds", ".spread_over needs a box, and a shape that is none")
            given.work(_checked(shape).size + shape.extent(0))
            return _read(given, "spread", (part,), shape)
        within = given.kind == "pad_cells"
        given.only("clip", "parts", *(["mode"] if within else []))
        parts = given.parts("parts")
        length, clip = given.integer(given.kind, 0), given.integer("clip", 0, 1)
        if len(parts) != 2 or parts[1].shape.size != 1 or not parts[1].is_box:
            raise given.refused("bounds", " needs rows, and one element to fill them with")
        _of_one_type(given, parts)
        mode = [given.integer("mode", 0, parts[0].shape.rank - 1)] if within else []
        return _read(given, "pad_rows", parts, length, bool(clip), *mode)

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        views: list[Json] = [write.view(part) for part in self.operands]
        match self.name:
            case "concat" | "interleave" | "stack":
                return {self.name: self.arguments[0], "parts": views}
            case "cast":
                dtype, unsafe = self.arguments
                return {"unsafe_cast" if unsafe else "cast": dtype_name(dtype), "part": views[0]}
            case "pad_rows":
                length, clip, *mode = self.arguments
                if mode:
                    return {"pad_cells": length, "clip": int(clip), "mode": mode[0], "parts": views}
                return {"pad_rows": length, "clip": int(clip), "parts": views}
            case "spread":
                shape = cast("Shape", self.arguments[0])
                lying = _lying(shape)
                if lying is None:
                    return {"spread_over": said_shape(shape), "part": views[0]}
                return {"spread": [*views, write.view(lying)]}
            case "where" | "minimum" | "maximum":
                return {self.name: views}
            case _:
                assert_never(self.name)


def put_together_rows(kind: RowsKind, operands: Sequence[Expression], *arguments: object) -> Expression:
    """Return the view of an operation on views, at least one of which is not a box."""
    return Rows(kind, tuple([unnamed_view(own) for own in operands]), arguments).all()


def rows_from_json(given: NodeFields) -> "Rows | None":
    """Return the node of an operation on rows; None if all operands are boxes."""
    kind = given.kind
    if kind in {"concat", "interleave", "stack"}:
        parts = given.parts("parts")
        if all(part.is_box for part in parts):
            return None
        given.only("parts")
        _of_one_type(given, parts)
        mode = given.integer(kind, 0, parts[0].shape.rank - (kind != "stack"))
        return _read(given, cast("RowsKind", kind), parts, mode)
    if kind in {"where", "minimum", "maximum"}:
        parts = given.parts(kind)
        if all(part.is_box for part in parts):
            return None
        given.only()
        _of_one_type(given, parts[kind == "where" :])
        if kind == "where" and (len(parts) != 3 or parts[0].dtype != np.bool_):
            raise given.refused("bounds", ".where needs a mask of bools and two views")
        return _read(given, cast("RowsKind", kind), parts)
    if kind in {"cast", "unsafe_cast"}:
        part = given.part("part")
        if part.is_box:
            return None
        given.only("part")
        dtype = given.dtype(kind)
        if "O" in (dtype.kind, part.dtype.kind):
            raise given.refused("bounds", ": bytes are not cast")
        return _read(given, "cast", (part,), dtype, kind == "unsafe_cast")
    return None


def _of_one_type(given: NodeFields, parts: tuple[Expression, ...]) -> None:
    if any(part.dtype != parts[0].dtype for part in parts):
        raise given.refused("bounds", f" has parts of {[str(part.dtype) for part in parts[:8]]}")


def _lying(shape: Shape) -> Expression | None:
    """Return the view that says a shape: a constant, cut into rows from the last mode to the first.

    None if it has more than rows: cells, tiles or layers, or indices that do not count from zero.
    """
    if shape.has_layers:
        return None
    view = whole(Filling(box((shape.size,)), np.zeros((), np.bool_)[()], np.dtype(np.bool_)))
    for mode in range(shape.rank - 1, 0, -1):
        lengths: IntArray = np.diff(shape.splits(mode))
        view = extended(
            view, cast("Layout", view.layout.split_rows(lengths)), ("_cut", (lengths, 0), view.shape)
        )
    return view if view.shape == shape and view.shape.outer_rank == shape.outer_rank else None


def _read(given: NodeFields, kind: RowsKind, parts: tuple[Expression, ...], *arguments: object) -> Rows:
    held = [held_rows(part.shape) for part in parts]
    more = 0
    if kind in {"concat", "interleave", "stack"}:
        more = sum(held) - max(held) + sum([part.shape.extent(0) for part in parts if kind == "stack"])
    given.work(sum(held) + sum([part.shape.size for part in parts]), more=more)
    node = Rows(kind, parts, arguments)
    node.all()  # for its errors
    return node


def joined_rows(mode: int, parts: Sequence[Expression]) -> Expression:
    """Concatenate views along a mode; those that are short concatenations themselves are laid flat."""
    return put_together_rows("concat", inlined(parts, lambda part: _joins(part, mode)), mode)


def _joins(part: Expression, mode: int) -> bool:
    """Return True if a part is itself rows concatenated along a mode, and nothing else."""
    node = part.node
    if type(node) is not Rows or (node.name, *node.arguments) != ("concat", mode):
        return False
    return not part.calls and part.written is None and part.layout.shape is node.shape


def _checked(shape: Shape) -> Shape:
    if shape.size > MAX_INT64:
        raise SizeOverflowError(f"a view of {shape} has more elements than 64 bits can number")
    return shape


def _joined(join: Callable[..., Shape], parts: tuple[Expression, ...], mode: int) -> _Made:
    return _checked(join([part.shape for part in parts], mode=mode)), _by_prefix(parts, mode)


def _by_prefix(parts: tuple[Expression, ...], mode: int) -> Expression:
    """Return for each prefix of as many indices as a mode has before it the elements of all parts there."""
    flats = tuple([in_order(part) for part in parts])
    if not mode:
        return whole(Joining(0, flats))
    if mode == parts[0].shape.rank:
        return whole(Interleaving(0, flats))  # Each prefix has one element.
    return _pieces(
        flats, ConcatenatedRows(tuple([OperandShapes.splits_under(part.shape, mode) for part in parts]))
    )


def _interleave(parts: tuple[Expression, ...], mode: int) -> _Made:
    if mode:
        raise JaggedModeError(f"rows take turns along mode 0, not along mode {mode}")
    many = len(parts)
    counts = [part.shape.extent(0) for part in parts]
    total = sum(counts)
    if counts != [-((k - total) // many) for k in range(many)]:
        raise ExtentMismatchError(f"views of {counts} rows do not take turns")
    if sum([part.shape.size for part in parts]) > MAX_INT64:
        raise SizeOverflowError(f"views of {[part.shape for part in parts]} in turns leave 64 bits")
    splits = [OperandShapes.splits_under(part.shape, 1) for part in parts]
    # Operands with one row less than the first get an empty one.
    splits = [own if len(own) == len(splits[0]) else np.append(own, own[-1]) for own in splits]
    flats = tuple([in_order(part) for part in parts])
    made = shape_of_turns([part.shape for part in parts], splits)
    return _checked(made), _pieces(flats, ConcatenatedRows(tuple(splits)))


def shape_of_turns(shapes: Sequence[Shape], splits: Sequence[IntArray] = ()) -> Shape:
    """Return the shape of rows that take turns; their splits say where those of rank 2 begin, if given."""
    joined = Shape.concat(shapes)
    many, total = len(shapes), joined.extent(0)
    if splits and joined.rank == 2 and not joined.has_layers and _starts_at_zero(joined):
        begins = np.empty(len(splits[0]) * many, dtype=np.int64)
        before: IntArray = np.add.reduce(splits, dtype=np.int64)
        for k, own in enumerate(splits):
            begins[k::many] = before
            before[:-1] += own[1:] - own[:-1]
        return Shape.from_offsets(frozen_array(begins[: total + 1]))
    bases = np.cumsum([0, *[own.extent(0) for own in shapes[:-1]]])
    within, numbers = np.divmod(np.arange(total, dtype=np.int64), many)
    within += bases[numbers]
    return Layout(joined).gather(0, within).shape


def _starts_at_zero(shape: Shape) -> bool:
    try:
        return not any(shape.origin)
    except JaggedModeError:
        return False


def _pieces(operands: tuple[Expression, ...], form: Form, steps: tuple[int, ...] | None = None) -> Expression:
    if not form.size:
        return whole(Joining(0, tuple([Expression(own.node, own.layout[0:0]) for own in operands[:1]])))
    return whole(Pieces(operands, form, (1,) * len(operands) if steps is None else steps))


def _lined_up(parts: tuple[Expression, ...], what: str) -> tuple[Shape, list[Expression]]:
    """Return the shape that operands fit, and the elements of each in its order."""
    shape, modes = OperandShapes.fit([part.shape for part in parts], what)
    if modes is None:
        # Boxes in layers.
        modes = [OperandShapes.leading_modes(part.shape, shape.flatten(), what) for part in parts]
    return shape, [_in_order_of(part, shape, own) for part, own in zip(parts, modes, strict=True)]


def _in_order_of(part: Expression, shape: Shape, modes: int) -> Expression:
    """Return an operand in the order of a shape, of which it has all modes, some of the first, or none."""
    if modes == shape.rank:
        return in_order(part)
    if not modes:
        one = in_order(part)
        return Expression(one.node, one.layout.broadcast(box((shape.size,))))
    return _pieces((in_order(part),), Spread(OperandShapes.splits_under(shape, modes)), (0,))


def _choose(parts: tuple[Expression, ...]) -> _Made:
    shape, own = _lined_up(parts, "where")
    return shape, whole(Choosing(tuple(own)))


def _extreme(kind: Literal["minimum", "maximum"], parts: tuple[Expression, ...]) -> _Made:
    shape, own = _lined_up(parts, kind)
    return shape, whole(Extreme.of(kind, own))


def _cast(parts: tuple[Expression, ...], dtype: "np.dtype[Any]", unsafe: bool) -> _Made:  # noqa: FBT001
    (part,) = parts
    return part.shape, whole(Casting(in_order(part), dtype, unsafe))


def _pad_rows(parts: tuple[Expression, ...], length: int, clip: bool, mode: int = -1) -> _Made:  # noqa: FBT001
    """Return rows of at least, or with `clip` just, so many elements; the second part marks new elements."""
    part, fill = parts
    shape = part.shape
    if mode >= 0:
        flat = shape.flatten()
        lines = _padded_box if flat.is_box else padded_lines
        made, own, wanted = lines(flat, mode, length, clip=clip)
        if shape.has_layers:
            made = Shape.nested(made, layers=shape.layers)
        return _checked(made), _lengthened(part, fill, splits_of(own), splits_of(wanted), cut=clip)
    splits = OperandShapes.splits_under(shape, shape.rank - 1)
    count = len(splits) - 1
    if length * count + shape.size > MAX_INT64:
        raise SizeOverflowError(f"{count} rows of {length} are more elements than 64 bits can number")
    wanted = np.arange(count + 1, dtype=np.int64)
    if clip:
        wanted *= length
    else:
        # One array, which goes from lengths to where rows begin.
        wanted[0] = 0
        np.subtract(splits[1:], splits[:-1], out=wanted[1:])
        np.maximum(wanted[1:], length, out=wanted[1:])
        np.cumsum(wanted[1:], out=wanted[1:])
    wanted = frozen_array(wanted)
    offsets = [shape.splits(mode) for mode in range(1, shape.rank - 1)]
    made = Shape.from_offsets(*offsets, wanted)
    if clip and all(map(made.is_uniform, range(made.rank))):
        # Without a row, the bounding box does not know how long one would be.
        made = Shape(*made.as_smooth().extents[:-1], length)
    return _checked(made), _lengthened(part, fill, splits, wanted, cut=clip)


def _padded_box(shape: Shape, mode: int, length: int, *, clip: bool) -> tuple[Shape, IntArray, IntArray]:
    """Return the result of `padded_lines` for a box, which can be extended in any mode."""
    extents = shape.extents
    outer, inner = math.prod(extents[:mode]), math.prod(extents[mode + 1 :])
    extent = length if clip else max(length, extents[mode])
    own = np.full(outer, extents[mode] * inner, dtype=np.int64)
    made = _checked(Shape(*extents[:mode], extent, *extents[mode + 1 :]))
    return made, own, np.full(outer, extent * inner, dtype=np.int64)


def _lengthened(
    part: Expression, fill: Expression, splits: IntArray, wanted: IntArray, *, cut: bool
) -> Expression:
    """Return rows of a part brought to other lengths by a fill behind each; both as where rows begin."""
    kept = splits
    if cut:
        shorter = np.minimum(np.diff(splits), np.diff(wanted))
        kept = splits if shorter.sum() == part.shape.size else splits_of(shorter)
    return _pieces((in_order(part), in_order(fill)), Filled(splits, kept, wanted), (1, 0))


def _spread_over(parts: tuple[Expression, ...], shape: Shape) -> _Made:
    (part,) = parts
    if part.is_box and part.shape.size == 1 and part.shape.rank <= shape.rank:
        return shape, _in_order_of(part, shape, 0)
    given = part.extents if part.is_box else part.shape
    return shape, _in_order_of(part, shape, OperandShapes.leading_modes(given, shape.flatten(), "broadcast"))


_OPERATIONS: Final[dict[RowsKind, Callable[..., _Made]]] = {
    "concat": partial(_joined, Shape.concat),
    "interleave": _interleave,
    "stack": partial(_joined, Shape.stack),
    "where": _choose,
    "minimum": partial(_extreme, "minimum"),
    "maximum": partial(_extreme, "maximum"),
    "cast": _cast,
    "pad_rows": _pad_rows,
    "spread": _spread_over,
}


def with_margins(view: Expression, widths: Sequence[tuple[int, int]], value: object) -> Expression:
    """Return cells with a constant before and after each, mode by mode, as the whole of a node from zero on.

    Parameters
    ----------
    view
        Rows, cells or tiles.
    widths
        Number of positions of each mode; 0 for modes that lead to cells.
    value
        The constant, of the type of the elements.
    """
    found = at_zero(view)
    for mode, (before, after) in enumerate(widths):
        parts = [found]
        if before:
            parts.insert(0, _side(found, mode, before, value))
        if after:
            parts.append(_side(found, mode, after, value))
        if before or after:
            found = joined_rows(mode, parts)
    return found


def _side(view: Expression, mode: int, count: int, value: object) -> Expression:
    """Return so many positions of a mode under each prefix that leads to it."""
    shape = view.shape
    lines, _, _ = padded_lines(shape.flatten(), mode, count, clip=True)
    lines = lines.as_jagged()
    if shape.has_layers:
        lines = Shape.nested(lines, layers=shape.layers)
    return put_together_rows("spread", [whole(Filling(box(()), value, view.dtype))], lines)
