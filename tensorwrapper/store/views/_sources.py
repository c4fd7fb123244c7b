"""Sources of stored views: a file or server, a name there, and a version."""

import os
from collections.abc import Mapping
from math import prod
from typing import Any, Final, Protocol, Self, final

import numpy as np

from tensorwrapper._json import Json, dump_json, load_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, TensorWrapperError
from tensorwrapper.selection.lowlevel import dtype_name, to_dtype
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray

MOST_MEMBERS: Final = 2**20
MOST_SOURCES: Final = 2**16
"""Limit on the sources in a view's record, without members."""
MOST_BYTES: Final = 2**26
"""Size limit of the text and tables of a view, in bytes."""
_OPTIONS: Final[Mapping[str, tuple[object, ...]]] = {"raw": (True,), "null_rows": ("empty", "field")}
_LONGEST: Final = 4096  # limit on the characters of a path, a name, an address or a version
PLAIN: Final = "biufcmM"
"""Dtype kinds that a view may store, so that sources are opened lazily."""


@final
@frozen
class StoredSource:
    """A source of a stored view.

    Attributes
    ----------
    path
        The file, relative to the file with the view; the address of a server; empty for the same file.
    name
        Name of the tensor there.
    version
        Version of its elements; empty for the same file, which only grows.
    """

    path: str
    name: str
    version: str


class Stored(Protocol):
    """Concatenated tensors in other files or on servers, opened on access to their elements."""

    @property
    def shape(self) -> Shape[Any] | None:
        """Shape of the concatenation; None if known only after opening."""
        ...

    @property
    def dtype(self) -> "np.dtype[Any] | None":
        """Dtype of the elements; None if known only after opening."""
        ...

    @property
    def ends(self) -> IntArray:
        """Number of the first element of each member, and the total size."""
        ...

    def member(self, number: int) -> "FileSource | ServerSource":
        """Return a member by number."""
        ...

    def fits(self, number: int, shape: Shape[Any]) -> bool:
        """Return True if a member has its stored shape."""
        ...


class _OneTensor:
    """Abstract: `shape`, for a source that is one tensor."""

    __slots__ = ()

    shape: Shape[Any] | None

    @property
    def ends(self) -> IntArray:
        """Zero and the number of elements."""
        return np.array([0, 0 if self.shape is None else self.shape.size], dtype=np.int64)

    def member(self, number: int) -> Self:  # noqa: ARG002 - there is one
        """Return the source itself."""
        return self

    def fits(self, number: int, shape: Shape[Any]) -> bool:  # noqa: ARG002
        """Return True if the source has its stored shape."""
        return shape == self.shape


@final
@frozen(eq=False)
class FileSource(_OneTensor):
    """A tensor in a file with an absolute path."""

    path: str
    name: str
    version: str
    options: Mapping[str, Json] = {}
    """Options to open a file of another format, unless its content determines them."""
    shape: Shape[Any] | None = None
    dtype: "np.dtype[Any] | None" = None

    def said(self, path: str) -> dict[str, Json]:
        """Return the description in a file at this path."""
        return {"file": path, "name": self.name, "version": self.version, **self.options, **_form(self)}


@final
@frozen(eq=False)
class ServerSource(_OneTensor):
    """A tensor at a server."""

    address: str
    name: str
    version: str
    shape: Shape[Any] | None = None
    dtype: "np.dtype[Any] | None" = None

    def said(self) -> dict[str, Json]:
        """Return the description in a file."""
        return {"server": self.address, "name": self.name, "version": self.version, **_form(self)}


def _form(source: "FileSource | ServerSource") -> dict[str, Json]:
    if source.shape is None or source.dtype is None:
        return {}
    return {"shape": load_json(source.shape.to_json()), "dtype": dtype_name(source.dtype)}


@final
@frozen(eq=False)
class MembersSource:
    """A table of tensors of files, one after the other along their first mode, of one type."""

    files: tuple[str, ...]
    """Paths that are absolute here."""
    table: IntArray
    """For each its rows, the number of its file, and the 64 bits of its version."""
    names: bytes
    """Their names, with line feeds between."""
    dtype: "np.dtype[Any]"
    tail: tuple[int, ...]
    """The extents of all modes but the first; none of rows of different lengths."""
    lengths: IntArray | None
    """The lengths of all rows of all of them; None of boxes."""
    shape: Shape[Any]
    ends: IntArray
    splits: IntArray
    """The number of the first row of each, and how many there are."""
    split_names: list[list[str]]
    """The names one by one, once they were needed."""

    @classmethod
    def of(
        cls,
        files: tuple[str, ...],
        table: IntArray,
        names: bytes,
        dtype: "np.dtype[Any]",
        tail: tuple[int, ...],
        lengths: IntArray | None,
    ) -> "MembersSource":
        """Return the source of a table, which may be hostile.

        Raises
        ------
        DataFileError
            If it cannot be right. The text completes a sentence.
        """
        if not 0 < len(table) <= MOST_MEMBERS or table.shape[1] != 3:
            raise DataFileError(f"has {len(table)} members; 1 to {MOST_MEMBERS} are allowed")
        rows = table[:, 0]
        if int(rows.min()) < 0 or int(rows.max()) > 2**40:
            raise DataFileError("has members of fewer rows than none, or of too many")
        if int(table[:, 1].min()) < 0 or int(table[:, 1].max()) >= len(files):
            raise DataFileError("has members of files that are not listed")
        if names.count(b"\n") != len(table) - 1:
            raise DataFileError("has members without names, or names without members")
        splits = np.concatenate([[0], np.cumsum(rows)])
        if lengths is None:
            shape: Shape[Any] = Shape(int(splits[-1]), *tail)
            inner = prod(tail)
            if int(splits[-1]) * max(inner, 1) >= 2**62:
                raise DataFileError("has members of too many elements")
            ends = splits * inner
        else:
            if tail or len(lengths) != int(splits[-1]):
                raise DataFileError(f"has {len(lengths)} lengths for {int(splits[-1])} rows")
            if len(lengths) and (int(lengths.min()) < 0 or int(lengths.max()) > 2**38):
                raise DataFileError("has rows of lengths that cannot be")
            offsets = np.concatenate([[0], np.cumsum(lengths)])
            shape = Shape.from_offsets(offsets)
            ends = offsets[splits]
        return cls(files, table, names, dtype, tail, lengths, shape, ends, splits, [])

    def member(self, number: int) -> FileSource:
        """Return a member by number."""
        if not self.split_names:
            # A concurrent thread finds the same.
            self.split_names.append(self.names.decode("utf-8", "surrogateescape").split("\n"))
        row: list[int] = self.table[number].tolist()
        _, file, version = row
        return FileSource(self.files[file], self.split_names[0][number], f"{version % 2**64:016x}")

    def fits(self, number: int, shape: Shape[Any]) -> bool:
        """Return True if a member has its stored shape."""
        rows = int(self.table[number, 0])
        if self.lengths is None:
            return shape.is_box and shape.extents == (rows, *self.tail)
        begin = int(self.splits[number])
        own = np.concatenate([[0], np.cumsum(self.lengths[begin : begin + rows])])
        return shape == Shape.from_offsets(own)


def to_source(given: Mapping[str, Json], folder: str) -> "FileSource | ServerSource":
    """Return the source that a file says, whose folder this is.

    Raises
    ------
    DataFileError
        If it says none. The text completes a sentence.
    """
    is_file = "file" in given
    options = {key: given[key] for key in _OPTIONS if is_file and key in given}
    known = {"file" if is_file else "server", "name", "version", "shape", "dtype", "kind", *options}
    texts = [given.get(key) for key in ("file" if is_file else "server", "name", "version")]
    if set(given) - known or any(given[key] not in _OPTIONS[key] for key in options):
        raise DataFileError(f"has a source with other keys than there are: {sorted(given)[:8]}")
    if not all(isinstance(text, str) and len(text) <= _LONGEST for text in texts):
        raise DataFileError("has a source without a place, a name and a version")
    place, name, version = (str(text) for text in texts)
    if "kind" in given:
        options["kind"] = given["kind"]
    shape, dtype = _to_form(given)
    if is_file:
        return FileSource(absolute(place, folder), name, version, options, shape, dtype)
    return ServerSource(place, name, version, shape, dtype)


def _to_form(given: Mapping[str, Json]) -> "tuple[Shape[Any] | None, np.dtype[Any] | None]":
    if "shape" not in given:
        return None, None
    try:
        shape: Shape[Any] = Shape.from_json(dump_json(given["shape"]))
        dtype = to_dtype(given.get("dtype"), "dtype")
    except TensorWrapperError as error:
        raise DataFileError(f"has a source of a shape or type that is refused: {error}") from error
    if shape.size >= 2**62 or dtype.kind not in PLAIN:
        raise DataFileError(f"has a source of {shape.size} elements of {dtype}")
    return shape, dtype


def absolute(path: str, folder: str) -> str:
    """Return the path of a source of a file in a folder.

    Raises
    ------
    DataFileError
        If the path is not relative. The text completes a sentence.
    """
    if not path or "\0" in path or "\\" in path or path.startswith("/") or os.path.isabs(path):
        raise DataFileError(f"has a source at {path[:80]!r}, which is not a relative path")
    return os.path.normpath(os.path.join(folder, *path.split("/")))
