"""Convert file errors of the operating system, and accept only regular files."""

import contextlib
import errno
import io
import os
import stat
from collections.abc import Generator, Mapping
from pathlib import Path, PurePath
from types import TracebackType
from typing import BinaryIO, Final, Self, cast, final

from tensorwrapper._error_text import brief, shortened
from tensorwrapper.errors import (
    ConversionError,
    DataFileError,
    DataFileExistsError,
    DataFileNotFoundError,
    DataFilePermissionError,
    DataFileSystemError,
    VersionChangedError,
)
from tensorwrapper.store.system._bytes_at import read_at
from tensorwrapper.store.system._map import FileBytes, FileMemory, map_file

_CLASSES: Final[Mapping[int, type[DataFileSystemError]]] = {
    errno.ENOENT: DataFileNotFoundError,
    errno.EEXIST: DataFileExistsError,
    errno.EACCES: DataFilePermissionError,
    errno.EPERM: DataFilePermissionError,
    errno.EROFS: DataFilePermissionError,
}
HEAD_BYTES: Final = 4096
"""Bytes at the start of a file that are read together, and kept."""

_KINDS: Final = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a FIFO"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
# Opening a FIFO would block without this flag, which has no effect on regular files.
OPEN_FLAGS: Final = sum([getattr(os, name, 0) for name in ("O_BINARY", "O_CLOEXEC", "O_NONBLOCK")])


def refused_by_system(text: str, error: OSError) -> DataFileSystemError:
    """Return this package's error for a system error; it also derives from the builtin exception."""
    number = error.errno or errno.EIO
    return _CLASSES.get(number, DataFileSystemError)(number, text)


def about_path(path: Path, error: DataFileError) -> DataFileError:
    """Return an error whose text is a path followed by the text of another error."""
    text = f"{shortened(str(path))} {error}"
    return refused_by_system(text, error) if isinstance(error, OSError) else DataFileError(text)


def mode_of(path: str | os.PathLike[str]) -> int | None:
    """Return the permissions of the file at a path; None if there is none.

    Raises
    ------
    DataFileError
        If it is not a regular file, and so must not be replaced. The text completes a sentence.
    OSError
        If the system refuses.
    """
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        return None
    _check_regular(mode)
    return mode & 0o777


def _check_regular(mode: int) -> None:
    if not stat.S_ISREG(mode):
        kind = next((kind for is_kind, kind in _KINDS if is_kind(mode)), "something else")
        # Derive from OSError, which callers expect from opening a file.
        number = errno.EISDIR if stat.S_ISDIR(mode) else errno.EINVAL
        raise DataFileSystemError(number, f"is {kind}, not a regular file")


def open_regular(path: Path, flags: int, mode: int = 0o666) -> tuple[int, os.stat_result]:
    """Open or create a regular file without blocking, and return its descriptor and its status.

    Raises
    ------
    DataFileError
        If it is not a regular file. The text completes a sentence.
    OSError
        If the system refuses.
    """
    where = os.fspath(path)
    # Check before opening, because opening a device may have side effects.
    mode_of(where)
    file = os.open(where, flags | OPEN_FLAGS, mode)
    try:
        status = os.fstat(file)
        _check_regular(status.st_mode)
    except BaseException:
        os.close(file)
        raise
    return file, status


def to_path(path: str | os.PathLike[str]) -> Path:
    """Return a caller's path; raise if it is invalid."""
    try:
        found = path if isinstance(path, Path) else Path(path)
    except TypeError as error:
        raise ConversionError(f"a path must be str or os.PathLike, not {brief(path)}") from error
    if "\0" in str(found):
        raise DataFileError(f"{str(found)!r} is not a valid path: it has a NUL character")
    return found


@final
class OpenedFile:
    """An untrusted regular file, open for reading, with the status that it had on opening.

    Raises
    ------
    DataFileError
        If the file is missing, not a regular file, or the system refuses.
    """

    __slots__ = ("_head", "file", "path", "size", "status")

    def __init__(self, path: Path) -> None:
        self.path = path
        self.file = -1
        self._head: FileBytes | None = None
        try:
            self.file, self.status = open_regular(path, os.O_RDONLY)
        except DataFileError as error:
            raise about_path(path, error) from error
        except FileNotFoundError as error:
            raise refused_by_system(f"{shortened(str(path))} does not exist", error) from error
        except OSError as error:
            text = f"{shortened(str(path))} cannot be opened: {error.strerror}"
            raise refused_by_system(text, error) from error
        self.size = self.status.st_size

    def read_at(self, place: int, size: int) -> bytes:
        """Return bytes of the file, fewer at its end; the first ones are read once."""
        stop = min(place + size, self.size)
        if stop > HEAD_BYTES:
            return read_at(self.file, place, max(stop - place, 0))
        if self._head is None:
            self._head = FileBytes(read_at(self.file, 0, min(HEAD_BYTES, self.size)))
            self._head.filename = self.path
        return self._head[place:stop] if place or stop < len(self._head) else self._head

    def memory(self) -> FileMemory:
        """Return the whole file as memory, which outlives this object.

        A file of up to 4 KiB is read: a map takes more time, and keeps a descriptor.

        Raises
        ------
        OSError, ValueError
            If the system refuses, or the file is empty.
        """
        if not 0 < self.size <= HEAD_BYTES:
            return map_file(self.file, 0, self.path)
        return cast("FileBytes", self.read_at(0, self.size))

    def stream(self) -> BinaryIO:
        """Return a stream from the start of the file, which is valid until the file is closed."""
        os.lseek(self.file, 0, os.SEEK_SET)
        return io.BufferedReader(io.FileIO(self.file, "rb", closefd=False))

    def close(self) -> None:
        """Close the file; closing twice is harmless."""
        file, self.file = self.file, -1
        if file >= 0:
            os.close(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


@contextlib.contextmanager
def reading(path: Path, kind: str) -> Generator[BinaryIO, None, None]:
    """Yield a stream of an untrusted file, and convert read errors to errors of this package.

    Raises
    ------
    DataFileError
        If the file is missing, not a regular file, or the block raises.
    """
    with of_stranger(path, kind), OpenedFile(path) as opened:
        yield opened.stream()


@final
class of_stranger:  # noqa: N801 - it is called as a function, and a generator takes five times as long
    """Convert all errors of reading an untrusted file, or a member of it, to errors of this package.

    Raises
    ------
    DataFileError
        If the block raises.
    ModuleNotFoundError
        If the block needs a library that is not installed, which is not an error of the file.
    """

    __slots__ = ("kind", "name", "path")

    def __init__(self, path: object, kind: str = "", name: str | None = None) -> None:
        # Without a kind, the extension of the path is it.
        self.path, self.kind, self.name = path, kind, name

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, raised: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if (
            error is None
            or not isinstance(error, Exception)
            or isinstance(error, DataFileError | ModuleNotFoundError | VersionChangedError)
        ):
            return
        path, kind = self.path, self.kind or PurePath(str(self.path)).suffix.lower()
        if isinstance(error, OSError) and error.errno is not None:
            raise refused_by_system(f"cannot read {path}: {error.strerror or error}", error) from error
        if isinstance(error, MemoryError):
            text = f"{path} needs more memory than available, or is not a {kind} file"
            raise DataFileError(text) from error
        # Parsers of other libraries raise undocumented exceptions for damaged files: h5py, pyarrow and gzip
        # an OSError without a number.
        what = f"{path} is damaged, or not a {kind} file" if self.name is None else ""
        raise DataFileError(f"{what or f'{path}: {self.name!r} is damaged'}: {error}") from error
