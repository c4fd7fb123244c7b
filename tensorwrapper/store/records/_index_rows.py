"""Convert records to the tables of an index, and back. Does no I/O."""

import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise, repeat
from operator import attrgetter, itemgetter
from typing import Final, NoReturn, TypeAlias, final, overload

import numpy as np

from tensorwrapper._tensor_names import NAME_BYTES, check_name
from tensorwrapper._value_class import frozen, slot_setters
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.records._format import (
    ALIGNMENT,
    HEADER_BYTES,
    MOST_ROWS,
)
from tensorwrapper.typing import Array, IntArray

_REFUSED: Final = bytes([*range(32), 127, *b"/\\"])
"""ASCII bytes that names cannot contain."""

_DOTS: Final = frozenset((".", ".."))
"""Names that stand for folders."""

_FEW: Final = 32
"""Rows up to which a loop takes less time than array operations, of which each takes microseconds."""


@final
@frozen
class Place:
    """Place of a record."""

    start: int
    length: int
    """Size of its message in bytes."""

    def __init__(self, start: int, length: int) -> None:
        _set_start(self, start)
        _set_length(self, length)

    @property
    def stop(self) -> int:
        """Smallest possible start of the next record."""
        return self.start + HEADER_BYTES + self.length


_set_start, _set_length = slot_setters(Place, "start", "length")

Row: TypeAlias = tuple[str, Place, int, int, int | None]
"""Name (empty for a record about the file), place, number of the piece, number of pieces, and for an
extension the number of previous rows of the tensor."""


@final
@frozen(eq=False)
class Listing:
    """Columns for records about the file, and for tensors and extensions in one record each: the usual case.

    Opening a file with 10^5 records creates no object per record for the garbage collector.
    """

    names: list[str]
    starts: IntArray
    lengths: IntArray
    afters: IntArray | None = None
    """Number of rows before each extension, and -1 for other records; None without extensions."""

    def __len__(self) -> int:
        return len(self.names)

    def place(self, number: int) -> Place:
        """Return the place of a record."""
        return Place(self.starts.item(number), self.lengths.item(number))

    def rows(self) -> list[Row]:
        """Return a row for each record."""
        after: Iterable[int | None] = repeat(None) if self.afters is None else _afters(self.afters)
        return _whole_rows(self.names, self.starts, self.lengths, after)


def _whole_rows(
    names: Iterable[str], starts: IntArray, lengths: IntArray, after: Iterable[int | None]
) -> list[Row]:
    places = map(Place, starts.tolist(), lengths.tolist())
    return list(zip(names, places, repeat(0), repeat(1), after, strict=False))


_ONE: Final = (1).to_bytes(8, sys.byteorder)


@final
class Extensions(Sequence[Row]):
    """The extensions of one tensor, in order: columns as in an index, and rows that were added since."""

    __slots__ = ("_afters", "_later", "_lengths", "_starts", "name")

    def __init__(self, name: str, rows: Iterable[Row] = ()) -> None:
        self.name = name
        self._starts = self._lengths = self._afters = np.zeros(0, np.int64)
        self._later: list[Row] = list(rows)

    def add_columns(self, starts: IntArray, lengths: IntArray, afters: IntArray) -> None:
        """Add extensions of one record each, in order."""
        if self._later or len(self._starts):
            self._later += _whole_rows(repeat(self.name), starts, lengths, afters.tolist())
        else:
            self._starts, self._lengths, self._afters = starts, lengths, afters

    def extend(self, rows: Iterable[Row]) -> None:
        """Add rows."""
        self._later.extend(rows)

    def __len__(self) -> int:
        return len(self._starts) + len(self._later)

    @overload
    def __getitem__(self, key: int) -> Row: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[Row]: ...
    def __getitem__(self, key: int | slice) -> Row | Sequence[Row]:
        if isinstance(key, slice):
            return list(self)[key]
        listed = len(self._starts)
        number = key + len(self) if key < 0 else key
        if not 0 <= number < listed:
            return self._later[key if key < 0 else number - listed]
        place = Place(self._starts.item(number), self._lengths.item(number))
        return self.name, place, 0, 1, self._afters.item(number)

    def __iter__(self) -> Iterator[Row]:
        listed = _whole_rows(repeat(self.name), self._starts, self._lengths, self._afters.tolist())
        return iter([*listed, *self._later])

    @property
    def columns(self) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """Start, length, number of pieces and number of rows before, of each record."""
        # As `np.broadcast_to`, in a twentieth of the time.
        ones: IntArray = np.ndarray((len(self._starts),), np.int64, _ONE, 0, (0,))
        listed = (self._starts, self._lengths, ones, self._afters)
        if not self._later:
            return listed
        rows = [(row[1].start, row[1].length, row[3], row[4] or 0) for row in self._later]
        one, two, three, four = [
            np.concatenate(pair) for pair in zip(listed, np.array(rows, np.int64).T, strict=True)
        ]
        return one, two, three, four


def furthest(places: Sequence[Place], grown: Sequence[Row]) -> Place:
    """Return the place of the last record in the file, of a tensor and its extensions."""
    last = max(places, key=attrgetter("start"))
    if not grown:
        return last
    rows = grown if isinstance(grown, Extensions) else Extensions(grown[0][0], grown)
    starts = rows.columns[0]
    number = int(starts.argmax())
    return rows[number][1] if int(starts[number]) > last.start else last


def pack_rows(rows: Sequence[Row]) -> tuple[Array, Array, Array | None]:
    """Return the table of an index, its names, and the number of rows before each extension.

    The names are concatenated bytes. The last table has -1 for records that are not extensions; it is None
    without extensions.
    """
    encoded = [*map(str.encode, map(itemgetter(0), rows))]
    table = np.empty((len(rows), 5), dtype="<i8")
    # By columns: a tuple for each row is work for the garbage collector.
    table[:, 0] = [*accumulate(map(len, encoded))]
    table[:, 1] = [*map(attrgetter("start"), map(itemgetter(1), rows))]
    table[:, 2] = [*map(attrgetter("length"), map(itemgetter(1), rows))]
    table[:, 3] = [*map(itemgetter(2), rows)]
    table[:, 4] = [*map(itemgetter(3), rows)]
    after = [-1 if row[4] is None else row[4] for row in rows]
    grown = np.array(after, dtype="<i8") if max(after, default=-1) >= 0 else None
    return table, np.frombuffer(b"".join(encoded), dtype=np.uint8), grown


def _check_grown(grown: IntArray | None, count: int) -> None:
    if grown is not None and (len(grown) != count or int(grown.min()) < -1 or int(grown.max()) > MOST_ROWS):
        raise DataFileError("the index has extensions that do not match its records, or are too large")


def _afters(grown: IntArray) -> list[int | None]:
    return [None if n < 0 else n for n in grown.tolist()]


def _plain_names(names: bytes, sizes: IntArray, ends: IntArray) -> list[str] | None:
    """Return the names if all are ASCII and valid; None if they must be checked one by one.

    `sizes` and `ends` are the sizes and ends of the names in bytes.
    """
    if int(sizes.max()) > NAME_BYTES or not names.isascii() or names.translate(None, _REFUSED) != names:
        return None
    text = names.decode("ascii")
    found: list[str] = []
    # By runs of one length, as the records that extend a tensor repeat its name.
    firsts = [0, *(np.flatnonzero(sizes[1:] != sizes[:-1]) + 1).tolist(), len(sizes)]
    if len(firsts) > _FEW:
        stops = ends.tolist()
        found = [text[first:stop] for first, stop in zip([0, *stops], stops, strict=False)]
        return None if int(sizes.min()) <= 2 and not _DOTS.isdisjoint(found) else found
    for first, last in pairwise(firsts):
        size, stop = sizes.item(first), ends.item(last - 1)
        begin = stop - size * (last - first)
        if text[begin : stop - size] == text[begin + size : stop]:
            run, times = [text[begin : begin + size]], last - first
        else:
            run, times = [text[place : place + size] for place in range(begin, stop, size)], 1
        if not _DOTS.isdisjoint(run):
            return None
        if found:
            # A list of copies would be made and copied.
            found.extend(run if times == 1 else repeat(run[0], times))
        else:
            found = run * times
    return found


def _refuse(table: IntArray, n_bytes: int, begin: int, end: int) -> NoReturn:
    """Raise the error of an invalid table of records."""
    ends, starts, lengths, _, _ = table.T
    # Check bounds before adding, so that no sum overflows.
    if int(lengths.min()) < 0 or int(lengths.max()) > end or int(starts.min()) < begin:
        raise DataFileError("the index has a position outside its part of the file")
    if int(starts.max()) > end or (starts % ALIGNMENT).any():
        raise DataFileError(f"the index has a start that is not a multiple of {ALIGNMENT}, or too large")
    stops = starts + lengths + HEADER_BYTES
    if (starts[1:] < stops[:-1]).any() or int(stops[-1]) > end:
        raise DataFileError("the index has records that overlap, or exceed its part of the file")
    if int(ends[0]) < 0 or (ends[1:] < ends[:-1]).any() or int(ends[-1]) != n_bytes:
        raise DataFileError("the index has names that do not add up")
    raise DataFileError("the index has piece numbers that exceed the number of pieces")


def unpack_rows(
    table: IntArray, names: bytes, begin: int, end: int, grown: IntArray | None = None
) -> Listing | list[Row]:
    """Return the rows of an untrusted index, for records between `begin` and `end`.

    Raises
    ------
    DataFileError
        If a record is out of bounds or overlaps another, or its name or number is invalid.
    """
    if not len(table):
        return []
    if len(table) <= _FEW:
        rows = table.tolist()
        if not _is_sound(rows, len(names), begin, end):
            _refuse(table, len(names), begin, end)
        _check_grown(grown, len(table))
        return _one_by_one(rows, names, grown)
    # Columns that are contiguous are compared in a third of the time; but new memory takes longer than that.
    ends, pieces, totals = table[:, 0], table[:, 3], table[:, 4]
    starts, lengths = table[:, 1].copy(), table[:, 2].copy()
    # As unsigned numbers, negative numbers exceed all others. Sums of bounded numbers do not overflow.
    most = [int(own.view(np.uint64).max()) for own in (ends, starts, lengths)]
    sizes, stops = ends.copy(), starts + lengths
    sizes[1:] -= ends[:-1]
    stops += HEADER_BYTES
    is_whole = not pieces.any() and bool((totals == 1).all())
    if (
        most[0] > len(names)
        or max(most[1:]) > end
        or int(sizes.min()) < 0
        or ends[-1] != len(names)
        or starts[0] < begin
        or int(np.bitwise_or.reduce(starts)) % ALIGNMENT
        or (starts[1:] < stops[:-1]).any()
        or stops[-1] > end
        or not (is_whole or ((pieces >= 0) & (pieces < totals)).all())
    ):
        _refuse(table, len(names), begin, end)
    _check_grown(grown, len(table))
    if grown is not None and (grown[sizes == 0] >= 0).any():
        raise DataFileError("the index has an extension of metadata, which has no rows")
    plain = _plain_names(names, sizes, ends) if is_whole else None
    if plain is not None:
        return Listing(plain, starts, lengths, grown)
    return _one_by_one(table.tolist(), names, grown)


def _is_sound(rows: Sequence[Sequence[int]], n_bytes: int, begin: int, end: int) -> bool:
    """Return whether no record is out of bounds or overlaps another, and all names and numbers add up."""
    named, free = 0, begin
    for stop, start, length, piece, total in rows:
        if not (named <= stop <= n_bytes and free <= start and length >= 0 and 0 <= piece < total):
            return False
        if start % ALIGNMENT:
            return False
        named, free = stop, start + length + HEADER_BYTES
        if free > end:
            return False
    return named == n_bytes


def _one_by_one(table: Sequence[Sequence[int]], names: bytes, grown: IntArray | None) -> list[Row]:
    rows: list[Row] = []
    after = [None] * len(table) if grown is None else _afters(grown)
    first = 0
    for (stop, start, length, piece, total), before in zip(table, after, strict=True):
        try:
            name = names[first:stop].decode()
        except UnicodeDecodeError as error:
            raise DataFileError(f"the index has a name that is not UTF-8: {error.reason}") from error
        if not name and before is not None:
            raise DataFileError("the index has an extension of metadata, which has no rows")
        rows.append((check_name(name) if name else "", Place(start, length), piece, total, before))
        first = stop
    return rows
