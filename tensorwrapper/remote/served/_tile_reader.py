"""`Tiles`: copy runs of elements from a few large tiles or cells in memory."""

from math import prod
from typing import Any, Final, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.selection import Runs
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import Array, IntArray

_MOST: Final = 4096
_LEAST: Final = 4096
_RUNS: Final = 64
"""Maximum number of runs to copy one by one; more are gathered by number."""


@final
@frozen(eq=False)
class Tiles:
    """The memory of each tile, in order, and where its elements begin among all."""

    arrays: tuple[Array, ...]
    starts: IntArray

    def knows(self, runs: Runs) -> bool:
        """Return True if the runs are so few that copying them one by one is faster."""
        return 0 < runs.count <= _RUNS

    def copy_to(self, runs: Runs, target: Array) -> None:
        """Copy the elements of runs to an array without gaps."""
        done = 0
        begins = np.searchsorted(self.starts, runs.starts, "right") - 1
        ends = np.searchsorted(self.starts, runs.ends, "left")
        found = (runs.starts, runs.ends, begins, ends)
        for start, stop, first, last in zip(*(own.tolist() for own in found), strict=True):
            for number in range(first, last):
                array, begin = self.arrays[number], int(self.starts[number])
                lower, upper = max(start - begin, 0), min(stop - begin, array.size)
                _copy_run(array, lower, upper, target[done : done + upper - lower])
                done += upper - lower


def _copy_run(array: Array, start: int, stop: int, target: Array) -> None:
    """Copy elements of a box, by their row-major numbers: a part of a row, whole rows, a part of a row."""
    if not array.ndim or (start, stop) == (0, array.size):
        target.reshape(array.shape)[...] = array
        return
    width = array.size // len(array)
    first, last = -(-start // width), stop // width
    if first > last:
        row = start // width
        _copy_run(array[row], start - row * width, stop - row * width, target)
        return
    head = first * width - start
    if head:
        _copy_run(array[first - 1], width - head, width, target[:head])
    whole = (last - first) * width
    target[head : head + whole].reshape(last - first, *array.shape[1:])[...] = array[first:last]
    if stop > last * width:
        _copy_run(array[last], 0, stop - last * width, target[head + whole :])


def tiles_of(tensor: Tensor[Any]) -> Tiles | None:
    """Return the tiles of a tensor of numbers with a few large tiles in memory; None for others."""
    dtype, shape = tensor.dtype, tensor.shape
    if dtype.kind not in "biufcmM" or not dtype.isnative or tensor.buffer.fill_value is not None:
        return None
    if shape.is_box or shape.has_layers:
        return None
    outer = shape.outer()
    if not outer.is_box or not 0 < outer.size <= _MOST or shape.size < _LEAST * outer.size:
        return None
    arrays = list[Array]()
    for index in np.ndindex(*outer.extents):
        place = tuple([a + b for a, b in zip(index, outer.origin, strict=True)])
        cell = tensor.element(place)
        memory = cell.buffer.memory_of(cell.layout.implementation)
        if memory is None:
            return None
        arrays.append(memory)
    sizes = [prod(own.shape) for own in arrays]
    return Tiles(tuple(arrays), np.cumsum([0, *sizes]))
