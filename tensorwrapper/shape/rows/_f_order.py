"""The indices of a jagged shape with the first mode fastest, for which there is no closed form.

The last mode is halved repeatedly, until a part is small enough to be sorted as a whole; once one index of it
is left, the mode before it is halved. A part is given by the ranges of its modes, and its contents are read
in windows of the first mode. Only one part is in memory at a time, the first index does not wait for the
last, and any number of elements or cells is possible.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias, final

import numpy as np

from tensorwrapper._arrays import tuples_of
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape.boxes._common import ShapeCommon
from tensorwrapper.shape.boxes._keys import WHOLE
from tensorwrapper.shape.rows._columns import WINDOW
from tensorwrapper.typing import Index, IntArray

FOrderPart: TypeAlias = tuple[int, IntArray]
"""A run of indices, first mode fastest, as a table; and how many indices come before them."""

_MOST_CELLS: Final = 1 << 32  # beyond, one look at all of them takes minutes


def f_order_limit(cells: int) -> int:
    """Return how many indices are best sorted at a time.

    Each cut goes through all cells, so as many; but no more than 2^20, which take 64 MiB.
    """
    return min(max(cells, 2**16), 2**20)


def walk_f_order(shape: ShapeCommon, cells: int) -> Iterator[Index]:
    """Return an iterator over all indices, first mode fastest."""
    parts = f_order_parts(shape, f_order_limit(cells), range(shape.size), cells)
    # Tuples take more memory than the table: few of them wait.
    pieces = (table[k : k + WINDOW] for _, table in parts for k in range(0, len(table), WINDOW))
    return tuples_of(pieces)


def f_order_parts(shape: ShapeCommon, limit: int, places: range, cells: int = 1) -> Iterator[FOrderPart]:
    """Return an iterator over the parts, up to `limit` indices each, that hold `places`, in their order."""
    if not places:
        return iter(())
    return _parts(_Part.whole(shape, cells), shape.rank - 1, 0, limit, places)


@final
@frozen(eq=False)
class _Part:
    """The indices of a shape in some ranges of its modes, and how many they are."""

    shape: ShapeCommon
    cells: int
    box: tuple[tuple[int, int], ...]
    ranges: tuple[tuple[int, int], ...]
    size: int

    @classmethod
    def whole(cls, shape: ShapeCommon, cells: int) -> "_Part":
        if cells > _MOST_CELLS:
            raise SizeOverflowError(
                f"with the first mode fastest, all cells are gone through for each part of the indices, and "
                f"{cells} are too many; order 'C' knows where each index is"
            )
        extents, origin = shape.bounding_box()
        box = tuple([(first, first + extent) for extent, first in zip(extents, origin, strict=True)])
        return cls(shape, cells, box, box, shape.size)

    def windows(self) -> Iterator[ShapeCommon]:
        """Return an iterator over the indices, in shapes of about `WINDOW` cells, or one row, each."""
        (start, stop), *inner = self.ranges
        wholes = self.box[1:]
        entries = [WHOLE if part == whole else part for part, whole in zip(inner, wholes, strict=True)]
        first, last = self.box[0]
        step = max(1, (last - first) * WINDOW // max(self.cells, 1))
        for row in range(start, stop, step):
            yield self.shape.select(((row, min(row + step, stop)), *entries), clip=True)

    def cut_mode(self, mode: int) -> int:
        """Return the last mode, up to `mode`, of which more than one index may be left."""
        while self.ranges[mode][1] - self.ranges[mode][0] < 2:
            mode -= 1
        return mode

    def halves(self, mode: int) -> tuple[int, "_Part", "_Part"]:
        """Return where a mode is cut, and the parts before and behind; O(cells), in memory of a window."""
        start, stop = self.ranges[mode]
        middle = (start + stop) // 2
        low = self._with(mode, (start, middle), 0)
        low = self._with(mode, (start, middle), sum([window.size for window in low.windows()]))
        return middle, low, self._with(mode, (middle, stop), self.size - low.size)

    def _with(self, mode: int, part: tuple[int, int], size: int) -> "_Part":
        ranges = (*self.ranges[:mode], part, *self.ranges[mode + 1 :])
        return _Part(self.shape, self.cells, self.box, ranges, size)

    def table(self) -> IntArray:
        """Return the indices, first mode fastest."""
        windows = [window for window in self.windows() if window.size]
        table = np.concatenate([window.indices_at(np.arange(window.size)) for window in windows])
        # The rows come sorted by the first mode, and the sort is stable.
        return table[np.lexsort(table.T[1:])] if self.shape.rank > 1 else table


def _parts(part: _Part, mode: int, before: int, limit: int, places: range) -> Iterator[FOrderPart]:
    if not _meets(places, before, before + part.size):
        return
    if part.size <= limit:
        yield before, part.table()
        return
    mode = part.cut_mode(mode)
    _, low, high = part.halves(mode)
    halves = [(low, before), (high, before + low.size)]
    for half, start in halves if places.step > 0 else reversed(halves):
        yield from _parts(half, mode, start, limit, places)


def _meets(places: range, start: int, stop: int) -> bool:
    """Return True if one of `places`, which ascend or descend, is in ``[start, stop)``."""
    if places.step < 0:
        places = places[::-1]
    # The first that is not below `start`.
    skipped = max(0, -((places.start - start) // places.step))
    return places.start + skipped * places.step < min(stop, places.stop)


def f_order_part(shape: ShapeCommon, limit: int, where: int | Index, cells: int = 1) -> FOrderPart:
    """Return the part that holds a place, or an index, of the shape, which must have it."""
    part, mode, before = _Part.whole(shape, cells), shape.rank - 1, 0
    while part.size > limit:
        mode = part.cut_mode(mode)
        middle, low, high = part.halves(mode)
        if where < before + low.size if isinstance(where, int) else where[mode] < middle:
            part = low
        else:
            part, before = high, before + low.size
    return before, part.table()
