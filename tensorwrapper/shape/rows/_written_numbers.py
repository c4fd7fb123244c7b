"""The numbers of a jagged shape, mode by mode, as text and JSON write them: read a piece at a time.

The extents of a mode are one number per prefix, and so are its origins. Shapes may have more rows than a
text can hold, so nothing is read that is not asked for, and where all numbers agree one stands for them.
"""

from collections.abc import Callable, Iterator
from typing import Final, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.shape.rows._columns import Origins, origins_of
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IntArray

MAX_SPREAD: Final = 2**20
"""For how many prefixes, all modes together, one number may stand that a reader must spread into an array.

A text of a few characters must not cost gigabytes, so beyond this every number is written.
"""

_FIRST = 2**10  # numbers compared first: shapes that vary mostly vary here
_PIECE = 2**18  # numbers compared at a time later


@final
@frozen(eq=False)
class WrittenNumbers:
    """One number per prefix; those that no index leads to are part of the value, too."""

    count: int
    """How many numbers there are."""
    known: int | None
    """The number that all are, if that is known without a look."""
    _read: Callable[[int, int], IntArray]

    def values(self, start: int, stop: int) -> IntArray:
        """Return the numbers `start` to `stop`."""
        return self._read(start, min(stop, self.count))

    def alike(self) -> int | None:
        """Return the number that all are, None if they differ; 0 if there is none. O(1) if they soon do."""
        if self.known is not None:
            return self.known
        first: int | None = None
        for start, stop in _pieces(self.count):
            values = self._read(start, stop)
            first = values.item(0) if first is None else first
            if (values != first).any():
                return None
        return first or 0


def _pieces(count: int) -> Iterator[tuple[int, int]]:
    """Return runs of numbers, a short one first."""
    start, size = 0, _FIRST
    while start < count:
        yield start, min(start + size, count)
        start, size = start + size, _PIECE


def extents_of(rows: Rows) -> list[WrittenNumbers]:
    """Return the extents of every mode at every prefix of at most `outer_rank` indices; O(rank)."""
    columns, even = rows.columns, rows.columns.even
    found = [_fixed(rows.count, 1)]
    *unrolled, (a, b) = _runs(rows)
    for splits, (start, stop) in zip(columns.splits[rows.depth :], unrolled, strict=True):
        found.append(WrittenNumbers(stop - start, None, _lengths(splits, start)))
    # Without a cell in this window, what is told is what cells would have, if that is stored.
    told = even if a < b else rows.absent if any(rows.absent) else None
    for inner in range(columns.leaf_rank):
        known = None if told is None else told[inner]
        found.append(WrittenNumbers(b - a, known, _leaf_extents(rows, a, inner)))
    return found


def _runs(rows: Rows) -> list[tuple[int, int]]:
    """Return the nodes that are prefixes of 1, 2, up to `outer_rank` indices."""
    runs = [(rows.start, rows.stop)]
    for splits in rows.columns.splits[rows.depth :]:
        a, b = runs[-1]
        runs.append((splits.item(a), splits.item(b)))
    return runs


def _fixed(number: int, count: int) -> WrittenNumbers:
    return WrittenNumbers(count, number, lambda start, stop: np.full(stop - start, number))


def _lengths(splits: IntArray, a: int) -> Callable[[int, int], IntArray]:
    return lambda start, stop: np.diff(splits[a + start : a + stop + 1])


def _leaf_extents(rows: Rows, a: int, inner: int) -> Callable[[int, int], IntArray]:
    return lambda start, stop: rows.columns.leaf_extents(a + start, a + stop)[:, inner]


def starts_of(rows: Rows) -> list[WrittenNumbers]:
    """Return the origins of every mode at the prefixes at which `extents_of` has extents; O(rank)."""
    columns = rows.columns
    found = [_fixed(rows.first, 1)]
    runs = _runs(rows)
    runs += [runs[-1]] * (columns.leaf_rank - 1)
    later = (*columns.origins[rows.depth + 1 :], *columns.leaf_origins)
    for mode, (stored, (a, b)) in enumerate(zip(later, runs, strict=True), 1):
        said = rows.stored_origin(mode)
        found.append(WrittenNumbers(b - a, said if isinstance(said, int) else None, _origins(stored, a)))
    return found


def _origins(stored: Origins, a: int) -> Callable[[int, int], IntArray]:
    def read(start: int, stop: int) -> IntArray:
        return origins_of(stored, a + start, a + stop)

    return read


def compact_modes(extents: list[WrittenNumbers]) -> list[int | None]:
    """Return for each series the number that may stand for all, None where they must be written.

    The first is mode 0; the others are modes whose numbers a reader spreads, `MAX_SPREAD` in all.
    """
    found, room = [extents[0].known], MAX_SPREAD
    for series in extents[1:]:
        alike = series.alike() if 0 < series.count <= room else None
        if alike is not None:
            room -= series.count
        found.append(alike)
    return found


def alike_cells(cells: list[WrittenNumbers]) -> Index | None:
    """Return the extents that all cells have, or would have; None if they differ or nothing is known."""
    found: list[int] = []
    for series in cells:
        alike = series.alike() if series.count or series.known is not None else None
        if alike is None:
            return None
        found.append(alike)
    return tuple(found)


def cells_between(rows: Rows, start: int, stop: int) -> IntArray:
    """Return the (n, s) extents of the cells `start` to `stop`."""
    a, b = rows.leaves
    return rows.columns.leaf_extents(a + start, min(a + stop, b))
