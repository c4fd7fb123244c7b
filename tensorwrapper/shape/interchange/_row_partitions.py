"""Rows of the values of one mode, in the six encodings of TensorFlow."""

from collections.abc import Callable
from typing import TYPE_CHECKING, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import check_rows, frozen_array
from tensorwrapper._integers import MAX_INT64, to_count
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape.rows._partition import Partition, int64_array
from tensorwrapper.typing import IntArray


@final
@value_class(getstate_setstate=False)
class RowPartition:
    """Consecutive rows of values: their number and their lengths.

    Rows with one common length keep only this length, in O(1) memory, and differ from rows that happen to be
    equal. Every other encoding is computed from row splits on access, in O(n).

    Examples
    --------
    >>> rows = RowPartition.from_row_lengths([3, 1, 0, 2])
    >>> rows.nrows, rows.nvals, rows.row_splits.tolist(), rows.value_rowids.tolist()
    (4, 6, [0, 3, 4, 4, 6], [0, 0, 0, 1, 3, 3])
    """

    nrows: int
    """The number of rows."""
    uniform_row_length: int | None
    """How long each row is, where one number was given for all."""
    _rows: Partition | None = attrs.field(
        alias="rows", repr=lambda rows: "None" if rows is None else str(rows.marks)
    )

    if TYPE_CHECKING:

        def __init__(self, nrows: int, uniform_row_length: int | None, rows: Partition | None) -> None: ...

    @classmethod
    def from_row_splits(cls, splits: npt.ArrayLike) -> "RowPartition":
        """Return the rows with these boundaries, of which there is one more than rows; the first is 0.

        Raises
        ------
        ExtentError
            If they do not start at 0, or descend.
        """
        rows = Partition.of_marks(splits, "row splits")
        if rows.origin:
            raise ExtentError(f"row splits start at 0, not at {rows.origin}")
        return cls(rows.count, None, rows)

    @classmethod
    def from_row_lengths(cls, lengths: npt.ArrayLike) -> "RowPartition":
        """Return the rows of these lengths; a negative one raises `ExtentError`."""
        rows = Partition.of_sizes(int64_array(lengths, "row lengths"), what="row lengths")
        return cls(rows.count, None, rows)

    @classmethod
    def from_row_starts(cls, starts: npt.ArrayLike, nvals: SupportsIndex) -> "RowPartition":
        """Return the rows that start at these values, the last of which ends with value `nvals`.

        Raises
        ------
        ExtentError
            If the starts descend, are beyond the values, or the first is not 0.
        """
        count = _to_int64(nvals, "the number of values")
        marks = np.append(int64_array(starts, "row starts"), count)
        if len(marks) == 1 and count:
            raise ExtentError(f"no row starts anywhere, but there are {count} values")
        return cls.from_row_splits(marks)

    @classmethod
    def from_row_limits(cls, limits: npt.ArrayLike) -> "RowPartition":
        """Return the rows that stop before these values, the first starting at 0; they never descend."""
        return cls.from_row_splits(np.insert(int64_array(limits, "row limits"), 0, 0))

    @classmethod
    def from_value_rowids(cls, ids: npt.ArrayLike, nrows: SupportsIndex) -> "RowPartition":
        """Return the rows of which value k is in row ``ids[k]``.

        The number of rows has no default: the ids tell nothing of empty rows at the end.

        Raises
        ------
        ExtentError
            If the ids descend.
        OutOfBoundsError
            If there is no such row.
        """
        count = _to_int64(nrows, "the number of rows")
        check_rows(count)
        rows = int64_array(ids, "row ids")
        if len(rows) and not 0 <= int(rows.min()) <= int(rows.max()) < count:
            place = int(np.argmax((rows < 0) | (rows >= count)))
            raise OutOfBoundsError(f"row id {rows[place]} of value {place} is outside [0, {count})")
        if (rows[1:] < rows[:-1]).any():
            place = int(np.argmax(rows[1:] < rows[:-1]))
            raise ExtentError(
                f"row ids never descend, but value {place + 1} is in row {rows[place + 1]} after one in row "
                f"{rows[place]}"
            )
        return cls.from_row_lengths(np.bincount(rows, minlength=count))

    @classmethod
    def from_uniform_row_length(cls, length: SupportsIndex, nrows: SupportsIndex) -> "RowPartition":
        """Return so many rows that are all `length` long; O(1).

        Examples
        --------
        >>> RowPartition.from_uniform_row_length(2, 3).row_splits.tolist()
        [0, 2, 4, 6]
        """
        count = to_count(nrows, "the number of rows")
        return cls(count, to_count(length, "a row length"), None)

    @property
    def nvals(self) -> int:
        """The number of values in all rows, as a Python integer of any size."""
        if self._rows is not None:
            return self._rows.extent
        return self.nrows * (self.uniform_row_length or 0)

    @property
    def row_splits(self) -> IntArray:
        """Starts of the rows and the end of the last: a read-only array with one entry more than rows.

        Raises
        ------
        SizeOverflowError
            If rows of one length have more values than 64 bits can count.
        """
        return self._partition.marks

    @property
    def row_lengths(self) -> IntArray:
        """The number of values in each row."""
        return self._partition.sizes

    @property
    def row_starts(self) -> IntArray:
        """The first value of each row."""
        return self._partition.marks[:-1]

    @property
    def row_limits(self) -> IntArray:
        """The value after the last of each row."""
        return self._partition.marks[1:]

    @property
    def value_rowids(self) -> IntArray:
        """The row of each value."""
        return np.repeat(np.arange(self.nrows, dtype=np.int64), self.row_lengths)

    @property
    def _partition(self) -> Partition:
        if self._rows is not None:
            return self._rows
        length = self.uniform_row_length or 0
        check_rows(self.nrows)
        if self.nvals > MAX_INT64:
            raise SizeOverflowError(f"{self.nrows} rows of {length} values have more than 64 bits count")
        # No rows may have a length of any size.
        return Partition(
            frozen_array(np.arange(self.nrows + 1, dtype=np.int64) * (length if self.nrows else 0))
        )

    def __reduce__(self) -> "tuple[Callable[..., RowPartition], tuple[int, int | None, Partition | None]]":
        return RowPartition, (self.nrows, self.uniform_row_length, self._rows)


def _to_int64(value: SupportsIndex, what: str) -> int:
    number = to_count(value, what)
    if number > MAX_INT64:
        raise SizeOverflowError(f"{what} must fit into 64 bits, not be {number}")
    return number
