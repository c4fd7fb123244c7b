"""Files in memory: maps that know which file they show, and streams over them."""

import io
import mmap
from pathlib import Path
from typing import BinaryIO, cast, final

__all__ = ["FileMap", "map_file", "stream_over"]


@final
class FileMap(mmap.mmap):
    """A read-only map of a file, whose path identifies the source of a tensor's elements."""

    filename: Path


def map_file(file: int, size: int, path: Path) -> FileMap:
    """Return the first bytes of a file, all of them for a size of 0, as memory that outlives it.

    Raises
    ------
    OSError, ValueError
        If the system refuses, or the file has no bytes.
    """
    found = FileMap(file, size, access=mmap.ACCESS_READ)
    found.filename = path
    return found


@final
class _Stream(io.RawIOBase):
    """Bytes that are read one after the other; each stream has a separate position."""

    def __init__(self, raw: memoryview) -> None:
        self._raw = raw
        self._place = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = (0, self._place, len(self._raw))[whence]
        self._place = max(start + offset, 0)
        return self._place

    def tell(self) -> int:
        return self._place

    def readinto(self, target: object) -> int:
        wanted = memoryview(cast("bytearray", target)).cast("B")
        found = self._raw[self._place : self._place + len(wanted)]
        wanted[: len(found)] = found
        self._place += len(found)
        return len(found)


def stream_over(raw: memoryview) -> BinaryIO:
    """Return a stream that reads bytes where they are."""
    return cast("BinaryIO", io.BufferedReader(_Stream(raw)))
