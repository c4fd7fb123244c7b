"""`Directory`: which records a file has, by the names of the tensors in them. Pure."""

from collections.abc import Sequence
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
        "_partial",
        "chain",
        "complaints",
        "end",
        "entries",
        "is_unchecked",
        "metadata",
        "rows",
        "torn",
    )

    def __init__(self) -> None:
        self.entries: dict[str, tuple[Place, ...]] = {}
        """The pieces of every tensor that is there as a whole."""
        self.metadata: Place | None = None
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

    def losses(self) -> tuple[str, ...]:
        """Return what was begun and is not there as a whole, or was found damaged, a sentence each."""
        torn = [] if self.torn is None else [f"{self.torn}: it and what follows is lost"]
        unfinished = [
            f"the tensor {name!r} is lost: it has only {len(parts)} of its pieces"
            for name, parts in self._partial.items()
            if name not in self.entries
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
            self.metadata = place
        elif name in self.entries:
            raise DataFileError(f"the record at {place.start} repeats the name {name!r}")
        elif pieces == 1:
            self.entries[name] = (place,)
        else:
            # A piece 0 begins anew: what was there was left unfinished by a writer that died.
            parts = self._partial[name] = [] if piece == 0 else self._partial.get(name, [])
            if len(parts) != piece:
                raise DataFileError(
                    f"the record at {place.start} is piece {piece} of {name!r}, after {len(parts)} pieces"
                )
            parts.append(place)
            if len(parts) == pieces:
                self.entries[name] = tuple(self._partial.pop(name))
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
