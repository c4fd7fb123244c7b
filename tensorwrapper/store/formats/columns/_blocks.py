"""Batches of an Arrow file read by byte ranges: fetch all parts of a column together.

pyarrow reads one part after another. So it first reads from a stream that records the requested ranges of the
batches, and returns zeros. Then all of these ranges are fetched at once.
"""

import contextlib
import io
import struct
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Final, cast, final

from tensorwrapper.store.formats._bytes import check_bytes
from tensorwrapper.store.ranges._byte_readers import Span
from tensorwrapper.store.ranges._ranges import FileOfRanges, Ranges
from tensorwrapper.wire import Limits

if TYPE_CHECKING:
    import pyarrow as pa

_END: Final = 10
"""Bytes after the footer: its length, and the magic bytes."""
_BLOCK: Final = struct.Struct("<qi4xq")
_BATCHES: Final = 3
"""Number of the footer field with the positions of batches."""

Blocks = list[tuple[int, int, int]]
"""Start of the header, start of the parts, and end of each batch."""


def _blocks_of(ranges: Ranges) -> Blocks:
    """Return the positions of the batches of a file; empty if its footer does not list them."""
    size = ranges.size
    (length,) = struct.unpack("<i", ranges.read_at(size - _END, 4))
    footer = ranges.read_at(size - _END - length, length) if 0 < length <= size - _END else b""
    (table,) = struct.unpack_from("<I", footer)
    fields = table - struct.unpack_from("<i", footer, table)[0]
    (field,) = struct.unpack_from("<H", footer, fields + 4 + 2 * _BATCHES)
    place = table + field + struct.unpack_from("<I", footer, table + field)[0]
    (count,) = struct.unpack_from("<I", footer, place)
    raw = footer[place + 4 : place + 4 + count * _BLOCK.size]
    found = [(start, start + head, start + head + body) for start, head, body in _BLOCK.iter_unpack(raw)]
    return found if all(0 <= start <= parts <= end <= size for start, parts, end in found) else []


@final
class _Noting(io.RawIOBase):
    """A file that returns zeros for parts of batches, and records their ranges."""

    def __init__(self, file: FileOfRanges, blocks: Blocks, name: str, limits: Limits) -> None:
        self._file, self._blocks, self._name, self._limits = file, blocks, name, limits
        self._count = 0
        self.asked: dict[Span, None] = {}

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def read(self, size: int | None = -1) -> bytes:
        start = self._file.tell()
        stop = start + (size or 0)
        if not any(parts <= start < stop <= end for _, parts, end in self._blocks):
            return self._file.read(size)
        self._count += stop - start
        check_bytes(self._count, self._name, self._limits)
        self.asked[start, stop] = None
        self._file.seek(stop)
        return bytes(stop - start)


def file_of_parts(
    ranges: Ranges, read: "Callable[[pa.PythonFile], Iterator[pa.RecordBatch]]", name: str, limits: Limits
) -> "pa.PythonFile":
    """Return a file in which all parts that a reader needs have been fetched together.

    Parameters
    ----------
    ranges
        The file.
    read
        Function that reads batches of a file.
    name
        Name of the column, for errors.
    limits
        Limits on its bytes.
    """
    import pyarrow as pa  # noqa: PLC0415 - an extra

    file = ranges.file_for_libraries()
    # Reading the part later raises this error again with a better message.
    with contextlib.suppress(Exception):
        blocks = _blocks_of(ranges)
        file.load([(start, parts) for start, parts, _ in blocks])
        noting = _Noting(file, blocks, name, limits)
        with contextlib.suppress(pa.ArrowException):
            for _ in read(pa.PythonFile(cast("BinaryIO", noting), mode="r")):
                pass
        file.load(list(noting.asked))
    return pa.PythonFile(cast("BinaryIO", file), mode="r")
