"""Indices: what ``range`` is to an integer.

`Indices` is a re-iterable sequence of absolute indices, `IndexIterator` the running iterator over one,
with an origin that can be set while it runs.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Generic, SupportsIndex, cast, final, overload

import attrs
import numpy as np

from tensorwrapper._integers import MAX_INT64, to_count, to_int
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape._common import BATCH, ShapeCommon, to_index, tuples_of
from tensorwrapper.typing import Index, IndexT_co, IntArray, Order

__all__ = ["IndexIterator", "Indices"]


@final
@attrs.frozen(eq=False, repr=False)
class Indices(Sequence[IndexT_co], Generic[IndexT_co]):
    """The indices of a shape, or a run of them, in one order.

    Made by ``shape.indices()``. Length, random access, slices, reversal and membership work as for a
    ``range``; a plain ``for`` costs about what ``itertools.product`` costs.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> r = Shape(2, 3).indices()
    >>> len(r), r[4], r[-1], (1, 1) in r, r[::2]
    (6, (1, 1), (1, 2), True, Indices([(0, 0), (0, 2), (1, 1)]))
    """

    _shape: ShapeCommon
    _order: Order = "C"
    _places: range | None = attrs.field(default=None)
    _table: IntArray | None = attrs.field(default=None, init=False)

    @property
    def order(self) -> Order:
        """Which mode runs fastest."""
        return self._order

    @property
    def origin(self) -> Index:
        """The origin of the shape whose indices these are."""
        return self._shape.origin

    @property
    def places(self) -> range:
        """Which indices of the whole shape these are, counted in this order."""
        return range(self._shape.size) if self._places is None else self._places

    def __len__(self) -> int:
        length = self._length
        if length > MAX_INT64:
            raise SizeOverflowError(f"a run of {length} indices has no len: it does not fit into 64 bits")
        return length

    @property
    def _length(self) -> int:
        # Python's own len of a range stops at 64 bits.
        places = self.places
        return max(0, -((places.start - places.stop) // places.step))

    @overload
    def __getitem__(self, key: SupportsIndex) -> IndexT_co: ...
    @overload
    def __getitem__(self, key: slice) -> "Indices[IndexT_co]": ...
    def __getitem__(self, key: SupportsIndex | slice) -> "IndexT_co | Indices[IndexT_co]":
        places = self.places
        if isinstance(key, slice):
            return Indices(self._shape, self._order, places[key])
        number = to_int(key, "a position")
        try:
            place = places[number]
        except IndexError as error:
            raise OutOfBoundsError(f"position {number} is outside a run of {self._length} indices") from error
        return self._at(place)

    def _at(self, place: int) -> IndexT_co:
        if self._order == "C":
            return cast("IndexT_co", self._shape.index(place))
        if self._shape.kind == "smooth":
            modes = range(self._shape.rank - 1, -1, -1)
            return cast("IndexT_co", self._shape.permute(modes).index(place)[::-1])
        return cast("IndexT_co", tuple(self._sorted_table()[place].tolist()))

    def _sorted_table(self) -> IntArray:
        """Return all indices of a jagged shape, first mode fastest; no closed form exists, so it is kept."""
        table = self._table
        if table is None:
            self._check_int64()
            table = self._shape.indices_at(np.arange(self._shape.size, dtype=np.int64))
            table = table[np.lexsort(table.T)]
            object.__setattr__(self, "_table", table)
        return table

    def _check_int64(self) -> None:
        if self._shape.size > MAX_INT64:
            raise SizeOverflowError(f"the places of {self._shape.size} indices do not fit into 64 bits")

    def __iter__(self) -> Iterator[IndexT_co]:
        if self._places is None:
            return cast("Iterator[IndexT_co]", self._shape.walk(self._order))
        if self._shape.size > MAX_INT64:
            # No array holds such places, so each index is made by itself.
            return map(self._at, self.places)
        return cast("Iterator[IndexT_co]", tuples_of(self.batches(BATCH)))

    def __reversed__(self) -> Iterator[IndexT_co]:
        return iter(self[::-1])

    def __contains__(self, index: object) -> bool:
        if index not in self._shape:
            return False
        return self._places is None or self._place_of(cast("Iterable[SupportsIndex]", index)) in self._places

    def _place_of(self, index: Iterable[SupportsIndex]) -> int:
        numbers = to_index(index, self._shape.rank)
        if self._order == "C":
            return self._shape.ordinal(numbers)
        if self._shape.kind == "smooth":
            return self._shape.permute(range(self._shape.rank - 1, -1, -1)).ordinal(numbers[::-1])
        table = self._sorted_table()
        return int(np.argmax((table == np.array(numbers)).all(axis=1)))

    def index(self, value: object, start: int = 0, stop: int | None = None) -> int:
        """Return the position of an index in this run.

        Raises
        ------
        ValueError
            If it is not there, as for any sequence.
        """
        if value in self:
            position = self.places.index(self._place_of(cast("Iterable[SupportsIndex]", value)))
            low, high, _ = slice(start, stop).indices(self._length)
            if low <= position < high:
                return position
        raise ExtentError(f"{value!r} is not among these indices")

    def count(self, value: object) -> int:
        """Return 1 if `value` is among these indices, else 0."""
        return int(value in self)

    def translate_by(self, offset: Iterable[SupportsIndex]) -> "Indices[IndexT_co]":
        """Return the same run over the shape moved by `offset`."""
        return Indices(self._shape.translate_by(offset), self._order, self._places)

    def translate_to(self, origin: Iterable[SupportsIndex]) -> "Indices[IndexT_co]":
        """Return the same run over the shape moved to `origin`."""
        return Indices(self._shape.translate_to(origin), self._order, self._places)

    def to_numpy(self) -> IntArray:
        """Return all indices as an (n, rank) int64 array."""
        places = self.places
        self._check_int64()
        return self._rows(np.arange(places.start, places.stop, places.step, dtype=np.int64))

    def batches(self, length: SupportsIndex) -> Iterator[IntArray]:
        """Return an iterator of (n, rank) int64 arrays of at most `length` indices each."""
        step = to_count(length, "the length of a batch")
        if not step:
            raise ExtentError("a batch must hold at least one index")
        self._check_int64()
        return self._batches(step)

    def _batches(self, length: int) -> Iterator[IntArray]:
        places = self.places
        for start in range(0, len(places), length):
            part = places[start : start + length]
            yield self._rows(np.arange(part.start, part.stop, part.step, dtype=np.int64))

    def _rows(self, places: IntArray) -> IntArray:
        if self._order == "C":
            return self._shape.indices_at(places)
        if self._shape.kind == "smooth":
            return self._shape.permute(range(self._shape.rank - 1, -1, -1)).indices_at(places)[:, ::-1]
        return self._sorted_table()[places]

    def iterator(self) -> "IndexIterator[IndexT_co]":
        """Return a running iterator with a position and an origin that can be set."""
        return IndexIterator(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Indices):
            return NotImplemented
        mine, theirs = cast("Indices[Index]", self), cast("Indices[Index]", other)
        # As for ranges: equal if they hold the same indices in the same order.
        same_order = mine.order == theirs.order or mine._shape.rank < 2
        if same_order and mine.places == theirs.places and mine._shape == theirs._shape:
            return True
        if mine._ends() != theirs._ends():
            return False
        if mine._length != theirs._length:
            return False
        batches = zip(mine.batches(BATCH), theirs.batches(BATCH), strict=True)
        return all(np.array_equal(a, b) for a, b in batches)

    def __hash__(self) -> int:
        return hash(self._ends())

    def _ends(self) -> tuple[Index, ...]:
        """Return the first and the last index; works at any length, where ``len`` does not."""
        places = self.places
        return (self._at(places[0]), self._at(places[-1])) if places else ()

    def __repr__(self) -> str:
        places = self.places
        shown = [str(self._at(place)) for place in places[:4]]
        return f"Indices([{', '.join(shown)}{', ...' if places[4:] else ''}])"

    def __getstate__(self) -> tuple[ShapeCommon, Order, range | None]:
        return self._shape, self._order, self._places

    def __setstate__(self, state: tuple[ShapeCommon, Order, range | None]) -> None:
        for name, value in zip(("_shape", "_order", "_places", "_table"), (*state, None), strict=True):
            object.__setattr__(self, name, value)


@final
class IndexIterator(Iterator[IndexT_co], Generic[IndexT_co]):
    """A running iterator over `Indices`: it has a position, and an origin that can be set while it runs.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> it = Shape(2, 2).indices().iterator()
    >>> next(it), it.position
    ((0, 0), 1)
    >>> it.origin = (10, 20)
    >>> next(it)
    (10, 21)
    """

    __slots__ = ("_indices", "_position", "_source")

    def __init__(self, indices: Indices[IndexT_co]) -> None:
        self._indices = indices
        self._position = 0
        self._source: Iterator[IndexT_co] = iter(indices)

    @property
    def position(self) -> int:
        """How many indices were given out."""
        return self._position

    @property
    def indices(self) -> Indices[IndexT_co]:
        """The sequence that is being walked."""
        return self._indices

    @property
    def origin(self) -> Index:
        """The origin of the indices still to come; setting it keeps the position."""
        return self._indices.origin

    @origin.setter
    def origin(self, origin: Iterable[SupportsIndex]) -> None:
        moved = self._indices.translate_to(origin)
        self._indices = moved
        self._source = iter(moved[self._position :])

    def __iter__(self) -> "IndexIterator[IndexT_co]":
        return self

    def __next__(self) -> IndexT_co:
        index = next(self._source)
        self._position += 1
        return index

    def __length_hint__(self) -> int:
        return len(self._indices) - self._position

    def __reduce__(self) -> tuple[object, ...]:
        raise ConversionError("a running iterator does not pickle; pickle its indices and its position")
