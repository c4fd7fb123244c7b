"""Cells: boxes in memory, each with its offset and strides, as arrays.

Layouts of jagged shapes compute with this; it does not use shapes. All methods take memory in proportion to
the cells, never to their elements, except those that list runs or offsets.
"""

from collections.abc import Sequence
from typing import Literal, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import concatenated_ranges, run_of, shared_row, shared_table, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError, SizeOverflowError
from tensorwrapper.typing import Index, IntArray

_RUNS = 1 << 22  # runs up to which cells are compared run by run, where no rule decides
_WINDOW = 1 << 16  # cells at a time where what is made on the way would be as long as the table


@final
@frozen(eq=False)
class _Digit:
    """One digit of an offset: the quotient of the rest after wider strides by a stride."""

    step: int
    starts: IntArray
    """Where the intervals of the cells start in this digit: ascending, each once."""
    stops: IntArray


@final
@frozen(eq=False)
class CellGrid:
    """The cell of an offset, by a search for each of its digits.

    An offset has digits: the quotient by the widest stride, the quotient of the rest by the next stride, and
    so on. If no cell carries into the next digit, a cell is a box of digits. If any two cells have equal or
    disjoint intervals in every digit, the cells are tiles of one grid.
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


_Mask = npt.NDArray[np.bool_]
_PAIRS = 1 << 20  # pairs of an offset and a cell that may hold it, looked at at a time


def check_reach(least: int, greatest: int) -> None:
    """Raise if the least or the greatest offset, or their distance, does not fit into 64 bits."""
    if least < -MAX_INT64 or greatest > MAX_INT64 or greatest - least >= MAX_INT64:
        raise SizeOverflowError(f"cells that reach from {least} to {greatest} leave 64 bits")


def packed_table(extents: IntArray, order: Index) -> IntArray:
    """Return the strides of cells without gaps, where ``order[k]`` is the k-th fastest mode of a cell."""
    even = shared_row(extents)
    if even is not None or extents.shape[1] < 2:
        row, step = [0] * extents.shape[1], 1
        for mode in order:
            row[mode] = step
            step *= even[mode] if even is not None else 1
        return shared_table(tuple(row), len(extents))
    strides = np.empty_like(extents)
    steps = np.ones(len(extents), dtype=np.int64)
    for mode in order:
        strides[:, mode] = steps
        steps = steps * extents[:, mode]
    return strides


@final
@frozen(eq=False)
class _Hulls:
    """The cells with elements by ascending least offset, and how far each reaches."""

    cells: IntArray
    least: IntArray
    greatest: IntArray
    reach: IntArray
    """The greatest offset of a cell and all before it: ascending, whatever the cells do."""

    @property
    def are_disjoint(self) -> bool:
        return bool((self.reach[:-1] < self.least[1:]).all())


@final
@frozen(eq=False)
class Cells:
    """Cell k has elements at ``starts[k] + sum(place * strides[k])`` for all places in ``extents[k]``."""

    extents: IntArray
    """An (n, w) table; w may be 0, then every cell is one element."""
    starts: IntArray
    strides: IntArray
    """A table like `extents`."""
    _ends: tuple[IntArray, IntArray, IntArray] | None = attrs.field(default=None, init=False)
    _bounds: tuple[int, int] | None = attrs.field(default=None, init=False)
    _hulls: _Hulls | None = attrs.field(default=None, init=False)
    _known: tuple[bool, bool] | None = attrs.field(default=None, init=False)
    _grid: CellGrid | Literal[False] | None = attrs.field(default=None, init=False)

    def filled(self) -> _Mask:
        """Return which cells have elements."""
        even = shared_row(self.extents)
        if even is not None:
            return np.full(len(self.starts), 0 not in even)
        # Mode by mode: to go along rows of two or three costs ten times as much.
        filled: _Mask = np.ones(len(self.starts), dtype=np.bool_)
        for mode in range(self.extents.shape[1]):
            filled &= self.extents[:, mode] > 0
        return filled

    def check_fits(self) -> None:
        """Raise if an offset, or the distance of two, does not fit into 64 bits; answered exactly."""
        if not len(self.starts):
            return
        most = max(int(self.starts.max()), -int(self.starts.min()))
        for mode in range(self.extents.shape[1]):
            steps, longest = self.strides[:, mode], int(self.extents[:, mode].max())
            most += max(longest - 1, 0) * max(int(steps.max()), -int(steps.min()))
        if 2 * most <= MAX_INT64:
            return
        # Rare and slow, but exact: Python integers.
        kept = self.filled()
        if not kept.any():
            return
        reach = (self.extents[kept].astype(np.object_) - 1) * self.strides[kept].astype(np.object_)
        starts = self.starts[kept].astype(np.object_)
        least = min((starts + np.minimum(reach, 0).sum(axis=1)).tolist())
        check_reach(least, max((starts + np.maximum(reach, 0).sum(axis=1)).tolist()))

    def ends(self) -> tuple[IntArray, IntArray, IntArray]:
        """Return the cells with elements, and the least and the greatest offset of each; made once."""
        ends = self._ends
        if ends is None:
            ends = self._find_ends()
            object.__setattr__(self, "_ends", ends)
        return ends

    def _find_ends(self) -> tuple[IntArray, IntArray, IntArray]:
        cells = np.flatnonzero(self.filled())
        whole = len(cells) == len(self.starts)
        least = self.starts if whole else self.starts[cells]
        greatest = least
        for mode in range(self.extents.shape[1]):
            extents, strides = self.extents[:, mode], self.strides[:, mode]
            reach = (extents - 1) * strides if whole else (extents[cells] - 1) * strides[cells]
            least, greatest = least + np.minimum(reach, 0), greatest + np.maximum(reach, 0)
        return cells, least, greatest

    def hulls(self) -> _Hulls:
        """Return how far the cells reach, sorted; made once."""
        hulls = self._hulls
        if hulls is None:
            cells, least, greatest = self.ends()
            order = np.argsort(least)
            greatest = greatest[order]
            hulls = _Hulls(cells[order], least[order], greatest, np.maximum.accumulate(greatest))
            object.__setattr__(self, "_hulls", hulls)
        return hulls

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest offset; (0, -1) if there is no element."""
        bounds = self._bounds
        if bounds is None:
            even = shared_row(self.strides)
            if self._ends is None and even is not None and len(even) <= 1 and len(self.starts):
                bounds = self._bounds_of_lines(even[0] if even else 0)
            else:
                cells, least, greatest = self.ends()
                bounds = (int(least.min()), int(greatest.max())) if len(cells) else (0, -1)
            object.__setattr__(self, "_bounds", bounds)
        return bounds

    def _bounds_of_lines(self, step: int) -> tuple[int, int]:
        """Return the bounds of lines that all have one step: fewer passes than the ends of each."""
        if not self.extents.shape[1]:
            return int(self.starts.min()), int(self.starts.max())
        lows: list[int] = []
        highs: list[int] = []
        # In parts that stay in the cache, because intermediate arrays are as long as the table.
        for first in range(0, len(self.starts), _WINDOW):
            extents = self.extents[first : first + _WINDOW, 0]
            starts = self.starts[first : first + _WINDOW]
            lasts = (extents - 1) * step
            lasts += starts
            low, high = (starts, lasts) if step >= 0 else (lasts, starts)
            if int(extents.min()) <= 0:
                filled = extents > 0
                low, high = low[filled], high[filled]
            if len(low):
                lows.append(int(low.min()))
                highs.append(int(high.max()))
        return (min(lows), max(highs)) if lows else (0, -1)

    def is_packed(self, offset: int, befores: IntArray) -> bool:
        """Return True if cell k is at ``offset + befores[k]``, in row-major order without gaps."""
        kept = self.filled()
        starts = self.starts - befores
        if not (starts[kept] == offset).all():
            return False
        step: int | IntArray = 1
        for mode in reversed(range(self.extents.shape[1])):
            extents = self.extents[:, mode]
            if (kept & (self.strides[:, mode] != step) & (extents > 1)).any():
                return False
            step = extents * step
        return True

    # Which elements share a place.

    @property
    def has_digits(self) -> bool:
        """Return True if every offset splits into one position per mode, like a number into digits."""
        return self._digits()[0]

    def _digits(self) -> tuple[bool, bool]:
        """Return whether the modes of all cells nest, and whether one of them repeats elements; cached.

        Modes nest if each steps over the whole span of the finer ones (except those of stride 0). Then an
        offset splits into one position per mode, like a number into digits.
        """
        known = self._known
        if known is None:
            known = self._find_digits()
            object.__setattr__(self, "_known", known)
        return known

    def _find_digits(self) -> tuple[bool, bool]:
        cells = self.ends()[0]
        if self.extents.shape[1] < 2:
            repeats = (self.extents[cells] > 1) & (self.strides[cells] == 0)
            return True, bool(repeats.any())
        extents, shared = self.extents[cells], shared_row(self.strides)
        if shared is not None:
            # All cells have the same order of modes, as tiles of one box.
            steps = np.abs(self.strides[:1])
            order = steps[0].argsort(kind="stable")
            extents, steps = extents[:, order], steps[:, order]
        else:
            steps = np.abs(self.strides[cells])
            order = np.argsort(steps, axis=1, kind="stable")
            extents = np.take_along_axis(extents, order, axis=1)
            steps = np.take_along_axis(steps, order, axis=1)
        nest, repeated = np.ones(len(cells), dtype=np.bool_), np.zeros(len(cells), dtype=np.bool_)
        reach = np.zeros(len(cells), dtype=np.int64)
        for mode in range(extents.shape[1]):
            wide, step = extents[:, mode] > 1, steps[:, mode]
            nest &= ~wide | (step > reach) | (step == 0)
            repeated |= wide & (step == 0)
            reach += np.where(wide, (extents[:, mode] - 1) * step, 0)
        return bool(nest.all()), bool(repeated.any())

    def shares_no_place(self) -> bool | None:
        """Return True if all elements have different offsets; None if no rule decides."""
        hulls = self.hulls()
        nest, repeats = self._digits()
        # Two cells that begin alike share their least offset, which belongs to an element of each.
        if repeats or (hulls.least[1:] == hulls.least[:-1]).any():
            return False
        if not nest:
            return None
        return True if hulls.are_disjoint or self.grid() is not None else self._runs_are_disjoint()

    def _runs_are_disjoint(self) -> bool | None:
        """Tell of cells whose last mode has steps of 1 whether no two runs meet; O(runs log runs)."""
        lengths, steps = self.extents[:, -1:], self.strides[:, -1:]
        if ((abs(steps) != 1) & (lengths > 1)).any():
            return None
        heads = np.concatenate([self.extents[:, :-1], np.minimum(lengths, 1)], axis=1)
        counts = heads.prod(axis=1, dtype=np.float64)
        if counts.sum() > _RUNS:
            return None
        descending = np.where(steps[:, 0] < 0, np.maximum(lengths[:, 0] - 1, 0), 0)
        begins = Cells(heads, self.starts - descending, self.strides).offsets()
        order = begins.argsort()
        begins, lasts = begins[order], np.repeat(lengths[:, 0] - 1, counts.astype(np.int64))[order]
        return bool((begins[1:] > begins[:-1] + lasts[:-1]).all())

    def grid(self) -> CellGrid | None:
        """Return the grid that the cells are tiles of, if they have the same strides; made once."""
        found = self._grid
        if found is None:
            steps, hulls = shared_row(self.strides), self.hulls()
            if steps is not None and len(hulls.cells):
                found = grid_of(hulls.cells, hulls.least, self.extents[hulls.cells], steps)
            found = found or False
            object.__setattr__(self, "_grid", found)
        return found or None

    # From offsets back to cells.

    def candidates(self, offset: int) -> IntArray:
        """Return the cells whose least and greatest offset enclose `offset`, ascending."""
        hulls = self.hulls()
        if not -MAX_INT64 <= offset <= MAX_INT64:
            return hulls.cells[:0]
        low, high = hulls.reach.searchsorted(offset, "left"), hulls.least.searchsorted(offset, "right")
        return np.sort(hulls.cells[low:high][hulls.greatest[low:high] >= offset])

    def first_cells(self, offsets: IntArray) -> IntArray:
        """Return for each offset the first cell with an element there, -1 if there is none.

        O(log cells) per offset where cells do not interleave, else one step for each cell that may hold it.

        Raises
        ------
        LayoutError
            If the modes of a cell interleave, so that an offset does not split into places.
        """
        hulls = self.hulls()
        if not self.has_digits:
            raise LayoutError(
                "modes of a cell interleave, so offsets do not split into indices; use index_of"
            )
        if hulls.are_disjoint:
            if not len(hulls.cells):
                return np.full(len(offsets), -1, dtype=np.int64)
            place = np.maximum(run_of(hulls.least, offsets), 0)
            cells = hulls.cells[place]
            # Both ends, because the distance of an outside offset may exceed 64 bits.
            inside = (offsets >= hulls.least[place]) & (offsets <= hulls.greatest[place])
            return np.where(inside & self.places(cells, offsets)[0], cells, -1)
        grid = self.grid()
        return self._search(offsets) if grid is None else grid.cells_at(offsets)

    def _search(self, offsets: IntArray) -> IntArray:
        """Return the first cell with an element at each offset, of all whose hulls enclose it."""
        hulls = self.hulls()
        high = np.searchsorted(hulls.least, offsets, side="right")
        counts = np.maximum(high - np.searchsorted(hulls.reach, offsets, side="left"), 0)
        none = len(self.starts)
        first = np.full(len(offsets), none, dtype=np.int64)
        ends = splits_of(counts)
        start = 0
        while start < len(offsets):
            stop = max(int(run_of(ends, ends[start : start + 1] + _PAIRS)[0]), start + 1)
            which = np.repeat(np.arange(start, stop), counts[start:stop])
            pairs = concatenated_ranges(high[start:stop] - counts[start:stop], counts[start:stop])
            cells = hulls.cells[pairs]
            found = self.places(cells, offsets[which])[0]
            np.minimum.at(first, which[found], cells[found])
            start = stop
        first[first == none] = -1
        return first

    def places(self, cells: IntArray, offsets: IntArray) -> tuple[_Mask, IntArray]:
        """Return which offsets belong to these cells, and the place of each per mode: an (n, w) table.

        The modes of the cells must nest, and no offset may lie before its cell; of a mode that repeats its
        elements it is the first place.
        """
        row = shared_row(self.strides)
        if row is not None:
            return self._places_alike(cells, offsets, row)
        extents, strides = self.extents[cells], self.strides[cells]
        steps = np.abs(strides)
        rest = offsets - self.starts[cells] - np.minimum((extents - 1) * strides, 0).sum(axis=1)
        places = np.zeros_like(extents)
        order, rows = np.argsort(-steps, axis=1, kind="stable"), np.arange(len(cells))
        for k in range(extents.shape[1]):
            mode = order[:, k]
            count, step = extents[rows, mode], steps[rows, mode]
            place = np.where(step > 0, np.minimum(rest // np.maximum(step, 1), count - 1), 0)
            rest = rest - place * step
            places[rows, mode] = np.where(strides[rows, mode] >= 0, place, count - 1 - place)
        return np.asarray(rest == 0), places

    def _places_alike(self, cells: IntArray, offsets: IntArray, row: Index) -> tuple[_Mask, IntArray]:
        """Return what `places` does, of cells that have the same strides."""
        extents = self.extents[cells]
        rest, places = offsets - self.starts[cells], np.zeros_like(extents)
        for mode, stride in enumerate(row):
            if stride < 0:
                rest -= (extents[:, mode] - 1) * stride
        for mode in sorted(range(len(row)), key=lambda m: -abs(row[m])):
            step = abs(row[mode])
            if step:
                last = extents[:, mode] - 1
                place = np.minimum(rest // step, last)
                rest -= place * step
                places[:, mode] = place if row[mode] > 0 else last - place
        return np.asarray(rest == 0), places

    # All of them, or some.

    def run(self, first: int, last: int) -> "Cells":
        """Return the cells `first` up to `last`."""
        return Cells(self.extents[first:last], self.starts[first:last], self.strides[first:last])

    def offsets(self) -> IntArray:
        """Return the offsets of all elements, cell after cell, each in row-major order."""
        extents, strides, places = self.extents, self.strides, self.starts
        # Of one mode, an empty cell is repeated no times anyway.
        kept = self.filled() if extents.shape[1] > 1 else None
        if kept is not None and not kept.all():
            extents, strides, places = extents[kept], strides[kept], places[kept]
        cells: IntArray | None = None
        steps = shared_row(strides)
        for mode in range(extents.shape[1]):
            counts = extents[:, mode] if cells is None else extents[cells, mode]
            splits = splits_of(counts)
            within = np.arange(int(splits[-1]), dtype=np.int64)
            if steps is not None:
                places = np.repeat(places - splits[:-1] * steps[mode], counts)
                if steps[mode] != 1:
                    within *= steps[mode]
            else:
                step = strides[:, mode] if cells is None else strides[cells, mode]
                places = np.repeat(places - splits[:-1] * step, counts)
                within *= np.repeat(step, counts)
            places += within
            if mode + 1 < extents.shape[1]:
                owners = np.arange(len(counts)) if cells is None else cells
                cells = np.repeat(owners, counts)
        return places.copy() if places is self.starts else places
