"""Read elements of concatenated parts, by address or as a run."""

from collections.abc import Callable
from typing import Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.lowlevel import assign_elements
from tensorwrapper.typing import Array, IntArray

_ScalarT = TypeVar("_ScalarT", bound=np.generic)


class Elements(Protocol):
    """Elements that can be read by address."""

    def read(self, addresses: IntArray) -> Array: ...
    def read_run(self, start: int, stop: int) -> Array: ...


def read_by_part(
    ends: IntArray, addresses: IntArray, dtype: "np.dtype[_ScalarT]", part: Callable[[int], Elements]
) -> "npt.NDArray[_ScalarT]":
    """Return elements by address, reading each needed part once. O(addresses · log(addresses)).

    Parameters
    ----------
    ends
        Start address of each part, and the total size.
    part
        Function that returns a part by number.
    """
    result: npt.NDArray[_ScalarT] = np.empty(addresses.shape, dtype)
    flat, wanted = result.reshape(-1), addresses.reshape(-1)
    numbers = np.searchsorted(ends, wanted, side="right") - 1
    order = np.argsort(numbers, kind="stable")
    touched, begins = np.unique(numbers[order], return_index=True)
    bounds = [*begins.tolist(), len(order)]
    for k, number in enumerate(touched.tolist()):
        chosen = order[bounds[k] : bounds[k + 1]]
        flat[chosen] = part(number).read(wanted[chosen] - ends[number])
    return result


def parts_of_run(ends: IntArray, start: int, stop: int) -> range:
    """Return the numbers of the parts that a run touches."""
    # The methods, as the functions of NumPy take three times as long for one number.
    return range(int(ends.searchsorted(start, "right")) - 1, int(ends.searchsorted(stop)))


def read_run_by_part(
    ends: IntArray, start: int, stop: int, dtype: "np.dtype[_ScalarT]", part: Callable[[int], Elements]
) -> "npt.NDArray[_ScalarT]":
    """Return a run of elements, without a copy if in one part. Parameters are as in `read_by_part`."""
    if stop <= start:
        return np.empty(0, dtype)
    numbers = parts_of_run(ends, start, stop)
    if len(numbers) == 1:
        base = int(ends[numbers[0]])
        return cast("npt.NDArray[_ScalarT]", part(numbers[0]).read_run(start - base, stop - base))
    result: npt.NDArray[_ScalarT] = np.empty(stop - start, dtype)
    copy_parts(result, start, ends, np.arange(numbers.start, numbers.stop), part)
    return result


def copy_parts(
    run: Array, start: int, ends: IntArray, numbers: IntArray, part: Callable[[int], Elements]
) -> None:
    """Copy the elements of some parts into a run that begins at address `start`."""
    begins = np.maximum(ends[numbers], start)
    stops = np.minimum(ends[numbers + 1], start + len(run))
    for k in np.flatnonzero(begins < stops).tolist():
        number, begin, stop = int(numbers[k]), int(begins[k]), int(stops[k])
        base = int(ends[number])
        assign_elements(run[begin - start : stop - start], part(number).read_run(begin - base, stop - base))
