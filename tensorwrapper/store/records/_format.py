"""Constants and headers of the file format; docs/format.md explains them. Does no I/O.

A file is a sequence of records, each aligned to 64 bytes: a header of 32 bytes, and a TENS message as one
frame. Data parts of the message are also aligned to 64 bytes; unreferenced parts are padding.
"""

import struct
import zlib
from collections.abc import Sequence
from typing import Final, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.wire.lowlevel import sized_frames

MAGIC: Final = b"\x89TENS\r\n\x1a"
"""As in PNG, no text starts like this, and conversion of line ends corrupts it detectably."""
VERSION: Final = 2
ALIGNMENT: Final = 64
HEADER_BYTES: Final = 32
TAIL_BYTES: Final = 17
MOST_ROWS: Final = 2**62
"""Limit on the rows before an extension, so that sums of two fit 64 bits."""

_START = struct.Struct("<8sQH")
_FIELDS = struct.Struct("<8sQHHQ")
_HEADER = struct.Struct("<8sQHHQI")
_TAIL = struct.Struct("<BQ8s")
_TAIL_MAGIC = b"TENSEND\n"
RESIDUE: Final = 0x2144DF1C
"""CRC-32 of any bytes that are followed by their own CRC-32, as a header is."""


@final
@frozen
class RecordHeader:
    """The header of a record."""

    length: int
    """Size of the following message in bytes."""
    algorithm: int
    """Number of the checksum `Algorithm`."""
    checksum: int
    """Checksum of the message."""


def pack_header(length: int, algorithm: int, checksum: int) -> bytes:
    """Return the header of a record."""
    fields = _FIELDS.pack(MAGIC, length, VERSION, algorithm, checksum)
    return fields + zlib.crc32(fields).to_bytes(4, "little")


def start_of_header(length: int) -> bytes:
    """Return what the header of a record begins with, before the number of its checksum."""
    return _START.pack(MAGIC, length, VERSION)


def unpack_header(raw: bytes) -> RecordHeader:
    """Return the fields of an untrusted header.

    Raises
    ------
    DataFileError
        If the header is truncated or invalid, its checksum does not match, or its version is unknown; the
        text completes a sentence about the record.
    """
    if len(raw) < HEADER_BYTES:
        raise DataFileError(f"is truncated after {len(raw)} of the {HEADER_BYTES} bytes of its header")
    magic, length, version, algorithm, checksum, own = _HEADER.unpack(raw)
    if magic != MAGIC:
        raise DataFileError(f"starts with {magic!r} instead of {MAGIC!r}")
    if own != zlib.crc32(raw[:28]):
        raise DataFileError("has a header with a wrong checksum")
    if version != VERSION:
        raise DataFileError(f"has version {version}; supported: {VERSION}")
    return RecordHeader(length, algorithm, checksum)


def pack_tail(start: int) -> bytes:
    """Return the last bytes of a file with an index record at `start`, including the size byte."""
    return _TAIL.pack(TAIL_BYTES - 1, start, _TAIL_MAGIC)


def unpack_tail(raw: bytes) -> int | None:
    """Return the start of the index record from the last bytes of a file; None if there is none."""
    if len(raw) != TAIL_BYTES:
        return None
    size, start, magic = _TAIL.unpack(raw)
    return start if (size, magic) == (TAIL_BYTES - 1, _TAIL_MAGIC) else None


def pack_body(
    frames: Sequence[bytes | memoryview], *, tail_of: int | None = None
) -> list[bytes | memoryview]:
    """Return the message of a record as buffers to write in sequence, without copying parts.

    Parameters
    ----------
    frames
        The frames of a message: two headers, and parts. Every second part, from the first on, is empty
        padding that will align the next part to 64 bytes.
    tail_of
        Start of the record, for an index, whose last part stores it.
    """
    pieces = sized_frames(frames)
    place = HEADER_BYTES + sum(map(len, pieces[:4]))
    # Pieces 2k and 2k + 1 are the size and the bytes of frame k; frames 2, 4, ... are gaps.
    for k in range(4, len(pieces), 4):
        gap = -(place + 1 + len(pieces[k + 2])) % ALIGNMENT
        pieces[k], pieces[k + 1] = bytes((gap,)), bytes(gap)
        place += 1 + gap + len(pieces[k + 2]) + len(pieces[k + 3])
    if tail_of is None:
        # Never empty, because some readers reject a message with an empty last part.
        gap = -(place + 2) % ALIGNMENT + 1
        pieces += (bytes((gap,)), bytes(gap))
    else:
        gap = -(place + 1 + TAIL_BYTES) % ALIGNMENT
        pieces += (bytes((gap,)), bytes(gap), pack_tail(tail_of))
    return pieces
