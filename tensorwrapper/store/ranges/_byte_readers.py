"""Readers of byte spans of paths, file objects, memory, and fsspec."""

import abc
import errno
import importlib
import io
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final, cast, final

from tensorwrapper._error_text import shortened
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.system._bytes_at import read_at
from tensorwrapper.store.system._system import about_path, open_regular, refused_by_system

Span = tuple[int, int]
"""Start and stop of a span in bytes."""

NEAR: Final = 4096
"""Largest gap between two spans, in bytes, that is read rather than skipped."""
FAR: Final = 65_536
"""The same over a network, where a request takes as long as transferring this many bytes."""


class ByteReader(abc.ABC):
    """Reader of byte spans of one file; each span is a request."""

    __slots__ = ()

    name: str
    """Name of the file for errors."""
    size: int
    version: str
    """Text that changes with the file; empty if unknown."""
    gap: int = NEAR
    counts: bool = True
    """True if a fetch sends a request instead of reading memory."""
    tail: bytes = b""
    """The last bytes, where they came with the request that opened the file."""

    @abc.abstractmethod
    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        """Return the complete bytes of all spans.

        Raises
        ------
        DataFileError
            If bytes are missing.
        """

    @abc.abstractmethod
    def close(self) -> None:
        """Release connections and descriptors; closing twice is harmless."""


@final
class PathReader(ByteReader):
    """A local file."""

    __slots__ = ("_file", "name", "size", "version")

    def __init__(self, path: Path) -> None:
        self.name = shortened(str(path))
        self._file = -1
        try:
            self._file, found = open_regular(path, os.O_RDONLY)
        except DataFileError as error:
            raise about_path(path, error) from error
        except OSError as error:
            raise refused_by_system(f"cannot open {self.name}: {error.strerror}", error) from error
        self.size = found.st_size
        self.version = f"{found.st_ino}:{found.st_size}:{found.st_mtime_ns}"

    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        if self._file < 0:
            raise DataFileError(f"{self.name} is closed")
        try:
            found = [read_at(self._file, start, stop - start) for start, stop in spans]
        except OSError as error:
            raise refused_by_system(f"cannot read {self.name}: {error.strerror}", error) from error
        return _whole(self.name, spans, found)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __del__(self) -> None:
        self.close()


@final
class MemoryReader(ByteReader):
    """A file in memory."""

    __slots__ = ("_raw", "name", "size", "version")

    def __init__(self, raw: bytes | bytearray | memoryview, name: str) -> None:
        view = memoryview(raw)
        self._raw = (view if view.c_contiguous else memoryview(bytes(view))).cast("B")
        self.name, self.size, self.version = name, len(self._raw), ""

    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        return _whole(self.name, spans, [bytes(self._raw[start:stop]) for start, stop in spans])

    def close(self) -> None:
        """Do nothing: the caller owns the memory."""


@final
class FileObjectReader(ByteReader):
    """An open file, read by one thread at a time and closed by its owner."""

    __slots__ = ("_file", "_lock", "name", "size", "version")

    def __init__(self, file: BinaryIO) -> None:
        name = getattr(file, "name", None)
        self.name = name if isinstance(name, str) else f"<{type(file).__name__}>"
        self._file, self._lock, self.version = file, threading.Lock(), ""
        try:
            self.size = file.seek(0, io.SEEK_END)
            sample = file.read(0)
        except (OSError, ValueError, AttributeError, TypeError) as error:
            raise DataFileError(f"{self.name} is not seekable: {error}") from error
        if type(cast("object", self.size)) is not int:
            raise DataFileError(f"{self.name} is not seekable: seek returns {self.size!r:.40}")
        if not isinstance(cast("object", sample), bytes):
            raise DataFileError(f"{self.name} is a text file; open it with mode 'rb'")

    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        found: list[bytes] = []
        try:
            with self._lock:
                for start, stop in spans:
                    self._file.seek(start)
                    parts: list[bytes] = []
                    missing = stop - start
                    # A raw stream may return fewer bytes.
                    while missing and (part := self._file.read(missing)):
                        parts.append(part)
                        missing -= len(part)
                    found.append(b"".join(parts))
        except (OSError, ValueError) as error:
            raise DataFileError(f"cannot read {self.name}: {error}") from error
        return _whole(self.name, spans, found)

    def close(self) -> None:
        """Do nothing: the caller closes the file."""


@final
class FsspecReader(ByteReader):
    """A file of an fsspec file system: S3, GCS, memory and many others."""

    __slots__ = ("_path", "_system", "name", "size", "version")

    gap = FAR

    def __init__(self, address: str, shown: str) -> None:
        try:
            fsspec = cast("Any", importlib.import_module("fsspec"))
        except ModuleNotFoundError as error:
            raise ModuleNotFoundError(
                f"{shown} needs fsspec; install it by python -m pip install fsspec", name="fsspec"
            ) from error
        self.name = shown
        scheme = address.partition(":")[0]
        if scheme not in fsspec.available_protocols():
            raise DataFileError(f"cannot open {shown}: fsspec does not support the scheme {scheme!r}")
        try:
            system, path = cast("tuple[Any, str]", fsspec.core.url_to_fs(address))
            info = cast("dict[str, Any]", system.info(path))
        except FileNotFoundError as error:
            # fsspec file systems often raise without an error number.
            missing = FileNotFoundError(errno.ENOENT, "is not there")
            raise refused_by_system(f"{shown} does not exist", missing) from error
        except ImportError as error:
            raise ModuleNotFoundError(f"{shown} needs a package beside fsspec: {error}") from error
        except Exception as error:
            raise DataFileError(f"cannot open {shown}: {type(error).__name__}") from error
        self._system, self._path = system, path
        size = info.get("size")
        if info.get("type") == "directory" or type(size) is not int:
            raise DataFileError(f"{shown} has no known size")
        self.size = size
        tags = [info.get(key) for key in ("ETag", "etag", "md5Hash", "LastModified", "created", "mtime")]
        self.version = next((f"{tag}:{size}" for tag in tags if tag is not None), "")

    def fetch(self, spans: Sequence[Span]) -> list[bytes]:
        starts, stops = [start for start, _ in spans], [stop for _, stop in spans]
        try:
            found = cast(
                "list[Any]",
                self._system.cat_ranges([self._path] * len(spans), starts, stops, on_error="raise"),
            )
        except Exception as error:
            raise DataFileError(f"cannot read {self.name}: {type(error).__name__}") from error
        return _whole(self.name, spans, [bytes(part) for part in found])

    def close(self) -> None:
        """Do nothing: file systems are shared."""


def _whole(name: str, spans: Sequence[Span], found: list[bytes]) -> list[bytes]:
    for (start, stop), part in zip(spans, found, strict=True):
        if len(part) != stop - start:
            raise DataFileError(
                f"{name} has {len(part)} of the {stop - start} bytes at {start}; it was truncated"
            )
    return found
