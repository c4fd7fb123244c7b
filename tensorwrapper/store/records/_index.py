"""Read the directory of a file from the index at its end, or by a scan of all records."""

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final, TypeAlias, cast

import numpy as np

from tensorwrapper.errors import (
    DamagedFileWarning,
    DataFileError,
    RemoteProtocolError,
    TensorNameError,
    TensorWrapperError,
)
from tensorwrapper.store.records._checksum import checksum_of
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._format import (
    ALIGNMENT,
    HEADER_BYTES,
    MAGIC,
    TAIL_BYTES,
    RecordHeader,
    unpack_header,
    unpack_tail,
)
from tensorwrapper.store.records._index_rows import Listing, Place, Row, unpack_rows
from tensorwrapper.store.records._record import RecordFacts, read_facts, read_index, read_label
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

ReadAt: TypeAlias = Callable[[int, int], bytes]
"""Function that returns bytes from a position of a file, fewer at its end."""

_GLANCE: Final = 4096  # bytes, enough for a header and nearly every label
_REMEMBERED: Final = 1024  # short indexes
_CHUNK: Final = 2**20
_DEPTH: Final = 64


def load_directory(read_at: ReadAt, size: int) -> Directory:
    """Return the directory of a file of `size` bytes.

    Raises
    ------
    DataFileError
        If the file has another format, or an index with a correct checksum has impossible values.
    """
    start = read_at(0, len(MAGIC))
    if start != MAGIC[: len(start)]:
        raise DataFileError(f"is not a .tens file: it starts with {start!r}")
    last = unpack_tail(read_at(size - TAIL_BYTES, TAIL_BYTES)) if size >= TAIL_BYTES else None
    if last is not None:
        directory = _by_index(read_at, last, size)
        if directory is not None:
            return directory
    return scan(read_at, size)


def _by_index(read_at: ReadAt, last: int, size: int) -> Directory | None:
    """Return the directory from the chain of indexes; None if an index is damaged."""
    parts: list[tuple[int, _Index]] = []
    start: int | None = last
    end = size
    while start is not None:
        found = _index_at(read_at, start, end, exact=start == last)
        if found is None or len(parts) > _DEPTH:
            return None
        parts.append((start, found))
        end, start = start, found[2].previous
    directory = Directory()
    begin = 0
    for place, (body, tables, facts, stop) in reversed(parts):
        if facts.listed or facts.views:
            directory.records.update(facts.listed)
            _take_views(directory, facts.views, begin, place)
        directory.chain.append((place, directory.n_rows))
        is_short = len(body) <= _GLANCE
        directory.add_all(
            _known_rows(body, begin, place) if is_short else _rows_of(tables, begin, place, stop - place)
        )
        begin = stop
    directory.end = size
    return directory


def _take_views(directory: Directory, views: Sequence[tuple[str, int]], begin: int, end: int) -> None:
    """Add the views that an index lists, with records between two positions.

    Raises
    ------
    DataFileError
        If a view is outside this range, or repeats a name.
    """
    # JSON lists views by name.
    for name, start in sorted(views, key=lambda own: own[1]):
        if not begin <= start < end or name in directory.views:
            raise DataFileError(f"has an index with a view {name[:40]!r} at the impossible position {start}")
        directory.views[name] = start


def _index_at(read_at: ReadAt, start: int, end: int, *, exact: bool) -> "_Index | None":
    """Return an index; None if it is damaged."""
    if start % ALIGNMENT or start >= end:
        return None
    try:
        header = unpack_header(read_at(start, HEADER_BYTES))
        stop = start + HEADER_BYTES + header.length
        if stop > end or (exact and stop != end):
            return None
        body = read_at(start + HEADER_BYTES, header.length)
        if len(body) != header.length or checksum_of([body], header.algorithm) != header.checksum:
            return None
        found = (_known_index if len(body) <= _GLANCE else read_index)(body)
    except (DataFileError, RemoteProtocolError):
        return None
    return None if found is None else (body, *found, stop)


_Index = tuple[bytes, Sequence[Tensor[Any] | Array], RecordFacts, int]
"""Message, tables, facts and end of an index."""


# Files with tensors of the same names and shapes have the same index.
_known_index = lru_cache(maxsize=_REMEMBERED)(read_index)


def _rows_of(tables: Sequence[Tensor[Any] | Array], begin: int, end: int, nbytes: int) -> Listing | list[Row]:
    try:
        table, names, grown = _tables_of(tables, nbytes)
        return unpack_rows(table, names, begin, end, grown)
    except TensorNameError as error:
        raise DataFileError(f"has an index with an invalid name: {error}") from error
    except DataFileError:
        raise
    except TensorWrapperError as error:
        raise DataFileError(f"has an invalid index: {error}") from error


@lru_cache(maxsize=_REMEMBERED)
def _known_rows(body: bytes, begin: int, end: int) -> Listing | list[Row]:
    found = _known_index(body)
    return _rows_of(found[0] if found else (), begin, end, HEADER_BYTES + len(body))


def _tables_of(tables: Sequence[Tensor[Any] | Array], nbytes: int) -> tuple[IntArray, bytes, IntArray | None]:
    """Return the tables of an index of `nbytes` bytes; raise if they are larger than the index."""
    if not 2 <= len(tables) <= 4:
        raise DataFileError("has an index without its two tables")
    # The third table has hashes, which are not read here.
    table, names, *grown = [
        own if isinstance(own, np.ndarray) else _array_of(own, nbytes) for own in (*tables[:2], *tables[3:])
    ]
    if table.dtype != np.int64 or names.dtype != np.uint8:
        raise DataFileError("has an index without its two tables")
    if table.ndim != 2 or table.shape[1] != 5 or names.ndim != 1:
        raise DataFileError(f"has an index with tables of {table.shape} and {names.shape}")
    if grown and (grown[0].dtype != np.int64 or grown[0].ndim != 1):
        raise DataFileError(f"has an index with extensions of {grown[0].shape} {grown[0].dtype}")
    return np.ascontiguousarray(table), names.tobytes(), cast("IntArray", grown[0]) if grown else None


def _array_of(tensor: Tensor[Any], nbytes: int) -> Array:
    """Return a table of another writer, which may have an unknown packing, or be larger than its message."""
    if not tensor.shape.is_box:
        raise DataFileError(f"has an index with tables of {tensor.shape}")
    if tensor.nbytes > nbytes:
        raise DataFileError(f"has an index of {nbytes} bytes whose tables would have more")
    return np.asarray(tensor)


def read_rows_at(read_at: ReadAt, start: int) -> list[Row] | None:
    """Return the rows of one index; None if it is damaged."""
    found = _index_at(read_at, start, 2**63, exact=False)
    try:
        rows = None if found is None else _rows_of(found[1], 0, start, found[3] - start)
    except DataFileError:
        return None
    return rows.rows() if isinstance(rows, Listing) else rows


def scan(read_at: ReadAt, size: int) -> Directory:
    """Return the directory of a file from all headers up to the first invalid one, without an index.

    Elements are not read, except those of the last record, which no index confirms.
    """
    directory = Directory()
    place = 0
    waiting: tuple[Place, RecordHeader, RecordFacts] | None = None
    while place < size:
        raw = read_at(place, _GLANCE)
        try:
            header = unpack_header(raw[:HEADER_BYTES])
            where = _place(place, header.length, size)
        except DataFileError as error:
            directory.torn = f"the record at {place}{_named(read_at, place, raw)} {error}"
            break
        if waiting is not None:
            _add_record(directory, waiting[0], waiting[2])
        waiting = where, header, _facts(directory, read_at, raw, where)
        place = where.stop
    if waiting is not None:
        where, header, facts = waiting
        trouble = "has a checksum that does not fit"
        try:
            sound = is_sound(read_at, where, header)
        except DataFileError as error:
            sound, trouble = False, str(error)
            directory.is_unchecked = True
        if sound:
            _add_record(directory, where, facts)
        else:
            named = f" ({_of(facts)})" if facts.name else ""
            directory.torn = f"the record at {where.start}{named} {trouble}"
            place = where.start
    directory.end = place
    return directory


def _named(read_at: ReadAt, start: int, raw: bytes) -> str:
    """Return the name of a truncated record's tensor, if its label is complete."""
    try:
        facts = read_facts_at(read_at, Place(start, unpack_header(raw[:HEADER_BYTES]).length), raw)
    except (DataFileError, RemoteProtocolError):
        return ""
    return f" ({_of(facts)})" if facts.name else ""


def _of(facts: RecordFacts) -> str:
    return f"of the {'records' if facts.kind == 'records' else 'tensor'} {facts.name!r}"


def _place(start: int, length: int, size: int) -> Place:
    place = Place(start, length)
    if place.stop > size:
        raise DataFileError(f"is truncated: it ends at {place.stop}, but the file at {size}")
    if place.stop % ALIGNMENT:
        raise DataFileError(f"has {length} bytes, after which no record can start")
    return place


def _add_record(directory: Directory, place: Place, facts: RecordFacts) -> None:
    if facts.kind not in ("tensor", "records", "view", "metadata"):
        return
    try:
        if facts.kind == "view":
            directory.add_view(facts.name, place)
            return
        directory.take((facts.name, place, facts.piece, facts.pieces, facts.extends), facts.fields)
    except DataFileError as error:
        directory.complaints.append(str(error))


def _facts(directory: Directory, read_at: ReadAt, raw: bytes, place: Place) -> RecordFacts:
    try:
        return read_facts_at(read_at, place, raw)
    except (DataFileError, RemoteProtocolError) as error:
        directory.complaints.append(f"the record at {place.start} {error}")
        return RecordFacts("")


def read_facts_at(read_at: ReadAt, place: Place, raw: bytes = b"") -> RecordFacts:
    """Return the facts of a record, reading only its label.

    Raises
    ------
    DataFileError, RemoteProtocolError
        If the label is invalid; the text completes a sentence about the record.
    """
    raw = raw or read_at(place.start, _GLANCE)
    body = HEADER_BYTES
    size = int(raw[body]) if len(raw) > body else 0
    body += 1
    if size == 255:
        size = int.from_bytes(raw[body : body + 4], "big")
        body += 4
    if size < 8 or body - HEADER_BYTES + size > place.length:
        raise DataFileError(f"has a label of {size} bytes in a message of {place.length}")
    if size > 2**24:
        raise DataFileError(f"has a label of {size} bytes, over the limit of {2**24}")
    frame = raw[body : body + size] if body + size <= len(raw) else read_at(place.start + body, size)
    return read_facts(read_label(memoryview(frame)))


def is_sound(read_at: ReadAt, place: Place, header: RecordHeader) -> bool:
    """Return True if the message of a record matches its checksum. Reads it in blocks.

    Raises
    ------
    DataFileError
        If the checksum cannot be computed here; the text completes a sentence about the record.
    """
    return checksum_of(_chunks(read_at, place), header.algorithm) == header.checksum


def _chunks(read_at: ReadAt, place: Place) -> Iterator[bytes]:
    begin, end = place.start + HEADER_BYTES, place.stop
    while begin < end and (chunk := read_at(begin, min(_CHUNK, end - begin))):
        yield chunk
        begin += len(chunk)


def check_tear(read_at: ReadAt, directory: Directory, size: int) -> None:
    """Raise unless the bytes after the last record are an unfinished record, which may be truncated.

    A record with a valid header is unfinished if it is incomplete or its checksum does not match. Bytes
    without a valid header are unfinished if no valid header follows. Otherwise a record in the middle is
    damaged, and others follow it.

    Raises
    ------
    DataFileError
        If records follow, or the checksum of the last record cannot be computed here.
    """
    if directory.is_unchecked:
        raise DataFileError(f"cannot be appended to: {directory.torn}")
    place = _record_after(read_at, directory, size)
    if place is not None:
        raise DataFileError(
            f"is damaged: {directory.torn}, and others seem to follow at {place}; it cannot be appended to"
        )


def _record_after(read_at: ReadAt, directory: Directory, size: int) -> int | None:
    """Return the position of a record that seems to follow damage; None if there is none."""
    try:
        unpack_header(read_at(directory.end, HEADER_BYTES))
    except DataFileError:
        place = directory.end + ALIGNMENT
        while place < size and (chunk := read_at(place, _CHUNK)):
            for inner in range(0, len(chunk), ALIGNMENT):
                if chunk[inner : inner + len(MAGIC)] == MAGIC:
                    return place + inner
            place += len(chunk)
    return None


def warn_of_damage(path: object, read_at: ReadAt, directory: Directory, size: int) -> None:
    """Warn about damage in the middle of a file, after which records may exist that are not found."""
    if directory.is_unchecked:
        return
    place = _record_after(read_at, directory, size)
    if place is not None:
        warnings.warn(
            f"{path} is damaged: {directory.torn}; what follows, as at {place}, is not read, and tensors may "
            "lack rows: verify tells more",
            DamagedFileWarning,
            stacklevel=5,
        )
