"""Read the end of a file for an appending writer, searching names without reading all indexes.

Each index has the CRC-32 hashes of its names in ascending order. A new name is looked up by binary search,
and its hash is almost never found. If it is, all names are read and compared.
"""

import itertools
import zlib
from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Final, TypeAlias, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, RemoteProtocolError
from tensorwrapper.store.records._directory import Directory
from tensorwrapper.store.records._format import (
    ALIGNMENT,
    HEADER_BYTES,
    TAIL_BYTES,
    unpack_header,
    unpack_tail,
)
from tensorwrapper.store.records._index import load_directory, read_facts_at, read_rows_at
from tensorwrapper.store.records._index_rows import Place, Row
from tensorwrapper.store.records._record import FieldNames
from tensorwrapper.typing import Array

_ReadAt: TypeAlias = Callable[[int, int], bytes]
_FRAMES: Final = (10, 12)
"""Limit on the frames of an index: two headers, three or four padded tables, padding, and the start."""
_ROW_BYTES: Final = 40
_NEAR: Final = 1024  # hashes read at once
_DEPTH: Final = 64


def hashes_of(rows: Sequence[Row]) -> Array:
    """Return the hashes of the names in rows, in ascending order, without records about the file."""
    names = filter(None, map(str.encode, map(itemgetter(0), rows)))
    hashes = np.array([*map(zlib.crc32, names)], dtype="<u4")
    hashes.sort()
    return hashes


@final
@frozen
class _Segment:
    """Records listed in one index of the chain."""

    start: int
    n_rows: int
    hashes: int
    """Position of the hashes of its names."""
    n_hashes: int
    records: tuple[tuple[str, FieldNames], ...] = ()
    """Names of records."""
    views: tuple[tuple[str, int], ...] = ()
    """Views, with the starts of their records."""


def load_end(read_at: _ReadAt, size: int) -> Directory | None:
    """Return a directory with the end of a file, which reads the rest on access.

    Return None if the file does not end with an index with hashes; then load the whole directory.
    """
    try:
        segments = _segments(read_at, size)
    except (DataFileError, RemoteProtocolError):
        return None
    if not segments:
        return None
    chain: list[tuple[int, int]] = []
    before = 0
    for segment in segments:
        chain.append((segment.start, before))
        before += segment.n_rows
    return Directory.deferred(
        chain,
        before,
        size,
        records=itertools.chain.from_iterable([segment.records for segment in segments]),
        views=sorted(
            itertools.chain.from_iterable([segment.views for segment in segments]), key=lambda own: own[1]
        ),
        load=lambda: load_directory(read_at, size),
        may_have=lambda name: any(_has(read_at, segment, zlib.crc32(name.encode())) for segment in segments),
        find=lambda name: _last_row(read_at, segments, name),
        rows_at=lambda start: read_rows_at(read_at, start),
    )


def _segments(read_at: _ReadAt, size: int) -> list[_Segment]:
    start = unpack_tail(read_at(size - TAIL_BYTES, TAIL_BYTES)) if size >= TAIL_BYTES else None
    found: list[_Segment] = []
    end = size
    while start is not None:
        if start % ALIGNMENT or start >= end or len(found) > _DEPTH:
            return []
        place = Place(start, unpack_header(read_at(start, HEADER_BYTES)).length)
        facts = read_facts_at(read_at, place)
        frames = _frames(read_at, place)
        if facts.kind != "index" or place.stop > end or (end == size != place.stop):
            return []
        if len(frames) not in _FRAMES:
            return []
        (_, table), (hashes, n_bytes) = frames[3], frames[7]
        if table % _ROW_BYTES or n_bytes % 4:
            return []
        found.append(_Segment(start, table // _ROW_BYTES, hashes, n_bytes // 4, facts.listed, facts.views))
        end, start = start, facts.previous
    return found[::-1]


def _frames(read_at: _ReadAt, place: Place) -> list[tuple[int, int]]:
    """Return the starts and lengths of the frames of a message; too few if they do not fill it."""
    found: list[tuple[int, int]] = []
    begin = place.start + HEADER_BYTES
    while begin < place.stop and len(found) < max(_FRAMES):
        raw = read_at(begin, 5)
        if not raw:
            break
        size = int(raw[0]) if raw[0] < 255 else int.from_bytes(raw[1:], "big")
        begin += 1 if raw[0] < 255 else 5
        found.append((begin, size))
        begin += size
    return found if begin == place.stop else []


def _last_row(read_at: _ReadAt, segments: Sequence[_Segment], name: str) -> Row | None:
    """Return the last record of a name; None if no index has it, or an index is damaged.

    Indexes are read from the last one, because the last ones are small. So a recent extension is found among
    few records, on average log n.
    """
    number = zlib.crc32(name.encode())
    for segment in reversed(segments):
        if not _has(read_at, segment, number):
            continue
        rows = read_rows_at(read_at, segment.start)
        if rows is None:
            return None
        found = next((row for row in reversed(rows) if row[0] == name), None)
        if found is not None:
            return found
    return None


def _has(read_at: _ReadAt, segment: _Segment, number: int) -> bool:
    """Return True if an index has a hash; O(log n)."""
    low, high = 0, segment.n_hashes
    while high - low > _NEAR:
        middle = (low + high) // 2
        if int.from_bytes(read_at(segment.hashes + 4 * middle, 4), "little") <= number:
            low = middle
        else:
            high = middle
    near = np.frombuffer(read_at(segment.hashes + 4 * low, 4 * (high - low)), "<u4")
    return bool((near == number).any())
