"""`Memory`: copy elements of a tensor in memory by NumPy, without a layout per request."""

import sys
from typing import Any, Final, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.selection import Outer, Positions, Runs, Wanted
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

_LITTLE: Final = sys.byteorder == "little"
_SHORT: Final = 512
"""Minimum size of a run that is copied at memory speed."""
_LARGE: Final = 2**21
_SMALL: Final = 2**16
_POINTS: Final = 2**17
"""Limit on the bytes of single elements, which take a tenth of a millisecond."""


@final
@frozen(eq=False)
class Memory:
    """The array over a box in memory, and its elements as a flat array if they are contiguous.

    Attributes
    ----------
    array
        The box; None for other shapes.
    flat
        The elements by their row-major number; None if they are not contiguous.
    """

    array: Array | None
    flat: Array | None

    def knows(self, wanted: Wanted) -> bool:
        """Return True if a selection within the tensor is supported."""
        return (self.array if isinstance(wanted, Outer) else self.flat) is not None

    def is_quick(self, wanted: Wanted) -> bool:
        """Return True if copying it takes less time than passing it to another thread."""
        array = self.array if isinstance(wanted, Outer) else self.flat
        if array is None:
            return False
        nbytes = wanted.size * array.itemsize
        if nbytes <= _SMALL or (isinstance(wanted, Runs) and nbytes <= _POINTS):
            return True
        if nbytes > _LARGE:
            return False
        if not isinstance(wanted, Outer):
            return wanted.count == 1
        last = wanted.modes[-1]
        is_run = isinstance(last, range) and last.step == 1 and array.strides[-1] == array.itemsize
        return is_run and len(last) * array.itemsize >= _SHORT

    def is_few(self, wanted: Outer) -> bool:
        """Return True if the selection is small enough to copy at once."""
        return self.array is not None and wanted.size * self.array.itemsize <= _SMALL

    def part(self, wanted: Outer) -> Array | None:
        """Return the part of a box for a selection by slices, if its bytes can be sent unchanged."""
        array, modes = self.array, wanted.modes
        slices = [_key_of(own) for own in modes if isinstance(own, range)]
        if array is None or not _LITTLE or len(slices) != len(modes):
            return None
        key: tuple[Any, ...] = (*slices, ...)
        part: Array = array[key]
        return part

    def copy_to(self, wanted: Wanted, target: Array) -> None:
        """Copy the elements of a selection to an array that is contiguous."""
        if isinstance(wanted, Outer):
            self._copy_grid(wanted, target)
            return
        flat = self.flat
        if flat is None:
            raise AssertionError(f"{self!r} does not know {wanted!r}")
        even = wanted.even
        if even is not None:
            _copy_evenly(flat, even, target.reshape(len(even), -1))
            return
        if wanted.count == 1:
            target[...] = flat[wanted.starts.item(0) : wanted.stop]
            return
        # All numbers are already checked, so skip NumPy's buffered check.
        np.take(flat, wanted.numbers(), out=target, mode="clip")

    def _copy_grid(self, wanted: Outer, target: Array) -> None:
        array = self.array
        if array is None:
            raise AssertionError(f"{self!r} does not know {wanted!r}")
        tables = [mode for mode, own in enumerate(wanted.modes) if not isinstance(own, range)]
        part = array[tuple([_key_of(own) for own in wanted.modes])]
        if not tables:
            target[...] = part
        elif len(tables) == 1:
            np.take(part, np.asarray(wanted.modes[tables[0]]), axis=tables[0], out=target, mode="clip")
        else:
            grid: list[IntArray] = [
                np.arange(part.shape[mode]) if isinstance(own, range) else np.asarray(own, np.int64)
                for mode, own in enumerate(wanted.modes)
            ]
            target[...] = part[np.ix_(*grid)]


def _copy_evenly(flat: Array, starts: range, target: Array) -> None:
    """Copy runs that are evenly spaced, each into one row, without the numbers of their elements."""
    before, last = len(starts) - 1, starts[-1]
    grid = flat[starts.start : last].reshape(before, starts.step)
    target[:before] = grid[:, : target.shape[1]]
    # The array may end with the last run.
    target[before] = flat[last : last + target.shape[1]]


def _key_of(positions: Positions) -> slice:
    """Return the slice of a range of positions; for a table the whole mode."""
    if not isinstance(positions, range):
        return slice(None)
    return slice(positions.start, positions.stop, positions.step)


def memory_of(tensor: Tensor[Any]) -> Memory | None:
    """Return the memory of a tensor of numbers in native byte order; None for others."""
    dtype = tensor.dtype
    if dtype.kind not in "biufcmM" or not dtype.isnative or tensor.buffer.fill_value is not None:
        return None
    array = flat = None
    layout = tensor.layout
    if tensor.shape.is_box:
        array = tensor.buffer.memory_of(layout.implementation)
    if layout.is_contiguous and tensor.shape.size:
        elements = tensor.elements()
        memory = tensor.buffer.memory
        if memory is not None and np.may_share_memory(elements, memory):
            flat = elements
    return None if array is None and flat is None else Memory(array, flat)
