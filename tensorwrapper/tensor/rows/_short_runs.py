"""Sums of many short runs: ``np.add.reduceat`` takes 10 ns for each, which is more than their elements do."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper.typing import Array, IntArray

_MANY: Final = 1 << 12
"""Runs from which they are summed side by side."""
_AT_ONCE: Final = 1 << 13
"""Runs that are summed at a time, so that intermediate results stay in a cache."""
_LEFT_TO_RIGHT: Final = 7
"""NumPy sums up to this many elements in sequence, and more by pairwise summation."""
_LONG: Final = 256
"""The longest run of integers, for the memory of those at a time."""


def sums_of_short_runs(flat: Array, offsets: IntArray, dtype: npt.DTypeLike | None = None) -> Array | None:
    """Return the sum of each run ``flat[offsets[k]:offsets[k + 1]]``; None where `reduceat` takes no longer.

    Floats are added from the first of a run to the last: the bits are those of ``np.add.reduce`` of the run,
    which `reduceat` does not always give. Integers wrap as always. `dtype` is the type of the computation.
    """
    count = len(offsets) - 1
    if count < _MANY or not flat.size:
        return None
    element: np.dtype[Any] = np.add.reduceat(np.zeros(1, flat.dtype), [0], dtype=dtype).dtype
    longest, total = _longest(offsets), int(offsets[-1] - offsets[0])
    if element.kind in "iu" and total <= 16 * count and longest <= _LONG:
        return _differences(flat, offsets, element)
    # Each place is added to many times, but an addition costs a fortieth of a run.
    passes = total * (longest - 1)
    if element.char in "fd" and element == flat.dtype and longest <= _LEFT_TO_RIGHT and passes <= 24 * count:
        return _windows(flat, offsets, longest)
    return None


def _blocks(offsets: IntArray) -> Iterator[tuple[slice, IntArray]]:
    """Return an iterator over batches of runs: their numbers, starts and stops."""
    for first in range(0, len(offsets) - 1, _AT_ONCE):
        marks = offsets[first : first + _AT_ONCE + 1]
        yield slice(first, first + len(marks) - 1), marks


def _longest(offsets: IntArray) -> int:
    # Not all lengths at once, whose memory would take as long as the sums.
    return max([int(np.diff(marks).max()) for _, marks in _blocks(offsets)])


def _differences(flat: Array, offsets: IntArray, element: "np.dtype[Any]") -> Array:
    """Return the differences of the running sums at the end and at the beginning of each run."""
    sums = np.empty(len(offsets) - 1, element)
    for runs, marks in _blocks(offsets):
        part = flat[marks[0] : marks[-1]]
        until = np.zeros(len(part) + 1, element)
        np.cumsum(part, dtype=element, out=until[1:])
        ends = until[marks - marks[0]]
        np.subtract(ends[1:], ends[:-1], out=sums[runs])
    return sums


def _windows(flat: Array, offsets: IntArray, longest: int) -> Array:
    """Return the sums of runs out of those of all windows, which from each place on are up to so long."""
    sums = np.empty(len(offsets) - 1, flat.dtype)
    # The rest beyond the next block is not read.
    windows = np.zeros((longest + 1, _AT_ONCE * longest + 1), flat.dtype)
    odd = False
    with np.errstate(all="ignore"):  # Most windows reach from one run into the next.
        for runs, marks in _blocks(offsets):
            part = flat[marks[0] : marks[-1]]
            windows[1, : len(part)] = part
            for own in range(2, min(longest, len(part)) + 1):
                last = len(part) - own + 1
                np.add(windows[own - 1, :last], part[own - 1 :], out=windows[own, :last])
            places = np.diff(marks)
            places *= windows.shape[1]
            places += marks[:-1]
            places -= marks[0]
            found = windows.reshape(-1).take(places, out=sums[runs], mode="clip")
            odd = odd or not np.isfinite(found.sum())
    if odd:
        _warn(flat, offsets, np.isfinite(sums))
    return sums


def _warn(flat: Array, offsets: IntArray, finite: npt.NDArray[np.bool_]) -> None:
    """Have NumPy warn of runs that overflow, or of infinities of two signs in one."""
    lengths = np.diff(offsets)[~finite]
    if len(lengths):
        elements = flat[concatenated_ranges(offsets[:-1][~finite], lengths)]
        np.add.reduceat(elements, np.cumsum(lengths) - lengths)
