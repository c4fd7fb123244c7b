"""Indices of a shape as a sequence, as ``range`` is one of integers: length, random access, slices, order.

`Indices` is a re-iterable sequence of absolute indices, `IndexIterator` the running iterator over one,
with a position and an origin that can be set while it runs.
"""

import operator
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Generic, SupportsIndex, cast, final, overload

import attrs
import numpy as np

from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import Shown, value_class
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    JaggedModeError,
    OutOfBoundsError,
    SizeOverflowError,
    StepError,
)
from tensorwrapper.shape.boxes._common import to_index
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.facade._numbering import Numbering, fits_arrays, length_of, numbering_of
from tensorwrapper.shape.kinds._blocks import blocks_of
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon, flat_of
from tensorwrapper.typing import Index, IndexT_co, IntArray, Order

_LISTED = 1 << 16  # indices up to which a token is made of all of them


@final
@value_class(eq=False, repr=False)
class Indices(Sequence[IndexT_co], Generic[IndexT_co]):
    """The indices of a shape, or a run of them, in one order.

    Made by ``shape.indices()``. Length, random access, slices, reversal, membership and equality work as for
    a ``range``, for any size; a plain ``for`` over a box is as fast as ``itertools.product``.

    In a jagged shape with order "F", an index and its position are found by halving the shape: O(cells) each,
    without a table of all indices.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> r = Shape(2, 3).indices()
    >>> len(r), r[4], r[-1], (1, 1) in r, r[::2]
    (6, (1, 1), (1, 2), True, Indices([(0, 0), (0, 2), (1, 1)]))
    """

    # Layers do not order indices, and are not kept.
    _shape: Flat = attrs.field(alias="shape", converter=flat_of)
    _order: Order = attrs.field(default="C", alias="order")
    _places: range | None = attrs.field(alias="places", default=None)
    _numbers: Numbering | None = attrs.field(default=None, init=False)

    if TYPE_CHECKING:

        def __init__(
            self, shape: Flat | NestedCommon, order: Order = "C", places: range | None = None
        ) -> None: ...

    @property
    def order(self) -> Order:
        """The fastest mode: the last ("C") or the first ("F")."""
        return self._order

    @property
    def origin(self) -> IndexT_co:
        """The origin of the shape whose indices these are; one that varies raises `JaggedModeError`."""
        return cast("IndexT_co", self._shape.origin)

    @property
    def places(self) -> range:
        """Positions of these indices among those of the whole shape, in this order."""
        return range(self._shape.size) if self._places is None else self._places

    @property
    def size(self) -> int:
        """Number of indices, also beyond the limit of ``len``."""
        return self._shape.size if self._places is None else length_of(self._places)

    @property
    def _numbering(self) -> Numbering:
        numbers = self._numbers
        if numbers is None:
            numbers = numbering_of(self._shape, self._order)
            object.__setattr__(self, "_numbers", numbers)
        return numbers

    def __len__(self) -> int:
        length = self.size
        if length > sys.maxsize:
            raise SizeOverflowError(f"a run of {length} indices has no len, which ends at 64 bits; see size")
        return length

    def __bool__(self) -> bool:
        # Without this, truth would ask __len__, which not every run has.
        return self.size > 0

    @overload
    def __getitem__(self, key: SupportsIndex) -> IndexT_co: ...
    @overload
    def __getitem__(self, key: slice) -> "Indices[IndexT_co]": ...
    def __getitem__(self, key: SupportsIndex | slice) -> "IndexT_co | Indices[IndexT_co]":
        places = self.places
        if isinstance(key, slice):
            part = places[_checked(key)]
            return self if part == places else Indices(self._shape, self._order, part)
        number = to_int(key, "a position")
        try:
            place = places[number]
        except IndexError as error:
            raise OutOfBoundsError(f"position {number} is outside a run of {self.size} indices") from error
        return self._at(place)

    def _at(self, place: int) -> IndexT_co:
        return cast("IndexT_co", self._numbering.index(place))

    def __iter__(self) -> Iterator[IndexT_co]:
        places = self._places
        walk = self._shape.walk(self._order) if places is None else self._numbering.walk(places)
        return cast("Iterator[IndexT_co]", walk)

    def __reversed__(self) -> Iterator[IndexT_co]:
        return iter(self[::-1])

    def __contains__(self, index: object) -> bool:
        if index not in self._shape:
            return False
        return self._places is None or self._place_of(index) in self._places

    def _place_of(self, index: object) -> int:
        """Return the place of an index that is in the shape."""
        numbers = to_index(cast("Iterable[SupportsIndex]", index), self._shape.rank)
        return self._numbering.place(numbers)

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """Return the position of an index in this run.

        Raises
        ------
        ValueError
            If it is not there, as for any sequence.
        """
        if value in self:
            position = self.places.index(self._place_of(value))
            low, high, _ = slice(start, stop).indices(self.size)
            if low <= position < high:
                return position
        raise ExtentError(f"{brief(value)} is not among these indices")

    def count(self, value: object) -> int:
        """Return 1 if `value` is among these indices, else 0."""
        return int(value in self)

    def translate_by(self, offset: Iterable[SupportsIndex]) -> "Indices[IndexT_co]":
        """Return the same run over the shape moved by `offset`."""
        return Indices(self._shape.translate_by(offset), self._order, self._places)

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "Indices[IndexT_co]":
        """Return the same run over the shape moved to `origin`; one that varies raises `JaggedModeError`."""
        return Indices(self._shape.translate_to(origin), self._order, self._places)

    def to_numpy(self) -> IntArray:
        """Return all indices as an (n, rank) int64 array; what 64 bits, or memory, do not hold raises."""
        self._check_entries()
        size = self.size
        if size > MAX_INT64:
            raise SizeOverflowError(
                f"{size} rows are more than 64 bits number; batches() gives some at a time"
            )
        if not size:
            return np.empty((0, self._shape.rank), dtype=np.int64)
        with memory_for(self._numbers_in(size), "numbers"):
            (table,) = self._numbering.tables(self.places, size)
            return np.ascontiguousarray(table, dtype=np.int64)

    def _numbers_in(self, rows: int) -> int:
        """Return how many numbers a table of these indices has, with at most so many rows."""
        return min(rows, self.size) * max(self._shape.rank, 1)

    def batches(self, length: SupportsIndex) -> Iterator[IntArray]:
        """Return an iterator of (n, rank) int64 arrays of at most `length` indices each.

        Raises
        ------
        ExtentError
            If `length` is not positive.
        SizeOverflowError
            If an index has entries that int64 does not hold, or a batch is more than memory holds.
        """
        rows = to_count(length, "the length of a batch")
        if not rows:
            raise ExtentError("a batch must hold at least one index")
        self._check_entries()
        numbers = self._numbers_in(rows)
        # Raised here, and not when the first batch is read.
        with memory_for(numbers, "numbers"):
            tables = self._numbering.tables(self.places, rows)
        return _in_memory(tables, numbers)

    def _check_entries(self) -> None:
        if not fits_arrays(self._shape):
            raise SizeOverflowError(
                f"indices of the box {self._shape.extents} at {self._shape.origin} do not fit into 64 bits"
            )

    def blocks(self) -> "Iterator[Indices[IndexT_co]]":
        """Return an iterator over the same indices in the same order, those of one smooth block at a time.

        Where a jagged shape is worked on box by box, this costs one step per block, as `Shape.blocks` does.

        Raises
        ------
        JaggedModeError
            For a jagged shape in the order "F", in which no block has its indices together.
        StepError
            If the run does not take index after index.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> [len(block) for block in Shape.jagged([4, 4, 2]).indices()[1:].blocks()]
        [7, 2]
        """
        places = self.places
        if places.step != 1:
            raise StepError(f"blocks have index after index, but this run has the step {places.step}")
        flat = self._shape
        if isinstance(flat, SmoothCommon):
            return iter((self,) if places else ())
        if self._order != "C":
            raise JaggedModeError(
                'in the order "F" the indices of a block of a jagged shape are not together'
            )
        return self._blocks_of(flat, places)

    def _blocks_of(self, flat: Flat, places: range) -> "Iterator[Indices[IndexT_co]]":
        before = 0
        for block in blocks_of(flat):
            part = range(max(places.start - before, 0), min(places.stop - before, block.size))
            if part:
                yield Indices(block, "C", part if len(part) < block.size else None)
            before += block.size
            if before >= places.stop:
                return

    def iterator(self) -> "IndexIterator[IndexT_co]":
        """Return a running iterator, with a position and an origin that can be set."""
        return IndexIterator(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Indices):
            return NotImplemented
        mine, theirs = cast("Indices[Index]", self), cast("Indices[Index]", other)
        # As for ranges: equal if they hold the same indices in the same order.
        same_order = mine.order == theirs.order or mine._shape.rank < 2
        if same_order and mine.places == theirs.places and mine._shape == theirs._shape:
            return True
        if mine.size != theirs.size or mine._ends() != theirs._ends():
            return False
        outlines = mine._outline(), theirs._outline()
        if same_order and None not in outlines:
            return outlines[0] == outlines[1]
        return all(map(operator.eq, mine, theirs))

    def __hash__(self) -> int:
        return hash((self.size, self._ends()))

    def __dask_tokenize__(self) -> tuple[object, ...]:
        """Return what Dask names the indices by: equal ones of up to 2**16 have equal tokens.

        More are named by shape, order and places: the same indices of another shape may have another token.
        """
        if self.size <= _LISTED:
            return "tensorwrapper.Indices", repr(list(self))
        order = self._order if self._shape.rank > 1 else "C"
        return "tensorwrapper.Indices", self._shape.kind, *self._shape.token(), order, repr(self.places)

    def _ends(self) -> tuple[Index, ...]:
        """Return the first and the last index."""
        places = self.places
        return (self._at(places[0]), self._at(places[-1])) if places else ()

    def _outline(self) -> tuple[tuple[int, int], ...] | None:
        """Return the range of every mode that begins anew within a run of consecutive indices of a box.

        With the ends of the run they tell all of it, so runs of any length compare; None for other runs.
        """
        shape, places = self._shape, self.places
        if not places or abs(places.step) != 1 or not isinstance(shape, SmoothCommon):
            return None
        ranges = list(zip(shape.origin, shape.extents, strict=True))
        same = [a == b for a, b in zip(*self._ends(), strict=True)]
        if self._order == "F":
            ranges.reverse()
            same.reverse()
        # Modes before the first that changes are constant, and that mode does not wrap around.
        return tuple(ranges[same.index(False) + 1 :]) if False in same else ()

    def to_svg(self) -> str:
        """Return a picture of the last two modes, as SVG: the later indices come, the darker a part is.

        A few indices have their numbers, and a line leads through them. Of many rows, or of a large box, the
        picture is made of a sample: it takes the time of 10^5 indices, however many there are.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> Shape(2, 3).indices(order="F").to_svg().startswith("<svg")
        True
        """
        from tensorwrapper.shape.pictures._indices import draw_indices  # noqa: PLC0415 - when it is drawn

        return draw_indices(self._shape, self._order, self.places, self._at).to_svg()

    def __repr__(self) -> str:
        places = self.places
        shown = [str(self._at(place)) for place in places[:4]]
        return f"Indices([{', '.join(shown)}{', ...' if places[4:] else ''}])"

    def __getstate__(self) -> tuple[Flat, Order, range | None]:
        return self._shape, self._order, self._places

    def __setstate__(self, state: tuple[Flat, Order, range | None]) -> None:
        for name, value in zip(("_shape", "_order", "_places", "_numbers"), (*state, None), strict=True):
            object.__setattr__(self, name, value)


def _in_memory(tables: Iterator[IntArray], numbers: int) -> Iterator[IntArray]:
    with memory_for(numbers, "numbers"):
        yield from tables


def _checked(key: slice) -> slice:
    """Return a slice with bounds and step as integers."""
    bounds = (("first position", key.start), ("last position", key.stop), ("step", key.step))
    start, stop, step = (None if n is None else to_int(n, f"the {what} of a slice") for what, n in bounds)
    if step == 0:
        raise StepError("the step of a slice of a run must not be 0")
    return slice(start, stop, step)


@final
class IndexIterator(Shown, Iterator[IndexT_co], Generic[IndexT_co]):
    """A running iterator over `Indices`, with a position and an origin that can be set while it runs.

    It is the one thing here that changes, so it belongs to one thread, and it does not pickle.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> it = Shape(2, 2).indices().iterator()
    >>> next(it), it.position, it.remaining
    ((0, 0), 1, 3)
    >>> it.origin = (10, 20)
    >>> next(it)
    (10, 21)
    >>> it.position = 0
    >>> list(it)
    [(10, 20), (10, 21), (11, 20), (11, 21)]
    """

    __slots__ = ("_indices", "_position", "_source")

    def __init__(self, indices: Indices[IndexT_co]) -> None:
        self._indices = indices
        self._position = 0
        self._source: Iterator[IndexT_co] = iter(indices)

    @property
    def position(self) -> int:
        """Number of indices before the next one, from 0 to their number; setting it jumps there.

        Setting it takes as long as finding one index, and works after the end, too. A position outside raises
        `OutOfBoundsError`, and the iterator does not move.
        """
        return self._position

    @position.setter
    def position(self, position: SupportsIndex) -> None:
        number, size = to_int(position, "a position"), self._indices.size
        if not 0 <= number <= size:
            raise OutOfBoundsError(f"position {number} is outside [0, {size}] of a run of {size} indices")
        self._go(self._indices, number)

    @property
    def remaining(self) -> int:
        """Number of remaining indices, as a Python integer of any size."""
        return self._indices.size - self._position

    @property
    def indices(self) -> Indices[IndexT_co]:
        """The sequence that is being walked."""
        return self._indices

    @property
    def origin(self) -> IndexT_co:
        """The origin of the indices still to come; setting it keeps the position."""
        return self._indices.origin

    @origin.setter
    def origin(self, origin: Iterable[SupportsIndex]) -> None:
        self._go(self._indices.translate_to(origin), self._position)

    def _go(self, indices: Indices[IndexT_co], position: int) -> None:
        self._source = iter(indices[position:] if position else indices)
        self._indices, self._position = indices, position

    def take(self, count: SupportsIndex | None = None) -> IntArray:
        """Return the next indices as an (n, rank) int64 array, made in array operations; go on behind them.

        Parameters
        ----------
        count
            How many; fewer come where fewer are left. Not given: all that are left.

        Raises
        ------
        ExtentError
            If `count` is negative.
        SizeOverflowError
            If an index has entries that int64 does not hold, or the table is more than memory holds; the
            iterator stays where it is.

        Examples
        --------
        >>> from tensorwrapper import Shape
        >>> it = Shape(2, 2).indices().iterator()
        >>> it.take(3).tolist(), it.position
        ([[0, 0], [0, 1], [1, 0]], 3)
        """
        ahead = self.ahead(count)
        table = ahead.to_numpy()
        self.position = self._position + len(table)
        return table

    def ahead(self, count: SupportsIndex | None = None) -> Indices[IndexT_co]:
        """Return the indices that are still to come, or the next `count` of them, as a sequence; O(1)."""
        stop = None if count is None else self._position + to_count(count, "a number of indices")
        return self._indices[self._position : stop]

    def __iter__(self) -> "IndexIterator[IndexT_co]":
        return self

    def __next__(self) -> IndexT_co:
        index = next(self._source)
        self._position += 1
        return index

    def __length_hint__(self) -> int:
        # A hint beyond what Python can count would be an error where any hint will do.
        return min(self.remaining, sys.maxsize)

    def __reduce__(self) -> tuple[object, ...]:
        raise ConversionError("a running iterator does not pickle; pickle its indices and its position")
