"""Records of a `.tens` file read by byte ranges. Opening reads the structure, but no elements.

The same code as for a file in memory reads labels, sizes of parts, and tables such as row splits. Instead of
the elements it receives untouched memory.
"""

import mmap
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, cast, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError, RemoteProtocolError
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._fetched_elements import FetchedElements
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.store.records._entry import number_of
from tensorwrapper.store.records._format import HEADER_BYTES, unpack_header
from tensorwrapper.store.records._index_rows import Place, Row
from tensorwrapper.store.records._record import (
    FieldNames,
    RecordFacts,
    check_facts,
    expected_message,
    only_tensor,
    read_label,
)
from tensorwrapper.tensor import Tensor
from tensorwrapper.wire import Limits, Message, decode

if TYPE_CHECKING:
    from tensorwrapper.selection import View

_HEAD: Final = 512
_PLAIN: Final = (None, "jagged", "tiled", "triangular")
"""Packings that store elements as in memory."""
_NUMBERS: Final = ("i", "u", "f", "c")
_SMALL: Final = 4096
"""Parts up to this many bytes are read with the structure."""
_NO_RESERVE: Final = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)


@final
@frozen(eq=False)
class Part:
    """A tensor in a record, and the position of its elements."""

    message: Message
    tensor: Tensor[Any]
    place: int | None
    """Start of the elements in the file; None if they were read with the structure."""


@final
@frozen
class RowsInFile:
    """Positions of rows of numbers in a file."""

    splits: int
    """Start of the row splits, one more than the number of rows."""
    count: int
    elements: int
    nbytes: int
    """Size of the elements in bytes."""
    dtype: "np.dtype[Any]"


@final
class FetchedRecords:
    """Reader of the records of one file."""

    __slots__ = ("limits", "ranges")

    def __init__(self, ranges: Ranges, limits: Limits) -> None:
        self.ranges, self.limits = ranges, limits

    def prepare(self, places: Sequence[Place]) -> None:
        """Fetch the headers of records with as few requests as possible."""
        self.ranges.read_kept([(own.start, min(own.start + _HEAD, own.stop)) for own in places])

    def view(self, row: Row, fields: FieldNames = (), field: str = "") -> "Tensor[Any] | View[Any]":
        """Return the tensor of a record or of its field: a view, or a tensor if the elements were fetched.

        Raises
        ------
        DataFileError
            If the record is damaged, missing, or not the expected one.
        """
        part = self.part(row, fields, field)
        if part.place is None:
            return part.tensor
        from tensorwrapper.selection import as_view  # noqa: PLC0415 - a room above

        return as_view(self.source(part))

    def source(self, part: Part) -> FetchedElements:
        """Return the elements of a tensor as a source."""
        layout, buffer = part.tensor.layout, part.tensor.buffer
        place = cast("int", part.place)
        known = layout.implementation
        if known.is_contiguous and not known.offset and buffer.size == layout.shape.size:
            return FetchedElements(self.ranges, place, layout.shape, buffer.dtype)
        return FetchedElements(self.ranges, place, Shape(buffer.size), buffer.dtype, layout)

    def part(self, row: Row, fields: FieldNames = (), field: str = "") -> Part:
        """Return the metadata of a tensor, without elements. Raises as `view`."""
        name, place, piece, pieces, after = row
        kind = "records" if field else "tensor"
        expected = RecordFacts(kind, name, piece, pieces, extends=after, fields=fields)
        message, places = self._message(place, expected)
        try:
            tensor = only_tensor(message, field)
        except DataFileError as error:
            raise self._error(place, str(error)) from error
        return Part(message, tensor, places.get(number_of(message, field)))

    def rows(self, row: Row, fields: FieldNames, field: str) -> RowsInFile | None:
        """Return the positions of the rows of a tensor, for rows of numbers with origin zero.

        Return None for other tensors, which need the whole structure.

        Raises
        ------
        DataFileError
            If the record is damaged.
        """
        spans = self._spans(self._checked(row[1]))
        label = self._label(row[1], spans)
        number = _number_of(label, field)
        entries = _entries_of(label)
        entry = entries[number] if 0 <= number < len(entries) else {}
        # Other keys may change the position of rows or elements.
        if not entry.keys() <= {"packing", "part", "dtype", "word", "jagged", "shape", "metadata"}:
            return None
        rows: Any = entry.get("jagged")
        if entry.get("packing") != "jagged" or not isinstance(rows, dict):
            return None
        cells: Any = cast("dict[str, Any]", rows).get("cells")
        part: Any = entry.get("part")
        word: Any = entry.get("word")
        if rows != {"version": 1, "cell_rank": 1, "splits": [], "cells": cells}:
            return None
        if entry.get("dtype") not in _NUMBERS or not all(type(own) is int for own in (part, cells, word)):
            return None
        if not (0 <= part < len(spans) - 2 and 0 <= cells < len(spans) - 2):
            return None
        try:
            check_facts(
                cast("Any", label),
                RecordFacts("records" if field else "tensor", row[0], row[2], row[3], None, row[4], fields),
            )
        except DataFileError as error:
            raise self._error(row[1], str(error)) from error
        try:
            dtype = np.dtype(f"<{entry['dtype']}{word}")
        except TypeError:
            return None
        (elements, nbytes), (splits, size) = spans[int(part) + 2], spans[int(cells) + 2]
        return RowsInFile(splits, max(size // 8 - 1, 0), elements, nbytes, dtype)

    def message(self, place: Place, expected: RecordFacts) -> Message:
        """Return the message of a record, whose elements may be missing."""
        return self._message(place, expected)[0]

    def _message(self, place: Place, expected: RecordFacts) -> tuple[Message, dict[int, int]]:
        """Return a message, and the positions of the elements that were not fetched, by tensor."""
        frames, missing = self._frames(place)
        try:
            message = expected_message(lambda: decode(frames, limits=self.limits), expected)
        except DataFileError as error:
            raise self._error(place, str(error)) from error
        return message, missing

    def _frames(self, place: Place) -> tuple[list[memoryview], dict[int, int]]:
        """Return the frames of a record, with untouched memory for large plain elements."""
        spans = self._spans(self._checked(place))
        label = self._label(place, spans)
        # Frames 0 and 1 are headers, and part k is frame k + 2.
        missing = {
            number: spans[part + 2]
            for number, part in _elements_of(label)
            if part + 2 < len(spans) and spans[part + 2][1] > _SMALL
        }
        left = {span[0] for span in missing.values()}
        wanted = [(start, start + size) for start, size in spans if start not in left]
        found = iter(self.ranges.read_kept(wanted))
        frames = [memoryview(_untouched(size) if start in left else next(found)) for start, size in spans]
        return frames, {number: start for number, (start, _) in missing.items()}

    def _checked(self, place: Place) -> Place:
        """Return the place of a record after checking its header."""
        if place.stop > self.ranges.size:
            raise self._error(place, f"ends at {place.stop}, but the file has {self.ranges.size} bytes")
        try:
            header = unpack_header(self.ranges.read_at(place.start, HEADER_BYTES))
        except DataFileError as error:
            raise self._error(place, str(error)) from error
        if header.length != place.length:
            raise self._error(place, f"has {header.length} bytes; the index says {place.length}")
        return place

    def _spans(self, place: Place) -> list[tuple[int, int]]:
        """Return the position and size of each frame of a record."""
        found: list[tuple[int, int]] = []
        begin = place.start + HEADER_BYTES
        while begin < place.stop:
            raw = self.ranges.read_at(begin, 5)
            is_long = raw[0] == 255
            size = int.from_bytes(raw[1:5], "big") if is_long else raw[0]
            begin += 5 if is_long else 1
            if size > place.stop - begin:
                raise self._error(place, f"is invalid: frame {len(found)} is truncated")
            if len(found) >= self.limits.parts + 2:
                raise self._error(place, f"has more than {self.limits.parts} parts; limits= can raise it")
            found.append((begin, size))
            begin += size
        return found

    def _label(self, place: Place, spans: Sequence[tuple[int, int]]) -> object:
        """Return the label of a record as JSON. `decode` validates it later."""
        if not spans or spans[0][1] < 8 or spans[0][1] > self.limits.label_bytes + 8:
            return None
        start, size = spans[0]
        raw = self.ranges.read_at(start, size)
        try:
            return read_label(memoryview(raw), self.limits)
        except RemoteProtocolError as error:
            raise self._error(place, f"is invalid: {error}") from error

    def _error(self, place: Place, text: str) -> DataFileError:
        return DataFileError(f"{self.ranges.name}: the record at {place.start} {text}")


def _number_of(label: object, field: str) -> int:
    """Return the number of a field's tensor in a record; -1 if the label does not list it."""
    if not field:
        return 0
    try:
        pairs = cast("Any", label)["TENS"]["records"][0]["fields"]
        found = [number for name, number in pairs if name == field]
    except (KeyError, IndexError, TypeError, ValueError):
        return -1
    return found[0] if len(found) == 1 and type(found[0]) is int else -1


def _entries_of(label: object) -> list[dict[str, Any]]:
    """Return the tensors' entries in a label; empty if it has checksums, which need the whole record."""
    found: Any = cast("dict[str, Any]", label).get("TENS") if isinstance(label, dict) else None
    if not isinstance(found, dict) or "checksums" in found:
        return []
    entries = cast("dict[str, list[Any]]", found).get("tensors")
    if type(entries) is not list:
        return []
    return [own if type(own) is dict else {} for own in entries]


def _elements_of(label: object) -> list[tuple[int, int]]:
    """Return pairs of tensor number and part number, for each tensor with plain elements."""
    return [
        (number, part)
        for number, entry in enumerate(_entries_of(label))
        if type(part := entry.get("part")) is int and part >= 0 and entry.get("packing") in _PLAIN
    ]


def _untouched(size: int) -> mmap.mmap:
    """Return memory of zeros. The operating system allocates its pages only on write."""
    if sys.platform == "win32":
        return mmap.mmap(-1, size)
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE)
