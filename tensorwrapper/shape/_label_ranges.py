"""The indices that a label goes over in one operand: the same everywhere, or a function of other labels."""

from typing import NamedTuple, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.shape._jagged import JaggedCommon
from tensorwrapper.shape._nested import Flat
from tensorwrapper.shape._rearrange import keys_of
from tensorwrapper.shape._smooth import SmoothCommon
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import IntArray

__all__ = ["Difference", "Fixed", "Range", "Varying", "find_difference", "range_of"]


class Fixed(NamedTuple):
    """A range that is the same under every prefix."""

    extent: int
    start: int


@final
@attrs.frozen(eq=False)
class Varying:
    """A range that depends on other labels: a row for each of their combinations, ascending."""

    labels: tuple[str, ...]
    table: IntArray
    extents: IntArray
    starts: IntArray

    def at(self, placed: dict[str, IntArray]) -> tuple[IntArray, IntArray]:
        """Return extent and start at every node, given the indices of the other labels there.

        A combination that is not in the table leads nowhere: extent 0.
        """
        wanted = np.stack([placed[label] for label in self.labels], axis=1)
        if np.array_equal(wanted, self.table):
            return self.extents, self.starts
        rows, known = self.find(wanted)
        return np.where(known, self.extents[rows], 0), np.where(known, self.starts[rows], 0)

    def find(self, wanted: IntArray) -> tuple[IntArray, npt.NDArray[np.bool_]]:
        """Return the row of each combination, and whether there is one."""
        table = self.table
        lows, highs = table.min(axis=0), table.max(axis=0)
        inside = ((wanted >= lows) & (wanted <= highs)).all(axis=1)
        if table.shape[1] == 1 and highs.item(0) - lows.item(0) + 1 == len(table):
            return np.where(inside, wanted[:, 0] - lows.item(0), 0), inside
        keys, sought = keys_of(table, lows, highs), keys_of(np.clip(wanted, lows, highs), lows, highs)
        rows = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
        return rows, inside & (keys[rows] == sought)


Range: TypeAlias = Fixed | Varying


def range_of(flat: Flat, labels: tuple[str, ...], mode: int) -> Range | None:
    """Return the range of a mode; ``None`` if no prefix leads to it. O(n log n) in its prefixes at most."""
    if isinstance(flat, SmoothCommon):
        return Fixed(flat.extents[mode], flat.origin[mode])
    if isinstance(flat, Tiled) and (mode < flat.outer_rank or all(p.extent for p in flat.partitions)):
        return _range_of_tiles(flat, labels, mode)
    if not mode:
        return Fixed(flat.extent_at(()), flat.origin_at(()))
    return _range_of_rows(flat, labels, mode)


def _range_of_tiles(tiled: Tiled, labels: tuple[str, ...], mode: int) -> Range | None:
    outer = tiled.outer_rank
    grid = tiled.grid
    if mode < outer:
        return Fixed(grid.extents[mode], grid.origin[mode])
    sizes = tiled.partitions[mode - outer].sizes
    numbers = np.arange(len(sizes), dtype=np.int64) + grid.origin[mode - outer]
    return _range_of_table(
        (labels[mode - outer],), numbers[:, np.newaxis], sizes, np.zeros(len(sizes), dtype=np.int64)
    )


def _range_of_rows(flat: JaggedCommon, labels: tuple[str, ...], mode: int) -> Range | None:
    needs = flat.dependencies(mode)
    if not needs:
        extents, starts = flat.rows.distinct_ranges(mode)
        return Fixed(extents.item(0), starts.item(0)) if len(extents) else None
    table, extents, starts = flat.rows.reached_table(mode)
    return _range_of_table(tuple([labels[need] for need in needs]), table[:, list(needs)], extents, starts)


def _range_of_table(
    labels: tuple[str, ...], table: IntArray, extents: IntArray, starts: IntArray
) -> Range | None:
    """Return the range that has these values at these combinations, which may be repeated."""
    distinct = tuple(dict.fromkeys(labels))
    if len(distinct) < len(labels):
        # A label that stands for two modes goes over the diagonal of both.
        homes = [labels.index(label) for label in labels]
        kept = (table == table[:, homes]).all(axis=1)
        table, extents, starts = table[kept], extents[kept], starts[kept]
        table = table[:, [labels.index(label) for label in distinct]]
    if not len(table):
        return None
    if (extents == extents[0]).all() and (starts == starts[0]).all():
        return Fixed(extents.item(0), starts.item(0))
    return _in_order(Varying(distinct, table, extents, starts))


def _in_order(given: Varying) -> Varying:
    """Return the range with its rows ascending, the first column counting most, and each only once."""
    table = given.table
    if _steps_up(table).all():
        return given
    order = np.lexsort(table.T[::-1])
    order = order[np.concatenate([[True], _steps_up(table[order])])]
    return Varying(given.labels, table[order], given.extents[order], given.starts[order])


def _steps_up(table: IntArray) -> npt.NDArray[np.bool_]:
    """Return whether each row but the first is above the one before."""
    above = np.zeros(len(table) - 1, dtype=np.bool_)
    same = np.ones(len(table) - 1, dtype=np.bool_)
    for column in table.T:
        above |= same & (column[1:] > column[:-1])
        same &= column[1:] == column[:-1]
    return above


class Difference(NamedTuple):
    """Where two ranges of one label differ: at which indices of other labels, and what either is there."""

    place: tuple[tuple[str, int], ...]
    first: Fixed
    second: Fixed


def find_difference(first: Range, second: Range) -> Difference | None:
    """Return a place where two ranges differ, or ``None``; if both vary, then with the same labels."""
    if isinstance(first, Fixed):
        if isinstance(second, Fixed):
            return None if first == second else Difference((), first, second)
        found = _first_difference(second, *first)
        return found and Difference(found.place, found.second, found.first)
    if isinstance(second, Fixed):
        return _first_difference(first, *second)
    columns = [second.labels.index(label) for label in first.labels]
    second = _in_order(Varying(first.labels, second.table[:, columns], second.extents, second.starts))
    if np.array_equal(first.table, second.table):
        return _first_difference(first, second.extents, second.starts)
    # What leads nowhere in one of them says nothing of the other.
    rows, known = second.find(first.table)
    common = Varying(first.labels, first.table[known], first.extents[known], first.starts[known])
    return _first_difference(common, second.extents[rows[known]], second.starts[rows[known]])


def _first_difference(varying: Varying, extents: IntArray | int, starts: IntArray | int) -> Difference | None:
    differs = (varying.extents != extents) | (varying.starts != starts)
    if not differs.any():
        return None
    row = int(np.argmax(differs))
    place = tuple(zip(varying.labels, varying.table[row].tolist(), strict=True))
    here, there = [
        Fixed(*[value if isinstance(value, int) else value.item(row) for value in pair])
        for pair in ((varying.extents, varying.starts), (extents, starts))
    ]
    return Difference(place, here, there)
