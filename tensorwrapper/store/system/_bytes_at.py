"""Bytes at positions of an open file, on any system: whole or an error, never silently a part."""

import contextlib
import os
import sys
from collections.abc import Iterable

if sys.platform != "win32":
    # Imported here: closing a forgotten file at the end of the process can import nothing.
    import fcntl

__all__ = ["lock_for_writing", "read_at", "sync_folder", "unlock", "write_at"]

_SMALL = 2**16  # bytes
_AT_MOST = 2**30  # bytes in one call: some systems take no more than 2 GiB and tell so by a short count


def read_at(file: int, place: int, size: int) -> bytes:
    """Return `size` bytes from `place` on; fewer where the file ends."""
    if sys.platform == "win32":
        os.lseek(file, place, os.SEEK_SET)
        return os.read(file, size)
    found = os.pread(file, size, place)
    if len(found) == size or not found:
        return found
    parts = [found]
    while found and sum(map(len, parts)) < size:
        done = sum(map(len, parts))
        found = os.pread(file, size - done, place + done)
        parts.append(found)
    return b"".join(parts)


def write_at(file: int, place: int, buffers: Iterable[bytes | memoryview]) -> None:
    """Write buffers one after the other, from `place` on."""
    os.lseek(file, place, os.SEEK_SET)
    # Labels, sizes and padding are many small buffers between few large ones.
    small: list[bytes | memoryview] = []
    for buffer in (*buffers, None):
        if buffer is not None and len(buffer) < _SMALL:
            small.append(buffer)
            continue
        for whole in (b"".join(small), buffer or b""):
            view = memoryview(whole)
            while view:
                view = view[os.write(file, view[:_AT_MOST]) :]
        small.clear()


def lock_for_writing(file: int) -> bool:
    """Lock the file for this writer; return False if another process has it. True where locks are missing."""
    if sys.platform == "win32":
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        # Some network file systems have no locks.
        return True
    return True


def unlock(file: int) -> None:
    """Give the file to the next writer: maps of it, which outlive its descriptor, would keep the lock."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Make durable which files a folder has."""
    if sys.platform == "win32":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
