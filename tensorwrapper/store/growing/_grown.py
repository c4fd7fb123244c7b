"""Tensors that grew: the records of one name as one lazy tensor, whose elements are read where they lie."""

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, Generic, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import assign_elements, holds_strings, is_fill, kind_of
from tensorwrapper.errors import DataFileError, ReadOnlyError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.store.growing._growth import is_box
from tensorwrapper.store.records._directory import Place, Row
from tensorwrapper.store.records._format import MOST_ROWS
from tensorwrapper.store.records._pieces import run_of, with_rows
from tensorwrapper.store.records._reader import RecordReader
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Array, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection import View

__all__ = ["Grown", "check_grown", "grown_parts", "grown_view"]

_AT_HAND: Final = 256  # records


@final
@frozen(eq=False)
class Records:
    """The extensions of a tensor, each opened when it is asked for."""

    reader: RecordReader
    rows: Sequence[Row]
    first: Tensor[Any]
    """The tensor as it was begun."""
    marks: IntArray
    """How many rows come before each record, that of `first` included, and how many there are."""
    _opened: dict[int, Tensor[Any]] = attrs.field(factory=dict[int, Tensor[Any]], init=False, repr=False)

    def open(self, number: int) -> Tensor[Any]:
        """Return the tensor of a record; 0 is what was begun, which may be several.

        Raises
        ------
        DataFileError
            If it is not what the others say.
        """
        if not number:
            return self.first
        known = self._opened.get(number)
        if known is not None:
            return known
        found = self.reader.record(self.rows[number - 1])[0]
        self._check(number, found)
        if len(self._opened) >= _AT_HAND:
            # Whoever else empties it at the same time opens a record more.
            self._opened.clear()
        self._opened[number] = found
        return found

    def _check(self, number: int, found: Tensor[Any]) -> None:
        first, shape, expected = self.first, found.shape, int(self.marks[number + 1] - self.marks[number])
        # Of the first mode alone: a bounding box looks at all rows.
        rows = len(found) if shape.rank else -1
        if rows != expected:
            raise self._refused(number, f"has {max(rows, 0)} rows, and {expected} of the tensor are there")
        if not _is_like(found, first):
            raise self._refused(number, f"has elements {_said(found)}, and the tensor {_said(first)}")
        if is_box(first.shape) and not (is_box(shape) and shape.extents[1:] == first.shape.extents[1:]):
            raise self._refused(number, f"has the shape {shape}, which is none of rows of {first.shape}")

    def _refused(self, number: int, text: str) -> DataFileError:
        row = self.rows[number - 1]
        return DataFileError(
            f"{self.reader.path}: the record at {row[1].start}, an extension of {row[0]!r}, {text}"
        )

    def check(self, number: int) -> None:
        """Raise unless a record is what the others say."""
        self.open(number)


def _is_like(found: Tensor[Any], first: Tensor[Any]) -> bool:
    """Return whether elements are such as a tensor has: strings may have nulls, or none."""
    if holds_strings(first.dtype):
        return holds_strings(found.dtype) and kind_of(found.dtype) == kind_of(first.dtype)
    fill, own = found.buffer.fill_value, first.buffer.fill_value
    if found.dtype != first.dtype or (fill is None) != (own is None):
        return False
    return fill is None or own is None or bool(is_fill(fill, own))


def _said(tensor: Tensor[Any]) -> str:
    fill = tensor.buffer.fill_value
    return str(tensor.dtype) if fill is None else f"{tensor.dtype} with the fill {fill}"


@final
@frozen(eq=False)
class Grown(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """The elements of a tensor in a file and of its extensions, one after the other; read-only.

    A record is opened when one of its elements is read. It stays valid when the file is closed.
    """

    records: Records
    ends: IntArray
    """The address at which the elements of each record start, and the size of all."""

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        return cast("np.dtype[ScalarT_co]", self.records.first.dtype)

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    @property
    def is_readonly(self) -> bool:
        return True

    @property
    def filename(self) -> str | None:
        return str(self.records.reader.path)

    def as_readonly(self) -> "Grown[ScalarT_co]":
        return self

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        result: npt.NDArray[ScalarT_co] = np.empty(addresses.shape, self.dtype)
        flat, wanted = result.reshape(-1), addresses.reshape(-1)
        numbers = np.searchsorted(self.ends, wanted, side="right") - 1
        order = np.argsort(numbers, kind="stable")
        touched, begins = np.unique(numbers[order], return_index=True)
        bounds = [*begins.tolist(), len(order)]
        for k, number in enumerate(touched.tolist()):
            chosen = order[bounds[k] : bounds[k + 1]]
            flat[chosen] = self._elements(number).read(wanted[chosen] - self.ends[number])
        return result

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        # What lies in one record is not copied.
        number = int(np.searchsorted(self.ends, start, side="right")) - 1
        if stop <= start or stop <= self.ends[number + 1]:
            if stop <= start:
                return np.empty(0, self.dtype)
            base = int(self.ends[number])
            return self._elements(number).read_run(start - base, stop - base)
        result: npt.NDArray[ScalarT_co] = np.empty(stop - start, self.dtype)
        done = 0
        while start < stop:
            base, end = int(self.ends[number]), min(int(self.ends[number + 1]), stop)
            if end > start:
                run = self._elements(number).read_run(start - base, end - base)
                assign_elements(result[done : done + end - start], run)
                done, start = done + end - start, end
            number += 1
        return result

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError("a file only grows: copy() gives elements that can be written to")

    def _elements(self, number: int) -> BufferCommon[Any]:
        return run_of(self.records.open(number))

    def __reduce__(self) -> "tuple[Callable[..., Dense[Any]], tuple[Array]]":
        # Elsewhere there is no such file.
        return Dense, (self.read_run(0, self.size),)


def _records(reader: RecordReader, places: tuple[Place, ...], rows: Sequence[Row]) -> Records:
    """Return the records of a tensor that grew; the first is opened, and the last, which ends it."""
    last = max([row[1] for row in rows], key=_stop)
    lasting = reader.lasting(last)
    first = lasting.tensor(rows[0][0], places)
    ending = lasting.record(rows[-1])[0]
    n_first = len(first) if first.shape.rank else -1
    before = [cast("int", row[4]) for row in rows]
    total = before[-1] + (len(ending) if ending.shape.rank else -1)
    if before[0] != n_first or total < before[-1]:
        raise DataFileError(
            f"{reader.path}: the record at {rows[0][1].start} extends {rows[0][0]!r} at row {before[0]}, "
            f"which has {max(n_first, 0)} rows before it"
        )
    records = Records(lasting, rows, first, np.array([0, *before, total], dtype=np.int64))
    records.check(len(rows))
    return records


def _stop(place: Place) -> int:
    return place.stop


def grown_parts(
    reader: RecordReader, places: tuple[Place, ...], rows: Sequence[Row]
) -> tuple[Tensor[Any], ...]:
    """Return a tensor that grew: one lazy tensor, or of strings and of what is sparse all that make it up.

    Parameters
    ----------
    places
        The pieces of the tensor as it was begun.
    rows
        Its extensions.

    Raises
    ------
    DataFileError
        If the records do not fit one another, as far as they are looked at: for the shape of a box the first
        and the last are, and those that claim more elements than they have bytes; of all else, all.
    """
    try:
        records = _records(reader, places, rows)
        first = records.first
        if holds_strings(first.dtype) or first.buffer.fill_value is not None:
            return tuple([records.open(number) for number in range(len(rows) + 1)])
        if is_box(first.shape):
            return (_box(records),)
        return (_jagged(records),)
    except DataFileError:
        raise
    except TensorWrapperError as error:
        raise DataFileError(f"{reader.path}: {rows[0][0]!r} has records that do not fit: {error}") from error


def _box(records: Records) -> Tensor[Any]:
    marks, first = records.marks, records.first
    inner = prod(first.shape.as_smooth().extents[1:])
    if int(marks[-1]) * max(inner, 1) > MOST_ROWS:
        raise DataFileError(
            f"{records.reader.path}: {records.rows[0][0]!r} would have over {MOST_ROWS} elements"
        )
    ends = marks * inner
    # What is compressed, or has no elements, may have more rows than bytes, and else nobody.
    lengths = np.array([row[1].length for row in records.rows], dtype=np.int64)
    many = np.diff(ends)[1:] > lengths // max(first.dtype.itemsize, 1)
    many |= not inner
    for number in np.flatnonzero(many).tolist():
        records.check(number + 1)
    return from_buffer(Grown(records, ends), with_rows(first.shape, int(marks[-1])))


def _jagged(records: Records) -> Tensor[Any]:
    shapes = [records.open(number).shape for number in range(len(records.rows) + 1)]
    ends = np.cumsum([0, *[shape.size for shape in shapes]], dtype=np.int64)
    return from_buffer(Grown(records, ends), Shape.concat(shapes, mode=0))


def grown_view(reader: RecordReader, places: tuple[Place, ...], rows: Sequence[Row]) -> "View[Any]":
    """Return the view of a tensor that grew.

    Raises
    ------
    DataFileError
        As `grown_parts`.
    """
    from tensorwrapper.selection import as_view, concat  # noqa: PLC0415 - not for who opens what did not grow

    parts = grown_parts(reader, places, rows)
    if len(parts) == 1:
        return as_view(parts[0])
    try:
        return concat(parts)
    except TensorWrapperError as error:
        raise DataFileError(f"{reader.path}: {rows[0][0]!r} has records that do not fit: {error}") from error


def check_grown(reader: RecordReader, places: tuple[Place, ...], rows: Sequence[Row]) -> None:
    """Raise unless all records of a tensor that grew fit one another.

    Raises
    ------
    DataFileError
        If they do not.
    """
    records = _records(reader, places, rows)
    for number in range(len(rows) + 1):
        records.check(number)
    grown_view(reader, places, rows)
