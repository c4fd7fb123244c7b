"""Merge runs of a box into boxes, where rows have runs at the same columns."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper.selection import Outer, Positions, Runs, Wanted
from tensorwrapper.typing import Array, Extents, IntArray

_BOX: Final = 20
"""Approximate bytes of a range in a request."""
_TABLE: Final = 50
"""Overhead in bytes of a list of positions in a request."""
_FEW: Final = 32
"""Minimum number of runs to merge; fewer are shorter than a box."""


def may_be_bands(wanted: Wanted, extents: Extents) -> bool:
    """Return True if a selection of a box has enough runs to be worth merging."""
    return isinstance(wanted, Runs) and len(wanted.starts) >= _FEW and len(extents) > 1


def in_bands(
    selections: Sequence[Wanted], out: Sequence[Array], extents: Extents
) -> Iterator[tuple[int, Wanted, Array]]:
    """Yield selections of a box with their numbers and targets, runs as boxes where these are shorter.

    Tiles of a tiled tensor are such runs: each row of a tile is a run with the same columns.
    """
    for number, (wanted, target) in enumerate(zip(selections, out, strict=True)):
        found = (
            _bands(wanted, extents) if isinstance(wanted, Runs) and may_be_bands(wanted, extents) else None
        )
        if found is None:
            yield number, wanted, target
            continue
        done = 0
        for box in found:
            yield number, box, target[done : done + box.size].reshape(box.extents)
            done += box.size


def _bands(runs: Runs, extents: Extents) -> list[Outer] | None:
    """Return boxes with the elements of runs, in order; None if runs are shorter. O(runs)."""
    rows, columns, lengths = _by_row(runs, extents[-1])
    first = np.flatnonzero(np.r_[True, rows[1:] != rows[:-1]])
    begins = _begins(rows, columns, lengths, first, extents[-2])
    widths = np.add.reduceat(lengths, first)[begins]
    counts = np.diff([*first.tolist(), len(rows)])[begins]
    # Contiguous columns are a range; others take about a byte each.
    tables = counts > 1
    said = _BOX * len(extents) * len(begins) + _TABLE * int(tables.sum()) + int(widths[tables].sum())
    if said >= _bytes_of(runs):
        return None
    heights = np.diff([*begins.tolist(), len(first)]).tolist()
    found: list[Outer] = []
    for band, height, count in zip(begins.tolist(), heights, counts.tolist(), strict=True):
        start = int(first[band])
        own = slice(start, start + count)
        place = np.unravel_index(int(rows[start]), extents[:-1])
        *before, row = [int(index) for index in place]
        modes: list[Positions] = [range(index, index + 1) for index in before]
        modes.append(range(row, row + height))
        if count == 1:
            column = int(columns[start])
            modes.append(range(column, column + int(lengths[start])))
        else:
            modes.append(concatenated_ranges(columns[own], lengths[own]))
        found.append(Outer(modes))
    return found


def _bytes_of(runs: Runs) -> int:
    """Return the approximate bytes of runs in a request: one or two numbers each, of a common width."""
    gaps = np.diff(runs.starts)
    alike = bool((runs.lengths == runs.lengths[0]).all())
    return len(runs.starts) * (_width(gaps) + (0 if alike else _width(runs.lengths)))


def _width(numbers: IntArray) -> int:
    return int(np.min_scalar_type(int(numbers.max(initial=0))).itemsize)


def _by_row(runs: Runs, width: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the row, first column and length of runs, split at the ends of rows."""
    starts, ends = runs.starts, runs.ends
    counts = (ends - 1) // width - starts // width + 1
    rows = concatenated_ranges(starts // width, counts)
    run = np.repeat(np.arange(len(starts)), counts)
    begins = np.maximum(starts[run], rows * width)
    return rows, begins - rows * width, np.minimum(ends[run], (rows + 1) * width) - begins


def _begins(rows: IntArray, columns: IntArray, lengths: IntArray, first: IntArray, height: int) -> IntArray:
    """Return the rows that begin a band, because they differ from the row above."""
    counts = np.diff(np.r_[first, len(rows)])
    numbers = rows[first]
    alike = np.zeros(len(first), bool)
    alike[1:] = (numbers[1:] == numbers[:-1] + 1) & (counts[1:] == counts[:-1]) & (numbers[1:] % height > 0)
    # Compare with the run of the row above, if it has the same number of runs.
    above = np.arange(len(rows)) - np.repeat(np.where(alike, counts, 0), counts)
    same = (columns == columns[above]) & (lengths == lengths[above])
    return np.flatnonzero(~(alike & np.logical_and.reduceat(same, first)))
