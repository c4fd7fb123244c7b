"""`Directory`: which records a file has, by the names of the tensors in them. Pure."""

from collections.abc import Callable, Sequence
from typing import TypeAlias, final

import attrs
import numpy as np

from tensorwrapper.errors import DataFileError
from tensorwrapper.store._format import ALIGNMENT, HEADER_BYTES, check_name
from tensorwrapper.typing import Array, IntArray

__all__ = ["Directory", "Place", "Row", "pack_rows", "unpack_rows"]


@final
@attrs.frozen
class Place:
    """Where a record lies."""

    start: int
    length: int
    """Bytes of its message."""

    @property
    def stop(self) -> int:
        """Where the next record may start."""
        return self.start + HEADER_BYTES + self.length


Row: TypeAlias = tuple[str, Place, int, int]
"""Name (empty for a record about the file), place, number of the piece, and how many there are."""


@final
class Directory:
    """The records that were found, and what is known of the file as a whole."""

    __slots__ = (
        "_entries",
        "_load",
        "_may_have",
        "_metadata",
        "_n_loaded",
        "_partial",
        "_rows_at",
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
        self._metadata: Place | None = None
        self._load: Callable[[], Directory] | None = None
        self._may_have: Callable[[str], bool] | None = None
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

    @classmethod
    def deferred(
        cls,
        chain: list[tuple[int, int]],
        before: int,
        end: int,
        *,
        load: "Callable[[], Directory]",
        may_have: Callable[[str], bool],
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
        rows_at
            Reads the rows of the index that starts at a place; None if it is damaged.
        """
        new = cls()
        new.chain, new.before, new.end = chain, before, end
        new._load, new._may_have, new._rows_at = load, may_have, rows_at
        return new

    @property
    def entries(self) -> dict[str, tuple[Place, ...]]:
        """The pieces of every tensor that is there as a whole."""
        self._complete()
        return self._entries

    @property
    def metadata(self) -> Place | None:
        """What was said last of the file as a whole."""
        if self._metadata is None:
            self._complete()
        return self._metadata

    def has(self, name: object) -> bool:
        """Return whether there is a tensor of this name; O(log n) where nothing was read yet."""
        if name in self._entries:
            return True
        if self._may_have is None or not isinstance(name, str) or not self._may_have(name):
            return False
        return name in self.entries

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
        self._load = self._may_have = self._rows_at = None
        self._entries, self._metadata, self._partial = whole._entries, whole._metadata, whole._partial
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
        return (*torn, *unfinished, *self.complaints)

    def add(self, row: Row) -> None:
        """Add a record that lies after all others.

        Raises
        ------
        DataFileError
            If there is a tensor of this name, or a piece that should come before is missing.
        """
        name, place, piece, pieces = row
        if not name:
            self._metadata = place
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


def pack_rows(rows: Sequence[Row]) -> tuple[Array, Array]:
    """Return the table of an index and its names: the bytes of all of them, one after the other."""
    encoded = [name.encode() for name, _, _, _ in rows]
    table = np.empty((len(rows), 5), dtype="<i8")
    if rows:
        table[:, 0] = np.cumsum([len(name) for name in encoded])
        table[:, 1:] = [(place.start, place.length, piece, pieces) for _, place, piece, pieces in rows]
    return table, np.frombuffer(b"".join(encoded), dtype=np.uint8)


def unpack_rows(table: IntArray, names: bytes, begin: int, end: int) -> list[Row]:
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
    rows: list[Row] = []
    first = 0
    for stop, start, length, piece, total in table.tolist():
        try:
            name = names[first:stop].decode()
        except UnicodeDecodeError as error:
            raise DataFileError(f"the index has a name that is not UTF-8: {error.reason}") from error
        rows.append((check_name(name) if name else "", Place(start, length), piece, total))
        first = stop
    return rows
