"""`Shape`, the one class that users meet: it holds a value or a view of any kind and hides which."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, SupportsIndex, TypeAlias, cast, final, overload

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_int
from tensorwrapper.errors import ConversionError, ExtentError, JaggedModeError, RankError
from tensorwrapper.shape._children import jagged_from_cells, jagged_from_children, jagged_from_lengths
from tensorwrapper.shape._common import ShapeCommon, to_index
from tensorwrapper.shape._indices import Indices
from tensorwrapper.shape._jagged import JaggedCommon, JaggedView, same_elements
from tensorwrapper.shape._keys import WHOLE, parse_key
from tensorwrapper.shape._partition import Partition
from tensorwrapper.shape._rows import CellTable
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, SmoothView, make_smooth, to_extents
from tensorwrapper.shape._text import shape_repr, shape_str
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import Extents, Index, IndexT_co, IntArray, Key, Kind, Order

__all__ = ["Shape", "ShapeLike", "as_shape"]

_Held: TypeAlias = SmoothCommon | JaggedCommon
# Short names for the overloads: what they say is the rank.
_N: TypeAlias = SupportsIndex
_At: TypeAlias = Iterable[SupportsIndex] | None
_I2: TypeAlias = tuple[int, int]
_I3: TypeAlias = tuple[int, int, int]
_I4: TypeAlias = tuple[int, int, int, int]
_I5: TypeAlias = tuple[int, int, int, int, int]
_I6: TypeAlias = tuple[int, int, int, int, int, int]


@final
@attrs.frozen(init=False, eq=False, repr=False, getstate_setstate=False)
class Shape(Generic[IndexT_co]):
    """A set of indices with an origin: what a tensor's elements are addressed by.

    ``Shape(2, 3)`` is a box. Other kinds come from `Shape.jagged`, `Shape.tiled` and `Shape.from_cells`.
    A shape never changes; it is hashable, picklable and may be shared among threads. Indices are absolute
    and literal: a negative index is a place, not a count from the end.

    Two shapes are equal if kind, extents and origins agree at every prefix, however they are stored. A
    shape never equals what it holds or looks like (a tuple, a `Smooth`): compare ``as_shape`` of both.

    Parameters
    ----------
    *extents
        How many indices each mode has. No extents make the scalar shape, which has one index, ``()``.
    origin
        The first index of every mode; zeros if not given.

    Raises
    ------
    ExtentError
        If an extent is negative.
    RankError
        If the origin has another number of modes.

    Examples
    --------
    >>> s = Shape(4, 5, 6)[1:3, :, 2:5]
    >>> s, s.size, (2, 4, 4) in s
    (Shape(2, 5, 3, origin=(1, 0, 2)), 30, True)
    """

    _held: _Held
    _hash: int | None

    if TYPE_CHECKING:

        @overload
        def __init__(self: "Shape[tuple[()]]", *, origin: _At = None) -> None: ...
        @overload
        def __init__(self: "Shape[tuple[int]]", a: _N, /, *, origin: _At = None) -> None: ...
        @overload
        def __init__(self: "Shape[_I2]", a: _N, b: _N, /, *, origin: _At = None) -> None: ...
        @overload
        def __init__(self: "Shape[_I3]", a: _N, b: _N, c: _N, /, *, origin: _At = None) -> None: ...
        @overload
        def __init__(self: "Shape[_I4]", a: _N, b: _N, c: _N, d: _N, /, *, origin: _At = None) -> None: ...
        @overload
        def __init__(
            self: "Shape[_I5]", a: _N, b: _N, c: _N, d: _N, e: _N, /, *, origin: _At = None
        ) -> None: ...
        @overload
        def __init__(
            self: "Shape[_I6]", a: _N, b: _N, c: _N, d: _N, e: _N, f: _N, /, *, origin: _At = None
        ) -> None: ...
        @overload
        def __init__(self: "Shape[tuple[int, ...]]", *extents: _N, origin: _At = None) -> None: ...

    def __init__(self, *extents: SupportsIndex, origin: Iterable[SupportsIndex] | None = None) -> None:
        sizes = to_extents(extents)
        start = (0,) * len(sizes) if origin is None else to_index(origin, len(sizes), "an origin")
        _set_held(self, make_smooth(sizes, start))
        _set_hash(self, None)

    @classmethod
    def smooth(cls, extents: Iterable[SupportsIndex], *, origin: _At = None) -> "Shape[tuple[int, ...]]":
        """Return the box with these extents: `Shape` for extents that come as a sequence."""
        return wrap(Smooth(extents, origin))

    @classmethod
    def jagged(
        cls,
        rows: "Sequence[SupportsIndex | ShapeLike | Sequence[object]] | npt.NDArray[np.integer]",
        *,
        rank: int | None = None,
        origin: _At = None,
    ) -> "Shape[tuple[int, ...]]":
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
        >>> Shape.jagged([3, 1, 2]).size, Shape.jagged([[10], [20, 30]]).extent_at((1, 1))
        (6, 30)
        """
        if isinstance(rows, np.ndarray):
            return _moved(jagged_from_lengths(rows, rank), origin)
        return _moved(jagged_from_children(_children(rows), rank), origin)

    @classmethod
    def from_cells(
        cls, outer: "ShapeLike", extents: npt.ArrayLike, *, origins: npt.ArrayLike | None = None
    ) -> "Shape[tuple[int, ...]]":
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
        >>> pairs = Shape.from_cells((3,), [(2, 2), (0, 0), (3, 3)])
        >>> pairs.size, pairs[2], pairs.extent_bounds(1)
        (13, Shape(3, 3), (0, 3))
        """
        return wrap(jagged_from_cells(as_shape(outer)._held, extents, origins))

    @classmethod
    def tiled(
        cls, *sizes: "Iterable[SupportsIndex] | IntArray", origin: _At = None
    ) -> "Shape[tuple[int, ...]]":
        """Return the shape of a box that is cut into tiles: tile numbers first, then places in a tile.

        Memory is the sum of the tiles per mode, never their product. No mode, or a negative size, raises.

        Examples
        --------
        >>> t = Shape.tiled([5, 15, 10], [5, 15, 10])
        >>> t.rank, t.size, t[1, 2]
        (4, 900, Shape(15, 10))
        """
        if not sizes:
            raise RankError("a tiled shape needs the tile sizes of at least one mode")
        held = Tiled(tuple([Partition.of_sizes(s) for s in sizes]), (0,) * len(sizes))
        return _moved(held, origin)

    # What the shape is.

    @property
    def kind(self) -> Kind:
        """``"smooth"`` for a box, ``"jagged"`` where extents depend on earlier indices."""
        return self._held.kind

    @property
    def rank(self) -> int:
        """The number of modes."""
        return self._held.rank

    @property
    def size(self) -> int:
        """The number of elements, as a Python integer of any size."""
        return self._held.size

    @property
    def extents(self) -> Extents:
        """The extent of every mode; a mode that is not uniform raises `JaggedModeError`."""
        return self._held.extents

    @property
    def origin(self) -> Index:
        """The first index of every mode; a mode whose origin varies raises `JaggedModeError`."""
        return self._held.origin

    @property
    def padding(self) -> int:
        """How many more elements the bounding box has than the shape."""
        return self._held.padding

    @property
    def outer_rank(self) -> int:
        """How many leading modes are unrolled; the modes after them form smooth cells. 0 for a box."""
        return self._held.outer_rank if isinstance(self._held, JaggedCommon) else 0

    def extent(self, mode: SupportsIndex) -> int:
        """Return the extent of `mode`, counted from the last if negative.

        Raises
        ------
        JaggedModeError
            If the mode is not uniform; the text names the least and the greatest extent.
        RankError
            If there is no such mode.
        """
        return self._held.extent(mode)

    def extent_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the extent of mode ``len(prefix)`` under `prefix`; raises where that leads nowhere."""
        return self._held.extent_at(prefix)

    def origin_at(self, prefix: Iterable[SupportsIndex]) -> int:
        """Return the first index of mode ``len(prefix)`` under `prefix`; raises as `extent_at` does."""
        return self._held.origin_at(prefix)

    def extent_bounds(self, mode: SupportsIndex) -> tuple[int, int]:
        """Return the least and the greatest extent of `mode`; (0, 0) if no prefix leads to it."""
        return self._held.extent_bounds(mode)

    def is_uniform(self, mode: SupportsIndex) -> bool:
        """Tell whether `mode` has one extent whatever came before."""
        return self._held.is_uniform(mode)

    def dependencies(self, mode: SupportsIndex) -> tuple[int, ...]:
        """Return the earlier modes on which the extent or the origin of `mode` depends."""
        return self._held.dependencies(mode)

    # Which indices it has.

    def __contains__(self, index: object) -> bool:
        return index in self._held

    def contains(self, indices: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell for each row of an ``(..., rank)`` array of indices whether it lies in the shape."""
        return self._held.contains(indices)

    def ordinal(self, index: Iterable[SupportsIndex]) -> int:
        """Return how many indices come before `index` in row-major order.

        O(rank) for boxes and tilings, O(unrolled modes) for jagged shapes; a Python integer of any size.
        """
        return self._held.ordinal(index)

    def index(self, ordinal: SupportsIndex) -> IndexT_co:
        """Return the index with `ordinal` indices before it in row-major order; O(log n) if jagged."""
        return cast("IndexT_co", self._held.index(ordinal))

    def ordinals(self, indices: npt.ArrayLike) -> IntArray:
        """Return the ordinal of each row of an ``(..., rank)`` array; an index outside raises."""
        return self._held.ordinals(indices)

    def indices_at(self, ordinals: npt.ArrayLike) -> IntArray:
        """Return the ``(..., rank)`` array of the indices with these ordinals; one outside raises."""
        return self._held.indices_at(ordinals)

    def indices(self, *, order: Order = "C") -> Indices[IndexT_co]:
        """Return the absolute indices as a sequence, last mode fastest ("C") or first ("F")."""
        if order not in ("C", "F"):
            raise ConversionError(f'order must be "C" or "F", not {order!r}')
        return Indices(self._held, order)

    def offsets(self, *, order: Order = "C") -> Indices[IndexT_co]:
        """Return the indices relative to the origin, which must not vary, as a sequence."""
        return self.indices(order=order).translate_to((0,) * self.rank)

    # Parts of it, and the same set elsewhere.

    @overload
    def __getitem__(self, key: slice | tuple[slice, ...]) -> "Shape[IndexT_co]": ...
    @overload
    def __getitem__(self, key: Key) -> "Shape[tuple[int, ...]]": ...
    def __getitem__(self, key: Key) -> "Shape[Any]":
        held = self._held
        return wrap(held.select(parse_key(key, held.rank)))

    def slice(
        self, first: Iterable[SupportsIndex], last: Iterable[SupportsIndex], *, clip: bool = False
    ) -> "Shape[IndexT_co]":
        """Return the part from index `first` up to, not including, `last`; it remembers where it lies.

        Parameters
        ----------
        first, last
            Absolute indices with one entry per mode; ``first == last`` makes an empty mode.
        clip
            Cut bounds that leave the shape (or a row of it) short instead of raising.

        Raises
        ------
        OutOfBoundsError
            If a bound leaves the shape, or, on a jagged shape, a selected row; the text names it.
        """
        return cast("Shape[IndexT_co]", wrap(self._held.slice(first, last, clip=clip)))

    def slice_outer(self, first: SupportsIndex, last: SupportsIndex) -> "Shape[IndexT_co]":
        """Return the rows from `first` up to, not including, `last`, all other modes whole; O(1)."""
        held = self._held
        rows = (to_int(first, "a first index"), to_int(last, "a last index"))
        return cast("Shape[IndexT_co]", wrap(held.select((rows, *[WHOLE] * (held.rank - 1)))))

    def chip(self, *leading: SupportsIndex) -> "Shape[tuple[int, ...]]":
        """Return what is left when the leading modes are pinned to `leading`; they are dropped."""
        return wrap(self._held.chip(*leading))

    def as_smooth(self) -> "Shape[IndexT_co]":
        """Return the bounding box as a view; `padding` tells how much it adds."""
        held = self._held
        return self if isinstance(held, SmoothCommon) else cast("Shape[IndexT_co]", wrap(held.as_smooth()))

    def outer(self) -> "Shape[tuple[int, ...]]":
        """Return the shape of the unrolled modes, which number the cells; a smooth shape raises."""
        if isinstance(self._held, JaggedCommon):
            return wrap(self._held.outer())
        raise JaggedModeError("a smooth shape is one cell: it has no outer modes")

    def cell_table(self) -> CellTable:
        """Return index, extents, origin and first ordinal of every cell, as arrays; O(cells)."""
        if isinstance(self._held, JaggedCommon):
            return self._held.rows.cell_table()
        raise JaggedModeError("a smooth shape is one cell: extents and origin describe it")

    def copy(self) -> "Shape[IndexT_co]":
        """Return an equal shape that keeps no other shape alive."""
        held = self._held
        return (
            cast("Shape[IndexT_co]", wrap(held.copy())) if isinstance(held, SmoothView | JaggedView) else self
        )

    def translate_by(self, offset: Iterable[SupportsIndex]) -> "Shape[IndexT_co]":
        """Return the shape moved by `offset`, one integer per mode; another number of them raises."""
        return cast("Shape[IndexT_co]", wrap(self._held.translate_by(offset)))

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "Shape[IndexT_co]":
        """Return the shape moved to start at `origin`; an origin that varies raises `JaggedModeError`."""
        return cast("Shape[IndexT_co]", wrap(self._held.translate_to(origin)))

    def permute(self, order: Iterable[SupportsIndex]) -> "Shape[IndexT_co]":
        """Return the shape whose mode ``k`` is mode ``order[k]`` of this one, as NumPy's transpose.

        Raises
        ------
        JaggedModeError
            If a mode would come before one on which it depends; the text names them.
        """
        return cast("Shape[IndexT_co]", wrap(self._held.permute(order)))

    def intersect(self, other: "ShapeLike") -> "Shape[IndexT_co]":
        """Return the box of the indices in both boxes, empty if they are disjoint; jagged shapes raise."""
        mine, theirs = self._box("intersect"), as_shape(other)._box("intersect")
        return cast("Shape[IndexT_co]", wrap(mine.intersect(theirs)))

    def hull(self, other: "ShapeLike") -> "Shape[IndexT_co]":
        """Return the smallest box around both boxes; an empty one adds nothing, jagged shapes raise."""
        mine, theirs = self._box("hull"), as_shape(other)._box("hull")
        return cast("Shape[IndexT_co]", wrap(mine.hull(theirs)))

    def _box(self, what: str) -> SmoothCommon:
        if isinstance(self._held, SmoothCommon):
            return self._held
        raise JaggedModeError(
            f"{what} is for smooth shapes; as_smooth() gives the bounding box of a jagged one"
        )

    # Comparison.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape):
            return NotImplemented
        mine, theirs = self._held, other._held
        if type(mine) is Smooth and type(theirs) is Smooth:
            # The common case, without the price of an isinstance check on an abstract class.
            return mine._extents == theirs._extents and mine._origin == theirs._origin
        return mine == theirs

    def __hash__(self) -> int:
        number = self._hash
        if number is None:
            number = hash(self._held)
            _set_hash(self, number)
        return number

    def is_congruent(self, other: "ShapeLike") -> bool:
        """Tell whether kind and extents agree at every prefix, wherever the two shapes lie."""
        return self._held.is_congruent(as_shape(other)._held)

    def same_elements(self, other: "ShapeLike") -> bool:
        """Tell whether both hold the same set of indices, whatever their kinds."""
        return same_elements(self._held, as_shape(other)._held)

    # Python's own.

    def __len__(self) -> NoReturn:
        raise TypeError("a shape has no len: its extents, rank and size are attributes")

    def __iter__(self) -> NoReturn:
        raise TypeError("a shape is not iterable: indices() goes over its indices, extents has its extents")

    def __bool__(self) -> bool:
        # Without this, truth would ask __len__ and raise.
        return True

    def __repr__(self) -> str:
        return shape_repr(self._held)

    def __str__(self) -> str:
        return shape_str(self._held)

    def __reduce__(self) -> tuple[Callable[[_Held], "Shape[Any]"], tuple[_Held]]:
        # The cached hash stays behind: hashes of strings differ between processes.
        return wrap, (self._held,)


def zero_based(shape: "Shape[Any]") -> "Shape[Any]":
    """Return the shape with the same extents and every origin 0, those of single cells included."""
    held = shape._held
    if isinstance(held, SmoothCommon):
        return wrap(make_smooth(held.extents, (0,) * held.rank))
    return wrap(held.zero_based())


ShapeLike: TypeAlias = Shape[Any] | ShapeCommon | Iterable[SupportsIndex]
"""What `as_shape` accepts: a shape, an implementation of one, or extents."""

_SlotSetter = Callable[[object, object], None]
_set_held = cast("_SlotSetter", cast("Any", Shape)._held.__set__)
_set_hash = cast("_SlotSetter", cast("Any", Shape)._hash.__set__)


def wrap(held: ShapeCommon) -> "Shape[Any]":
    """Return the facade over an implementation."""
    shape: Shape[Any] = object.__new__(Shape)
    _set_held(shape, held)
    _set_hash(shape, None)
    return shape


def as_shape(shape: ShapeLike) -> "Shape[Any]":
    """Return `shape` as a `Shape`; extents make a box at the origin, and a `Shape` is returned as it is.

    Examples
    --------
    >>> as_shape((2, 3))
    Shape(2, 3)
    """
    if isinstance(shape, Shape):
        return cast("Shape[Any]", shape)  # type: ignore[redundant-cast]
    if isinstance(shape, ShapeCommon):
        if not isinstance(shape, SmoothCommon | JaggedCommon):
            raise ConversionError(f"{type(shape).__name__} is of no kind that Shape knows: smooth or jagged")
        return wrap(shape)
    if isinstance(shape, int):
        raise ExtentError(f"a shape is given by a sequence of extents, not by the integer {shape}")
    return Shape.smooth(shape)


def _moved(held: JaggedCommon, origin: _At) -> "Shape[Any]":
    if origin is None:
        return wrap(held)
    return wrap(held.translate_by(to_index(origin, held.rank, "an origin")))


def _children(rows: object) -> list[object]:
    """Return the items of an iterable as a list, with every facade in them replaced by what it holds."""
    if isinstance(rows, Shape | ShapeCommon | str | bytes) or not isinstance(rows, Iterable):
        raise ConversionError(f"a jagged shape is given by a sequence of lengths or shapes, not by {rows!r}")
    return [_child(row) for row in cast("Iterable[object]", rows)]


def _child(row: object) -> object:
    if isinstance(row, Shape):
        return row._held
    return _children(cast("object", row)) if isinstance(row, list | tuple) else row
