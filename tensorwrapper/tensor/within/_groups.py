"""Rows grouped by length, so that NumPy works on many of them at once.

Three ways, by the length of a row. Up to 8 elements, each place of all rows is one column. Up to 1023, rows
of one length are copied into blocks, along whose last axis NumPy works. Longer rows go one at a time, and so
do those of a length from 65 on that fewer than 8 rows have.
"""

from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from tensorwrapper._arrays import strided
from tensorwrapper.typing import Array, IntArray

SHORT: Final = 8
"""The longest row whose places are columns."""
BLOCK: Final = 1 << 16
"""Elements processed at a time: with their results they stay in a cache."""
_LONG = 1024  # least length of rows processed one at a time.
_MIDDLE = 64  # greatest length of rows that always form a group.
_FEW = 8  # least number of longer rows that form a group.
_COLUMNS = 1 << 13  # rows in one block of columns.
_NEAR = 1 << 16  # short rows that are grouped at a time: each length finds them in a cache.
_COUNTED = 16  # greatest length for which a comparison finds the rows.

Columns: TypeAlias = "list[Array]"
"""Elements of all rows of one length at each position of the row."""


def windows(flat: Array, length: int, *, writeable: bool = False) -> Array:
    """Return the elements from each place on, so many of them: an array over the same memory."""
    step = flat.strides[0]
    extents = max(len(flat) - length + 1, 0), length
    return strided(flat, extents, (step, step), writeable=writeable)


def groups(splits: IntArray, done: int = 0) -> Iterator[tuple[int, IntArray]]:
    """Yield each length above `done` that rows have, and the rows; 0 and those that go by themselves."""
    lengths: IntArray = np.diff(splits)
    longest = int(lengths.max(initial=0))
    if longest <= _COUNTED:
        small = lengths.astype(np.uint8)
        for length in range(done + 1, longest + 1):
            rows = np.flatnonzero(small == length)
            if len(rows):
                yield length, rows
        return
    # Numbers of one byte or two are sorted by their digits, in linear time.
    small = np.minimum(lengths, _LONG).astype(np.uint8 if longest < 256 else np.uint16)
    order = np.argsort(small, kind="stable")
    counts = np.bincount(small)
    ends = np.cumsum(counts)
    alone: list[IntArray] = []
    for length in np.flatnonzero(counts).tolist():
        rows = order[ends[length] - counts[length] : ends[length]]
        if length >= _LONG or (length > _MIDDLE and len(rows) < _FEW):
            alone.append(rows)
        elif length > done:
            yield length, rows
    if alone:
        yield 0, np.concatenate(alone)


def row_blocks(splits: IntArray, most: int = BLOCK) -> Iterator[tuple[int, int]]:
    """Yield runs of rows, first and behind the last, that have so many elements at most, or are one row."""
    first, count = 0, len(splits) - 1
    while first < count:
        last = int(splits.searchsorted(splits.item(first) + most, "right")) - 1
        last = min(max(last, first + 1), count)
        yield first, last
        first = last


def each_row(
    flat: Array,
    splits: IntArray,
    function: Callable[[Array], Array],
    out: Array,
    columns: "Callable[[Columns], Columns] | None" = None,
    done: int = 0,
) -> Array:
    """Write for each row as many elements as it has.

    Parameters
    ----------
    flat, splits
        The elements, and where the rows begin and end.
    function
        Function that returns the values to write for a block of rows, or for one row, along the last axis.
    out
        Where it is written, at the places of the elements.
    columns
        Does the same for rows of up to 8 elements, given as columns, which it may change.
    done
        Rows of up to so many elements are left as they are.
    """
    for length, rows in groups(splits, done):
        if not length:
            for begin, end in zip(splits[rows].tolist(), splits[rows + 1].tolist(), strict=True):
                out[begin:end] = function(flat[begin:end])
        elif columns is not None and length <= SHORT:
            for first in range(0, len(rows), _COLUMNS):
                starts = splits[rows[first : first + _COLUMNS]]
                for place, column in enumerate(columns(_columns(flat, starts, length))):
                    out[starts + place] = column
        else:
            source, target = windows(flat, length), windows(out, length, writeable=True)
            step = max(BLOCK // length, 1)
            for first in range(0, len(rows), step):
                starts = splits[rows[first : first + step]]
                target[starts] = function(source[starts])
    return out


def number_of_each(
    flat: Array,
    splits: IntArray,
    function: Callable[[Array], Any],
    out: Array,
    columns: "Callable[[Columns], Array] | None" = None,
) -> Array:
    """Write one number for each row that has elements; as `each_row` otherwise."""
    count = len(splits) - 1
    if columns is not None and count > _NEAR and len(flat) <= SHORT * count:
        for first in range(0, count, _NEAR):
            near = splits[first : first + _NEAR + 1]
            number_of_each(flat, near, function, out[first : first + _NEAR], columns)
        return out
    for length, rows in groups(splits):
        if not length:
            ends = zip(rows.tolist(), splits[rows].tolist(), splits[rows + 1].tolist(), strict=True)
            for row, begin, end in ends:
                out[row] = function(flat[begin:end])
            continue
        by_column = columns is not None and length <= SHORT
        step = _COLUMNS if by_column else max(BLOCK // length, 1)
        source = windows(flat, length)
        for first in range(0, len(rows), step):
            own = rows[first : first + step]
            if columns is not None and by_column:
                out[own] = columns(_columns(flat, splits[own], length))
            else:
                out[own] = function(source[splits[own]])
    return out


def _columns(flat: Array, starts: IntArray, length: int) -> Columns:
    # Clipped, which finds no place outside, NumPy takes half as long as if it had to check.
    return [np.take(flat[place:], starts, mode="clip") for place in range(length)]
