"""Columns from lengths and origins of rows, mode by mode."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, splits_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import ExtentError, RankError, SizeOverflowError
from tensorwrapper.shape.boxes._common import integer_array
from tensorwrapper.shape.rows._columns import Columns, Origins, check_int64, tidy_origins
from tensorwrapper.typing import IntArray


def columns_of_lengths(
    lengths: Sequence[npt.ArrayLike], first: int, origins: Sequence[npt.ArrayLike] | None
) -> Columns:
    """Return columns whose mode ``q + 1`` has the extents ``lengths[q]``, one per prefix; O(prefixes)."""
    if not lengths:
        raise RankError("rows need the lengths of one mode at least: those after the first mode")
    if origins is not None and len(origins) != len(lengths):
        raise RankError(f"origins are given for {len(origins)} modes, but lengths for {len(lengths)}")
    *inner, cells = [_int64(level, f"the lengths of mode {mode}") for mode, level in enumerate(lengths, 1)]
    nodes = len(inner[0]) if inner else len(cells)
    check_int64(0, first, nodes)
    splits: list[IntArray] = []
    starts: list[Origins] = [first]
    for mode, level in enumerate(inner, 1):
        _check_level(level, nodes, mode)
        starts.append(_starts_of(level, None if origins is None else origins[mode - 1], mode))
        splits.append(splits_of(level))
        nodes = splits[-1].item(-1)
    mode = len(lengths)
    if cells.ndim == 1 or (cells.ndim == 2 and cells.shape[1] == 1):
        level = cells.reshape(-1)
        _check_level(level, nodes, mode)
        at = _starts_of(level, None if origins is None else origins[-1], mode)
        return Columns(tuple(splits), splits_of(level), tuple(starts), (at,))
    return _with_cells(
        splits, starts, _check_cells(cells, nodes, mode), None if origins is None else origins[-1]
    )


def _with_cells(
    splits: list[IntArray], starts: list[Origins], cells: IntArray, origins: npt.ArrayLike | None
) -> Columns:
    mode = len(splits) + 1
    table = np.zeros(cells.shape[1], dtype=np.int64) if origins is None else _int64(origins, "cell origins")
    if table.shape not in {cells.shape, cells.shape[1:]}:
        raise ExtentError(
            f"the origins of cells have the shape {cells.shape} or {cells.shape[1:]}, not {table.shape}"
        )
    columns = np.broadcast_to(table, cells.shape).T
    leaf_origins = [_starts_of(n, o, mode + k) for k, (n, o) in enumerate(zip(cells.T, columns, strict=True))]
    return Columns(tuple(splits), frozen_array(cells.copy()), tuple(starts), tuple(leaf_origins))


def _int64(values: npt.ArrayLike, what: str) -> IntArray:
    array = integer_array(values, what)
    if array.size and int(array.max()) > MAX_INT64:
        raise SizeOverflowError(f"{what} must fit into 64 bits, but one is {array.max()}")
    return array.astype(np.int64, copy=False)


def _check_level(level: IntArray, nodes: int, mode: int) -> None:
    if level.shape != (nodes,):
        raise ExtentError(
            f"mode {mode} needs one length for each of {nodes} prefixes, not an array of shape {level.shape}"
        )
    if nodes and int(level.min()) < 0:
        row = int(np.argmin(level))
        raise ExtentError(f"an extent must not be negative, but row {row} of mode {mode} has {level[row]}")


def _check_cells(cells: IntArray, nodes: int, mode: int) -> IntArray:
    if cells.ndim != 2 or len(cells) != nodes or not cells.shape[1]:
        raise ExtentError(
            f"the extents of {nodes} cells form a table of shape ({nodes}, rank of a cell), not {cells.shape}"
        )
    for k, column in enumerate(cells.T):
        _check_level(column, nodes, mode + k)
    return cells


def _starts_of(level: IntArray, origins: npt.ArrayLike | None, mode: int) -> Origins:
    """Return where the rows of one mode start: one number, or one for each."""
    if origins is None:
        return 0
    starts = _int64(origins, f"the origins of mode {mode}")
    if starts.shape not in {(), level.shape}:
        raise ExtentError(
            f"the origins of mode {mode} are one number or {len(level)}, not an array of shape {starts.shape}"
        )
    ends = np.broadcast_to(starts, level.shape)
    beyond = (ends > MAX_INT64 - level) | (ends < -MAX_INT64)
    if beyond.any():
        row = int(np.argmax(beyond))
        check_int64(mode, ends.item(row), level.item(row))
    # A copy, since the caller may change the array.
    return tidy_origins(ends.copy()) if starts.ndim else starts.item()
