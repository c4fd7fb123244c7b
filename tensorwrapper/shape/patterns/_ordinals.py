"""Ascending ordinals of the indices of a grid: sets of them, and their indices along each mode.

All arrays are int64, and all sets ascend. Whether a set has an ordinal is looked up in a bitmap where the
grid is small beside the sets, and by a search where it is not.
"""

from collections.abc import Sequence
from typing import Final, TypeAlias, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import splits_of
from tensorwrapper._memory import memory_for
from tensorwrapper.typing import Extents, IntArray

_Flags: TypeAlias = npt.NDArray[np.bool_]

DENSE: Final = 64
"""Indices of the grid per ordinal up to which a bitmap is faster than a search."""

_MANY: Final = 256  # lookups from which sorting them first is faster
_BITS: Final = 64  # of a word


def flags_of(ordinals: IntArray, size: int) -> _Flags:
    """Return a bool for each index of a grid of `size` indices: whether it is in the set."""
    flags = np.zeros(size, dtype=np.bool_)
    flags[ordinals] = True
    return flags


def union(left: IntArray, right: IntArray) -> IntArray:
    """Return the ordinals that are in either set."""
    merged = _merged(left, right)
    kept = np.ones(len(merged), dtype=np.bool_)
    kept[1:] = merged[1:] != merged[:-1]
    return merged[kept]


def symmetric_difference(left: IntArray, right: IntArray) -> IntArray:
    """Return the ordinals that are in one of the sets and not in both."""
    merged = _merged(left, right)
    kept = np.ones(len(merged), dtype=np.bool_)
    alone = merged[1:] != merged[:-1]  # no number comes more than twice
    kept[1:] &= alone
    kept[:-1] &= alone
    return merged[kept]


def intersection(left: IntArray, right: IntArray, size: int) -> IntArray:
    """Return the ordinals that are in both sets."""
    few, many = (left, right) if len(left) <= len(right) else (right, left)
    return few[common(few, many, size)]


def difference(left: IntArray, right: IntArray, size: int) -> IntArray:
    """Return the ordinals that are in the left set and not in the right one."""
    return left[~common(left, right, size)]


def common(left: IntArray, right: IntArray, size: int) -> _Flags:
    """Return for each ordinal of the left set whether the right one has it."""
    if size <= DENSE * (len(left) + len(right)):
        return flags_of(right, size)[left]
    return slots_in(right, left) >= 0


def complement(ordinals: IntArray, size: int) -> IntArray:
    """Return the ordinals below `size` that are not in the set."""
    with memory_for(size, "tiles"):
        flags = np.ones(size, dtype=np.bool_)
        flags[ordinals] = False
        return np.flatnonzero(flags)


def slots_in(ordinals: IntArray, wanted: IntArray) -> IntArray:
    """Return the place in the set of each wanted ordinal, -1 where it is not in it; O(log n) each."""
    if not len(ordinals):
        return np.full(wanted.shape, -1, dtype=np.int64)
    found = np.searchsorted(ordinals, wanted)
    slots: IntArray = np.where(ordinals.take(found, mode="clip") == wanted, found, -1)
    return slots


def slots_in_any_order(ordinals: IntArray, wanted: IntArray) -> IntArray:
    """Return what `slots_in` returns: of many ordinals that do not ascend in half of the time."""
    if wanted.size < _MANY:
        return slots_in(ordinals, wanted)
    flat = wanted.reshape(-1)
    order = np.argsort(flat)
    slots = np.empty_like(flat)
    slots[order] = slots_in(ordinals, flat[order])
    return slots.reshape(wanted.shape)


@final
class SlotIndex:
    """The set as a bitmap, and how many ordinals lie before each word of it; O(1) for each lookup.

    It takes a quarter of a byte per index of the grid.
    """

    __slots__ = ("_before", "_words")

    def __init__(self, ordinals: IntArray, size: int) -> None:
        flags = flags_of(ordinals, -(-size // _BITS) * _BITS)
        self._words: npt.NDArray[np.uint64] = np.packbits(flags, bitorder="little").view("<u8")
        self._before = splits_of(np.bitwise_count(self._words))

    def slots(self, wanted: IntArray) -> IntArray:
        """Return the place in the set of each wanted ordinal, -1 where it is not in it."""
        words = wanted // _BITS
        found = self._words[words]
        bit = np.uint64(1) << (wanted % _BITS).astype(np.uint64)
        slots = self._before[words] + np.bitwise_count(found & (bit - np.uint64(1)))
        return np.where(found & bit, slots, -1)


def _merged(left: IntArray, right: IntArray) -> IntArray:
    merged = np.concatenate((left, right))
    merged.sort(kind="stable")  # merges two runs that ascend in O(n)
    return merged


# Ordinals and indices.


def columns_of(ordinals: IntArray, extents: Extents) -> list[IntArray]:
    """Return the indices along each mode of a grid; those of mode 0 are given as they are if it is alone."""
    # By hand: `np.unravel_index` refuses grids of rank 0 and empty ones.
    columns: list[IntArray] = []
    rest = ordinals
    for extent in extents[:0:-1]:
        outer = rest // extent if extent else rest
        columns.append(rest - outer * extent)
        rest = outer
    return [rest, *columns[::-1]] if extents else []


def table_of(ordinals: IntArray, extents: Extents) -> IntArray:
    """Return the (n, rank) table of the indices of a grid."""
    table = np.empty((len(ordinals), len(extents)), dtype=np.int64)
    for mode, column in enumerate(columns_of(ordinals, extents)):
        table[:, mode] = column
    return table


def numbers_of(columns: Sequence[IntArray], extents: Extents, shape: tuple[int, ...]) -> IntArray:
    """Return the ordinals of indices, given along each mode: an array of this shape."""
    numbers: IntArray = np.zeros(shape, dtype=np.int64)
    for column, extent in zip(columns, extents, strict=True):
        numbers *= extent
        numbers += column
    return numbers
