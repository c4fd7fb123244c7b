"""The indices of a jagged shape with the first mode fastest, for which there is no closed form.

The last mode is cut in halves, and these again, until a part is small enough to be sorted as a whole;
where one index of it is left, the mode before it is cut. Only one part is in memory at a time, the first
index does not wait for the last, and any number of elements will do.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from tensorwrapper._arrays import tuples_of
from tensorwrapper.shape.boxes._common import ShapeCommon
from tensorwrapper.shape.boxes._keys import WHOLE
from tensorwrapper.typing import Index, IntArray

__all__ = ["FOrderPart", "f_order_limit", "f_order_part", "f_order_parts", "walk_f_order"]

FOrderPart: TypeAlias = tuple[int, IntArray]
"""A run of indices, first mode fastest, as a table; and how many indices come before them."""


def f_order_limit(cells: int) -> int:
    """Return how many indices are best sorted at a time: each cut goes through all cells, so as many."""
    return max(cells, 2**16)


def walk_f_order(shape: ShapeCommon, cells: int) -> Iterator[Index]:
    """Return an iterator over all indices, first mode fastest."""
    parts = f_order_parts(shape, f_order_limit(cells), range(shape.size))
    return tuples_of(table for _, table in parts)


def f_order_parts(shape: ShapeCommon, limit: int, places: range) -> Iterator[FOrderPart]:
    """Return an iterator over the parts, up to `limit` indices each, that hold `places`, in their order."""
    return _parts(shape, shape.rank - 1, 0, limit, places) if places else iter(())


def _parts(shape: ShapeCommon, mode: int, before: int, limit: int, places: range) -> Iterator[FOrderPart]:
    size = shape.size
    if not _meets(places, before, before + size):
        return
    if size <= limit:
        yield before, _sorted_table(shape)
        return
    mode, _, low, high = _halves(shape, mode)
    halves = [(low, before), (high, before + low.size)]
    for half, start in halves if places.step > 0 else reversed(halves):
        yield from _parts(half, mode, start, limit, places)


def _meets(places: range, start: int, stop: int) -> bool:
    """Tell whether one of `places`, which ascend or descend, lies in ``[start, stop)``."""
    if places.step < 0:
        places = places[::-1]
    # The first that is not below `start`.
    skipped = max(0, -((places.start - start) // places.step))
    return places.start + skipped * places.step < min(stop, places.stop)


def f_order_part(shape: ShapeCommon, limit: int, where: int | Index) -> FOrderPart:
    """Return the part that holds a place, or an index, of the shape, which must have it."""
    mode, before = shape.rank - 1, 0
    while shape.size > limit:
        mode, middle, low, high = _halves(shape, mode)
        if where < before + low.size if isinstance(where, int) else where[mode] < middle:
            shape = low
        else:
            shape, before = high, before + low.size
    return before, _sorted_table(shape)


def _halves(shape: ShapeCommon, mode: int) -> tuple[int, int, ShapeCommon, ShapeCommon]:
    """Return the two halves of the last mode, up to `mode`, that has more than one index, and the cut."""
    extents, origin = shape.bounding_box()
    while extents[mode] < 2:
        mode -= 1
    first, last = origin[mode], origin[mode] + extents[mode]
    middle = (first + last) // 2

    def part(start: int, stop: int) -> ShapeCommon:
        entries = [WHOLE] * shape.rank
        entries[mode] = (start, stop)
        return shape.select(tuple(entries), clip=True)

    return mode, middle, part(first, middle), part(middle, last)


def _sorted_table(shape: ShapeCommon) -> IntArray:
    table = shape.indices_at(np.arange(shape.size, dtype=np.int64))
    # The rows come sorted by the first mode, and the sort is stable.
    return table[np.lexsort(table.T[1:])] if shape.rank > 1 else table
