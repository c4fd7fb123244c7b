"""Jagged shapes from the ways in which ragged arrays are written down, and written down again.

One function per encoding, because nothing in an array of integers tells lengths from offsets or row ids.
"""

from array import array
from math import prod
from typing import Any, Final, SupportsIndex

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import (
    SMALL,
    check_rows,
    frozen_array,
    shared_table,
    shown_array,
    splits_of,
    splits_of_list,
)
from tensorwrapper._integers import to_count
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon
from tensorwrapper.shape.rows._columns import Columns, check_int64, leaf_offsets
from tensorwrapper.shape.rows._partition import int64_array
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

_ZERO: Final = (0,)
_CHUNK: Final = 2**15  # numbers checked at a time: they stay in cache


def jagged_from_lengths(lengths: npt.NDArray[np.integer[Any]]) -> Jagged:
    """Return the jagged matrix whose row k has ``lengths[k]`` elements; O(n)."""
    if lengths.ndim != 1:
        raise ConversionError(
            f"an array of row lengths has one axis, not {lengths.ndim}; for a table of extents per cell "
            "use Shape.from_cells"
        )
    # An empty array has the type float unless the caller sets another.
    if lengths.size and lengths.dtype.kind not in "iu":
        raise ConversionError(f"row lengths must be integers, not {lengths.dtype}")
    return _matrix(splits_of(lengths))


def jagged_from_ints(lengths: list[int]) -> Jagged:
    """Return the jagged matrix whose row k has ``lengths[k]`` elements; `lengths` holds Python integers."""
    if len(lengths) <= SMALL:
        return _matrix(splits_of_list(lengths))
    try:
        return _matrix(splits_of(np.array(lengths, dtype=np.int64)))
    except OverflowError as error:
        raise SizeOverflowError("row lengths must fit into 64 bits") from error


def _matrix(splits: IntArray) -> Jagged:
    """Return the jagged shape of rank 2 with these row splits."""
    return Jagged(Rows(Columns((), splits, _ZERO, _ZERO), 0, 0, len(splits) - 1, 0))


def jagged_from_offsets(offsets: tuple[object, ...], *, validate: bool, copy: bool) -> Jagged:
    """Return the jagged shape with one array of offsets per ragged mode, from the outermost."""
    if not offsets:
        raise RankError("a jagged shape needs the offsets of at least one level")
    levels = [_positions(given, f"offsets of level {k}", copy=copy) for k, given in enumerate(offsets)]
    for level, marks in enumerate(levels):
        _check_ends(level, marks, levels[level + 1] if level + 1 < len(levels) else None)
        if validate:
            row = _first_descent(marks)
            if row is not None:
                raise ExtentError(
                    f"offsets must not descend, but row {row} of level {level} goes from {marks[row]} to "
                    f"{marks[row + 1]}"
                )
    *upper, leaf = levels
    columns = Columns(tuple(upper), leaf, _ZERO * len(levels), _ZERO)
    return Jagged(Rows(columns, 0, 0, len(levels[0]) - 1, 0))


def _check_ends(level: int, marks: IntArray, below: IntArray | None) -> None:
    """Check the first and the last offset of a level against the offsets of the one below; O(1)."""
    if not len(marks):
        raise ExtentError(f"the offsets of level {level} are empty, but n rows have n + 1 offsets")
    first, last = marks.item(0), marks.item(-1)
    if first < 0:
        raise ExtentError(f"offsets start at 0 or above, but those of level {level} start at {first}")
    if last < first:
        raise ExtentError(f"offsets must not descend, but those of level {level} go from {first} to {last}")
    if below is not None and len(below) and last > len(below) - 1:
        raise ExtentError(
            f"the offsets of level {level} end at {last}, but level {level + 1} has {len(below) - 1} rows "
            "only"
        )


def jagged_from_row_ids(ids: object, n_rows: SupportsIndex) -> Jagged:
    """Return the jagged matrix in which element k is in row ``ids[k]``; O(n + rows)."""
    count = to_count(n_rows, "the number of rows")
    check_rows(count)
    rows = _positions(ids, "row ids", copy=False)
    place = _first_descent(rows)
    if place is not None:
        raise ExtentError(
            f"row ids ascend, because rows follow one another, but element {place + 1} is in row "
            f"{rows[place + 1]} after one in row {rows[place]}"
        )
    for place in (0, -1) if len(rows) else ():
        if not 0 <= rows.item(place) < count:
            raise OutOfBoundsError(
                f"row id {rows.item(place)} of element {place % len(rows)} is outside [0, {count})"
            )
    return _matrix(splits_of(np.bincount(rows, minlength=count)))


def jagged_from_starts_stops(starts: object, stops: object) -> Jagged:
    """Return the jagged matrix whose row k has ``stops[k] - starts[k]`` elements; O(n)."""
    first = _positions(starts, "starts", copy=False)
    last = _positions(stops, "stops", copy=False)
    if len(first) != len(last):
        raise ExtentError(f"{len(first)} starts and {len(last)} stops do not make pairs")
    if len(first) and int(first.min()) < 0:
        row = int(np.argmax(first < 0))
        raise ExtentError(f"rows start at 0 or above, but row {row} starts at {first[row]}")
    # Neither is negative or the next line raises, so that the difference fits.
    reversed_ = last < first
    if reversed_.any():
        row = int(np.argmax(reversed_))
        raise ExtentError(f"row {row} stops at {last[row]}, before its start at {first[row]}")
    return _matrix(splits_of(last - first))


def jagged_from_uniform(n_rows: SupportsIndex, length: SupportsIndex) -> Jagged:
    """Return the jagged matrix of `n_rows` rows of one length; O(1), in time and in memory."""
    count, extent = to_count(n_rows, "the number of rows"), to_count(length, "the length of the rows")
    return _even((count, extent), (0, 0))


def as_jagged(shape: SmoothCommon | JaggedCommon) -> JaggedCommon:
    """Return the same indices with mode 0 unrolled; a jagged shape is returned as it is; O(rank)."""
    if isinstance(shape, JaggedCommon):
        return shape
    if shape.rank < 2:
        raise RankError(f"a jagged shape has at least rank 2, but this one has rank {shape.rank}")
    return _even(shape.extents, shape.origin)


def _even(extents: tuple[int, ...], origin: tuple[int, ...]) -> Jagged:
    for mode, (extent, start) in enumerate(zip(extents, origin, strict=True)):
        check_int64(mode, start, extent)
    leaf = shared_table(extents[1:], extents[0])
    absent = () if extents[0] or not any(extents) else extents[1:]
    return Jagged(Rows.whole(Columns((), leaf, origin[:1], origin[1:], absent)))


def lengths_of(rows: Rows, mode: int) -> IntArray:
    """Return the extent of `mode` at every prefix of `mode` indices; O(n), or a view."""
    outer, even = rows.outer_rank, rows.columns.even
    if mode <= outer:
        return frozen_array(rows.ranges(mode)[0])
    a, b = rows.leaves
    if even is not None:
        inner = mode - outer
        return shared_table(even[inner : inner + 1], (b - a) * prod(even[:inner]))[:, 0]
    extents = rows.columns.leaf_extents(a, b)
    before = leaf_offsets(extents[:, : mode - outer])
    if before.dtype != np.int64:
        raise SizeOverflowError(f"mode {mode} has {before[-1]} lengths, more than 64 bits can address")
    return frozen_array(np.repeat(extents[:, mode - outer], np.diff(before)))


def splits_at(rows: Rows, mode: int) -> IntArray:
    """Return the row splits of `mode`, from 0; a view where they are known from 0, else O(n)."""
    columns, outer = rows.columns, rows.outer_rank
    stored = None
    if 0 < mode < outer:
        stored = columns.splits[rows.depth + mode - 1]
    elif mode == outer and (columns.leaf.ndim == 1 or (columns.even is None and rows.has_most_leaves)):
        stored = columns.leaf_splits()
    if stored is None:
        return splits_of(lengths_of(rows, mode))
    a, b = rows.run(mode)
    part = stored[a : b + 1]
    return frozen_array(part - part[0]) if part[0] else part


def _positions(values: object, what: str, *, copy: bool) -> IntArray:
    """Return integers of any type and byte order as read-only int64; without `copy` it may alias them."""
    if isinstance(values, np.ma.MaskedArray):
        raise ConversionError(f"{what} must be integers, none of them masked")
    if not (isinstance(values, memoryview | array) or hasattr(values, "__array__")):
        return frozen_array(int64_array(values, what))
    given = shown_array(values)
    if given.dtype.kind == "f" and given.shape == (0,):
        # An empty array has the type float unless the caller sets another.
        given = given.astype(np.int64)
    positions = int64_array(given, what)
    return frozen_array(positions.copy() if copy and np.may_share_memory(positions, given) else positions)


def _first_descent(values: IntArray) -> int | None:
    """Return the first k with ``values[k] > values[k + 1]``."""
    for start in range(0, len(values) - 1, _CHUNK):
        part = values[start : start + _CHUNK + 1]
        descends = part[1:] < part[:-1]
        if descends.any():
            return start + int(np.argmax(descends))
    return None
