"""Elements found among sorted ones of the same row, and counted between edges."""

from typing import Any, Literal, cast

import numpy as np

from tensorwrapper.tensor.within._groups import BLOCK, row_blocks
from tensorwrapper.typing import Array, IntArray


def searched(
    flat: Array, splits: IntArray, wanted: Array, rows: IntArray, side: Literal["left", "right"]
) -> IntArray:
    """Return for each wanted element, of a row each, where it goes among the sorted elements of that row.

    Many are looked for at once, by halves: O(wanted elements times the logarithm of the longest row).
    """
    found = np.empty(len(wanted), np.int64)
    for first in range(0, len(wanted), BLOCK):
        part = slice(first, first + BLOCK)
        found[part] = _searched(flat, splits, wanted[part], rows[part], side)
    return found


def _searched(
    flat: Array, splits: IntArray, wanted: Array, rows: IntArray, side: Literal["left", "right"]
) -> IntArray:
    """Return the same of some elements."""
    low, high = splits[rows], splits[rows + 1]
    begins = low.copy()
    if not len(flat):
        return low - begins
    lost = np.not_equal(wanted, wanted) if wanted.dtype.kind not in "biu" else None
    for _ in range(int(np.diff(splits).max()).bit_length()):
        going = low < high
        middle = (low + high) >> 1
        value = flat[np.minimum(middle, len(flat) - 1)]
        after = np.less_equal(value, wanted) if side == "right" else np.less(value, wanted)
        if lost is not None:
            # NaN is last, and equal to itself.
            own = np.not_equal(value, value)
            after = (after & ~own) | (lost & (~own if side == "left" else True))
        after &= going
        low = np.where(after, middle + 1, low)
        high = np.where(going & ~after, middle, high)
    return cast("IntArray", low - begins)


def histograms(flat: Array, splits: IntArray, edges: Array) -> Array:
    """Return for each row how many elements are between each two edges, the last one inside. O(n log m)."""
    bins = len(edges) - 1
    counts = np.zeros((len(splits) - 1, bins), np.int64)
    for first, last in row_blocks(splits):
        marks = splits[first : last + 1]
        part = flat[marks[0] : marks[-1]]
        given: Any = edges
        found: IntArray = given.searchsorted(part, "right") - 1
        found[np.equal(part, edges[-1])] = bins - 1
        inside = (found >= 0) & (found < bins)
        rows = np.repeat(np.arange(last - first, dtype=np.int64), np.diff(marks))
        places = rows[inside] * bins + found[inside]
        counts[first:last] = np.bincount(places, minlength=(last - first) * bins).reshape(-1, bins)
    return counts
