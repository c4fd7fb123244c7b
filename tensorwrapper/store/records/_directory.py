"""`Directory`: which records a file has, by the names of the tensors in them. Pure."""

from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Final, TypeAlias, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.records._format import (
    ALIGNMENT,
    HEADER_BYTES,
    MOST_ROWS,
    NAME_BYTES,
    check_name,
)
from tensorwrapper.typing import Array, IntArray

__all__ = ["Directory", "Place", "Row", "pack_rows", "unpack_rows"]


_REFUSED: Final = bytes([*range(32), 127, *b"/\\"])
"""Bytes of ASCII that no name has."""


@final
@frozen
class Place:
    """Where a record lies."""

    start: int
    length: int
    """Bytes of its message."""

    @property
    def stop(self) -> int:
        """Where the next record may start."""
        return self.start + HEADER_BYTES + self.length


Row: TypeAlias = tuple[str, Place, int, int, int | None]
"""Name (empty for a record about the file), place, number of the piece, how many pieces there are, and for an
extension how many rows of the tensor come before it."""


@final
class Directory:
    """The records that were found, and what is known of the file as a whole."""

    __slots__ = (
        "_entries",
        "_extensions",
        "_find",
        "_load",
        "_may_have",
        "_metadata",
        "_n_loaded",
        "_partial",
        "_rows_at",
        "_unfinished",
        "before",
        "chain",
        "complaints",
        "end",
        "is_unchecked",
        "rows",
        "torn",
    )

    def __init__(self) -> None:
        self._entries: dict[str, tuple[Place, ...]] = {}
        self._extensions: dict[str, list[Row]] = {}
        self._metadata: Place | None = None
        self._load: Callable[[], Directory] | None = None
        self._may_have: Callable[[str], bool] | None = None
        self._find: Callable[[str], Row | None] | None = None
        self._rows_at: Callable[[int], list[Row] | None] | None = None
        self._n_loaded = 0  # rows that were read, and not added, before all were
        self.before = 0
        """How many rows come before `rows`: they are in indices, and were not read."""
        self.rows: list[Row] = []
        self.chain: list[tuple[int, int]] = []
        """For each index that counts: where it starts, and the number of the first row that it lists."""
        self.end = 0
        """Where the next record goes."""
        self.torn: str | None = None
        """Why what lies from `end` on is no record; None if nothing does."""
        self.is_unchecked = False
        """Whether what lies there may be sound: its checksum cannot be computed here."""
        self.complaints: list[str] = []
        """What was found damaged and passed over."""
        self._partial: dict[str, list[Place]] = {}
        self._unfinished: dict[str, list[Row]] = {}

    @classmethod
    def deferred(
        cls,
        chain: list[tuple[int, int]],
        before: int,
        end: int,
        *,
        load: "Callable[[], Directory]",
        may_have: Callable[[str], bool],
        find: Callable[[str], Row | None],
        rows_at: "Callable[[int], list[Row] | None]",
    ) -> "Directory":
        """Return a directory of records that are listed and not read yet.

        Parameters
        ----------
        chain, before, end
            As the attributes.
        load
            Reads all of it.
        may_have
            Returns whether a name may be among them; False is certain.
        find
            Returns the last record of a name; None if it was not found.
        rows_at
            Reads the rows of the index that starts at a place; None if it is damaged.
        """
        new = cls()
        new.chain, new.before, new.end = chain, before, end
        new._load, new._may_have, new._find, new._rows_at = load, may_have, find, rows_at
        return new

    @property
    def entries(self) -> dict[str, tuple[Place, ...]]:
        """The pieces of every tensor that is there as a whole, as it was begun."""
        self._complete()
        return self._entries

    @property
    def extensions(self) -> Mapping[str, Sequence[Row]]:
        """The records that were added to tensors, in order; of those that have none there is no entry."""
        self._complete()
        return self._extensions

    @property
    def metadata(self) -> Place | None:
        """What was said last of the file as a whole."""
        if self._metadata is None:
            self._complete()
        return self._metadata

    def has(self, name: object) -> bool:
        """Return whether there is a tensor of this name; O(log n) where nothing was read yet."""
        if name in self._entries or name in self._extensions:
            return True
        if self._may_have is None or not isinstance(name, str) or not self._may_have(name):
            return False
        return self._last(name) is not None or name in self.entries

    def newest(self, name: str) -> Row | None:
        """Return the last extension of a tensor, as far as it was read; O(1)."""
        known = self._extensions.get(name)
        return known[-1] if known else None

    def tip(self, name: str) -> tuple[Row, ...] | None:
        """Return the record that was added last to a tensor: where it was cut and not extended, all pieces.

        None if there is no such tensor. Where nothing was read yet, only as much is read as finds it.
        """
        newest = self.newest(name)
        if newest is None and name not in self._entries:
            if self._may_have is not None and not self._may_have(name):
                return None
            newest = self._last(name)
            if newest is None:
                self._complete()
                newest = self.newest(name)
        if newest is not None:
            return (newest,)
        places = self._entries.get(name)
        if places is None:
            return None
        return tuple([(name, place, piece, len(places), None) for piece, place in enumerate(places)])

    def _last(self, name: str) -> Row | None:
        """Return the last record of a name that was not read yet, if it is one that stands for itself."""
        if self._find is None or name in self._entries:
            return None
        found = self._find(name)
        if found is None or found[3] == 1:
            return found
        # Of what was cut, the pieces may lack their last one; and what was begun in pieces needs all.
        return found if found[4] is not None and found[2] == found[3] - 1 else None

    def rows_from(self, indices: Sequence[tuple[int, int]]) -> list[Row] | None:
        """Return all rows from the first of some links at the end of the chain on; None if one is damaged."""
        first = indices[0][1]
        earlier: list[Row] = []
        # Those from `before` on are at hand.
        for start in [start for start, number in indices if number < self.before]:
            found = None if self._rows_at is None else self._rows_at(start)
            if found is None:
                return None
            earlier += found
        if earlier:
            self.rows, self._n_loaded, self.before = earlier + self.rows, self._n_loaded + len(earlier), first
        return self.rows[first - self.before :]

    def _complete(self) -> None:
        if self._load is None:
            return
        whole, later = self._load(), self.rows[self._n_loaded :]
        self._load = self._may_have = self._find = self._rows_at = None
        self._entries, self._metadata, self._partial = whole._entries, whole._metadata, whole._partial
        self._extensions, self._unfinished = whole._extensions, whole._unfinished
        self.rows, self.before = whole.rows, 0
        self.complaints += whole.complaints
        end = self.end
        for row in later:
            self.add(row)
        self.end = end

    def losses(self) -> tuple[str, ...]:
        """Return what was begun and is not there as a whole, or was found damaged, a sentence each."""
        torn = [] if self.torn is None else [f"{self.torn}: it and what follows is lost"]
        unfinished = [
            f"the tensor {name!r} is lost: it has only {len(parts)} of its pieces"
            for name, parts in self._partial.items()
            if name not in self._entries
        ]
        unfinished += [
            f"an extension of the tensor {name!r} is lost: it has only {len(parts)} of its pieces"
            for name, parts in self._unfinished.items()
        ]
        return (*torn, *unfinished, *self.complaints)

    def add(self, row: Row) -> None:
        """Add a record that lies after all others.

        Raises
        ------
        DataFileError
            If there is a tensor of this name, or none that is extended, or a piece that should come before is
            missing.
        """
        name, place, piece, pieces, after = row
        if not name:
            self._metadata = place
        elif after is not None:
            self._extend(row, after)
        elif name in self._entries:
            raise DataFileError(f"the record at {place.start} repeats the name {name!r}")
        elif pieces == 1:
            self._entries[name] = (place,)
        else:
            # A piece 0 begins anew: what was there was left unfinished by a writer that died.
            parts = self._partial[name] = [] if piece == 0 else self._partial.get(name, [])
            if len(parts) != piece:
                raise DataFileError(
                    f"the record at {place.start} is piece {piece} of {name!r}, after {len(parts)} pieces"
                )
            parts.append(place)
            if len(parts) == pieces:
                self._entries[name] = tuple(self._partial.pop(name))
        self.rows.append(row)
        self.end = place.stop

    def add_all(self, rows: Sequence[Row]) -> None:
        """Add records that lie after all others, in order; it raises as `add` does."""
        new = {row[0]: (row[1],) for row in rows if row[3] == 1 and row[4] is None and row[0]}
        of_file = [row[1] for row in rows if not row[0]]
        if len(new) + len(of_file) < len(rows) or not self._entries.keys().isdisjoint(new):
            for row in rows:
                self.add(row)
        elif rows:
            self._entries.update(new)
            if of_file:
                self._metadata = of_file[-1]
            self.rows += rows
            self.end = rows[-1][1].stop

    def _extend(self, row: Row, after: int) -> None:
        name, place, piece, pieces, _ = row
        # What was not read yet was asked for by whoever adds to it.
        if self._load is None and name not in self._entries:
            raise DataFileError(f"the record at {place.start} extends {name!r}, which is not there")
        parts = [] if piece == 0 else self._unfinished.get(name, [])
        before = parts or self._extensions.get(name)
        if before and after <= (before[-1][4] or 0):
            # Each has a row at least, so that none is passed over by whoever reads all rows.
            raise DataFileError(
                f"the record at {place.start} extends {name!r} at row {after}, after one at {before[-1][4]}"
            )
        if len(parts) != piece:
            raise DataFileError(
                f"the record at {place.start} is piece {piece} of an extension of {name!r}, after "
                f"{len(parts)} pieces"
            )
        parts.append(row)
        if len(parts) == pieces:
            self._extensions.setdefault(name, []).extend(parts)
            self._unfinished.pop(name, None)
        else:
            self._unfinished[name] = parts


def pack_rows(rows: Sequence[Row]) -> tuple[Array, Array, Array | None]:
    """Return the table of an index, its names, and how many rows come before each extension.

    The names are the bytes of all of them, one after the other. Of what is no extension the last table has
    -1; it is None if there is none.
    """
    encoded = [row[0].encode() for row in rows]
    table = np.empty((len(rows), 5), dtype="<i8")
    if rows:
        table[:, 0] = np.cumsum([len(name) for name in encoded])
        table[:, 1:] = [(place.start, place.length, piece, pieces) for _, place, piece, pieces, _ in rows]
    after = [-1 if row[4] is None else row[4] for row in rows]
    grown = np.array(after, dtype="<i8") if max(after, default=-1) >= 0 else None
    return table, np.frombuffer(b"".join(encoded), dtype=np.uint8), grown


def _unpack_grown(grown: IntArray | None, count: int) -> list[int | None]:
    if grown is None:
        return [None] * count
    if len(grown) != count or int(grown.min()) < -1 or int(grown.max()) > MOST_ROWS:
        raise DataFileError("the index has extensions that do not go with its records, or are too large")
    return [None if n < 0 else n for n in grown.tolist()]


def _plain_names(names: bytes, ends: IntArray) -> list[str] | None:
    """Return the names if all are text of ASCII that `check_name` takes; None if they are to be looked at."""
    if not names.isascii() or names.translate(None, _REFUSED) != names:
        return None
    counts = np.diff(ends, prepend=0)
    if int(counts.min()) < 0 or int(counts.max()) > NAME_BYTES:
        return None
    text, stops = names.decode("ascii"), ends.tolist()
    found = [text[first:stop] for first, stop in zip([0, *stops], stops, strict=False)]
    return None if "." in found or ".." in found else found


def unpack_rows(
    table: IntArray, names: bytes, begin: int, end: int, grown: IntArray | None = None
) -> list[Row]:
    """Return the rows of a foreign index, of records that lie between `begin` and `end`.

    Raises
    ------
    DataFileError
        If one lies elsewhere, or over another, or its name or number is not acceptable.
    """
    if not len(table):
        return []
    ends, starts, lengths, pieces, totals = table.T
    # Bounded before anything is added to it: no sum can overflow.
    if int(lengths.min()) < 0 or int(lengths.max()) > end or int(starts.min()) < begin:
        raise DataFileError("the index names a place outside of its part of the file")
    if int(starts.max()) > end or (starts % ALIGNMENT).any():
        raise DataFileError(f"the index names a start that is no multiple of {ALIGNMENT}, or too large")
    stops = starts + lengths + HEADER_BYTES
    if (starts[1:] < stops[:-1]).any() or int(stops[-1]) > end:
        raise DataFileError("the index has records that overlap, or reach beyond their part of the file")
    if int(ends[0]) < 0 or (ends[1:] < ends[:-1]).any() or int(ends[-1]) != len(names):
        raise DataFileError("the index has names that do not add up")
    if int(pieces.min()) < 0 or (pieces >= totals).any():
        raise DataFileError("the index has pieces beyond their number")
    after = _unpack_grown(grown, len(table))
    plain = _plain_names(names, ends)
    if plain is not None and (totals == 1).all():
        # Most are such: a name of ASCII for each, and every tensor in one piece.
        places = map(Place, starts.tolist(), lengths.tolist())
        return list(zip(plain, places, repeat(0), repeat(1), after, strict=False))
    rows: list[Row] = []
    first = 0
    for (stop, start, length, piece, total), before in zip(table.tolist(), after, strict=True):
        try:
            name = names[first:stop].decode()
        except UnicodeDecodeError as error:
            raise DataFileError(f"the index has a name that is not UTF-8: {error.reason}") from error
        rows.append((check_name(name) if name else "", Place(start, length), piece, total, before))
        first = stop
    return rows
