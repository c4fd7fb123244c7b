"""Origins of tensors and views: the file that each was read from, and its name there.

A view that is stored says its sources by these. They are kept for as long as the elements are.
"""

import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

from tensorwrapper._json import Json
from tensorwrapper._value_class import frozen
from tensorwrapper.layout import Layout
from tensorwrapper.store.records._format import HEADER_BYTES
from tensorwrapper.store.records._index_rows import Place
from tensorwrapper.tensor import Tensor

if TYPE_CHECKING:
    from tensorwrapper.selection import Expression, View

__all__ = [
    "FileOrigin",
    "Origin",
    "as_found",
    "origin_of",
    "remember",
    "stat_of",
    "version_of_path",
    "version_of_records",
]

_DIGEST: Final = 8
_ENDS: Final = 4096  # bytes of the front and of the end of a file
_FILES: Final = 2**16  # of a folder


@final
@frozen(eq=False)
class FileOrigin:
    """The file that tensors came from, as it was when it was opened."""

    path: str
    """Absolute."""
    stat: tuple[int, ...]
    """Identity of the file, different from a file that replaces it."""
    home: object = None
    """Reader of the file, if it is a `.tens` file."""
    options: Mapping[str, Json] = {}
    """Options with which a file of another format was opened, unless its content determines them."""

    @classmethod
    def of(cls, path: Path, options: Mapping[str, Json]) -> "FileOrigin":
        """Return the present state of a file that is not a `.tens` file."""
        where = as_found(path)
        return cls(where, stat_of(where, of_ours=False), None, options)

    def is_there(self) -> bool:
        """Return whether the path still leads to this file, and not to another or a changed one."""
        try:
            return stat_of(self.path, of_ours=self.home is not None) == self.stat
        except OSError:
            return False


@final
@frozen(eq=False)
class Origin:
    """The file of a tensor or a view, and its name there."""

    file: FileOrigin
    name: str
    layout: Layout[Any]
    """Layout of the whole tensor, or of the view."""
    version: Callable[[], str] | None
    """Function that returns the identity of these elements; None if the file as a whole has it."""
    calls: tuple[object, ...] | None = None
    """The calls that made the view of its node; None of a tensor."""
    written: "weakref.ref[Expression] | None" = None
    """Expression of which these were made. An origin holds no sources: it would keep their files open."""


@final
class _Known(weakref.ref[Any]):
    """A weak reference that knows under which number it is kept."""

    __slots__ = ("number",)

    number: int


_KNOWN: Final[dict[int, tuple[_Known, Origin]]] = {}


def _forget(known: _Known, kept: dict[int, tuple[_Known, Origin]] = _KNOWN) -> None:
    # The name of a module is gone when Python ends, and this is called.
    found = kept.get(known.number)
    if found is not None and found[0] is known:
        del kept[known.number]


def as_found(path: str | Path) -> str:
    """Return the absolute path of a file, without symbolic links in its folder."""
    folder, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(folder), name)


def stat_of(path: str | int, *, of_ours: bool) -> tuple[int, ...]:
    """Return numbers of a file that another file at its path does not have; `.tens` files may grow."""
    found = os.stat(path)
    return (found.st_dev, found.st_ino, *(() if of_ours else (found.st_size, found.st_mtime_ns)))


def remember(
    found: "Tensor[Any] | View[Any]", file: FileOrigin, name: str, version: Callable[[], str] | None = None
) -> None:
    """Keep where a tensor or a view came from, for as long as its elements are there."""
    if isinstance(found, Tensor):
        _keep(found.buffer.owner, Origin(file, name, found.layout, version))
        return
    from tensorwrapper.selection.lowlevel import expression_of  # noqa: PLC0415 - tensors of files need no views

    expression = expression_of(found)
    tensor = expression.node.tensor
    if tensor is not None and not expression.calls and expression.layout is tensor.layout:
        _keep(tensor.buffer.owner, Origin(file, name, tensor.layout, version))
    else:
        written = None if expression.written is None else weakref.ref(expression.written)
        origin = Origin(file, name, expression.layout, version, expression.calls, written)
        _keep(expression.node, origin)


def _keep(what: object, origin: Origin) -> None:
    known = _Known(what, _forget)
    known.number = id(what)
    _KNOWN[known.number] = known, origin


def origin_of(what: object) -> Origin | None:
    """Return the origin of a buffer, or of the node of a view; None if it is not known."""
    known = _KNOWN.get(id(what))
    return known[1] if known is not None and known[0]() is what else None


def version_of_records(read_at: Callable[[int, int], bytes], places: Sequence[Place]) -> str:
    """Return the identity of tensors: a number of the headers of their records, as 16 digits."""
    made = blake2b(digest_size=_DIGEST)
    for place in places:
        made.update(read_at(place.start, HEADER_BYTES))
    return made.hexdigest()


def version_of_path(path: str) -> str:
    """Return 16 digits that tell a file, or a folder of files, from another.

    The digits of a file depend on its size, and on its first and its last 4 KiB. The digits of a folder
    depend on the sizes of its files, the first 65 536 by their paths. Of files of JSON they also depend on
    4 KiB at both ends.
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
