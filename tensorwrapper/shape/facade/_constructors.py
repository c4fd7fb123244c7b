"""Named constructors of the facade, one per encoding of shapes."""

from collections.abc import Iterable
from typing import Any, Generic, Self, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shown_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import UNFIT
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.shape._shape_base import ShapeBase, ShapeLike, implementation_of, names_of
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index
from tensorwrapper.shape.boxes._smooth import Smooth
from tensorwrapper.shape.facade._sets import product_names
from tensorwrapper.shape.kinds._children import check_rank, jagged_from_cells, jagged_from_children
from tensorwrapper.shape.kinds._encodings import (
    jagged_from_ints,
    jagged_from_lengths,
    jagged_from_offsets,
    jagged_from_row_ids,
    jagged_from_starts_stops,
    jagged_from_uniform,
)
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._layers import nested_of_layers
from tensorwrapper.shape.kinds._nested import flat_of, make_nested
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.rows._partition import Partition
from tensorwrapper.typing import Half, IndexT_co, IntArray

_At: TypeAlias = Iterable[SupportsIndex] | None
_INT = {int}


class ShapeConstructors(ShapeBase[IndexT_co], Generic[IndexT_co]):
    """Abstract: as `ShapeBase`."""

    __slots__ = ()

    @classmethod
    def smooth(cls, extents: Iterable[SupportsIndex], *, origin: _At = None) -> Self:
        """Return the box with these extents: `Shape` for extents that come as a sequence."""
        return cls._wrap(Smooth(extents, origin))

    @classmethod
    def jagged(
        cls,
        rows: Any,  # noqa: ANN401 - `Shape` says what it may be, and of which rank the result is
        *,
        rank: int | None = None,
        origin: _At = None,
    ) -> "ShapeBase":
        """Return a jagged shape; mode 0 numbers the rows.

        Parameters
        ----------
        rows
            The length of each row (a sequence or an array), or a shape for each, or sequences of them.
        rank
            The rank, needed only where there are no rows to tell it.
        origin
            How far to move the shape; rows made of integers start at 0.

        Raises
        ------
        RankError
            If the children have different ranks, or there are none and no `rank`.
        ExtentError
            If an extent is negative.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.jagged([3, 1, 2]).size, Shape.jagged([[10], [20, 30]]).extent_at((1, 1))
        (6, 30)
        """
        given: object = rows
        if isinstance(given, np.ndarray):
            lengths: npt.NDArray[Any] = shown_array(cast("object", given))
            return cls._moved(check_rank(jagged_from_lengths(lengths), rank), origin)
        if isinstance(given, list) and set(map(type, cast("list[object]", given))) == _INT:
            return cls._moved(check_rank(jagged_from_ints(cast("list[int]", given)), rank), origin)
        return cls._moved(jagged_from_children(_children(rows), rank), origin)

    @classmethod
    def from_cells(
        cls, outer: "ShapeLike", extents: npt.ArrayLike, *, origins: npt.ArrayLike | None = None
    ) -> Self:
        """Return the jagged shape with independent extents per cell.

        Parameters
        ----------
        outer
            The shape whose indices number the cells.
        extents
            One row of extents per cell, in row-major order of `outer`: an (n, rank of a cell) table. For a
            box `outer`, its extents may replace n: for ``(2, 3)`` also (2, 3, rank of a cell).
        origins
            Origin of each cell: a table like `extents`, or one row for all; zeros by default.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> pairs = Shape.from_cells((3,), [(2, 2), (0, 0), (3, 3)])
        >>> pairs.size, pairs[2], pairs.extent_bounds(1)
        (13, Shape(3, 3), (0, 3))
        """
        return cls._wrap(jagged_from_cells(flat_of(implementation_of(outer)), extents, origins))

    @classmethod
    def from_offsets(cls, *offsets: npt.ArrayLike, validate: bool = True, copy: bool = True) -> Self:
        """Return the jagged shape with these offsets, the encoding of Arrow, Awkward Array and TensorFlow.

        Row k of a level runs from ``offsets[k]`` up to ``offsets[k + 1]``: in the rows of the next level,
        or in the elements. A slice may start above 0 and end before the next level does.

        Parameters
        ----------
        *offsets
            One array per ragged mode, from the outermost, of n + 1 integers for n rows.
        validate
            Check that no offset descends: O(n). O(1) checks are always made.
        copy
            Keep a copy, so that the shape stays immutable. Without it an int64 array is shared: O(1), and
            must not be written to.

        Raises
        ------
        ExtentError
            If offsets descend, or leave the level below them; the text names level and row.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_offsets([0, 3, 4, 6])
        Shape.jagged([3, 1, 2])
        >>> Shape.from_offsets([1, 2, 3], [0, 2, 5, 6])
        Shape.jagged([[3], [1]])
        """
        return cls._wrap(jagged_from_offsets(offsets, validate=validate, copy=copy))

    @classmethod
    def from_row_ids(cls, ids: npt.ArrayLike, n_rows: SupportsIndex) -> Self:
        """Return the jagged shape of `n_rows` rows in which element k is in row ``ids[k]``; O(n).

        TensorFlow calls the ids ``value_rowids``. The number of rows has no default, because ids cannot
        express empty rows at the end.

        Raises
        ------
        ExtentError
            If the ids do not ascend.
        OutOfBoundsError
            If a row does not exist.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_row_ids([0, 0, 0, 1, 3, 3], 5)
        Shape.jagged([3, 1, 0, 2, 0])
        """
        return cls._wrap(jagged_from_row_ids(ids, n_rows))

    @classmethod
    def from_starts_stops(cls, starts: npt.ArrayLike, stops: npt.ArrayLike) -> Self:
        """Return the jagged shape whose row k runs from ``starts[k]`` up to ``stops[k]``; O(n).

        Rows may overlap, leave gaps and come in any order: that is for a layout to know.

        Raises
        ------
        ExtentError
            If a row stops before its start, or starts below 0; the text names it.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_starts_stops([4, 0, 4], [7, 1, 6])
        Shape.jagged([3, 1, 2])
        """
        return cls._wrap(jagged_from_starts_stops(starts, stops))

    @classmethod
    def from_uniform(cls, n_rows: SupportsIndex, length: SupportsIndex) -> Self:
        """Return the jagged shape of `n_rows` rows that are all `length` long; O(1).

        It stays jagged: which kind a user asked for is part of the value.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_uniform(3, 2), Shape.from_uniform(3, 2) == Shape(3, 2)
        (Shape.jagged([2, 2, 2]), False)
        """
        return cls._wrap(jagged_from_uniform(n_rows, length))

    @classmethod
    def tiled(cls, *sizes: "Iterable[SupportsIndex] | IntArray", origin: _At = None) -> "ShapeBase":
        """Return the shape of a box that is cut into tiles: tile numbers first, then places in a tile.

        Memory is the sum of the tiles per mode, never their product. No mode, or a negative size, raises.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> t = Shape.tiled([5, 15, 10], [5, 15, 10])
        >>> t.rank, t.size, t[1, 2]
        (4, 900, Shape(15, 10))
        """
        if not sizes:
            raise RankError("a tiled shape needs the tile sizes of at least one mode")
        cuts = [Partition.of_sizes(s, what=f"the tile sizes of mode {m}") for m, s in enumerate(sizes)]
        implementation = Tiled(tuple(cuts), (0,) * len(sizes))
        return cls._moved(implementation, origin)

    @classmethod
    def triangular(cls, n: SupportsIndex, half: Half = "lower", *, diagonal: bool = True) -> Self:
        """Return the upper or lower half of the indices of an n x n square: O(1) memory, any size.

        A triangular matrix, or a symmetric one that is stored once: its ordinals are places in packed
        storage, row after row.

        Parameters
        ----------
        n
            The side of the square, which is the extent of mode 0; negative raises.
        half
            ``"lower"``: row i has the columns 0 to i. ``"upper"``: row i has the columns i to n - 1.
        diagonal
            Whether the pairs ``(i, i)`` belong to it.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> t = Shape.triangular(4, "upper")
        >>> t.size, t[2], t.ordinal((2, 3)), Shape.triangular(10**12).index(10**20)
        (10, Shape(2, origin=(2,)), 8, (14142135623, 3266133124))
        """
        from tensorwrapper.shape.kinds._triangular import Triangular  # noqa: PLC0415

        return cls._wrap(Triangular(n, half, diagonal=diagonal))

    @classmethod
    def nested(cls, shape: "ShapeLike", *, layers: Iterable[SupportsIndex]) -> Self:
        """Return `shape` with its modes split, from left to right, into layers.

        Indices, extents and origins stay; the meaning of an element changes (`element`, `cells`). The layers
        of a nested shape are replaced.

        Parameters
        ----------
        shape
            The shape to nest.
        layers
            Number of modes in each layer, from the outermost; entries may be 0.

        Raises
        ------
        LayerError
            If the layers do not add up to the rank, or one of them is negative.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> n = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
        >>> str(n), n.element((3,)), n.flatten()
        ('(10; 20, 30)', Shape(20, 30), Shape(10, 20, 30))
        """
        return cls._wrap(make_nested(flat_of(implementation_of(shape)), layers), names_of(shape))

    @classmethod
    def from_layers(cls, *layers: "ShapeLike") -> Self:
        """Return the nested shape whose layers are these boxes: every index of one goes with all of the next.

        Parameters
        ----------
        *layers
            One box, or its extents, per layer, from the outermost; they keep their origins.

        Raises
        ------
        JaggedModeError
            If a layer is not a box.

        Examples
        --------
        A vector of 10 matrices:

        >>> from tensorwrapper import Shape
        >>> Shape.from_layers(Shape(10), Shape(20, 30)) == Shape.nested(Shape(10, 20, 30), layers=(1, 2))
        True
        """
        parts = [implementation_of(layer) for layer in layers]
        return cls._wrap(nested_of_layers(parts), product_names(layers, parts))

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the shape of a text: the inverse of ``str(shape)``; O(length).

        The text may be untrusted: it is not evaluated, and memory is in proportion to its length.

        Parameters
        ----------
        text
            The result of ``str(shape)`` or ``format(shape, "full")``; white space is ignored.

        Raises
        ------
        ParseError
            If it is another text, or a summary, which omits numbers; the message has the position.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.parse("(3, 3)@(-1, -1)"), Shape.parse("(3, 3|1|2)")
        (Shape(3, 3, origin=(-1, -1)), Shape.jagged([3, 1, 2]))
        >>> Shape.parse("(3, 3|1)")
        Traceback (most recent call last):
        tensorwrapper.errors.ParseError: ...
        """
        # Loaded here, as in `from_json`: most programs read no shapes, and shall not wait for patterns.
        from tensorwrapper.shape.text._parse import parse_shape  # noqa: PLC0415

        return cls._wrap(*parse_shape(text))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Return the shape that `to_json` wrote; O(length), as safe as `parse`.

        Raises
        ------
        ParseError
            If the text is not strict JSON (UTF-8, unique keys, no NaN), a key is missing or unknown, or a
            value has the wrong type or is invalid; the message names the key.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape.from_json('{"extents":[2,3],"kind":"smooth","origin":[0,-1]}')
        Shape(2, 3, origin=(0, -1))
        """
        from tensorwrapper.shape.text._json import shape_of_json  # noqa: PLC0415

        return cls._wrap(*shape_of_json(text))

    @classmethod
    def _moved(cls, implementation: JaggedCommon, origin: _At) -> Self:
        if origin is None:
            return cls._wrap(implementation)
        return cls._wrap(implementation.translate_by(to_index(origin, implementation.rank, "an origin")))


def _children(rows: object) -> list[object]:
    """Return the items of an iterable as a list, with the implementations of facades in it."""
    given = rows
    if isinstance(rows, (ShapeBase, ShapeCommon, *UNFIT)) or not isinstance(rows, Iterable):
        raise ConversionError(
            f"a jagged shape is given by a sequence of lengths or shapes, not by {brief(given)}"
        )
    items = list(cast("Iterable[object]", rows))
    # Asked once per type: each question about an abstract class costs more than a row.
    kinds = set(map(type, items))
    if kinds <= _INT:
        return items
    if all(issubclass(kind, ShapeBase) for kind in kinds):
        return [shape.implementation for shape in cast("list[ShapeBase[Any]]", items)]
    return [_child(row) for row in items]


def _child(row: object) -> object:
    if isinstance(row, ShapeBase):
        return row.implementation
    return _children(cast("object", row)) if isinstance(row, list | tuple) else row
