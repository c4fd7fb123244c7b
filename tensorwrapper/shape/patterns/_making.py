"""The present tiles by a predicate, by norms, or by the stored blocks of SciPy."""

import math
from collections.abc import Callable
from typing import Any, Literal, SupportsFloat, cast, get_args

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different, shown_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_ints
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import (
    ConversionError,
    OutOfBoundsError,
    PatternError,
    RankError,
)
from tensorwrapper.shape.boxes._common import integer_array
from tensorwrapper.shape.rows._partition import Partition, volumes_of_tiles
from tensorwrapper.typing import Array, Extents, Index, IntArray

Per = Literal["tile", "element"]
"""Meaning of a threshold: the norm of a tile, or the norm divided by its number of elements."""


def mask_of_predicate(
    predicate: Callable[..., npt.ArrayLike], starts: Index, extents: Extents
) -> npt.NDArray[np.bool_]:
    """Return for which tiles a predicate holds, of all of them at once: it gets one int64 array per mode.

    Raises
    ------
    ConversionError
        If it gives no truth values.
    RankError
        If these do not fit the grid.
    """
    rank = len(extents)
    modes = [
        np.arange(first, first + n, dtype=np.int64).reshape([-1 if k == mode else 1 for k in range(rank)])
        for mode, (first, n) in enumerate(zip(starts, extents, strict=True))
    ]
    with memory_for(math.prod(extents) // 8, "truth values of tiles, eight of them"):
        found: Array = shown_array(predicate(*modes))
    if found.dtype != np.bool_:
        raise ConversionError(f"a predicate of tiles gives truth values, not {found.dtype}")
    try:
        return np.broadcast_to(cast("npt.NDArray[np.bool_]", found), extents)
    except ValueError as error:
        raise RankError(f"a mask over the tiles has extents {extents}, not {found.shape}") from error


def ordinals_of_norms(
    partitions: tuple[Partition, ...], norms: npt.ArrayLike, threshold: SupportsFloat, per: Per
) -> IntArray:
    """Return the tiles whose norm is not below a threshold; NaN is never below."""
    if per not in get_args(Per):
        raise ConversionError(f"per is 'tile' or 'element', not {brief(per)}")
    least = to_threshold(threshold)
    given = shown_array(norms)
    extents = tuple([p.count for p in partitions])
    if given.dtype.kind not in "iufb":
        raise ConversionError(f"norms are real numbers, not {given.dtype}")
    if given.shape != extents:
        raise RankError(f"norms of the tiles have extents {extents}, not {given.shape}")
    values = cast("npt.NDArray[np.float64]", given)
    if per == "element":
        # A tile without elements has the norm 0.
        values = values / np.maximum(volumes_of_tiles(partitions), 1)
    return np.flatnonzero(~(values < least))


def to_threshold(threshold: SupportsFloat) -> float:
    """Return a threshold as a float, which is 0 or more.

    Raises
    ------
    PatternError
        If it is below 0, or NaN.
    ConversionError
        If it is not a real number.
    """
    try:
        least = float(threshold)
    except (TypeError, ValueError, OverflowError) as error:
        raise ConversionError(f"a threshold is a number, not {brief(threshold)}") from error
    if not least >= 0:
        raise PatternError(f"a threshold is 0 or more, not {least}")
    return least


def ordinals_of_blocks(matrix: object) -> tuple[list[list[int]], IntArray]:
    """Return the extents of the tiles of each mode of a BSR matrix, and which of them are stored."""
    given: Any = matrix
    if getattr(given, "format", None) != "bsr":
        raise ConversionError(
            f"from_scipy takes a BSR array of SciPy, as tobsr() makes it, not {brief(matrix)}"
        )
    shape, block = to_ints(given.shape, "the extents"), to_ints(given.blocksize, "the block size")
    pairs = list(zip(shape, block, strict=False))
    if not len(shape) == len(block) == 2 or any(n < 1 or extent % n for extent, n in pairs):
        raise ConversionError(f"blocks of {block} do not cut a matrix of {shape}")
    rows, columns = [extent // n for extent, n in pairs]
    starts = integer_array(given.indptr, "indptr").astype(np.int64, copy=False)
    stored = integer_array(given.indices, "indices").astype(np.int64, copy=False)
    counts = np.diff(starts)
    if len(starts) != rows + 1 or starts[0] != 0 or (counts < 0).any() or starts[-1] > len(stored):
        raise ConversionError(f"indptr of a BSR array with {rows} rows of blocks ascends from 0")
    stored = stored[: int(starts[-1])]
    if stored.size and not 0 <= int(stored.min()) <= int(stored.max()) < columns:
        raise OutOfBoundsError(f"a stored block is in none of the {columns} columns of blocks")
    ordinals = np.repeat(np.arange(rows, dtype=np.int64), counts) * columns + stored
    return [[block[0]] * rows, [block[1]] * columns], different(ordinals)
