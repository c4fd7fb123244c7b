"""Files as memory, with the path of their file, and streams over them."""

import io
import mmap
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final, TypeAlias, cast, final

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Buffer


@final
class FileMap(mmap.mmap):
    """A read-only map of a file; the path identifies the source of a tensor's elements."""

    filename: Path


@final
class FileBytes(bytes):
    """The bytes of a small file, and its path."""

    filename: Path


@final
class _FileArray(np.ndarray[tuple[int], np.dtype[np.uint8]]):
    """The bytes of a small file from a multiple of 64 on, and its path."""

    filename: Path


_ALIGNMENT: Final = 64


def aligned_bytes(raw: bytes, path: Path) -> "Buffer":
    """Return a copy of the bytes of a small file, from a multiple of 64 on, as a map of it."""
    room = np.empty(len(raw) + _ALIGNMENT, np.uint8)
    begin = -room.__array_interface__["data"][0] % _ALIGNMENT
    found = room[begin : begin + len(raw)].view(_FileArray)
    found[:] = np.frombuffer(raw, np.uint8)
    found.flags.writeable = False
    found.filename = path
    return cast("Buffer", found)


FileMemory: TypeAlias = FileMap | FileBytes
"""A file as read-only memory."""


def map_file(file: int, size: int, path: Path) -> FileMap:
    """Map the first `size` bytes of a file, or all for size 0; the map outlives the file object.

    Raises
    ------
    OSError, ValueError
        If the system refuses, or the file is empty.
    """
    found = FileMap(file, size, access=mmap.ACCESS_READ)
    found.filename = path
    return found


@final
class _Stream(io.RawIOBase):
    """A stream over bytes, with its own position."""

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
    """Return a stream over bytes, without copying them."""
    return cast("BinaryIO", io.BufferedReader(_Stream(raw)))
