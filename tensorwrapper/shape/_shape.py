"""`Shape`, the one class that users meet: it holds a value or a view of any kind and hides which."""

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, cast, final, overload

from tensorwrapper._hints import hint
from tensorwrapper._integers import one_sequence, to_ints
from tensorwrapper._value_class import slot_setters, value_class
from tensorwrapper.errors import ConversionError
from tensorwrapper.shape._shape_base import ShapeLike, implementation_of
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index
from tensorwrapper.shape.boxes._keys import leading_entries, parse_key
from tensorwrapper.shape.boxes._names import Names, kept_names, key_of_names
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, make_smooth, to_extents
from tensorwrapper.shape.facade._cells import ShapeCells
from tensorwrapper.shape.facade._constructors import ShapeConstructors
from tensorwrapper.shape.facade._exchange import ShapeExchange
from tensorwrapper.shape.facade._parts import ShapeParts
from tensorwrapper.shape.facade._queries import ShapeQueries
from tensorwrapper.shape.facade._ranks import ShapeRanks
from tensorwrapper.shape.facade._sets import ShapeSets
from tensorwrapper.shape.kinds._jagged import Jagged, jagged_of_state
from tensorwrapper.shape.kinds._nested import Implementation
from tensorwrapper.typing import (
    IndexT,
    IndexT_co,
    Integer,
    IntegerAndSlice,
    Integers2,
    Integers3,
    Integers4,
    Integers5,
    Integers6,
    Key,
    LooseIndex,
    Modes,
    NamedKey,
    Origin,
    Rank0,
    Rank1,
    Rank2,
    Rank3,
    Rank4,
    Rank5,
    Rank6,
    Slices,
    UnknownRank,
)

if TYPE_CHECKING:
    from tensorwrapper.shape.labels._labels import LabeledShape
    from tensorwrapper.shape.labels._labels_text import LabelsLike

_SEQUENCES: set[type] = {tuple, list}


@final
@value_class(eq=False, repr=False, getstate_setstate=False)
class Shape(
    ShapeRanks[IndexT_co],
    ShapeQueries[IndexT_co],
    ShapeParts[IndexT_co],
    ShapeSets[IndexT_co],
    ShapeCells[IndexT_co],
    ShapeConstructors[IndexT_co],
    ShapeExchange[IndexT_co],
    Generic[IndexT_co],
):
    """A set of indices with an origin: the index space of a tensor.

    ``Shape(2, 3)`` is a box. Other kinds come from named constructors: `Shape.jagged`, `Shape.from_cells`,
    `Shape.tiled`, `Shape.triangular`, `Shape.nested` and more. A shape is immutable, hashable, picklable and
    thread-safe. Indices are absolute: a negative index is an index, not a count from the end.

    Two shapes are equal if kind, layers, names, and the extents and origins at every prefix agree, whatever
    their storage; this includes extents behind an empty mode. A tuple or list of extents equals its shape by
    `as_shape`: the unnamed box of these extents that begins at zero. A shape never equals a number:
    ``s.extent(0) == 2`` compares an extent.

    Called with labels, as ``shape("i,j")``, a shape takes part in expressions as tensors do: `LabeledShape`.

    Parameters
    ----------
    *extents
        Number of indices of each mode. Without extents it is the scalar shape, with one index, ``()``.
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

    if TYPE_CHECKING:  # The number of extents is the rank.

        @overload
        def __init__(self: "Shape[Rank0]", *, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Shape[Rank1]", extent: Integer, /, *, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Shape[Rank2]", *extents: *Integers2, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Shape[Rank3]", *extents: *Integers3, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Shape[Rank4]", *extents: *Integers4, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Shape[Rank5]", *extents: *Integers5, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Shape[Rank6]", *extents: *Integers6, origin: Origin = None) -> None: ...
        @overload
        def __init__(self: "Shape", *extents: Integer, origin: Origin = None) -> None: ...

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

    # Parts of the same rank, given by indices of it.

    @overload
    def slice(
        self: "Shape[IndexT]", first: IndexT | LooseIndex, last: IndexT | LooseIndex, *, clip: bool = False
    ) -> "Shape[IndexT]": ...
    @overload
    def slice(self, leading: Iterable[Integer], /, *, clip: bool = False) -> "Shape[IndexT_co]": ...
    @overload
    def slice(self, *leading: Integer, clip: bool = False) -> "Shape[IndexT_co]": ...
    def slice(
        self,
        first: SupportsIndex | Iterable[SupportsIndex] = (),
        last: SupportsIndex | Iterable[SupportsIndex] | None = None,
        *more: SupportsIndex,
        clip: bool = False,
    ) -> "Shape[Any]":
        """Return the part from index `first` up to, not including, `last`; it keeps its indices.

        Leading integers in their place, loose or as one sequence as in `chip`, select one index of each
        leading mode. The mode stays, with extent 1, where `chip` drops it.

        Parameters
        ----------
        first, last
            Absolute indices with one entry per mode; ``first == last`` makes an empty mode.
        clip
            Clip bounds to the shape (or to each row) instead of raising an error.

        Raises
        ------
        OutOfBoundsError
            If a bound leaves the shape, or, on a jagged shape, a selected row; the text names it.
        RankError
            If the bounds are not as many as the modes, or there are more leading integers than modes.

        Examples
        --------
        >>> Shape(10, 20).slice((2, 5), (4, 9)), Shape(10, 20).slice(2), Shape(10, 20).chip(2)
        (Shape(2, 4, origin=(2, 5)), Shape(1, 20, origin=(2, 0)), Shape(20))
        >>> Shape.jagged([3, 1, 2]).slice(2) == Shape.jagged([3, 1, 2])[2:3]
        True
        """
        implementation, given = self.implementation, (first,)
        listed = one_sequence(given)
        if last is None or more or listed is given:
            loose: Iterable[Any] = listed if last is None else (first, last, *more)
            leading = to_ints(loose, "the leading indices")
            part = implementation.select(leading_entries(leading, implementation.rank), clip=clip)
        else:
            part = implementation.slice(listed, cast("Iterable[SupportsIndex]", last), clip=clip)
        return wrap(part, self._names)

    def translate_by(self: "Shape[IndexT]", offset: IndexT | LooseIndex) -> "Shape[IndexT]":
        """Return the shape moved by `offset`, one integer per mode; another number of them raises.

        A tiling of no tiles that moves within its tiles forgets their sizes: it has no cell to keep them.
        """
        return wrap(self.implementation.translate_by(offset), self._names)

    def translate_to(self: "Shape[IndexT]", origin: IndexT | LooseIndex) -> "Shape[IndexT]":
        """Return the shape moved to start at `origin`; an origin that varies raises `JaggedModeError`."""
        return wrap(self.implementation.translate_to(origin), self._names)

    # Parts of another rank.

    @overload
    def __getitem__(self, key: Slices) -> "Shape[IndexT_co]": ...
    @overload
    def __getitem__(self: "Shape[UnknownRank]", key: Key | NamedKey) -> "Shape": ...
    @overload
    def __getitem__(self: "Shape[tuple[int, *Modes]]", key: Integer) -> "Shape[tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "Shape[tuple[int, int, *Modes]]", key: tuple[Integer, Integer]
    ) -> "Shape[tuple[*Modes]]": ...
    @overload
    def __getitem__(
        self: "Shape[tuple[int, int, *Modes]]", key: IntegerAndSlice
    ) -> "Shape[tuple[int, *Modes]]": ...
    @overload
    def __getitem__(self, key: Key | NamedKey) -> "Shape": ...
    def __getitem__(self, key: Key | NamedKey) -> "Shape[Any]":
        implementation, names = self.implementation, self._names
        if names is None:
            numbers: Any = key  # a key by name is refused there, as any other object
            return wrap(implementation.select(parse_key(numbers, implementation.rank)))
        plain = key_of_names(key, names, implementation.rank) if isinstance(key, Mapping) else key
        entries = parse_key(plain, implementation.rank)
        return wrap(
            implementation.select(entries), kept_names(names, [type(entry) is not int for entry in entries])
        )

    # Labels.

    def __call__(self, labels: "LabelsLike") -> "LabeledShape[Shape]":
        # Without a docstring: an editor would show it for every variable that holds a shape.
        return _labeler()(cast("Shape", self), labels)

    # Comparison is in the final class, because a class with `__eq__` and without `__hash__` is not hashable.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Shape):
            if isinstance(other, tuple | list):
                given = cast("tuple[object, ...] | list[object]", other)
                extents = self._bare_extents()
                return extents is not None and extents == tuple(given)
            return NotImplemented
        mine, theirs = self.implementation, other.implementation
        if type(mine) is Smooth and type(theirs) is Smooth:
            # The common case, without the price of an isinstance check on an abstract class.
            return (
                mine.extents == theirs.extents
                and mine.origin == theirs.origin
                and (self._names is other._names or self._names == other._names)
            )
        return self._names == other._names and mine == theirs

    def _bare_extents(self) -> "tuple[int, ...] | None":
        """Return the extents of a box without names that begins at zero, which a tuple says as well."""
        mine = self.implementation
        if self._names is not None or not isinstance(mine, SmoothCommon) or any(mine.origin):
            return None
        return mine.extents

    def __hash__(self) -> int:
        number = self._hash
        if number is None:
            names = self._names
            extents = self._bare_extents()
            if extents is not None:
                number = hash(extents)  # as the tuple that it equals
            else:
                number = hash(self.implementation) if names is None else hash((self.implementation, names))
            _set_hash(self, number)
        return number

    # Python's own.

    def __dask_tokenize__(self) -> tuple[object, ...]:
        """Return what Dask names the shape by: equal shapes have equal tokens, in every process.

        O(rows); a triangle of over 2**20 rows, or as many tiles, is named by its closed form instead.
        """
        implementation = self.implementation
        facts = implementation.kind, implementation.layers, self._names
        return "tensorwrapper.Shape", *facts, *implementation.token()

    @classmethod
    def _wrap(cls, implementation: ShapeCommon, names: Names = None) -> "Shape[IndexT_co]":
        return wrap(implementation, names)

    def __reduce__(self) -> tuple[Callable[..., "Shape"], tuple[object, ...]]:
        # The cached hash stays behind: hashes of strings differ between processes.
        implementation, names = self.implementation, self._names
        if names is not None:
            return wrap, (implementation, names)
        if type(implementation) is Jagged:
            # Saves pickle one lookup, a fifth of the time for a small jagged shape.
            return _wrap_jagged, implementation.__reduce__()[1]
        return wrap, (implementation,)


hint(Shape, "Shape")

_set_implementation, _set_names, _set_hash = slot_setters(Shape, "implementation", "_names", "_hash")


def wrap(implementation: ShapeCommon, names: Names = None) -> "Shape[Any]":
    """Return the facade over an implementation."""
    shape: Shape = object.__new__(Shape)
    _set_implementation(shape, implementation)
    _set_names(shape, names)
    _set_hash(shape, None)
    return shape


@functools.cache
def _labeler() -> "Callable[[Shape, LabelsLike], LabeledShape[Shape]]":
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
    return shape if isinstance(shape, Shape) else wrap(implementation_of(shape))


def unnamed_shape(shape: ShapeLike) -> "Shape":
    """Return `as_shape` of it without names: what layouts and tensors, whose modes are numbered, are over."""
    space = as_shape(shape)
    return space if space._names is None else wrap(space.implementation)
