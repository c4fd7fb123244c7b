"""Positions that are taken together: combinations within rows, and products of rows."""

import math

import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.tensor.within._groups import groups, windows
from tensorwrapper.typing import IntArray

_MOST = 1 << 16  # positions that are taken together, each of which has a tensor
_LARGEST = MAX_INT64 // 8  # positions that an address space holds


def combinations(lengths: IntArray, count: int, *, replacement: bool) -> tuple[list[IntArray], IntArray]:
    """Return so many positions of each row, in all ways, in lexicographic order; and how many ways there are.

    Raises
    ------
    SizeOverflowError
        If there are more than memory holds; nothing is allocated.
    """
    if count > _MOST:
        raise SizeOverflowError(
            f"combinations(k) makes a tensor for each of k positions, at most {_MOST}, not {count}"
        )
    distinct, inverse = np.unique(lengths, return_inverse=True)
    ways = [math.comb(n + count - 1 if replacement and n else n, count) for n in distinct.tolist()]
    total = sum([a * b for a, b in zip(ways, np.bincount(inverse).tolist(), strict=True)])
    if total > _LARGEST:
        raise SizeOverflowError(
            f"there are {total} combinations of {count} positions, more than memory holds"
        )
    counts = np.array(ways, dtype=np.int64)[inverse]
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(counts, out=ends[1:])
    found = [np.empty(total, np.int64) for _ in range(count)]
    splits = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=splits[1:])
    for length, rows in groups(splits):
        # Rows of one length have one table, which is written where each of them is.
        for own in [rows] if length else rows[:, None]:
            columns = _table(int(lengths[own[0]]), count, replacement=replacement)
            size = len(columns[0])
            if not size:
                continue
            for column, target in zip(columns, found, strict=True):
                windows(target, size, writeable=True)[ends[own]] = column
    return found, ends


def _table(length: int, count: int, *, replacement: bool) -> list[IntArray]:
    """Return the combinations of the positions of one row: each step adds all that may follow."""
    columns: list[IntArray] = [np.arange(length, dtype=np.int64)]
    for _ in range(count - 1):
        firsts = columns[-1] + (0 if replacement else 1)
        more = length - firsts
        columns = [np.repeat(column, more) for column in columns]
        columns.append(concatenated_ranges(firsts, more))
    return columns


def product(lengths: IntArray, others: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return all pairs of a position of a row and one of the same row of others, and how many of each row.

    Raises
    ------
    SizeOverflowError
        If there are more than memory holds; nothing is allocated.
    """
    total = sum([a * b for a, b in zip(lengths.tolist(), others.tolist(), strict=True)])
    if total > _LARGEST:
        raise SizeOverflowError(f"there are {total} pairs of positions, more than memory holds")
    firsts = concatenated_ranges(np.zeros_like(lengths), lengths)
    each = np.repeat(others, lengths)
    return np.repeat(firsts, each), concatenated_ranges(np.zeros_like(each), each), lengths * others
