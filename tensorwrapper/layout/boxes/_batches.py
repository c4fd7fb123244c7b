"""Conversion of many indices to offsets and back, in batches that stay in the cache."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.axes._axis import AxisMap, Stride
from tensorwrapper.layout.boxes._common import to_inside, to_offset_array
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import to_index_array
from tensorwrapper.typing import IntArray

_BATCH = 1 << 15

_Unsigned: TypeAlias = npt.NDArray[np.uint64]

_Taker: TypeAlias = Callable[[_Unsigned, IntArray, _Unsigned, _Unsigned], bool]
"""Takes the digit of one mode off numbers, writes its indices, and tells whether all of them exist.

The last two arguments are for numbers on the way.
"""


def batches(count: int) -> Iterator[slice]:
    """Return an iterator over runs of so many numbers, each of which stays in the cache."""
    return (slice(low, min(low + _BATCH, count)) for low in range(0, count, _BATCH))


def offsets_of_rows(
    indices: npt.ArrayLike, shape: Shape[Any], base: int, steps: Sequence[int | AxisMap]
) -> IntArray:
    """Return the offset of each row of an ``(..., rank)`` array of absolute indices.

    Parameters
    ----------
    indices
        The indices; the error names the first that is outside.
    shape
        The box.
    base
        The start of every offset.
    steps
        The contribution of each mode: a stride, or an axis map.
    """
    array = to_index_array(indices, shape.rank)
    count = math.prod(array.shape[:-1])
    rows = array.reshape(count, shape.rank)
    offsets = np.empty(count, dtype=np.int64)
    spare = np.empty(min(count, _BATCH), dtype=np.int64)
    if not shape.size:
        # Strides may be of any size where no index is inside.
        to_inside(rows, shape)
    modes = list(zip(shape.origin, shape.extents, steps, strict=True))
    if any(start < -MAX_INT64 - 1 for start, _, _ in modes):
        raise SizeOverflowError(f"{shape} has indices beyond 64 bits; use offset_of()")
    # Otherwise differences may wrap to numbers that seem to be inside.
    fits = all(start >= -MAX_INT64 and start + extent <= MAX_INT64 for start, extent, _ in modes)
    for run in batches(count):
        batch, sums = rows[run], offsets[run]
        places = spare[: len(batch)]
        sums.fill(base)
        if not fits:
            to_inside(batch, shape)
        for mode, (start, extent, step) in enumerate(modes):
            np.subtract(batch[:, mode], start, out=places)
            # Unsigned, those before the start are beyond every end: one comparison for both sides.
            if int(places.view(np.uint64).max()) >= extent:
                to_inside(batch, shape)
            if isinstance(step, AxisMap):
                sums += step.offsets_at(places)
            elif extent > 1:
                # A stride that is never taken may be of any size.
                sums += places if step == 1 else np.multiply(places, step, out=places)
    return offsets.reshape(array.shape[:-1])


def indices_at_offsets(
    offsets: npt.ArrayLike,
    shape: Shape[Any],
    bounds: tuple[int, int],
    axes: Sequence[AxisMap],
    modes: Sequence[int],
) -> IntArray:
    """Return the first absolute index at each offset: an ``(..., rank)`` array.

    Parameters
    ----------
    offsets
        The offsets; the error names the first at which there is no element.
    shape
        The box, which has elements.
    bounds
        The least and the greatest offset, which fit into 64 bits.
    axes
        One map per mode.
    modes
        The modes with several offsets, from the widest to the finest: each steps over all that the finer
        ones reach.
    """
    origin, rank = shape.origin, len(axes)
    ends = [start + extent for start, extent in zip(origin, shape.extents, strict=True)]
    if min(origin, default=0) < -MAX_INT64 or max(ends, default=0) > MAX_INT64:
        raise SizeOverflowError(f"{shape} has indices beyond 64 bits; use index_of()")
    given = to_offset_array(offsets)
    numbers = given.reshape(-1)
    indices = np.empty((len(numbers), rank), dtype=np.int64)
    for mode in set(range(rank)).difference(modes):
        indices[:, mode] = origin[mode]
    least, most = bounds[0], bounds[1] - bounds[0]
    takers, left = _takers([(axes[mode], origin[mode]) for mode in modes], most)
    spare = np.empty((3, min(len(numbers), _BATCH)), dtype=np.uint64)

    def split(batch: IntArray, found: IntArray) -> bool:
        rest, *places = spare[:, : len(batch)]
        # Unsigned, those before the least are beyond the greatest: one comparison for both sides.
        np.subtract(batch, least, out=rest.view(np.int64))
        return (
            int(rest.max()) <= most
            and all(take(rest, found[:, mode], *places) for mode, take in zip(modes, takers, strict=True))
            and not (left and rest.any())
        )

    for run in batches(len(numbers)):
        batch, found = numbers[run], indices[run]
        if not split(batch, found):
            # Halves of the batch lead to the first that is wrong.
            while len(batch) > 1:
                half = len(batch) // 2
                batch = batch[half:] if split(batch[:half], found[:half]) else batch[:half]
                found = found[: len(batch)]
            raise OutOfBoundsError(f"no element of {shape} lies at offset {int(batch[0])}")
    return indices.reshape(*given.shape, rank)


def _takers(axes: Sequence[tuple[AxisMap, int]], most: int) -> tuple[list[_Taker], int]:
    """Return what takes the digit of each mode, the widest first, and the most that is left in the end.

    Parameters
    ----------
    axes
        Map and first index of each mode.
    most
        The greatest number that is split.
    """
    takers: list[_Taker] = []
    for axis, start in axes:
        if isinstance(axis, Stride):
            step = abs(axis.step)
            # Where a wider mode leaves a gap, a number may lie in it, beyond the last position.
            gap = most // step >= axis.extent
            takers.append(_stride_taker(step, axis.extent, start, down=axis.step < 0, gap=gap))
            most = min(most, step - 1)
        else:
            offsets, firsts = np.unique(axis.offsets(), return_index=True)
            # Differences beyond 2**63 are right when they are read as unsigned.
            values = (offsets - offsets[0]).view(np.uint64)
            takers.append(_table_taker(values, firsts + start))
            most = max(int(np.diff(values).max()) - 1, most - int(values[-1]))
    return takers, most


def _stride_taker(step: int, extent: int, start: int, *, down: bool, gap: bool) -> _Taker:
    def take(rest: _Unsigned, column: IntArray, places: _Unsigned, parts: _Unsigned) -> bool:
        if step == 1:
            # Nothing is left, and nothing asks for it.
            places = rest
        else:
            np.floor_divide(rest, step, out=places)
            np.subtract(rest, np.multiply(places, step, out=parts), out=rest)
        if gap and int(places.max()) >= extent:
            return False
        signed = places.view(np.int64)
        if down:
            np.subtract(start + extent - 1, signed, out=column)
        else:
            np.add(signed, start, out=column)
        return True

    return take


def _table_taker(values: _Unsigned, indices: IntArray) -> _Taker:
    def take(rest: _Unsigned, column: IntArray, *_: _Unsigned) -> bool:
        found = np.searchsorted(values, rest, side="right") - 1
        np.subtract(rest, values[found], out=rest)
        column[...] = indices[found]
        return True

    return take
