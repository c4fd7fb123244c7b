"""`RecordReader`: messages of records as views of a mapped file."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar, final

from tensorwrapper.errors import DataFileError
from tensorwrapper.store.records._format import HEADER_BYTES, unpack_header
from tensorwrapper.store.records._index_rows import Place, Row
from tensorwrapper.store.records._pieces import join_pieces
from tensorwrapper.store.records._plain_record import PlainReader
from tensorwrapper.store.records._record import (
    FieldNames,
    RecordFacts,
    expected_message,
    only_records,
    only_tensor,
    read_message,
)
from tensorwrapper.store.system._bytes_at import read_at, size_of
from tensorwrapper.store.system._map import aligned_bytes, map_file
from tensorwrapper.store.system._system import HEAD_BYTES, refused_by_system
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message

if TYPE_CHECKING:
    from tensorwrapper.fields import Records

_T = TypeVar("_T")


@final
class RecordReader:
    """Reader of the records of an open file, which the caller closes."""

    __slots__ = ("_field", "_fields", "_file", "_is_held", "_limits", "_map", "_path", "_plain")

    def __init__(
        self,
        file: int | None,
        path: Path,
        limits: Limits,
        mapped: memoryview | None = None,
        *,
        fields: FieldNames = (),
        field: str = "",
        is_held: bool = False,
    ) -> None:
        self._fields = fields
        self._field = field
        self._file = file
        self._path = path
        self._limits = limits
        self._is_held = is_held
        self._map = memoryview(b"") if mapped is None else mapped
        self._plain = PlainReader(self._map)

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self._path

    @property
    def size(self) -> int:
        """Current size of the file in bytes."""
        return len(self._map) if self._file is None else size_of(self._file)

    @property
    def field(self) -> str:
        """The field of records to read; empty for tensors."""
        return self._field

    @property
    def limits(self) -> Limits:
        """Limits on a message."""
        return self._limits

    @property
    def mapped(self) -> memoryview:
        """The mapped file, as far as records were read; for a lasting reader the whole file."""
        return self._map

    @classmethod
    def of_size(cls, file: int, path: Path, limits: Limits, size: int) -> Self:
        """Return a reader that reads a small file at once: mapping it takes several times as long."""
        raw = read_at(file, 0, size) if 0 < size <= HEAD_BYTES else b""
        if not raw or len(raw) != size:
            return cls(file, path, limits)
        return cls(file, path, limits, memoryview(aligned_bytes(raw, path)), is_held=True)

    @property
    def is_held(self) -> bool:
        """True if the whole file was read at once.

        A map keeps its file, so that no other file gets its number. Such bytes do not: see `is_file`.
        """
        return self._is_held

    def is_file(self, read_at: Callable[[int, int], bytes]) -> bool:
        """Return True unless a file with the same number, read by this function, begins with other bytes."""
        return not self._is_held or read_at(0, len(self._map)) == self._map

    def read_at(self, place: int, size: int) -> bytes:
        """Return bytes of the file, fewer at its end."""
        if self._file is None or self._is_held:
            return bytes(self._map[place : place + size])
        return read_at(self._file, place, size)

    def mapped_at(self, place: int, size: int) -> bytes:
        """Return bytes of a record that was read, also after the file is closed."""
        return bytes(self._map[place : place + size])

    def lasting(self, place: Place) -> "RecordReader":
        """Return a reader of the file up to a record, which stays valid after the file is closed."""
        self.body(place)
        return self._of(self._fields, self._field)

    def of_field(self, place: Place, fields: FieldNames, field: str) -> "RecordReader":
        """Return a reader as `lasting` does, for one field of records."""
        self.body(place)
        return self._of(fields, field)

    def _of(self, fields: FieldNames, field: str) -> "RecordReader":
        return RecordReader(None, self._path, self._limits, self._map, fields=fields, field=field)

    def tensor(self, name: str, places: tuple[Place, ...]) -> Tensor[Any]:
        """Return the tensor of this name in these records.

        Raises
        ------
        DataFileError
            If a record is damaged, missing, or not the expected one.
        """
        return self.rows([(name, place, k, len(places), None) for k, place in enumerate(places)])

    def plain(self, start: int, length: int, name: str) -> Tensor[Any] | None:
        """Return the tensor in a record of one plain tensor and its name, as most are; None for others.

        Raises
        ------
        DataFileError
            If the record is missing.
        """
        size = len(self._map)
        stop = start + HEADER_BYTES + length
        if stop > size or (self._file is not None and stop > size_of(self._file)):
            self._reach(start, length)
        if self._limits is not DEFAULT_LIMITS:
            return None
        return self._plain.tensor(start, length, name)

    def rows(self, rows: Sequence[Row]) -> Tensor[Any]:
        """Return the tensor in these records.

        Raises
        ------
        DataFileError
            If a record is damaged, missing, or not the expected one.
        """
        pieces = [self.record(row)[0] for row in rows]
        if len(pieces) == 1:
            return pieces[0]
        try:
            return join_pieces(pieces)
        except DataFileError as error:
            raise DataFileError(f"{self._path}: the tensor {rows[0][0]!r} {error}") from error

    def piece(self, name: str, places: tuple[Place, ...], piece: int) -> tuple[Tensor[Any], Message]:
        """Return one piece of an original tensor, and its message."""
        return self.record((name, places[piece], piece, len(places), None))

    def record(self, row: Row) -> tuple[Tensor[Any], Message]:
        """Return the tensor in a record, and its message."""
        message = self._message_of(row)
        return self._read_at(row[1], lambda: only_tensor(message, self._field)), message

    def records(self, row: Row) -> "Records":
        """Return all fields in a record of records. Requires a reader from `of_field`.

        Raises
        ------
        DataFileError
            As `record`.
        """
        message = self._message_of(row)
        return self._read_at(row[1], lambda: only_records(message))

    def _message_of(self, row: Row) -> Message:
        name, place, piece, pieces, after = row
        kind = "records" if self._field else "tensor"
        facts = RecordFacts(kind, name, piece, pieces, extends=after, fields=self._fields)
        return self.message(place, facts)

    def message(self, place: Place, expected: RecordFacts) -> Message:
        """Return the message of a record after checking it against the expected facts."""
        body = self.body(place)
        return self._read_at(
            place, lambda: expected_message(lambda: read_message(body, self._limits), expected)
        )

    def body(self, place: Place) -> memoryview:
        """Return the message of a record without verifying its checksum.

        Raises
        ------
        DataFileError
            If the record is missing or not the expected one.
        """
        self._reach(place.start, place.length)
        begin = place.start + HEADER_BYTES
        try:
            header = unpack_header(self._map[place.start : begin].tobytes())
        except DataFileError as error:
            raise self._error(place.start, str(error)) from error
        if header.length != place.length:
            raise self._error(place.start, f"has {header.length} bytes; the index says {place.length}")
        return self._map[begin : place.stop]

    def _reach(self, start: int, length: int) -> None:
        """Map the file up to the end of a record; raise if it is not there."""
        # A map beyond the end of a file can be created, but accessing it ends the process.
        size = len(self._map) if self._file is None else size_of(self._file)
        stop = start + HEADER_BYTES + length
        if stop > size:
            raise self._error(start, f"ends at {stop}, but the file has shrunk to {size} bytes")
        if len(self._map) < stop and self._file is not None:
            try:
                self._map = memoryview(map_file(self._file, size, self._path))
                self._plain = PlainReader(self._map)
            except OSError as error:
                raise refused_by_system(
                    f"{self._path} cannot be mapped into memory: {error.strerror}", error
                ) from error
            except ValueError as error:
                raise DataFileError(f"{self._path} cannot be mapped into memory: {error}") from error

    def _read_at(self, place: Place, read: Callable[[], _T]) -> _T:
        """Return the result of `read`; errors are prefixed with the record."""
        try:
            return read()
        except DataFileError as error:
            raise self._error(place.start, str(error)) from error

    def _error(self, start: int, text: str) -> DataFileError:
        return DataFileError(f"{self._path}: the record at {start} {text}")
