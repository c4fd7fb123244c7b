"""Extended tensors: join the records of one name to one lazy tensor."""

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different, splits_of
from tensorwrapper._compiled import copy_window
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense, Nullable, constant
from tensorwrapper.buffer.lowlevel import copy_elements, holds_strings, index_elements, take_along
from tensorwrapper.errors import DataFileError, ReadOnlyError, TensorWrapperError
from tensorwrapper.shape import Shape
from tensorwrapper.store.append._check_append import is_box
from tensorwrapper.store.append._records import Records
from tensorwrapper.store.records._batch_read import RecordBatch, places_of_runs
from tensorwrapper.store.records._concatenated import (
    copy_parts,
    parts_of_run,
    read_by_part,
    read_run_by_part,
)
from tensorwrapper.store.records._format import MOST_ROWS
from tensorwrapper.store.records._index_rows import Extensions, Place, Row, furthest
from tensorwrapper.store.records._pieces import run_of, with_rows
from tensorwrapper.store.records._reader import RecordReader
from tensorwrapper.tensor import Tensor, from_buffer
from tensorwrapper.typing import Array, IntArray, ScalarT_co

if TYPE_CHECKING:
    from tensorwrapper.selection import View

_InFile: TypeAlias = "tuple[npt.NDArray[ScalarT_co], IntArray, npt.NDArray[np.bool_] | None]"
"""A file as elements, where the elements of each record begin in it, and the records of which this is known.

The place of another record is -1. None instead of these records if they are all.
"""


@final
@frozen(eq=False)
class AppendedTensor(BufferCommon[ScalarT_co], Generic[ScalarT_co]):
    """The concatenated elements of a tensor in a file and of its extensions; read-only.

    A record is opened on access to one of its elements. The buffer stays valid after the file is closed.
    """

    records: Records
    ends: IntArray
    """The start address of the elements of each record, and the total size."""
    side: int | None = None
    """Part of a nullable tensor: 0 for the values, 1 for the validity."""
    _in_file: "list[_InFile[ScalarT_co]]" = attrs.field(factory=list[Any], init=False, repr=False)

    @property
    def dtype(self) -> "np.dtype[ScalarT_co]":
        return cast(
            "np.dtype[ScalarT_co]", np.dtype(np.bool_) if self.side == 1 else self.records.first.dtype
        )

    @property
    def size(self) -> int:
        return int(self.ends[-1])

    @property
    def is_readonly(self) -> bool:
        return True

    @property
    def filename(self) -> str | None:
        return str(self.records.reader.path)

    def as_readonly(self) -> "AppendedTensor[ScalarT_co]":
        return self

    def read(self, addresses: IntArray) -> "npt.NDArray[ScalarT_co]":
        numbers = np.searchsorted(self.ends, addresses, side="right") - 1
        known = self._mapped(len(different(numbers)))
        if known is None:
            return read_by_part(self.ends, addresses, self.dtype, self._elements)
        file, starts, found = known
        result: npt.NDArray[ScalarT_co] = np.empty(addresses.shape, self.dtype)
        own = np.ones(numbers.shape, np.bool_) if found is None else found[numbers]
        number = numbers[own]
        result[own] = index_elements(file, (starts[number] + (addresses[own] - self.ends[number]),))
        if not own.all():
            result[~own] = read_by_part(self.ends, addresses[~own], self.dtype, self._elements)
        return result

    def read_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        numbers = parts_of_run(self.ends, start, stop)
        if len(numbers) != 1 or stop <= start:
            return self.own_run(start, stop)
        known, number = self._mapped(1), numbers[0]
        begin = start - self.ends.item(number)
        if known is None or (known[2] is not None and not known[2][number]):
            run: npt.NDArray[ScalarT_co] = self._elements(number).read_run(begin, begin + stop - start)
            return run
        begin += known[1].item(number)
        return known[0][begin : begin + stop - start]

    def own_run(self, start: int, stop: int) -> "npt.NDArray[ScalarT_co]":
        known = self._in_file[0] if self._in_file else self._mapped(len(parts_of_run(self.ends, start, stop)))
        if known is None or stop <= start:
            run = read_run_by_part(self.ends, start, stop, self.dtype, self._elements)
            return run if run.base is None else copy_elements(run)
        file, places, found = known
        result = np.empty(stop - start, file.dtype)
        is_copied = copy_window(file, places, self.ends, start, result)
        if is_copied and found is None:
            return result
        numbers = parts_of_run(self.ends, start, stop)
        touched = slice(numbers.start, numbers.stop)
        own = np.ones(len(numbers), np.bool_) if found is None else found[touched]
        if not is_copied:
            bounds = np.clip(self.ends[numbers.start : numbers.stop + 1], start, stop)
            # Only the first record is read from its middle, and only the last to its middle.
            starts = (places[touched] + bounds[:-1] - self.ends[touched])[own]
            goals, counts = bounds[:-1][own] - start, np.diff(bounds)[own]
            gaps = np.flatnonzero(goals[1:] != (goals + counts)[:-1]) + 1
            for group in np.split(np.arange(len(goals)), gaps) if len(goals) else ():
                chosen = slice(int(group[0]), int(group[-1]) + 1)
                target = result[int(goals[chosen.start]) :]
                for done, spots in places_of_runs(starts[chosen], counts[chosen]):
                    take_along(target[done : done + len(spots)], file, spots, 0)
        copy_parts(result, start, self.ends, np.flatnonzero(~own) + numbers.start, self._elements)
        return result

    def _mapped(self, touched: int) -> "_InFile[ScalarT_co] | None":
        """Return where the elements of records are; None if so few records are rather opened one by one."""
        if self._in_file:
            return self._in_file[0]
        alike = self.records.batch(touched) if self.side is None else None
        if alike is None:
            return None
        raw, size = np.frombuffer(self.records.reader.mapped, dtype=np.uint8), self.dtype.itemsize
        # Elements of uniform records are aligned to their size.
        file = raw[: len(raw) // size * size].view(self.dtype)
        places, found = alike.places // size, alike.found.copy()
        start = _place_in(file, self.records.first)
        if start is not None:
            places[0], found[0] = start, True
        is_whole = bool(found.all())
        if not is_whole:
            # Others are opened one by one.
            places[~found] = -1
        # Concurrent threads compute the same value.
        self._in_file.append((file, places, None if is_whole else found))
        return self._in_file[0]

    def write(self, addresses: IntArray, values: Array) -> None:  # noqa: ARG002 - it refuses
        raise ReadOnlyError("cannot write to elements in a file; copy() returns a writable tensor")

    def _elements(self, number: int) -> BufferCommon[Any]:
        run = run_of(self.records.open(number))
        if self.side is None:
            return run
        sides = run.sides or (run, constant(np.True_, run.size))
        return sides[self.side]

    def __reduce__(self) -> "tuple[Callable[..., Dense[Any]], tuple[Array]]":
        # Other processes do not have this file open.
        return Dense, (self.read_run(0, self.size),)


def _place_in(file: Array, tensor: Tensor[Any]) -> int | None:
    """Return the address in a file at which all elements of a tensor are in order; None if nowhere."""
    memory = tensor.buffer.memory_of(tensor.layout.implementation)
    if memory is None or memory.dtype != file.dtype or not memory.flags.c_contiguous:
        return None
    place, rest = divmod(memory.ctypes.data - file.ctypes.data, max(file.itemsize, 1))
    return place if not rest and 0 <= place <= len(file) - memory.size else None


def _records(reader: RecordReader, places: tuple[Place, ...], given: Sequence[Row]) -> Records:
    """Return the records of an extended tensor; opens only the first and the last."""
    rows = given if isinstance(given, Extensions) else Extensions(given[0][0], given)
    columns = rows.columns
    before = columns[3]
    lasting = reader.lasting(furthest(places, rows))
    # Only a record of one plain tensor is read in a short way.
    plain = None
    if len(places) == 1 and not lasting.field:
        plain = lasting.plain(places[0].start, places[0].length, rows.name)
    first = lasting.tensor(rows.name, places) if plain is None else plain
    ending, message = lasting.record(rows[-1])
    n_first = len(first) if first.shape.rank else -1
    newest = int(before[-1])
    total = newest + (len(ending) if ending.shape.rank else -1)
    if before[0] != n_first or total < newest:
        raise DataFileError(
            f"{reader.path}: the record at {rows[0][1].start} extends {rows.name!r} at row {before[0]}, "
            f"which has {max(n_first, 0)} rows before it"
        )
    marks = np.concatenate([[0], before, [total]], dtype=np.int64)
    records = Records(lasting, rows, columns, first, marks)
    records.keep_last(ending, message)
    return records


def grown_parts(
    reader: RecordReader, places: tuple[Place, ...], rows: Sequence[Row]
) -> tuple[Tensor[Any], ...]:
    """Return an extended tensor: one lazy tensor, or for strings and sparse tensors all of its parts.

    Parameters
    ----------
    places
        The records of the original tensor.
    rows
        The records of its extensions.

    Raises
    ------
    DataFileError
        If the records do not match. For a box only the first and last records are checked, and those that
        claim more elements than they have bytes. For other tensors every record is checked.
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
        raise DataFileError(
            f"{reader.path}: {rows[0][0]!r} has records that do not match: {error}"
        ) from error


def _box(records: Records) -> Tensor[Any]:
    marks, first = records.marks, records.first
    inner = prod(first.shape.as_smooth().extents[1:])
    if int(marks[-1]) * max(inner, 1) > MOST_ROWS:
        raise DataFileError(
            f"{records.reader.path}: {records.rows[0][0]!r} would have over {MOST_ROWS} elements"
        )
    ends = marks * inner
    # Only compressed records, and records without elements, may have more rows than bytes.
    sizes, lengths, word = np.diff(ends)[1:], records.columns[1], max(first.dtype.itemsize, 1)
    if not inner or int(sizes.max()) > int(lengths.min()) // word:
        for number in np.flatnonzero((sizes > lengths // word) | (not inner)).tolist():
            records.check(number + 1)
    return from_buffer(_grown(records, ends), with_rows(first.shape, int(marks[-1])))


def _grown(records: Records, ends: IntArray) -> BufferCommon[Any]:
    """Return the elements of all records, as a nullable buffer if the first record is nullable."""
    if records.first.buffer.sides is None:
        return AppendedTensor(records, ends)
    return Nullable(AppendedTensor(records, ends, 0), AppendedTensor(records, ends, 1))


def _jagged(records: Records) -> Tensor[Any]:
    alike, last = records.alike(), len(records.rows)
    sizes = alike.counts.copy()
    shapes: list[Shape[Any]] = []
    number = 0
    # One shape per opened record, and one per run of unopened records.
    for stop in [*np.flatnonzero(~alike.found).tolist(), last + 1]:
        if number < stop:
            shapes.append(_rows_of(alike, number, stop))
        if stop <= last:
            shapes.append(records.open(stop).shape)
            sizes[stop] = shapes[-1].size
        number = stop + 1
    ends = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=ends[1:])
    return from_buffer(_grown(records, ends), Shape.concat(shapes, mode=0))


def _rows_of(alike: RecordBatch, start: int, stop: int) -> Shape[Any]:
    """Return the shape of the rows of consecutive uniform records."""
    levels = [
        splits_of(lengths[marks[start] : marks[stop]])
        for lengths, marks in zip(alike.lengths, alike.marks, strict=True)
    ]
    return Shape.from_offsets(*levels, validate=False, copy=False)


def grown_view(reader: RecordReader, places: tuple[Place, ...], rows: Sequence[Row]) -> "View[Any]":
    """Return the view of an extended tensor.

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
        raise DataFileError(
            f"{reader.path}: {rows[0][0]!r} has records that do not match: {error}"
        ) from error


def check_grown(reader: RecordReader, places: tuple[Place, ...], rows: Sequence[Row]) -> None:
    """Raise unless all records of an extended tensor match.

    Raises
    ------
    DataFileError
        If they do not.
    """
    records = _records(reader, places, rows)
    records.alike()
    for number in range(len(rows) + 1):
        records.check(number)
    grown_view(reader, places, rows)
