"""The offsets of all elements of a box, as an array."""

from collections.abc import Sequence

import numpy as np

from tensorwrapper.typing import Extents, Index, IntArray

_PLANE = 1 << 14  # offsets of the part that is added again and again: it stays in the cache
_LINE = 1 << 9  # offsets from which on a part is long enough for what one addition costs to begin


def sum_table(base: int, vectors: Sequence[IntArray], out: IntArray | None = None) -> IntArray:
    """Return the array of all sums of one entry per vector, and `base`.

    The innermost plane is made once and added to each outer entry, which costs about one pass over the
    result, in row-major order.

    Parameters
    ----------
    base
        The start of every sum.
    vectors
        One vector per mode.
    out
        The array for the sums; a new one by default.
    """
    table: IntArray = np.full((), base, dtype=np.int64)
    for vector in reversed(vectors[1:]):
        table = np.add.outer(vector, table)
    if not vectors:
        return table if out is None else np.positive(table, out=out)
    return np.add.outer(vectors[0], table) if out is None else np.add.outer(vectors[0], table, out=out)


def fill_box(out: IntArray, base: int, strides: Index) -> None:
    """Write the offsets of the elements of a box, which fit into 64 bits, over the array `out`.

    About one pass over `out`, whatever the extents, if it is contiguous in row-major order.
    """
    extents = out.shape
    if not out.flags.c_contiguous:
        sum_table(base, [_steps(*mode) for mode in zip(extents, strides, strict=True)], out)
        return
    modes = _joined(extents, strides)
    # The repeated part: the last modes, as many as stay in the cache.
    plane = np.full(1, base, dtype=np.int64)
    while modes and plane.size * modes[-1][0] <= _PLANE:
        plane = np.add.outer(_steps(*modes.pop()), plane).reshape(-1)
    if modes and plane.size < _LINE:
        _fill_lines(out, modes, plane)
        return
    rows = sum_table(0, [_steps(*mode) for mode in modes])
    np.add(rows.reshape(-1, 1), plane, out=out.reshape(-1, plane.size))


def _fill_lines(out: IntArray, modes: list[tuple[int, int]], plane: IntArray) -> None:
    """Write sums of many entries and a short plane: some entries of the last mode become part of it."""
    extent, stride = modes.pop()
    rows = sum_table(0, [_steps(*mode) for mode in modes]).reshape(-1, 1)
    run = _PLANE // plane.size
    whole = extent // run * run
    lines = out.reshape(len(rows), extent * plane.size)
    wide = np.add.outer(_steps(run, stride), plane).reshape(-1)
    starts = np.add(rows, _steps(whole // run, run * stride))
    body, rest = lines[:, : whole * plane.size], lines[:, whole * plane.size :]
    np.add(starts[..., np.newaxis], wide, out=body.reshape(*starts.shape, wide.size))
    np.add(rows + whole * stride, wide[: rest.shape[1]], out=rest)


def _steps(extent: int, stride: int) -> IntArray:
    # A stride that is never taken may be of any size.
    return np.arange(extent, dtype=np.int64) * (stride if extent > 1 else 0)


def _joined(extents: Extents, strides: Index) -> list[tuple[int, int]]:
    """Return the fewest modes with the same offsets in row-major order, the slowest first."""
    modes: list[tuple[int, int]] = []
    for extent, stride in zip(extents, strides, strict=True):
        if extent == 1:
            continue
        if modes and modes[-1][1] == extent * stride:
            modes[-1] = modes[-1][0] * extent, stride
        else:
            modes.append((extent, stride))
    return modes
