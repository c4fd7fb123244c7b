"""`Shape`, the one class that users meet: it holds a value or a view of any kind and hides which."""

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Generic, NoReturn, SupportsIndex, TypeAlias, cast, final, overload

from tensorwrapper._integers import one_sequence, to_ints
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, JaggedModeError
from tensorwrapper.shape._constructors import ShapeConstructors
from tensorwrapper.shape._exchange import ShapeExchange
from tensorwrapper.shape._facade import ShapeLike, implementation_of
from tensorwrapper.shape._parts import ShapeParts
from tensorwrapper.shape._queries import ShapeQueries
from tensorwrapper.shape._sets import ShapeSets
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index
from tensorwrapper.shape.boxes._keys import parse_key
from tensorwrapper.shape.boxes._names import (
    Names,
    kept_names,
    key_of_names,
    plain_names,
    repr_of_names,
    text_of_names,
)
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, make_smooth, to_extents
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon, jagged_of_state
from tensorwrapper.shape.kinds._layers import cell_table, cells, element
from tensorwrapper.shape.kinds._nested import Implementation, NestedCommon
from tensorwrapper.shape.rows._rows import CellTable
from tensorwrapper.typing import Index, IndexT_co, Key, NamedKey

if TYPE_CHECKING:
    from tensorwrapper.shape.labels._labels import LabeledShape
    from tensorwrapper.shape.labels._labels_text import LabelsLike

__all__ = ["Shape", "ShapeLike", "as_shape"]

# Short names for the overloads: what they say is the rank.
_N: TypeAlias = SupportsIndex
_At: TypeAlias = Iterable[SupportsIndex] | None
_SEQUENCES = {tuple, list}
_I2: TypeAlias = tuple[int, int]
_I3: TypeAlias = tuple[int, int, int]
_I4: TypeAlias = tuple[int, int, int, int]
_I5: TypeAlias = tuple[int, int, int, int, int]
_I6: TypeAlias = tuple[int, int, int, int, int, int]


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Shape(
    ShapeQueries[IndexT_co],
    ShapeParts[IndexT_co],
    ShapeSets[IndexT_co],
    ShapeConstructors[IndexT_co],
    ShapeExchange[IndexT_co],
    Generic[IndexT_co],
):
    """A set of indices with an origin: what a tensor's elements are addressed by.

    ``Shape(2, 3)`` is a box. Other kinds come from named constructors: `Shape.jagged`, `Shape.from_cells`,
    `Shape.tiled`, `Shape.triangular`, `Shape.nested` and more.
    A shape never changes; it is hashable, picklable and may be shared among threads. Indices are absolute
    and literal: a negative index is a place, not a count from the end.

    Two shapes are equal if kind, layers, names, and extents and origins at every prefix agree, however they
    are stored. A shape never equals what it holds or looks like (a tuple, a `Smooth`): compare ``as_shape``
    of both.

    Called with labels, as ``shape("i,j")``, a shape takes part in expressions as tensors do: `LabeledShape`.

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

    implementation: Implementation
    _names: Names
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
        def __init__(self: "Shape", *extents: _N, origin: _At = None) -> None: ...

    def __init__(self, *extents: SupportsIndex, origin: Iterable[SupportsIndex] | None = None) -> None:
        if len(extents) == 1 and type(extents[0]) in _SEQUENCES:
            raise ConversionError(
                f"Shape(*extents) or as_shape({extents[0]!r}): the extents of a Shape are given loose"
            )
        sizes = to_extents(extents)
        start = (0,) * len(sizes) if origin is None else to_index(origin, len(sizes), "an origin")
        _set_implementation(self, make_smooth(sizes, start))
        _set_names(self, None)
        _set_hash(self, None)

    # Parts of another rank.

    @overload
    def __getitem__(self, key: slice | tuple[slice, ...]) -> "Shape[IndexT_co]": ...
    @overload
    def __getitem__(self, key: Key) -> "Shape": ...
    @overload
    def __getitem__(self, key: NamedKey) -> "Shape": ...
    def __getitem__(self, key: Key | NamedKey) -> "Shape":
        held, names = self.implementation, self._names
        if names is None:
            numbers: Any = key  # a key by name is refused there, as any other object
            return wrap(held.select(parse_key(numbers, held.rank)))
        plain = key_of_names(key, names, held.rank) if isinstance(key, Mapping) else key
        entries = parse_key(plain, held.rank)
        return wrap(held.select(entries), kept_names(names, [type(entry) is not int for entry in entries]))

    @overload
    def chip(self, leading: Iterable[SupportsIndex], /) -> "Shape": ...
    @overload
    def chip(self, *leading: SupportsIndex) -> "Shape": ...
    def chip(self, *leading: SupportsIndex | Iterable[SupportsIndex]) -> "Shape":
        """Return what is left when the leading modes are pinned to `leading`; they are dropped.

        Examples
        --------
        >>> rows = Shape.jagged([3, 1, 2])
        >>> rows.chip(2), rows.chip((2,))
        (Shape(2), Shape(2))
        """
        pinned: Any = leading
        if len(leading) == 1 and type(leading[0]) is not int:
            pinned = to_ints(one_sequence(leading), "the leading indices")
        names = self._names
        return wrap(
            self.implementation.chip(*pinned), None if names is None else plain_names(names[len(pinned) :])
        )

    @overload
    def reshape(self, extents: Iterable[SupportsIndex], /, *, origin: _At = None) -> "Shape": ...
    @overload
    def reshape(self, *extents: SupportsIndex, origin: _At = None) -> "Shape": ...
    def reshape(self, *extents: SupportsIndex | Iterable[SupportsIndex], origin: _At = None) -> "Shape":
        """Return the box with other extents and as many elements, which keep their row-major order.

        Parameters
        ----------
        *extents
            The new extents, loose or as one sequence. One may be -1: it is worked out from the others.
        origin
            Where the new box starts; zeros if not given, wherever this one lies.

        Raises
        ------
        ExtentError
            If the new box has another number of elements, or the open extent could be more than one number.
        JaggedModeError
            If the shape is jagged.
        LayerError
            If the shape is nested.

        Examples
        --------
        >>> Shape(4, 6).reshape(2, -1), Shape(6, origin=(5,)).reshape((2, 3), origin=(0, 1))
        (Shape(2, 12), Shape(2, 3, origin=(0, 1)))
        """
        from tensorwrapper.shape.kinds._combine import reshape_box  # noqa: PLC0415

        return wrap(reshape_box(self.implementation, one_sequence(extents), origin))

    def leading(self, modes: SupportsIndex) -> "Shape":
        """Return the shape of the prefixes of `modes` indices: the leading modes without the rest; O(1).

        Where the cells of a jagged shape are cut short, the extents of one mode are summed: O(cells).

        Examples
        --------
        >>> Shape.jagged([[10], [20, 30]]).leading(2)
        Shape.jagged([1, 2])
        """
        names, part = self._names, self.implementation.leading(modes)
        return wrap(part, None if names is None else plain_names(names[: part.rank]))

    def outer(self) -> "Shape":
        """Return the shape of the first `outer_rank` modes, which number the cells; a box raises."""
        held = self._cellular()
        names = self._names
        return wrap(held.outer(), None if names is None else plain_names(names[: held.outer_rank]))

    def element(self, index: Iterable[SupportsIndex], *, layer: SupportsIndex | None = None) -> "Shape":
        """Return the shape of one element, as a view.

        Parameters
        ----------
        index
            Of a nested shape: the absolute index in one or more of the outer layers. Of a jagged shape:
            the index of a cell.
        layer
            The layer where the index ends, needed only where layers without modes leave a choice: not
            given, the element is that of the innermost of them.

        Raises
        ------
        LayerError
            If the index does not end where a layer (or the unrolled modes) ends.

        Examples
        --------
        >>> Shape.nested(Shape(10, 20, 30), layers=(1, 2)).element((3,))
        Shape(20, 30)
        """
        part = element(self._cellular(), index, layer)
        return wrap(part, self._names_from(self.implementation.rank - part.rank))

    def cells(self, *, layer: SupportsIndex | None = None) -> "Iterator[tuple[Index, Shape]]":
        """Return an iterator over outer indices and the shape of the cell under each, in row-major order.

        Parameters
        ----------
        layer
            Of a nested shape: the last of the layers that the outer index goes through; the elements have
            those that are left. Not given, it goes through all but the innermost. Negative layers count
            from the innermost.

        Raises
        ------
        LayerError
            If there is no such layer, or none within it, or the shape is not nested.

        Examples
        --------
        >>> list(Shape.jagged([Shape(1, 2), Shape(3, 4)]).cells())
        [((0,), Shape(1, 2)), ((1,), Shape(3, 4))]
        >>> n = Shape.nested(Shape(2, 1, 5), layers=(1, 1, 1))
        >>> list(n.cells())
        [((0, 0), Shape(5)), ((1, 0), Shape(5))]
        >>> next(n.cells(layer=0))
        ((0,), Shape.nested(Shape(1, 5), layers=(1, 1)))
        """
        rest = self._names_from
        return ((index, wrap(cell, rest(len(index)))) for index, cell in cells(self._cellular(), layer))

    def cell_table(self) -> CellTable:
        """Return index, extents, origin and first ordinal of every cell, as arrays; O(cells).

        Raises
        ------
        JaggedModeError
            For a box, which is one cell, and a nested shape whose elements are jagged.
        SizeOverflowError
            If there are more cells, or elements, than 64 bits number.
        """
        return cell_table(self._cellular())

    def _cellular(self) -> JaggedCommon | NestedCommon:
        held = self.implementation
        if isinstance(held, SmoothCommon):
            raise JaggedModeError(
                "a smooth shape is one cell, which extents and origin describe (Shape.nested gives layers)"
            )
        return held

    def flatten(self) -> "Shape[IndexT_co]":
        """Return the same shape without layers."""
        held = self.implementation
        return self._wrap(held.flat, self._names) if isinstance(held, NestedCommon) else self

    def _names_from(self, mode: int) -> Names:
        """Return the names of the modes from this one on."""
        names = self._names
        return None if names is None else plain_names(names[mode:])

    # Labels.

    def __call__(self, labels: "LabelsLike") -> "LabeledShape[Shape]":
        # Without a docstring: an editor would show it for every variable that holds a shape.
        return _labeler()(cast("Shape", self), labels)

    # Comparison. In the final class, because a class with equality and no hash has none.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape):
            return NotImplemented
        mine, theirs = self.implementation, other.implementation
        if type(mine) is Smooth and type(theirs) is Smooth:
            # The common case, without the price of an isinstance check on an abstract class.
            return (
                mine._extents == theirs._extents
                and mine._origin == theirs._origin
                and (self._names is other._names or self._names == other._names)
            )
        return self._names == other._names and mine == theirs

    def __hash__(self) -> int:
        number = self._hash
        if number is None:
            names = self._names
            number = hash(self.implementation) if names is None else hash((self.implementation, names))
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
    def _wrap(cls, held: ShapeCommon, names: Names = None) -> "Shape[IndexT_co]":
        return wrap(held, names)

    def __repr__(self) -> str:
        from tensorwrapper.shape.text._repr import shape_repr  # noqa: PLC0415

        return shape_repr(self.implementation) + repr_of_names(self._names)

    def __str__(self) -> str:
        from tensorwrapper.shape.text._text import shape_str  # noqa: PLC0415

        return shape_str(self.implementation) + text_of_names(self._names)

    def __format__(self, spec: str) -> str:
        """Return the text of the shape: ``""`` gives its ``str``, ``"full"`` never summarises."""
        from tensorwrapper.shape.text._text import format_shape  # noqa: PLC0415

        return format_shape(self.implementation, spec) + text_of_names(self._names)

    def to_svg(self) -> str:
        """Return a picture of the shape, to scale, as the text of an SVG document.

        Boxes are drawn with their extents and origin, rows as bars from origin to end, cells as rectangles,
        tilings with their boundaries, layers inside one another. It stays small: many rows are drawn as
        bands, many tiles as densities, of many cells the sizes are counted. O(rows), in array operations.

        Examples
        --------
        >>> svg = Shape.jagged([3, 1, 2]).to_svg()
        >>> svg.count('class="row"'), svg.endswith("</svg>")
        (3, True)
        """
        # Loaded here: most programs draw nothing, and pictures are a third of what shapes cost to import.
        from tensorwrapper.shape.pictures._draw import draw_shape  # noqa: PLC0415

        return draw_shape(self.implementation).to_svg()

    def _repr_html_(self) -> str:
        """Return what notebooks show: the text of the shape, a few facts, and its picture."""
        from tensorwrapper.shape.pictures._draw import shape_html  # noqa: PLC0415 - as in to_svg

        return shape_html(self.implementation, self._names)

    def __reduce__(self) -> tuple[Callable[..., "Shape"], tuple[object, ...]]:
        # The cached hash stays behind: hashes of strings differ between processes.
        held, names = self.implementation, self._names
        if names is not None:
            return wrap, (held, names)
        if type(held) is Jagged:
            # One name less for pickle to look up: a fifth of what a small jagged shape costs.
            return _wrap_jagged, held.__reduce__()[1]
        return wrap, (held,)


_SlotSetter = Callable[[object, object], None]
_set_implementation = cast("_SlotSetter", cast("Any", Shape).implementation.__set__)
_set_names = cast("_SlotSetter", cast("Any", Shape)._names.__set__)
_set_hash = cast("_SlotSetter", cast("Any", Shape)._hash.__set__)


def wrap(held: ShapeCommon, names: Names = None) -> "Shape[Any]":
    """Return the facade over an implementation."""
    shape: Shape = object.__new__(Shape)
    _set_implementation(shape, held)
    _set_names(shape, names)
    _set_hash(shape, None)
    return shape


@functools.cache
def _labeler() -> "Callable[[Shape[Index], LabelsLike], LabeledShape[Shape[Index]]]":
    # Loaded when it is first asked for: most programs label nothing, and shall not wait for it.
    from tensorwrapper.shape.labels._labels import label_shape  # noqa: PLC0415

    return label_shape


def _wrap_jagged(*state: Any) -> "Shape":  # noqa: ANN401 - what Columns.state returns
    return wrap(jagged_of_state(*state))


def as_shape(shape: ShapeLike) -> "Shape":
    """Return `shape` as a `Shape`; extents make a box at the origin, and a `Shape` is returned as it is.

    Examples
    --------
    >>> as_shape((2, 3))
    Shape(2, 3)
    """
    if isinstance(shape, Shape):
        return cast("Shape", shape)
    return wrap(implementation_of(shape))


def unnamed_shape(shape: ShapeLike) -> "Shape":
    """Return `as_shape` of it without names: what layouts and tensors, whose modes are numbered, are over."""
    space = as_shape(shape)
    return space if space._names is None else wrap(space.implementation)
