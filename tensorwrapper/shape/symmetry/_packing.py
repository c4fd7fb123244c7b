"""Packed order of any group: closed forms where there are some, else a table of canonical ordinals."""

import math
from functools import lru_cache

import numpy as np

from tensorwrapper._arrays import frozen_array
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ExtentMismatchError, SizeOverflowError
from tensorwrapper.shape.symmetry._blocks import Folded, block_of
from tensorwrapper.shape.symmetry._canonical import orient, ranks_of
from tensorwrapper.shape.symmetry._operations import table_of
from tensorwrapper.shape.symmetry._orbits import count_stored, orbits_of
from tensorwrapper.typing import Extents, IntArray

_CHUNK = 1 << 18  # indices at a time
_TABLES = 4  # of 8 bytes per stored element


def check_equal_modes(codes: tuple[bytes, ...], numbers: tuple[int, ...], what: str) -> None:
    r"""Raise ExtentMismatchError unless exchanged modes have equal numbers; `what` names these.

    Examples
    --------
    >>> check_equal_modes((b"\1\0\2\3\4\5",), (3, 4), "extents")
    Traceback (most recent call last):
    tensorwrapper.errors.ExtentMismatchError: the symmetry exchanges modes 0 and 1, whose extents are 3 and 4
    """
    permutations = table_of(codes, len(numbers))[0]
    values = np.array(numbers, object)
    for one in range(len(numbers)):
        for two in np.flatnonzero((permutations == one).any(axis=0)).tolist():
            if values[one] != values[two]:
                modes = sorted((one, two))
                both = " and ".join([str(numbers[mode]) for mode in modes])
                text = f"the symmetry exchanges modes {modes[0]} and {modes[1]}, whose {what} are {both}"
                raise ExtentMismatchError(text)


def count_of(codes: tuple[bytes, ...], extents: Extents) -> int:
    """Return how many elements of a box are packed; exact for any extents."""
    check_equal_modes(codes, extents, "extents")
    return count_stored(orbits_of(codes, len(extents)), extents)


def check_ordinals(extents: Extents) -> None:
    """Raise SizeOverflowError if a box has ordinals beyond 64 bits."""
    if math.prod(extents) > MAX_INT64:
        raise SizeOverflowError(f"a box of extents {extents} has ordinals beyond 64 bits")


def columns_of(ordinals: IntArray, extents: Extents) -> tuple[IntArray, ...]:
    """Return the index of each ordinal of a box, one array per mode."""
    # NumPy refuses a box without modes.
    return tuple(np.unravel_index(ordinals, extents)) if extents else ()


def fold(codes: tuple[bytes, ...], columns: tuple[IntArray, ...], extents: Extents) -> Folded:
    """Return where elements at indices within a box are packed; the extents were checked.

    O(n) where the group is built of neighbouring modes; else that of `orient`, and a search.
    """
    block = block_of(codes, len(extents))
    if block is not None:
        return block.fold(columns, extents)
    rank = len(extents)
    shape = np.broadcast_shapes(*[column.shape for column in columns])
    indices = np.empty((math.prod(shape), rank), np.int64)
    for mode, column in enumerate(columns):
        indices[:, mode] = np.broadcast_to(column, shape).reshape(-1)
    permutations, signs, conjugate = table_of(codes, rank)
    operations, zero = orient(codes, ranks_of(indices))
    greatest = np.take_along_axis(indices, permutations[operations].astype(np.int64), axis=1)
    stored = stored_ordinals(codes, extents)
    offsets = np.searchsorted(stored, greatest @ _strides(extents))
    offsets[zero] = -1
    # Masks that are all False are left out: NumPy raises when it negates truth values.
    masks = (signs[operations] < 0, conjugate[operations], zero)
    return Folded(offsets.reshape(shape), *[own.reshape(shape) if own.any() else None for own in masks])


def stored_ordinals(codes: tuple[bytes, ...], extents: Extents) -> IntArray:
    """Return the ordinals of the packed elements, ascending: 8 bytes each.

    Raises
    ------
    SizeOverflowError
        If the box has ordinals beyond 64 bits.
    """
    check_ordinals(extents)
    block = block_of(codes, len(extents))
    return _searched(codes, extents) if block is None else block.ordinals(extents)


@lru_cache(maxsize=_TABLES)
def _searched(codes: tuple[bytes, ...], extents: Extents) -> IntArray:
    """Return the ordinals that no operation makes greater; O(size * order)."""
    rank, size, strides = len(extents), math.prod(extents), _strides(extents)
    permutations, signs, conjugate = table_of(codes, rank)
    # An index gains this for each unit of a mode, when an operation moves the mode elsewhere.
    moved = np.empty((len(codes), rank), np.int64)
    np.put_along_axis(moved, permutations.astype(np.int64), np.broadcast_to(strides, moved.shape), 1)
    gains = moved - strides
    found: list[IntArray] = []
    for start in range(0, size, _CHUNK):
        ordinals = np.arange(start, min(start + _CHUNK, size), dtype=np.int64)
        columns = np.array(columns_of(ordinals, extents), np.int64).reshape(rank, len(ordinals))
        for gain, negative in zip(gains, (signs < 0) & ~conjugate, strict=True):
            total = gain @ columns
            kept = total < 0 if negative else total <= 0
            ordinals, columns = ordinals[kept], columns[:, kept]
        found.append(ordinals)
    return frozen_array(np.concatenate(found) if found else np.empty(0, np.int64))


def multiplicities_of(codes: tuple[bytes, ...], extents: Extents) -> IntArray:
    """Return for each packed element the number of indices in its orbit."""
    rank = len(extents)
    columns = columns_of(stored_ordinals(codes, extents), extents)
    ranks = ranks_of(np.stack(columns, axis=1)) if rank else np.zeros((count_of(codes, ()), 0), np.int8)
    weights = 8 ** np.arange(rank)
    keys, where = np.unique(ranks @ weights, return_inverse=True)
    digits = keys[:, None] // weights % 8
    fixed = [int(np.count_nonzero((row[table_of(codes, rank)[0]] == row).all(axis=1))) for row in digits]
    return (len(codes) // np.array(fixed, np.int64).reshape(-1))[where]


def _strides(extents: Extents) -> IntArray:
    return np.array([math.prod(extents[mode + 1 :]) for mode in range(len(extents))], np.int64)
