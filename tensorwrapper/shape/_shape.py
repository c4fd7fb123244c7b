"""`Shape`, the one class that users meet: it holds a value or a view of any kind and hides which."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, NoReturn, SupportsIndex, TypeAlias, cast, final, overload

import attrs

from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape._common import ShapeCommon, to_index
from tensorwrapper.shape._constructors import ShapeConstructors
from tensorwrapper.shape._jagged import JaggedCommon
from tensorwrapper.shape._keys import parse_key
from tensorwrapper.shape._nested import NestedCommon, element, flat_of
from tensorwrapper.shape._queries import Held, ShapeLike, held_of
from tensorwrapper.shape._rows import CellTable
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, make_smooth, to_extents
from tensorwrapper.shape._text import shape_repr, shape_str
from tensorwrapper.typing import Index, IndexT_co, Key

__all__ = ["Shape", "ShapeLike", "as_shape"]

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
class Shape(ShapeConstructors[IndexT_co], Generic[IndexT_co]):
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

    _held: Held
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

    # Parts of another rank.

    @overload
    def __getitem__(self, key: slice | tuple[slice, ...]) -> "Shape[IndexT_co]": ...
    @overload
    def __getitem__(self, key: Key) -> "Shape[tuple[int, ...]]": ...
    def __getitem__(self, key: Key) -> "Shape[Any]":
        held = self._held
        return wrap(held.select(parse_key(key, held.rank)))

    def chip(self, *leading: SupportsIndex) -> "Shape[tuple[int, ...]]":
        """Return what is left when the leading modes are pinned to `leading`; they are dropped."""
        return wrap(self._held.chip(*leading))

    def leading(self, modes: SupportsIndex) -> "Shape[tuple[int, ...]]":
        """Return the shape of the prefixes of `modes` indices: the leading modes without the rest; O(1).

        Where the cells of a jagged shape are cut short, the extents of one mode are summed: O(cells).

        Examples
        --------
        >>> Shape.jagged([[10], [20, 30]]).leading(2)
        Shape.jagged([1, 2])
        """
        return wrap(self._held.leading(modes))

    def outer(self) -> "Shape[tuple[int, ...]]":
        """Return the shape of the first `outer_rank` modes, which number the cells; a box raises."""
        return wrap(self._cellular().outer())

    def element(self, index: Iterable[SupportsIndex]) -> "Shape[tuple[int, ...]]":
        """Return the shape of one element, as a view.

        Parameters
        ----------
        index
            Of a nested shape: the absolute index in one or more of the outer layers. Of a jagged shape:
            the index of a cell.

        Raises
        ------
        LayerError
            If the index does not end where a layer (or the unrolled modes) ends.

        Examples
        --------
        >>> Shape.nested(Shape(10, 20, 30), layers=(1, 2)).element((3,))
        Shape(20, 30)
        """
        return wrap(element(self._cellular(), index))

    def cells(self) -> "Iterator[tuple[Index, Shape[tuple[int, ...]]]]":
        """Return an iterator over outer indices and the shape of the cell under each, in row-major order.

        Of a nested shape the outer index is that of all layers but the last. `cell_table` has the same
        as arrays.

        Examples
        --------
        >>> list(Shape.jagged([Shape(1, 2), Shape(3, 4)]).cells())
        [((0,), Shape(1, 2)), ((1,), Shape(3, 4))]
        """
        held = self._cellular()
        return ((index, wrap(held.chip(*index))) for index in held.outer().walk("C"))

    def cell_table(self) -> CellTable:
        """Return index, extents, origin and first ordinal of every cell, as arrays; O(cells).

        Raises
        ------
        JaggedModeError
            For a box, which is one cell.
        """
        flat = flat_of(self._held)
        if isinstance(flat, JaggedCommon):
            return flat.rows.cell_table()
        raise JaggedModeError("a smooth shape is one cell: extents and origin describe it")

    def _cellular(self) -> JaggedCommon | NestedCommon:
        held = self._held
        if isinstance(held, SmoothCommon):
            raise JaggedModeError(
                "a smooth shape is one cell: it has no outer modes (Shape.nested gives some)"
            )
        return held

    def flatten(self) -> "Shape[IndexT_co]":
        """Return the same shape without layers."""
        held = self._held
        return cast("Shape[IndexT_co]", wrap(held.flat)) if isinstance(held, NestedCommon) else self

    # Comparison. In the final class, because a class with equality and no hash has none.

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

    # Python's own.

    def __len__(self) -> NoReturn:
        raise TypeError("a shape has no len: its extents, rank and size are attributes")

    def __iter__(self) -> NoReturn:
        raise TypeError("a shape is not iterable: indices() goes over its indices, extents has its extents")

    def __bool__(self) -> bool:
        # Without this, truth would ask __len__ and raise.
        return True

    @classmethod
    def _wrap(cls, held: ShapeCommon) -> "Shape[IndexT_co]":
        return wrap(held)

    def __repr__(self) -> str:
        return shape_repr(self._held)

    def __str__(self) -> str:
        return shape_str(self._held)

    def __reduce__(self) -> tuple[Callable[[Held], "Shape[Any]"], tuple[Held]]:
        # The cached hash stays behind: hashes of strings differ between processes.
        return wrap, (self._held,)


def zero_based(shape: "Shape[Any]") -> "Shape[Any]":
    """Return the shape with the same extents and every origin 0, those of single cells included."""
    held = flat_of(shape._held)
    if isinstance(held, SmoothCommon):
        return wrap(make_smooth(held.extents, (0,) * held.rank))
    return wrap(held.zero_based())


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
    return wrap(held_of(shape))
