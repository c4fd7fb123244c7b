"""The record header, alignment and names: the numbers of the file format. Pure; docs/format.md says why.

A file is records, one after the other, each starting at a multiple of 64: a header of 32 bytes, and a TENS
message as one frame. Data parts of the message start at multiples of 64 as well; parts that no tensor names
fill the gaps.
"""

import struct
import zlib
from collections.abc import Sequence
from typing import Final, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.wire.lowlevel import sized_frames

__all__ = [
    "ALIGNMENT",
    "HEADER_BYTES",
    "MAGIC",
    "MOST_ROWS",
    "TAIL_BYTES",
    "RecordHeader",
    "pack_body",
    "pack_header",
    "pack_tail",
    "unpack_header",
    "unpack_tail",
]

MAGIC: Final = b"\x89TENS\r\n\x1a"
"""As in PNG: no text starts like this, and a transfer that rewrites line ends breaks it."""
VERSION: Final = 2
ALIGNMENT: Final = 64
HEADER_BYTES: Final = 32
TAIL_BYTES: Final = 17
MOST_ROWS: Final = 2**62
"""Rows of a tensor before an extension at most: sums of two stay within 64 bits."""

_HEADER = struct.Struct("<8sQHHQI")
_TAIL = struct.Struct("<BQ8s")
_TAIL_MAGIC = b"TENSEND\n"


@final
@frozen
class RecordHeader:
    """Fields of the header of a record."""

    length: int
    """Bytes of the message that follows."""
    algorithm: int
    """The checksum algorithm: a number of `Algorithm`."""
    checksum: int
    """Checksum of those bytes."""


def pack_header(length: int, algorithm: int, checksum: int) -> bytes:
    """Return the header of a record."""
    whole = _HEADER.pack(MAGIC, length, VERSION, algorithm, checksum, 0)
    return whole[:28] + zlib.crc32(whole[:28]).to_bytes(4, "little")


def unpack_header(raw: bytes) -> RecordHeader:
    """Return the fields of a foreign header.

    Raises
    ------
    DataFileError
        If it is cut off or no header, its checksum does not fit, or its version is not known; the text
        completes a sentence about the record.
    """
    if len(raw) < HEADER_BYTES:
        raise DataFileError(f"is cut off after {len(raw)} of the {HEADER_BYTES} bytes of its header")
    magic, length, version, algorithm, checksum, own = _HEADER.unpack(raw)
    if magic != MAGIC:
        raise DataFileError(f"starts with {magic!r} instead of {MAGIC!r}")
    if own != zlib.crc32(raw[:28]):
        raise DataFileError("has a header whose checksum does not fit")
    if version != VERSION:
        raise DataFileError(f"has version {version}; this reader knows {VERSION}")
    return RecordHeader(length, algorithm, checksum)


def pack_tail(start: int) -> bytes:
    """Return the last bytes of a file that ends with an index record at `start`, size byte included."""
    return _TAIL.pack(TAIL_BYTES - 1, start, _TAIL_MAGIC)


def unpack_tail(raw: bytes) -> int | None:
    """Return where the index record starts that the last bytes of a file name; None if they name none."""
    if len(raw) != TAIL_BYTES:
        return None
    size, start, magic = _TAIL.unpack(raw)
    return start if (size, magic) == (TAIL_BYTES - 1, _TAIL_MAGIC) else None


def pack_body(
    frames: Sequence[bytes | memoryview], *, tail_of: int | None = None
) -> list[bytes | memoryview]:
    """Return the message of a record as buffers to write one after the other; parts are not copied.

    Parameters
    ----------
    frames
        The frames of a message: two headers, and parts of which every second one, from the first on, is
        empty and will be filled so that the next one starts at a multiple of 64.
    tail_of
        Where the record starts, for an index: its last part says so.
    """
    pieces = sized_frames(frames)
    place = HEADER_BYTES + sum(map(len, pieces[:4]))
    # Pieces 2k and 2k + 1 are the size and the bytes of frame k; frames 2, 4, ... are gaps.
    for k in range(4, len(pieces), 4):
        gap = -(place + 1 + len(pieces[k + 2])) % ALIGNMENT
        pieces[k], pieces[k + 1] = bytes((gap,)), bytes(gap)
        place += 1 + gap + len(pieces[k + 2]) + len(pieces[k + 3])
    if tail_of is None:
        # Never empty: there are readers that refuse a message whose last part is.
        gap = -(place + 2) % ALIGNMENT + 1
        pieces += (bytes((gap,)), bytes(gap))
    else:
        gap = -(place + 1 + TAIL_BYTES) % ALIGNMENT
        pieces += (bytes((gap,)), bytes(gap), pack_tail(tail_of))
    return pieces
