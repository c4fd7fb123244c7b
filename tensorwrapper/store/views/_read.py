"""Read views from records; sources are opened on access to elements."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, cast, final

import numpy as np

from tensorwrapper._error_text import brief
from tensorwrapper._json import Json, dump_json, excess, load_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    DataFileError,
    JaggedModeError,
    ParseError,
    TensorWrapperError,
    VersionChangedError,
)
from tensorwrapper.selection import as_view
from tensorwrapper.selection.lowlevel import to_dtype, view_from_stored
from tensorwrapper.store.records._record import read_message
from tensorwrapper.store.views._buffer import lazy_tensor, same_elements
from tensorwrapper.store.views._open_sources import SourceScope
from tensorwrapper.store.views._sources import (
    MOST_BYTES,
    MOST_SOURCES,
    FileSource,
    MembersSource,
    ServerSource,
    StoredSource,
    absolute,
    to_source,
)
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import Limits, Message

if TYPE_CHECKING:
    from tensorwrapper.selection import View

_NUMBERS = re.compile(r'"(0|[1-9][0-9]{0,4})"')

Own = Callable[[str], object]
"""Function that returns a tensor of the same file by name."""


@final
@frozen(eq=False)
class StoredView:
    """Contents of a view's record."""

    text: str
    said: tuple[Mapping[str, Json], ...]
    """Description of each source."""
    frames: int
    """Number of tensors that are tables of positions."""
    tensors: Sequence[Tensor[Any]]
    folder: str

    @classmethod
    def of(cls, message: Message, folder: str) -> "StoredView":
        """Return the contents of an untrusted message.

        Raises
        ------
        DataFileError
            If the message is not a view. The text completes a sentence.
        """
        label = cast("Mapping[str, Any]", message.label_object)
        record: Mapping[str, Json] = label["record"]
        text, said, frames = label.get("selection"), record.get("sources"), record.get("frames", 0)
        if not isinstance(text, str) or not isinstance(said, list):
            raise DataFileError("is a view without an expression")
        if not all(isinstance(own, dict) for own in said):
            raise DataFileError("has a source that is not an object")
        if len(said) > MOST_SOURCES:
            raise DataFileError(f"has {len(said)} sources, but the limit is {MOST_SOURCES}")
        if type(frames) is not int or not 0 <= frames <= len(message.tensors):
            raise DataFileError(f"has {brief(frames)} tables")
        if len(text) + sum([own.nbytes for own in message.tensors]) > MOST_BYTES:
            raise DataFileError(f"has a view of more than {MOST_BYTES} bytes of text and tables")
        return cls(text, tuple(cast("list[Any]", said)), frames, message.tensors, folder)

    def held(self, number: Json) -> Tensor[Any]:
        """Return a tensor stored in the record.

        Raises
        ------
        DataFileError
            If there is no tensor with this number.
        """
        count = len(self.tensors) - self.frames
        if type(number) is not int or not 0 <= number < count:
            raise DataFileError(f"refers to tensor {brief(number)} of {count}")
        return self.tensors[self.frames + number]

    def positions(self) -> list[bytes]:
        """Return the tables of positions, 8 bytes each."""
        return [_numbers(own).tobytes() for own in self.tensors[: self.frames]]

    def members(self, given: Mapping[str, Json]) -> MembersSource:
        """Return the source described by a node of members.

        Raises
        ------
        DataFileError
            If the node is invalid. The text completes a sentence.
        """
        if set(given) - {"members", "table", "names", "files", "dtype", "tail", "lengths"}:
            raise DataFileError(f"has members with unknown keys: {sorted(given)[:8]}")
        if given["members"] != 0:
            raise DataFileError("has members along another mode than the first")
        files, tail = given.get("files"), given.get("tail", [])
        if not isinstance(files, list) or not all(isinstance(path, str) for path in files):
            raise DataFileError("has members without a list of files")
        if (
            not isinstance(tail, list)
            or len(tail) > 31
            or not all(type(extent) is int and 0 <= extent <= 2**36 for extent in tail)
        ):
            raise DataFileError("has members with invalid extents")
        try:
            dtype = to_dtype(given.get("dtype"), "dtype")
        except TensorWrapperError as error:
            raise DataFileError(f"has members with an invalid dtype: {error}") from error
        if dtype.kind not in "biufcmM":
            raise DataFileError(f"has members of {dtype}")
        table = _numbers(self.held(given.get("table")))
        names = self.held(given.get("names"))
        if names.dtype != np.uint8 or names.rank != 1 or table.ndim != 2:
            raise DataFileError("has members without a table and names")
        lengths = _numbers(self.held(given["lengths"])) if "lengths" in given else None
        if lengths is not None and lengths.ndim != 1:
            raise DataFileError("has lengths of rows in several modes")
        return MembersSource.of(
            tuple([absolute(cast("str", path), self.folder) for path in files]),
            table,
            names.elements().tobytes(),
            dtype,
            cast("tuple[int, ...]", tuple(tail)),
            lengths,
        )

    def listed(self) -> Iterator[StoredSource]:
        """Yield the sources, except tensors stored in the record.

        Raises
        ------
        DataFileError
            If the record has impossible facts. The text completes a sentence.
        """
        for source in self.sources():
            if isinstance(source, str):
                yield StoredSource("", source, "")
                continue
            yield StoredSource(self.place_of(source), source.name, source.version)

    def place_of(self, source: "FileSource | ServerSource") -> str:
        """Return the address of a server, or the path of a file relative to the file of the view."""
        if isinstance(source, ServerSource):
            return source.address
        return PurePath(os.path.relpath(source.path, self.folder)).as_posix()

    def sources(self) -> Iterator["FileSource | ServerSource | str"]:
        """Yield each source, members one by one; for a source in the same file its name."""
        for given in self.said:
            if "own" in given:
                yield str(given["own"])
            elif "held" not in given:
                yield to_source(given, self.folder)
        joined = _Joined(self)
        for node in _nodes_of_members(self.text):
            if not joined.has(node):
                many = joined.of(node)
                yield from map(many.member, range(len(many.table)))


@final
class _Joined:
    """Nodes of members in one text, without duplicates."""

    __slots__ = ("_found", "_left", "_stored")

    def __init__(self, stored: StoredView) -> None:
        self._stored = stored
        self._found: dict[str, MembersSource] = {}
        self._left = MOST_BYTES

    def has(self, given: Mapping[str, Json]) -> bool:
        """Return True if a node is known."""
        return dump_json(given) in self._found

    def of(self, given: Mapping[str, Json]) -> MembersSource:
        """Return the source described by a node.

        Raises
        ------
        DataFileError
            If the node is invalid, or all tables together are too large.
        """
        key = dump_json(given)
        if key not in self._found:
            found = self._stored.members(given)
            self._left -= found.table.nbytes + len(found.names)
            self._left -= 0 if found.lengths is None else found.lengths.nbytes
            if self._left < 0:
                raise DataFileError(f"has members of more than {MOST_BYTES} bytes of tables")
            self._found[key] = found
        return self._found[key]


def _nodes_of_members(text: str) -> list[dict[str, Json]]:
    """Return the nodes of members in a text."""
    if '"members"' not in text or excess(text, depth=256, items=2**20) is not None:
        return []
    found: list[dict[str, Json]] = []
    try:
        waiting: list[Json] = [load_json(text)]
    except ParseError as error:
        raise DataFileError(f"has a view whose JSON {error}") from error
    while waiting:
        own = waiting.pop()
        if isinstance(own, dict):
            if "members" in own:
                found.append(own)
            waiting += reversed(list(own.values()))
        elif isinstance(own, list):
            waiting += reversed(own)
    return found


def _numbers(tensor: Tensor[Any]) -> Any:  # noqa: ANN401 - an array of int64
    """Return a table of integers as it is.

    Raises
    ------
    DataFileError
        If it is not a table of integers.
    """
    if tensor.dtype != np.int64 or not tensor.shape.is_box or tensor.is_sparse or tensor.is_nullable:
        raise DataFileError(f"has a table of {tensor.shape} {tensor.dtype}")
    return tensor.elements().reshape(tensor.shape.extents)


def check_record(
    body: bytes, limits: Limits, way: SourceScope, view: "View[Any]", wholes: Mapping[str, object], own: Own
) -> None:
    """Raise if a reader would reject the record of a view to be written.

    Parameters
    ----------
    wholes
        Sources that a reader opens immediately, by number.

    Raises
    ------
    DataFileError, RemoteProtocolError
        If a reader would reject it. The text completes a sentence.
    """
    stored = StoredView.of(read_message(memoryview(body), limits), os.path.dirname(way.path))
    found = read_view(stored, way, own, wholes)
    if found.shape != view.shape or found.dtype != view.dtype:
        raise DataFileError(f"is {found.shape} of {found.dtype}, not {view.shape} of {view.dtype}")


def read_view(
    stored: StoredView, way: SourceScope, own: Own, wholes: Mapping[str, object] = MappingProxyType({})
) -> "View[Any]":
    """Return the view described by a record; `wholes` are known sources by number.

    Raises
    ------
    DataFileError
        If the record has impossible facts, or a source that is opened immediately is missing.
    VersionChangedError
        If such a source changed.
    """
    try:
        # The view opens only sources to which its text refers.
        named = set(_NUMBERS.findall(stored.text))
        numbered = ((str(number), given) for number, given in enumerate(stored.said))
        sources = {
            number: _opened(given, stored, way, own, wholes.get(number))
            for number, given in numbered
            if number in named
        }

        joined = _Joined(stored)
        made: dict[int, Tensor[Any]] = {}

        def members(given: dict[str, Json]) -> "View[Any]":
            # A text repeats a node for each use, but its table is stored once.
            found = joined.of(given)
            if id(found) not in made:
                made[id(found)] = lazy_tensor(found, way)
            return as_view(made[id(found)])

        return view_from_stored(stored.text, sources=sources, frames=stored.positions(), members=members)
    except (DataFileError, VersionChangedError):
        raise
    except (TensorWrapperError, OverflowError, RecursionError) as error:
        raise DataFileError(f"is an invalid view: {error}") from error


def _of_then(source: Any, rows: Json) -> Any:  # noqa: ANN401 - a tensor or a view
    """Return the rows that a source of the same file had when the view was written.

    Raises
    ------
    DataFileError
        If it has fewer rows. The text completes a sentence.
    """
    if rows is None:
        return source
    if type(rows) is not int or rows < 0:
        raise DataFileError(f"has a source of this file with {brief(rows)} rows")
    found = source.shape.extent(0) if source.shape.rank else 0
    if found < rows:
        raise DataFileError(f"has a source of this file with {rows} rows, and it has {found}")
    if found == rows:
        return source
    part = as_view(source)[:rows]
    try:
        origin = source.shape.origin
    except JaggedModeError:
        return part  # Rows that begin in many places keep these.
    return part.translate_to(origin) if any(origin) else part


def _opened(given: Mapping[str, Json], stored: StoredView, way: SourceScope, own: Own, whole: object) -> Any:  # noqa: ANN401 - as of files
    """Return a source: a lazy tensor, or a tensor that is opened now."""
    if "own" in given:
        if set(given) - {"own", "rows"} or not isinstance(given["own"], str):
            raise DataFileError("has a source of this file without its name")
        return _of_then(same_elements(own(given["own"]) if whole is None else whole), given.get("rows"))
    if "held" in given:
        if set(given) != {"held"}:
            raise DataFileError("has a stored source with other keys than held")
        return stored.held(given["held"])
    source = to_source(given, stored.folder)
    if source.shape is not None:
        return lazy_tensor(source, way)
    return same_elements(way.open(source) if whole is None else whole)
