"""The operands of a block operation: their shapes, projections and names."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Generic, SupportsIndex, TypeAlias, TypeVar, cast, final

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_count
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.shape import ShapeLike, Tiling
from tensorwrapper.sharding._boxes import Box, as_box
from tensorwrapper.sharding._projection import Projection
from tensorwrapper.sharding._ranges import Ranges

OperandT = TypeVar("OperandT")

Named: TypeAlias = "tuple[tuple[str, tuple[OperandT, ...]], ...]"
"""Names, each with a list of things."""

NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*", re.ASCII)


def check_name(name: object) -> str:
    """Return the name of an operand, which is an ASCII identifier."""
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise ConversionError(
            f"a name has ASCII letters, digits and _, and begins with no digit, unlike {name!r}"
        )
    return name


def named_lists(
    given: "Mapping[str, OperandT | Sequence[OperandT]]", kind: type[OperandT], what: str
) -> "Named[OperandT]":
    """Return a mapping of names to one thing or several as pairs, sorted by name.

    ``what`` describes the names in errors.
    """
    if not isinstance(cast("object", given), Mapping):
        raise ConversionError(f"{what} are a mapping of names, not {given!r}")
    pairs: list[tuple[str, tuple[OperandT, ...]]] = []
    for name, value in given.items():
        one = isinstance(value, kind) or not isinstance(cast("object", value), Iterable)
        items = (cast("OperandT", value),) if one else tuple(cast("Sequence[OperandT]", value))
        for item in items:
            if not isinstance(item, kind):
                raise ConversionError(f"{what} {name!r} must be of {kind.__name__}, not {item!r}")
        pairs.append((check_name(name), items))
    return tuple(sorted(pairs, key=lambda pair: pair[0]))


class Sides(Generic[OperandT]):
    """Abstract: `_inputs` and `_outputs`."""

    __slots__ = ()
    _inputs: "Named[OperandT]"
    _outputs: "Named[OperandT]"

    @property
    def inputs(self) -> dict[str, tuple[OperandT, ...]]:
        """Operands that are read, by name."""
        return dict(self._inputs)

    @property
    def outputs(self) -> dict[str, tuple[OperandT, ...]]:
        """Operands that are written, by name."""
        return dict(self._outputs)


def _to_projection(projection: Projection | str) -> Projection:
    parsed = Projection.parse(projection) if isinstance(projection, str) else projection
    if not isinstance(cast("object", parsed), Projection):
        raise ConversionError(f"an operand has a Projection or its text, not {brief(parsed)}")
    return parsed


def _to_operand_shape(shape: ShapeLike) -> Box:
    return as_box(shape, "the shape of an operand")


def _to_itemsize(size: SupportsIndex) -> int:
    return to_count(size, "an item size")


@final
@value_class(getstate_setstate=False)
class Operand:
    """A tensor of an operation, and which box of it each index touches.

    Parameters
    ----------
    shape
        The box of the tensor.
    projection
        The box that an index touches, in absolute indices of the tensor; a text is parsed.
    itemsize
        How many bytes an element has; 1 counts elements.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.sharding import Operand
    >>> x = Operand.relative(Shape(10, 5, origin=(-10, 0)), "(m, n) -> (m, 0) by (1, 5)")
    >>> x.projection((3, 7))
    Shape(1, 5, origin=(-7, 0))
    """

    shape: Box
    """The box of the tensor."""
    projection: Projection
    """The box that an index touches."""
    itemsize: int
    """Bytes of an element."""

    def __init__(
        self, shape: ShapeLike, projection: Projection | str, *, itemsize: SupportsIndex = 1
    ) -> None:
        box, parsed = _to_operand_shape(shape), _to_projection(projection)
        if parsed.output_rank != box.rank:
            raise RankError(
                f"the projection makes boxes of rank {parsed.output_rank}, but the operand has {box.rank}"
            )
        object.__setattr__(self, "shape", box)
        object.__setattr__(self, "projection", parsed)
        object.__setattr__(self, "itemsize", _to_itemsize(itemsize))

    @classmethod
    def relative(
        cls, shape: ShapeLike, projection: Projection | str, *, itemsize: SupportsIndex = 1
    ) -> "Operand":
        """Return the operand of a projection that is written as if the tensor started at zeros."""
        box = _to_operand_shape(shape)
        parsed = _to_projection(projection)
        if parsed.output_rank != box.rank:
            raise RankError(
                f"the projection makes boxes of rank {parsed.output_rank}, but the operand has {box.rank}"
            )
        return cls(box, parsed.translate(box.origin), itemsize=itemsize)

    @classmethod
    def result(
        cls, index: ShapeLike, projection: Projection | str, *, itemsize: SupportsIndex = 1
    ) -> "Operand":
        """Return the operand of the size that all indices touch: an output to be made.

        Examples
        --------
        >>> from tensorwrapper.sharding import Operand
        >>> Operand.result((100, 32), "(m, n) -> (n, m)").shape
        Shape(32, 100)
        """
        parsed = _to_projection(projection)
        return cls(parsed.of_box(index), parsed, itemsize=itemsize)

    @classmethod
    def rows(
        cls,
        shape: ShapeLike,
        projection: Projection | str = "(i) -> (i)",
        *,
        prefix: SupportsIndex = 1,
        itemsize: SupportsIndex = 1,
    ) -> "Operand":
        """Return the operand of a jagged tensor, of which an index touches the elements under prefixes.

        Parameters
        ----------
        shape
            Of the tensor. The operand is the line of its elements in row-major order.
        projection
            Which prefix, or how many, an index touches; they are counted from 0, in row-major order.
        prefix
            How many indices a prefix has: 1 for rows, 2 for rows of rows.
        itemsize
            How many bytes an element has; 1 counts elements.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper.sharding import Operand
        >>> hits = Operand.rows(tw.Shape.jagged([2, 0, 3]))
        >>> hits.shape, hits.projection((2,))
        (Shape(5), Shape(3, origin=(2,)))
        """
        table, known = Ranges.of_rows(shape, prefix), _to_projection(projection)
        return cls((table.stop,), _with_tables(known, [table]), itemsize=itemsize)

    @classmethod
    def tiles(cls, tiling: Tiling, projection: Projection | str, *, itemsize: SupportsIndex = 1) -> "Operand":
        """Return the operand of a tiled tensor, of which an index touches whole tiles, counted from 0.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> from tensorwrapper.sharding import Operand
        >>> x = Operand.tiles(tw.Tiling([30, 70], [50, 25, 25]), "(i, j) -> (i, 0) by (1, 3)")
        >>> x.projection((1, 0))
        Shape(70, 100, origin=(30, 0))
        """
        check_kind_of(tiling, Tiling, "a tiled tensor is given by its tiling")
        tables = [Ranges.from_marks(marks) for marks in tiling.marks]
        return cls(tiling.elements, _with_tables(_to_projection(projection), tables), itemsize=itemsize)

    def __reduce__(self) -> "tuple[Callable[..., Operand], tuple[Box, Projection, int]]":
        return _of_parts, (self.shape, self.projection, self.itemsize)


def _with_tables(projection: Projection, tables: Sequence[Ranges]) -> Projection:
    if projection.ranges:
        raise ConversionError(f"{projection!r} has tables of ranges already")
    return Projection(projection.index_map, projection.extents, tables)


def _of_parts(shape: Box, projection: Projection, itemsize: int) -> Operand:
    return Operand(shape, projection, itemsize=itemsize)
