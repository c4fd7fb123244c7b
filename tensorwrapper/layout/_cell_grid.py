"""Cells that are tiles of one grid: with the same strides, interleaving in memory as tiles of a box do."""

from collections.abc import Sequence
from typing import final

import attrs
import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.shape._arrays import run_of
from tensorwrapper.typing import Index, IntArray

__all__ = ["CellGrid", "grid_of"]


@final
@attrs.frozen(eq=False)
class _Digit:
    """One digit of an offset: how often a stride fits into what wider strides leave."""

    step: int
    starts: IntArray
    """Where the intervals of the cells start in this digit: ascending, each once."""
    stops: IntArray


@final
@attrs.frozen(eq=False)
class CellGrid:
    """Which cell holds an offset, by a search for each of its digits.

    An offset has digits: how often the widest stride fits, how often the next fits into the rest, and so on.
    Where no cell carries into the next digit, a cell is a box of digits; and where any two cells have the
    same or disjoint intervals in every digit, the cells are tiles of one grid.
    """

    least: int
    digits: Sequence[_Digit]
    keys: IntArray
    """The numbers of the intervals of each cell, as one number; ascending."""
    cells: IntArray
    """The cells in the order of `keys`."""

    def cells_at(self, offsets: IntArray) -> IntArray:
        """Return the cell with an element at each offset, the first of those that have one; -1 if none."""
        rest, key = offsets - self.least, np.zeros(len(offsets), dtype=np.int64)
        found = rest >= 0
        for digit in self.digits:
            place, rest = np.divmod(rest, digit.step)
            # The cell that comes first has 0 for every digit, so there is an interval before each place.
            number = np.maximum(run_of(digit.starts, place), 0)
            found &= place < digit.stops[number]
            key = key * len(digit.starts) + number
        at = np.minimum(np.searchsorted(self.keys, key), len(self.keys) - 1)
        return np.where(found & (self.keys[at] == key), self.cells[at], -1)


def grid_of(cells: IntArray, least: IntArray, extents: IntArray, strides: Index) -> CellGrid | None:
    """Return the grid of cells, some at least, that have the same strides; None if they are not its tiles.

    Parameters
    ----------
    cells
        The numbers of the cells, none of them empty.
    least
        The least offset of each.
    extents
        An (n, w) table with a row for each.
    strides
        Those of the cells; one of 0 is passed over: no mode may repeat elements.
    """
    first = int(least.min())
    rest, reach = least - first, np.zeros(len(least), dtype=np.int64)
    bounds: list[tuple[int, IntArray, IntArray]] = []
    for mode in sorted(range(len(strides)), key=lambda m: -abs(strides[m])):
        if strides[mode]:
            place, rest = np.divmod(rest, abs(strides[mode]))
            bounds.append((abs(strides[mode]), place, place + extents[:, mode]))
    reach = rest
    for step, _, stop in reversed(bounds):
        if (reach >= step).any():
            return None
        reach = reach + (stop - 1) * step
    digits: list[_Digit] = []
    keys, room = np.zeros(len(least), dtype=np.int64), 1
    for step, start, stop in [*bounds, (1, rest, rest + 1)]:
        starts, where, numbers = np.unique(start, return_index=True, return_inverse=True)
        stops = stop[where]
        room *= len(starts)
        if (stops[numbers] != stop).any() or (stops[:-1] > starts[1:]).any() or room > MAX_INT64:
            return None
        digits.append(_Digit(step, starts, stops))
        keys = keys * len(starts) + numbers
    order = np.lexsort((cells, keys))
    return CellGrid(first, digits, keys[order], cells[order])
