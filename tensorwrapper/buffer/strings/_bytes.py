"""Copies of the bytes of strings, counted like all copies of elements.

A *run* is the bytes of one element, from its start up to its stop. Runs may be in any order, overlap and
leave gaps. They are always processed in batches of bytes, so one long element costs no more memory than many
short ones.
"""

from collections.abc import Iterator
from typing import Final, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.buffer.copies._copy import _count as count_copy
from tensorwrapper.buffer.copies._copy import join_elements, take_runs
from tensorwrapper.buffer.strings._bitmap import Bytes, Marks
from tensorwrapper.errors import StringDataError
from tensorwrapper.typing import IntArray

_S = TypeVar("_S", bound=np.generic)

BATCH: Final = 2**18  # bytes worked on at a time: their places, 8 bytes each, stay in the cache


def sum_of_lengths(lengths: IntArray) -> int:
    """Return the sum as a Python integer, which does not wrap."""
    if len(lengths) and int(lengths.max()) > MAX_INT64 // len(lengths):
        return (int((lengths >> 32).sum()) << 32) + int((lengths & 0xFFFFFFFF).sum())
    return int(lengths.sum())


def batches_of_places(starts: IntArray, offsets: IntArray) -> Iterator[IntArray]:
    """Yield where the bytes of all runs lie, run by run; run k has ``offsets[k+1] - offsets[k]`` of them."""
    total = int(offsets[-1])
    for low in range(0, total, BATCH):
        high = min(low + BATCH, total)
        first = int(offsets.searchsorted(low, "right")) - 1
        last = int(offsets.searchsorted(high, "left"))
        counts = np.diff(offsets[first : last + 1].clip(low, high))
        yield np.repeat(starts[first:last] - offsets[first:last], counts) + np.arange(low, high)


def batches_of_runs(data: Bytes, starts: IntArray, offsets: IntArray) -> Iterator[Bytes]:
    """Yield the bytes of all runs one after the other, `BATCH` at a time; views of contiguous runs."""
    whole = one_run(data, starts, offsets)
    if whole is not None:
        for low in range(0, len(whole), BATCH):
            yield whole[low : low + BATCH]
    else:
        for places in batches_of_places(starts, offsets):
            yield data[places]


def one_run(data: Bytes, starts: IntArray, offsets: IntArray) -> Bytes | None:
    """Return the bytes of all runs as a view, if each run begins where the one before it ends."""
    total = int(offsets[-1])
    if not total:
        return data[:0]
    moves = starts - offsets[:-1]
    same = moves == moves[0]
    if not same.all():
        # Empty runs may lie anywhere.
        moves = moves[np.diff(offsets) > 0]
        same = moves == moves[0]
    first = int(moves[0])
    return data[first : first + total] if same.all() else None


def pack_runs(data: Bytes, starts: IntArray, offsets: IntArray) -> Bytes:
    """Return the bytes of all runs one after the other, read-only; a view if they are contiguous."""
    packed = one_run(data, starts, offsets)
    if packed is None:
        packed = take_runs(data, starts, offsets, batches_of_places(starts, offsets))
        packed.flags.writeable = False
    return packed


def join_bytes(parts: list[Bytes]) -> Bytes:
    """Return all bytes one after the other, read-only; the one part that is not empty comes uncopied."""
    filled = [part for part in parts if len(part)]
    if len(filled) == 1:
        return filled[0]
    joined = cast("Bytes", join_elements(filled, np.dtype(np.uint8)))
    joined.flags.writeable = False
    return joined


def to_bytes_array(buffer: object, what: str) -> Bytes:
    """Return the bytes of anything with the buffer protocol as a read-only array; never a copy.

    Raises
    ------
    StringDataError
        If it has no buffer, or one with gaps.
    """
    try:
        # Any contiguous buffer: the cast makes its elements bytes.
        array = np.frombuffer(memoryview(cast("bytes", buffer)), dtype=np.uint8)
    except (TypeError, ValueError, BufferError) as error:
        raise StringDataError(
            f"{what} must be bytes in one contiguous buffer, not {type(buffer).__name__}: {error}"
        ) from error
    array.flags.writeable = False
    return array


def spread_bytes(packed: Bytes, taken: IntArray, target: Bytes) -> None:
    """Write `packed`, in order, to all bytes of `target` but the `taken` ones; those ascend. O(bytes)."""
    done = 0
    for low in range(0, len(target), BATCH):
        part = target[low : low + BATCH]
        first, last = taken.searchsorted((low, low + len(part)))
        free = np.ones(len(part), dtype=np.bool_)
        free[taken[first:last] - low] = False
        count = len(part) - int(last - first)
        part[free] = packed[done : done + count]
        done += count
    count_copy(len(packed))


def leading_marks(lengths: IntArray, width: int) -> Marks:
    """Return a table of `width` columns that marks the first ``lengths[k]`` places of each row k."""
    marks: Marks = lengths[:, np.newaxis] > np.arange(width)
    return marks


def fill_rows(target: npt.NDArray[_S], lengths: IntArray, values: npt.NDArray[_S]) -> None:
    """Write `values`, in order, to the first ``lengths[k]`` places of each row k of `target`."""
    target[leading_marks(lengths, target.shape[1])] = values
    count_copy(values.nbytes)
