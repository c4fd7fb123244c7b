"""Portable positional I/O on an open file, which never silently transfers only a part."""

import contextlib
import os
import sys
from collections.abc import Iterable

if sys.platform != "win32":
    # Import at module level, because closing a file at interpreter exit cannot import.
    import fcntl

_SMALL = 2**16  # bytes
_AT_MOST = 2**30  # bytes per call, because some systems silently limit a call to 2 GiB


def read_at(file: int, place: int, size: int) -> bytes:
    """Return `size` bytes from `place` on, fewer at the end of the file."""
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


if sys.platform == "win32":

    def size_of(file: int) -> int:
        """Return the current size of a file in bytes."""
        return os.fstat(file).st_size

else:

    def size_of(file: int) -> int:
        """Return the current size of a file in bytes."""
        # Much faster than fstat on some systems; reads and writes name their positions.
        return os.lseek(file, 0, os.SEEK_END)


def write_at(file: int, place: int, buffers: Iterable[bytes | memoryview]) -> None:
    """Write buffers consecutively, from `place` on."""
    if sys.platform == "win32":
        os.lseek(file, place, os.SEEK_SET)
    # Join small buffers: labels, sizes and padding are many, and large buffers few.
    small: list[bytes | memoryview] = []
    for buffer in (*buffers, None):
        if buffer is not None and len(buffer) < _SMALL:
            small.append(buffer)
            continue
        for whole in (b"".join(small), buffer or b""):
            view = memoryview(whole)
            while view:
                part = view[:_AT_MOST]
                done = os.write(file, part) if sys.platform == "win32" else os.pwrite(file, part, place)
                view, place = view[done:], place + done
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
    """Release the lock explicitly: maps of the file outlive its descriptor and would keep the lock."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Sync the entries of a folder to disk."""
    if sys.platform == "win32":
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)
