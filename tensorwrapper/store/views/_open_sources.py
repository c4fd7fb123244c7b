"""Resolve the sources of a stored view: files that may be opened, and open files."""

import contextlib
import os
import re
import threading
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, final

import attrs

from tensorwrapper._below import is_below
from tensorwrapper._error_text import shortened
from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ChangedSourceWarning,
    ConversionError,
    DataFileError,
    DataFileSystemError,
    ReadOnlyError,
    TensorNameError,
    TensorWrapperError,
    VersionChangedError,
)
from tensorwrapper.store.views._lazy_imports import connect, open_file
from tensorwrapper.store.views._sources import FileSource, ServerSource
from tensorwrapper.tensor import Tensor

_OPEN: Final = 64
"""Limit on files that are open at the same time."""
_ADDRESS: Final = re.compile(r"[a-z]+://[!-:<-?A-~]+")
_HOST: Final = re.compile(r"\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9_.*-]+")
_DEEP: Final = 16
"""Limit on the nesting of stored views."""
_KEPT: Final = 2**16
"""Number of tensors cached while views are opened; all views are cached."""


@final
class _Opening(threading.local):
    """Sources that one thread opened for a view."""

    known: "dict[object, tuple[tuple[Any, str], int]] | None" = None
    """Tensors and views with their versions, and the nesting depth of each."""
    failed: "dict[object, tuple[Exception, int]]"
    """Errors of other sources, and the depth at which each occurred."""
    reached: int = 0
    """Maximum nesting depth so far."""


_NOW: Final = _Opening()


@contextlib.contextmanager
def opening() -> Generator[None, None, None]:
    """Open each source only once within the block."""
    if _NOW.known is not None:
        yield
        return
    _NOW.known, _NOW.failed = {}, {}
    try:
        yield
    finally:
        _NOW.known, _NOW.failed = None, {}


def once(key: object, through: int, find: Callable[[], tuple[Any, str]]) -> tuple[Any, str]:
    """Return a source and its version, looked up only once while a view is opened.

    Parameters
    ----------
    through
        Number of views on the way to this source.

    Raises
    ------
    DataFileError
        If the views are nested too deeply.
    """
    known = _NOW.known
    if known is None:
        return find()
    if key in known:
        found, more = known[key]
        if through + more > _DEEP:
            raise DataFileError(f"a source is reached through more than {_DEEP} views")
        _NOW.reached = max(_NOW.reached, through + more)
        return found
    failed = _NOW.failed.get(key)
    # The limit may be exceeded only on this path.
    if failed is not None and through >= failed[1]:
        raise failed[0].with_traceback(None)
    before, _NOW.reached = _NOW.reached, through
    try:
        found = find()
    except (TensorWrapperError, OSError) as error:
        _NOW.failed[key] = error.with_traceback(None), through
        raise
    more = _NOW.reached - through
    _NOW.reached = max(before, _NOW.reached)
    if more or len(known) < _KEPT or not isinstance(found[0], Tensor):
        known[key] = found, more
    return found


@final
class OpenFiles:
    """Cache of the files that the views of one file have opened; recently used files stay open."""

    __slots__ = ("__weakref__", "_files", "_servers", "lock")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._files: OrderedDict[tuple[str, str], Any] = OrderedDict()
        self._servers: dict[str, Any] = {}
        weakref.finalize(self, _close, self._files, self._servers)

    def get(self, path: str, options: Mapping[str, Json], way: "SourceScope") -> Any:  # noqa: ANN401 - of any kind
        """Return the open file at a path; the caller holds the lock."""
        key = path, repr(sorted(options.items()))
        found = self._files.pop(key, None)
        if found is None or found.closed:
            while len(self._files) >= _OPEN:
                self._files.popitem(last=False)[1].close()
            found = open_file(path, options, way.follow, check_versions=way.check_versions)
        self._files[key] = found
        return found

    def at(self, address: str) -> Any:  # noqa: ANN401 - the tensors of a server
        """Return the tensors of a server by name. The connection stays open for later reads."""
        with self.lock:
            if address not in self._servers:
                if len(self._servers) >= _OPEN:
                    raise DataFileError(f"the sources of one file are on more than {_OPEN} servers")
                self._servers[address] = connect(address)
            return self._servers[address]


def _close(*opened: "dict[Any, Any]") -> None:
    for own in opened:
        while own:
            own.popitem()[1].close()


def is_named_by(address: str, follow: str | None) -> bool:
    """Return True if `follow` allows the server at an untrusted address."""
    kind, _, place = address.partition("://")
    allowed, mark, front = (follow or "").partition("://")
    # ZeroMQ connects from A to B if an address is "A;B".
    if not mark or kind != allowed or not _ADDRESS.fullmatch(address):
        return False
    if kind != "tcp":
        above = front.rstrip("/") + "/"
        return ".." not in place.split("/") and (place == front or place.startswith(above))
    host, _, port = place.rpartition(":")
    is_place = bool(_HOST.fullmatch(host)) and port.isascii() and port.isdecimal()
    return is_place and front in ("", host, f"{host}:", place, f"{place}/")


@final
@frozen(eq=False)
class SourceScope:
    """The file and the views on the way to a source, and the files that may be opened."""

    path: str
    """Absolute path of the file with the view."""
    files: OpenFiles
    follow: str | None
    check_versions: bool
    through: tuple[tuple[str, str], ...] = ()
    """Real paths and names of the stored views on the way."""

    def entering(self, name: str, through: tuple[tuple[str, str], ...]) -> "SourceScope":
        """Return the scope for the sources of a view of this file; `through` has the views on the way.

        Raises
        ------
        DataFileError
            If the view is one of these, or the nesting is too deep.
        """
        own = os.path.realpath(self.path), name
        if own in through:
            raise DataFileError(f"{self.path}: the view {name!r} refers to itself")
        if len(through) >= _DEEP:
            raise DataFileError(f"{self.path}: the view {name!r} is nested in {_DEEP} others")
        _NOW.reached = max(_NOW.reached, len(through) + 1)
        return attrs.evolve(self, through=(*through, own))

    def real_path(self, source: FileSource) -> str:
        """Return the real path of a source's file.

        Raises
        ------
        DataFileError
            If the file is missing, or is outside both the folder of the view and `follow`.
        """
        real, folder = os.path.realpath(source.path), os.path.dirname(self.path)
        if not is_below(real, folder) and (self.follow is None or not is_below(real, self.follow)):
            raise DataFileError(
                f"{self.path}: the source {shortened(source.path)} is outside its folder; use "
                f"tw.open with follow=, a folder above it, and tw.save to rewrite the result"
            )
        if not os.path.exists(real):
            # Raise an error of the view, not of the disk, so that a conversion can skip the view.
            text = f"{self.path}: the source {shortened(source.path)} is not there"
            raise DataFileError(text) from FileNotFoundError(source.path)
        return real

    def open(self, source: "FileSource | ServerSource") -> Any:  # noqa: ANN401 - a tensor or a view
        """Open a source, and return its tensor or view.

        Raises
        ------
        VersionChangedError
            If its version differs from the stored one.
        DataFileError
            If it is missing, or its location is not allowed.
        """
        if isinstance(source, ServerSource):
            return self._of_server(source)
        key = source.path, repr(sorted(source.options.items())), source.name
        with opening(), self.files.lock:
            found, version = once(key, len(self.through), lambda: self._of_file(source))
        self.check(source.path, source.name, source.version, version)
        return found

    def check_through(self, source: FileSource) -> str:
        """Return the problem of the sources of a stored view, or an empty string.

        Raises
        ------
        DataFileError
            If it refers to itself, or the nesting is too deep.
        """
        with opening(), self.files.lock:
            file = self.files.get(self.real_path(source), source.options, self)
            return str(file._problem_of(source.name, self.through))

    def _of_file(self, source: FileSource) -> tuple[Any, str]:
        real = self.real_path(source)
        try:
            file = self.files.get(real, source.options, self)
            found: tuple[Any, str] = file._as_source(source.name, self.through)
        except TensorNameError as error:
            raise DataFileError(f"{self.path}: a source is missing: {error}") from error
        except (ConversionError, ReadOnlyError, DataFileSystemError) as error:
            raise DataFileError(f"{self.path}: cannot open a source: {error}") from error
        return found

    def _of_server(self, source: ServerSource) -> Any:  # noqa: ANN401 - a tensor elsewhere
        if not is_named_by(source.address, self.follow):
            raise DataFileError(
                f"{self.path}: the source {source.name!r} is at {shortened(source.address)}; "
                f"allow it with follow=, its scheme and host, or the whole address"
            )
        found = self.files.at(source.address)[source.name]
        self.check(source.address, source.name, source.version, str(found.version))
        return found

    def check(self, place: str, name: str, before: str, now: str) -> None:
        """Raise or warn if the version of a source differs from the stored one."""
        if before == now:
            return
        text = (
            f"{shortened(place)}: {name!r} changed since it became a source of a view in {self.path}: it has "
            f"version {now}, and had {before}"
        )
        if self.check_versions:
            raise VersionChangedError(f"{text}; use tw.open(..., check_versions=False) to read it anyway")
        warnings.warn(text, ChangedSourceWarning, stacklevel=2)
