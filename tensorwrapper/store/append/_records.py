"""`Records`: the extensions of a tensor in a file, opened one by one, or in batches if uniform."""

from typing import Any, Final, final

import attrs
import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import holds_strings, is_fill, kind_of
from tensorwrapper.errors import DataFileError
from tensorwrapper.store.append._check_append import is_box
from tensorwrapper.store.records._batch_read import (
    SMALL_RECORD,
    RecordBatch,
    RecordTemplate,
    find_alike,
    read_alike,
)
from tensorwrapper.store.records._entry import number_of
from tensorwrapper.store.records._index_rows import Extensions
from tensorwrapper.store.records._reader import RecordReader
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import IntArray
from tensorwrapper.wire import DEFAULT_LIMITS, Message

_AT_HAND: Final = 256  # records
_FEW: Final = 4
"""Opening this many records takes the time of an empty batch."""
_BATCHED: Final = 64
"""Opening one record takes the time of this many in a batch."""
_FORMS: Final = 8  # number of templates to compare records with
_PLAIN: Final = "biufcmM"  # dtype kinds that are stored as in memory


@final
@frozen(eq=False)
class Records:
    """The extensions of a tensor, each opened on access."""

    reader: RecordReader
    rows: Extensions
    columns: tuple[IntArray, IntArray, IntArray, IntArray]
    """Columns of the rows, as `Extensions.columns`."""
    first: Tensor[Any]
    """The original tensor."""
    marks: IntArray
    """Number of rows before each record, including `first`, and the total."""
    _opened: dict[int, Tensor[Any]] = attrs.field(factory=dict[int, Tensor[Any]], init=False, repr=False)
    _last: list[Message] = attrs.field(factory=list[Message], init=False, repr=False)
    _alike: list[RecordBatch] = attrs.field(factory=list[RecordBatch], init=False, repr=False)

    def open(self, number: int) -> Tensor[Any]:
        """Return the tensor of a record; number 0 is the original, which may have several records.

        Raises
        ------
        DataFileError
            If the record does not match the others.
        """
        if not number:
            return self.first
        known = self._opened.get(number)
        if known is not None:
            return known
        return self._keep(number, self.reader.record(self.rows[number - 1])[0])

    def keep_last(self, found: Tensor[Any], message: Message) -> None:
        """Keep the last record, which was read, as the tensor and the first template. Raises as `open`."""
        self._keep(len(self.rows), found)
        self._last.append(message)

    def _keep(self, number: int, found: Tensor[Any]) -> Tensor[Any]:
        self._check(number, found)
        if len(self._opened) >= _AT_HAND:
            # If another thread clears the cache, only one more record is opened.
            self._opened.clear()
        self._opened[number] = found
        return found

    def _check(self, number: int, found: Tensor[Any]) -> None:
        first, shape, expected = self.first, found.shape, int(self.marks[number + 1] - self.marks[number])
        # Check only the first mode, because a bounding box would visit all rows.
        rows = len(found) if shape.rank else -1
        if rows != expected:
            raise self._refused(number, f"has {max(rows, 0)} rows instead of {expected}")
        if not _is_like(found, first):
            raise self._refused(
                number, f"has elements {_kind_text(found)}, but the tensor {_kind_text(first)}"
            )
        if is_box(first.shape) and not (is_box(shape) and shape.extents[1:] == first.shape.extents[1:]):
            raise self._refused(number, f"has the shape {shape}, which cannot extend {first.shape}")

    def _refused(self, number: int, text: str) -> DataFileError:
        row = self.rows[number - 1]
        return DataFileError(
            f"{self.reader.path}: the record at {row[1].start}, an extension of {row[0]!r}, {text}"
        )

    def check(self, number: int) -> None:
        """Raise unless a record matches the others."""
        if not (self._alike and self._alike[0].found[number]):
            self.open(number)

    def batch(self, touched: int) -> RecordBatch | None:
        """Return `alike` if it is known, or takes less time than to open so many records; else None.

        The records that were opened before count, too: requests may come one after the other.
        """
        if not self._alike and len(self._opened) + touched <= min(
            _FEW + len(self.rows) // _BATCHED, _AT_HAND
        ):
            return None
        return self.alike()

    def alike(self) -> RecordBatch:
        """Return the fields of many uniform records, read in one batch, without number 0.

        Other records are opened one by one.
        """
        if not self._alike:
            # Concurrent threads compute the same value.
            self._alike.append(self._read_alike())
            self._last.clear()
        return self._alike[0]

    def _read_alike(self) -> RecordBatch:
        count, reader, dtype = len(self.rows) + 1, self.reader, self.first.dtype
        found = np.zeros(count, dtype=np.bool_)
        # The label limits the size of a small record, unless a reader has stricter limits than the default.
        if reader.limits != DEFAULT_LIMITS or dtype.kind not in _PLAIN or not dtype.itemsize:
            return RecordBatch.nothing(count)
        starts, lengths, pieces, before = self.columns
        records = starts, lengths, before, np.diff(self.marks)[1:]
        left = (pieces == 1) & (lengths <= SMALL_RECORD)
        places = sizes = np.zeros((0, count), dtype=np.int64)
        for _ in range(_FORMS):
            if not left.any():
                break
            # Mostly all records are tried once, and then nothing is gathered.
            tried = None if left.all() else np.flatnonzero(left)
            last = len(left) - 1 - int(left[::-1].argmax())
            # This record was read already.
            left[last] = False
            like = self._likeness(last + 1)
            if like is None or (len(places) and len(places) != 1 + len(like.splits)):
                continue
            if tried is None:
                found, places, sizes = find_alike(reader.mapped, records, like, dtype, skipped=1)
                left &= ~found[1:]
                continue
            one, two, three, four = [own[tried] for own in records]
            good, where, how_long = find_alike(reader.mapped, (one, two, three, four), like, dtype)
            if not len(places):
                places, sizes = np.zeros((2, len(where), count), dtype=np.int64)
            found[1:][tried], places[:, 1:][:, tried], sizes[:, 1:][:, tried] = good, where, how_long
            left[tried] &= ~good
        return (
            read_alike(reader.mapped, found, places, sizes, dtype)
            if len(places)
            else RecordBatch.nothing(count)
        )

    def _likeness(self, number: int) -> RecordTemplate | None:
        row = self.rows[number - 1]
        if number == len(self.rows) and self._last:
            message = self._last[0]
        else:
            try:
                found, message = self.reader.record(row)
                self._check(number, found)
            except DataFileError:
                # Reading this record by itself raises the error.
                return None
        own = number_of(message, self.reader.field)
        like = RecordTemplate.of(self.reader.mapped, row[1], message.label_object, own)
        # Boxes may also extend rows; these records are opened.
        return like if like is not None and bool(like.splits) != is_box(self.first.shape) else None


def _is_like(found: Tensor[Any], first: Tensor[Any]) -> bool:
    """Return True if elements match those of a tensor; strings match with and without nulls."""
    if holds_strings(first.dtype):
        return holds_strings(found.dtype) and kind_of(found.dtype) == kind_of(first.dtype)
    fill, own = found.buffer.fill_value, first.buffer.fill_value
    if found.dtype != first.dtype or (fill is None) != (own is None):
        return False
    if found.buffer.sides is not None and first.buffer.sides is None:
        return False  # The tensor cannot store nulls.
    return fill is None or own is None or bool(is_fill(fill, own))


def _kind_text(tensor: Tensor[Any]) -> str:
    fill = tensor.buffer.fill_value
    return str(tensor.dtype) if fill is None else f"{tensor.dtype} with the fill {fill}"
