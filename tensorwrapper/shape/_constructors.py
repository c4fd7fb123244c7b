"""How shapes are made: the named constructors of the facade, one per thing that users have."""

from collections.abc import Iterable, Sequence
from typing import Generic, Self, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.shape._children import jagged_from_cells, jagged_from_children, jagged_from_lengths
from tensorwrapper.shape._common import ShapeCommon, to_index
from tensorwrapper.shape._jagged import JaggedCommon
from tensorwrapper.shape._nested import flat_of, make_nested, to_layers
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._parts import ShapeParts
from tensorwrapper.shape._queries import ShapeLike, ShapeQueries, held_of
from tensorwrapper.shape._smooth import Smooth
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import IndexT_co, IntArray

__all__ = ["ShapeConstructors"]

_At: TypeAlias = Iterable[SupportsIndex] | None


class ShapeConstructors(ShapeParts[IndexT_co], Generic[IndexT_co]):
    """Abstract: `_held` and `_wrap`."""

    __slots__ = ()

    @classmethod
    def smooth(cls, extents: Iterable[SupportsIndex], *, origin: _At = None) -> Self:
        """Return the box with these extents: `Shape` for extents that come as a sequence."""
        return cls._wrap(Smooth(extents, origin))

    @classmethod
    def jagged(
        cls,
        rows: "Sequence[SupportsIndex | ShapeLike | Sequence[object]] | npt.NDArray[np.integer]",
        *,
        rank: int | None = None,
        origin: _At = None,
    ) -> Self:
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
        if isinstance(rows, np.ndarray):
            return cls._moved(jagged_from_lengths(rows, rank), origin)
        return cls._moved(jagged_from_children(_children(rows), rank), origin)

    @classmethod
    def from_cells(
        cls, outer: "ShapeLike", extents: npt.ArrayLike, *, origins: npt.ArrayLike | None = None
    ) -> Self:
        """Return the jagged shape with independent extents per cell; a table that does not fit raises.

        Parameters
        ----------
        outer
            The shape whose indices number the cells.
        extents
            One row of extents per cell, in row-major order of `outer`: an (n, rank of a cell) table.
        origins
            Where each cell starts: a table like `extents`, or one row for all; zeros if not given.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> pairs = Shape.from_cells((3,), [(2, 2), (0, 0), (3, 3)])
        >>> pairs.size, pairs[2], pairs.extent_bounds(1)
        (13, Shape(3, 3), (0, 3))
        """
        return cls._wrap(jagged_from_cells(held_of(outer), extents, origins))

    @classmethod
    def tiled(cls, *sizes: "Iterable[SupportsIndex] | IntArray", origin: _At = None) -> Self:
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
        held = Tiled(tuple([Partition.of_sizes(s) for s in sizes]), (0,) * len(sizes))
        return cls._moved(held, origin)

    @classmethod
    def nested(cls, shape: "ShapeLike", *, layers: Iterable[SupportsIndex]) -> Self:
        """Return `shape` with its modes dealt, from left to right, into layers.

        Indices, extents and origins stay; what changes is what an element is (`element`, `cells`). A shape
        that is nested already is dealt anew.

        Parameters
        ----------
        shape
            What to nest.
        layers
            How many modes each layer has, from the outermost; entries may be 0.

        Raises
        ------
        LayerError
            If the layers do not add up to the rank.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> n = Shape.nested(Shape(10, 20, 30), layers=(1, 2))
        >>> str(n), n.element((3,)), n.flatten()
        ('(10; 20, 30)', Shape(20, 30), Shape(10, 20, 30))
        """
        flat = flat_of(held_of(shape))
        return cls._wrap(make_nested(flat, to_layers(layers, flat.rank)))

    @classmethod
    def _moved(cls, held: JaggedCommon, origin: _At) -> Self:
        if origin is None:
            return cls._wrap(held)
        return cls._wrap(held.translate_by(to_index(origin, held.rank, "an origin")))


def _children(rows: object) -> list[object]:
    """Return the items of an iterable as a list, with every facade in them replaced by what it holds."""
    if isinstance(rows, ShapeQueries | ShapeCommon | str | bytes) or not isinstance(rows, Iterable):
        raise ConversionError(f"a jagged shape is given by a sequence of lengths or shapes, not by {rows!r}")
    return [_child(row) for row in cast("Iterable[object]", rows)]


def _child(row: object) -> object:
    if isinstance(row, ShapeQueries):
        return row._held
    return _children(cast("object", row)) if isinstance(row, list | tuple) else row
