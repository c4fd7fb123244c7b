"""Origins of tensors and views: the file that each was read from, and its name in the file.

Stored views refer to sources by origins. An origin lives as long as the elements.
"""

import os
import weakref
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast, final

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen, slot_setters
from tensorwrapper.layout import Layout
from tensorwrapper.store.records._format import HEADER_BYTES
from tensorwrapper.store.system._system import OpenedFile
from tensorwrapper.tensor import Tensor

if TYPE_CHECKING:
    from tensorwrapper.selection import Expression, View
    from tensorwrapper.store.records._reader import RecordReader

_DIGEST: Final = 8
_ENDS: Final = 4096  # bytes at the start and at the end of a file
_FILES: Final = 2**16  # of a folder
_NONE: Final[Mapping[str, Json]] = {}


@final
@frozen(eq=False)
class FileOrigin:
    """The file that tensors were read from, in its state on opening."""

    where: str
    """Absolute path, as it was given."""
    stat: tuple[int, ...]
    """Version that distinguishes the file from a file that replaces it."""
    home: "RecordReader | None" = None
    """Reader of the file, if it is a `.tens` file."""
    options: Mapping[str, Json] = _NONE
    """Options used to open a file of another format, unless its content determines them."""

    def __init__(
        self,
        where: str,
        stat: tuple[int, ...],
        home: "RecordReader | None" = None,
        options: Mapping[str, Json] = _NONE,
    ) -> None:
        # attrs would look up each slot by its name, and each small file has an origin.
        _set_where(self, where)
        _set_stat(self, stat)
        _set_home(self, home)
        _set_options(self, options)

    @property
    def path(self) -> str:
        """Absolute path, without symbolic links in its folder."""
        return _as_found(self.where)

    def is_there(self) -> bool:
        """Return True if the path still refers to this file, unchanged."""
        try:
            path, home = self.path, self.home
            if stat_of(os.stat(path), of_ours=home is not None) != self.stat:
                return False
            if home is None or not home.is_held:
                return True
            with OpenedFile(Path(path)) as opened:
                return home.is_file(opened.read_at)
        except OSError:
            return False


_set_where, _set_stat, _set_home, _set_options = slot_setters(FileOrigin, "where", "stat", "home", "options")


@final
@frozen(eq=False)
class Origin:
    """The file of a tensor or a view, and its name in the file."""

    file: FileOrigin
    name: str
    layout: Layout[Any]
    """Layout of the whole tensor, or of the view."""
    version: Callable[[], str] | None
    """Function that returns the version of these elements; None if the file has one version."""
    calls: tuple[object, ...] | None = None
    """Calls that created the view from its node; None for a tensor."""
    written: "weakref.ref[Expression] | None" = None
    """Expression of the view. An origin does not refer to sources, as this would keep their files open."""


@final
class _Known(weakref.ref[Any]):
    """A weak reference to a buffer or a node, with its own key and the fields of its origin.

    The origin itself is made when asked for: files with thousands of tensors need few of them.
    """

    __slots__ = ("calls", "file", "layout", "name", "number", "version", "written")

    calls: tuple[object, ...] | None
    file: FileOrigin
    layout: Layout[Any]
    name: str
    number: int
    version: Callable[[], str] | int | None
    written: "weakref.ref[Expression] | None"


_KNOWN: Final[dict[int, _Known]] = {}


def _forget(known: _Known, kept: dict[int, _Known] = _KNOWN) -> None:
    # This may run at interpreter exit, when module globals are gone.
    kept.pop(known.number, None)


def _as_found(path: str | Path) -> str:
    """Return the absolute path of a file, without symbolic links in its folder."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def stat_of(found: os.stat_result, *, of_ours: bool) -> tuple[int, ...]:
    """Return numbers that distinguish a file from others at its path; `.tens` files may grow."""
    return (found.st_dev, found.st_ino, *(() if of_ours else (found.st_size, found.st_mtime_ns)))


def remember(
    found: "Tensor[Any] | View[Any]",
    file: FileOrigin,
    name: str,
    version: Callable[[], str] | None = None,
) -> None:
    """Record the origin of a tensor or a view, for the lifetime of its elements.

    Parameters
    ----------
    version
        Function that returns the version of the elements.
    """
    if isinstance(found, Tensor):
        remember_elements(found.buffer.owner, file, name, found.layout, version)
        return
    from tensorwrapper.selection.lowlevel import expression_of  # noqa: PLC0415 - tensors of files need no views

    expression = expression_of(found)
    tensor = expression.node.tensor
    if tensor is not None and not expression.calls and expression.layout is tensor.layout:
        remember_elements(tensor.buffer.owner, file, name, tensor.layout, version)
    else:
        written = None if expression.written is None else weakref.ref(expression.written)
        known = remember_elements(expression.node, file, name, expression.layout, version)
        known.calls, known.written = expression.calls, written


def remember_elements(
    what: object, file: FileOrigin, name: str, layout: Layout[Any], version: Callable[[], str] | int | None
) -> "_Known":
    """Record the origin of a buffer or a node, for its lifetime.

    Parameters
    ----------
    version
        As of `remember`, or the start of the record that has the elements in a `.tens` file.
    """
    _KNOWN[id(what)] = known = _Known(what, _forget)
    known.number = id(what)
    known.file = file
    known.name = name
    known.layout = layout
    known.version = version
    return known


def origin_of(what: object) -> Origin | None:
    """Return the origin of a buffer, or of the node of a view; None if unknown."""
    known = _KNOWN.get(id(what))
    if known is None or known() is not what:
        return None
    version = known.version
    if isinstance(version, int):
        version = partial(version_of_records, cast("RecordReader", known.file.home).mapped_at, [version])
    calls, written = getattr(known, "calls", None), getattr(known, "written", None)
    return Origin(known.file, known.name, known.layout, version, calls, written)


def version_of_records(read_at: Callable[[int, int], bytes], starts: Iterable[int]) -> str:
    """Return the version of a tensor: a hash of the headers of its records, as 16 digits."""
    made = blake2b(digest_size=_DIGEST)
    for start in starts:
        made.update(read_at(start, HEADER_BYTES))
    return made.hexdigest()


def version_of_path(path: str) -> str:
    """Return a version of a file, or of a folder of files, as 16 digits.

    The version of a file depends on its size, and on its first and last 4 KiB. The version of a folder
    depends on the sizes of its files, up to 65 536 in path order, and on the first and last 4 KiB of JSON
    files.
    """
    made = blake2b(digest_size=_DIGEST)
    if not os.path.isdir(path):
        _add(made, path, os.path.getsize(path))
        return made.hexdigest()
    found: list[tuple[str, str]] = []
    for folder, inner, names in os.walk(path):
        inner.sort()
        found += [(os.path.relpath(os.path.join(folder, name), path), name) for name in names]
        if len(found) >= _FILES:
            break
    for relative, name in sorted(found)[:_FILES]:
        whole = os.path.join(path, relative)
        made.update(relative.replace(os.sep, "/").encode("utf-8", "surrogateescape") + b"\0")
        if name.endswith(".json") or name in (".zarray", ".zgroup", ".zattrs", ".zmetadata"):
            _add(made, whole, os.path.getsize(whole))
        else:
            made.update(os.path.getsize(whole).to_bytes(8, "little"))
    return made.hexdigest()


def _add(made: "blake2b", path: str, size: int) -> None:
    made.update(size.to_bytes(8, "little"))
    with open(path, "rb") as stream:
        made.update(stream.read(_ENDS))
        if size > _ENDS:
            stream.seek(max(size - _ENDS, _ENDS))
            made.update(stream.read(_ENDS))
