"""Elements at the positions of a table along one mode: what NumPy takes faster than any plan of runs."""

from typing import Any, cast

import numpy as np

from tensorwrapper.buffer._copy import take_along, write_elements
from tensorwrapper.buffer._dense import Dense
from tensorwrapper.layout._axis import Stride, Table
from tensorwrapper.layout._common import LayoutCommon
from tensorwrapper.layout._separable import Separable
from tensorwrapper.selection._run_blocks import BLOCK, cut, inside
from tensorwrapper.typing import Array, IntArray

__all__ = ["take_one_mode"]

_WASTE = 4  # elements that pass through memory in between, for each one that is wanted


def take_one_mode(held: LayoutCommon, buffer: Dense[Any], out: Array) -> bool:
    """Write the elements of a layout, one mode of which has a table, into `out`; tell whether it has one.

    Where both sides have no gaps, nothing else is allocated; else blocks pass through memory in between.
    """
    if not isinstance(held, Separable):
        return False
    tables = [mode for mode, axis in enumerate(held.axes) if not isinstance(axis, Stride)]
    if len(tables) != 1 or not isinstance(held.axes[tables[0]], Table):
        return False
    mode = tables[0]
    offsets = held.axes[mode].offsets()
    if np.count_nonzero(np.diff(offsets) == 1) > len(offsets) // 2:
        return False  # Runs are copied faster as such.
    low = int(offsets.min())
    step = int(np.gcd.reduce(offsets - low)) or 1
    places = (offsets - low) // step
    count = int(places.max()) + 1
    extents = [count if m == mode else n for m, n in enumerate(out.shape)]
    strides = [step if m == mode else cast("Stride", axis).step for m, axis in enumerate(held.axes)]
    array = buffer.array(tuple(extents), tuple(strides), held.base + low)
    # The slowest mode of memory first: then most arrays have no gaps.
    order = sorted(range(out.ndim), key=lambda m: -abs(array.strides[m]))
    return _take(array.transpose(order), places, order.index(mode), out.transpose(order))


def _take(array: Array, places: IntArray, mode: int, out: Array) -> bool:
    if array.flags.c_contiguous and out.flags.c_contiguous:
        take_along(out, array, places, mode)
        return True
    if array.shape[mode] > _WASTE * len(places) and array.shape[mode] > BLOCK:
        return False
    for block in cut(out.shape):
        rows = (*block[:mode], slice(None), *block[mode + 1 :])
        part: Array = np.empty([b.stop - b.start for b in block], out.dtype)
        take_along(part, array[rows], places[block[mode]], mode)
        write_elements(inside(out, block), part)
    return True
