"""Nodes that make each element of those of operands at its position: chosen, least, greatest, cast."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial, reduce
from typing import Any, ClassVar, Literal, cast, final

import numpy as np

from tensorwrapper._json import Json
from tensorwrapper._text_order import extreme_of_texts
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import convert_elements
from tensorwrapper.selection.expressions._expression import (
    Change,
    Expression,
    Job,
    Node,
    NodeFields,
    NodeWriter,
    Normalize,
    Shares,
    same,
    whole,
)
from tensorwrapper.selection.expressions._fields import dtype_name, to_dtype
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.expressions._ordinals import NodeOfOne, pushed
from tensorwrapper.selection.expressions._traversal import inlined
from tensorwrapper.selection.operations._operation import grouped
from tensorwrapper.selection.runners._cells import write_cast, write_chosen, write_extremes
from tensorwrapper.selection.runners._leaves import Runner, full_window
from tensorwrapper.selection.transforms._transform import Transform
from tensorwrapper.typing import Array, Extents, IntArray


def _parts(node: Node, transform: Transform, normalize: Normalize) -> tuple[Expression, ...]:
    return tuple([normalize(pushed(operand, transform)) for operand in node.operands])


def _by_number(
    node: Node, numbers: IntArray, positions: IntArray
) -> Iterator[tuple[Expression, Any, IntArray]]:
    operands = node.operands
    for number, chosen in grouped(numbers):
        yield operands[number], chosen, positions[chosen]


class _Elementwise(Node):
    """Abstract: an element is `values` of those of the operands, independent of its place."""

    __slots__ = ()

    is_elementwise: ClassVar[bool] = True

    @property
    def extents(self) -> Extents:
        return self.operands[0].extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.operands[-1].dtype

    def checked_values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:
        return self.values(places, given)  # These are the library's own.

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        return {self.name: [write.view(part) for part in self.operands]}


@final
@frozen
class Choosing(_Elementwise):
    """Elements of the second operand where the first is true, else of the third; all of one box."""

    operands: tuple[Expression, ...]

    name: ClassVar[str] = "where"
    json_names: ClassVar[tuple[str, ...]] = ("where",)

    def validity(self, values: Change = same, valid: Change = same) -> Node:
        mask, one, other = self.operands
        chosen = whole(Choosing((values(mask), valid(one), valid(other))))
        return Extreme("minimum", (valid(mask), chosen))

    def selected(self, transform: Transform, normalize: Normalize) -> Expression:
        if self.operands[1] == self.operands[2]:
            return normalize(pushed(self.operands[1], transform))
        mask, left, right = _parts(self, transform, normalize)
        if isinstance(mask.node, Filling):
            return left if mask.node.value else right
        return left if left == right else whole(Choosing((mask, left, right)))

    def values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:  # noqa: ARG002
        mask, one, other = given
        return np.where(mask.astype(np.bool_, copy=False), one, other)

    def write_cells(self, view: Expression, given: tuple[Runner, ...], out: Array, threads: int) -> None:  # noqa: ARG002
        write_chosen(given, out)

    @property
    def masks(self) -> tuple[Expression, ...]:
        return self.operands[:1]

    def shares(self, positions: IntArray, given: Sequence[Array]) -> Shares:
        return _by_number(self, np.where(given[0], 1, 2), positions)

    @classmethod
    def from_json(cls, given: NodeFields) -> "Choosing":
        given.only()
        parts = given.parts("where")
        given.alike(parts[1:])
        if len(parts) != 3 or parts[0].dtype != np.bool_ or parts[0].extents != parts[1].extents:
            raise given.refused("bounds", ".where needs a mask of bools and two views, all of one box")
        return Choosing(parts)


@final
@frozen
class Extreme(_Elementwise):
    """The least or the greatest of the operands, cell by cell; all of one box and dtype."""

    name: Literal["minimum", "maximum"]
    operands: tuple[Expression, ...]

    json_names: ClassVar[tuple[str, ...]] = ("minimum", "maximum")

    @classmethod
    def of(cls, kind: Literal["minimum", "maximum"], parts: Iterable[Expression]) -> "Extreme":
        """Return the extreme of parts; those that are short ones of the same kind are laid flat."""
        given = list(parts)
        alone = Counter([id(part.node) for part in given])
        return cls(kind, inlined(given, lambda part: _is_extreme(part, kind) and alone[id(part.node)] == 1))

    def takes_in(self, operand: Expression) -> bool:
        return _is_extreme(operand, self.name)

    @property
    def _better(self) -> "np.ufunc":
        return np.minimum if self.name == "minimum" else np.maximum

    def validity(self, values: Change = same, valid: Change = same) -> Node:  # noqa: ARG002
        return Extreme("minimum", tuple(map(valid, self.operands)))

    def selected(self, transform: Transform, normalize: Normalize) -> Expression:
        parts = [normalize(pushed(own, transform)) for own in dict.fromkeys(self.operands)]
        distinct = tuple(dict.fromkeys(parts))
        return distinct[0] if len(distinct) == 1 else whole(Extreme(self.name, distinct))

    def values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:  # noqa: ARG002
        if not hasattr(self.dtype, "na_object"):
            # NumPy makes bytes of integers narrower than a byte, and a Python text of texts of rank 0.
            return np.asarray(self._best(given), self.dtype)
        # NumPy compares no null with a text; where one operand is a null, so is the result.
        nulls = np.logical_or.reduce([np.equal(own, cast("Any", None)) for own in given])
        found = self._best([np.where(nulls, np.array("", self.dtype), own) for own in given])
        return np.where(nulls, np.array(None, self.dtype), found)

    def _best(self, given: Sequence[Array]) -> Array:
        if self.dtype.kind == "T":
            return reduce(partial(extreme_of_texts, self._better), given)
        return cast("Array", self._better.reduce(given))

    def write_cells(self, view: Expression, given: tuple[Runner, ...], out: Array, threads: int) -> None:
        if len(given) == 1:
            given[0].fill(full_window(out.shape), out, threads)
        elif self.dtype.kind == "T":  # `values` compares nulls and NULs.
            super().write_cells(view, given, out, threads)
        else:
            write_extremes(self._better, given, out)

    @property
    def deciding(self) -> tuple[Expression, ...]:
        return self.operands

    def shares(self, positions: IntArray, given: Sequence[Array]) -> Shares:
        found = np.stack(given)
        best = self.values((), given)
        # Not-a-number wins, and is not equal to itself.
        wins = (found == best) | ((found != found) & (best != best))  # noqa: PLR0124
        return _by_number(self, np.argmax(wins, axis=0), positions)

    @classmethod
    def from_json(cls, given: NodeFields) -> "Extreme":
        given.only()
        parts = given.parts(given.kind)
        given.alike(parts)
        if parts[0].dtype.kind == "O":
            raise given.refused("bounds", ": bytes are not compared")
        return Extreme("minimum" if given.kind == "minimum" else "maximum", parts)


def _is_extreme(part: Expression, kind: str) -> bool:
    """Return True if a part is itself an extreme of a kind, and nothing else."""
    node = part.node
    return isinstance(node, Extreme) and node.name == kind and part.is_fresh


@final
@frozen
class Casting(_Elementwise, NodeOfOne):
    """The operand as elements of another type; fractions are dropped, and overflowing values are refused."""

    operand: Expression
    dtype: "np.dtype[Any]"
    unsafe: bool = False
    """True if overflowing values wrap round, as NumPy casts."""

    name: ClassVar[str] = "cast"
    json_names: ClassVar[tuple[str, ...]] = ("cast", "unsafe_cast")

    @property
    def casts(self) -> "tuple[np.dtype[Any], ...]":
        return (self.dtype,)

    def validity(self, values: Change = same, valid: Change = same) -> Node:  # noqa: ARG002
        return Casting(valid(self.operand), np.dtype(np.bool_))

    def selected(self, transform: Transform, normalize: Normalize) -> Expression:
        return cast_view(normalize(pushed(self.operand, transform)), self.dtype, unsafe=self.unsafe)

    def values(self, places: Sequence[IntArray], given: Sequence[Array] = ()) -> Array:  # noqa: ARG002
        with np.errstate(all="ignore"):
            return convert_elements(given[0], self.dtype, checked=not self.unsafe)

    def write_into(self, view: Expression, out: Array, job: Job) -> None:
        part = self.operand
        # Cast each piece separately, so that elements in memory are cast while they are copied.
        pieces = part.node.is_sharing and part.is_whole and view.is_whole and not self.unsafe
        found = part.node.cast(part, self.dtype) if pieces else None
        if found is None:
            job.cells(view, out)
        else:
            found.node.write_into(found, out, job)

    def write_cells(self, view: Expression, given: tuple[Runner, ...], out: Array, threads: int) -> None:  # noqa: ARG002
        write_cast(given[0], self.dtype, out, threads, unsafe=self.unsafe)

    @property
    def title(self) -> str:
        return f"cast({self.dtype})"

    @property
    def refusal(self) -> str:
        return f"converted to {self.dtype}"

    def to_json(self, write: NodeWriter) -> dict[str, Json]:
        name = "unsafe_cast" if self.unsafe else "cast"
        return {name: dtype_name(self.dtype), "part": write.view(self.operand)}

    @classmethod
    def from_json(cls, given: NodeFields) -> "Casting":
        given.only("part")
        part = given.part("part")
        dtype = to_dtype(given.json(given.kind), f"{given.where}.{given.kind}")
        if "O" in (dtype.kind, part.dtype.kind):
            raise given.refused("bounds", ": bytes are not cast")
        return Casting(part, dtype, given.kind == "unsafe_cast")


def cast_view(view: Expression, dtype: "np.dtype[Any]", *, unsafe: bool = False) -> Expression:
    """Return the elements of a view in normal form as ones of another type: pieces are cast by themselves."""
    if view.dtype == dtype:
        return view
    if unsafe:
        return whole(Casting(view, dtype, unsafe))
    found = view.node.cast(view, dtype)
    return whole(Casting(view, dtype)) if found is None else found
