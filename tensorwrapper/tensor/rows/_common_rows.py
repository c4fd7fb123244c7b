"""The rows of all indices that two jagged shapes share: intervals are intersected, a level at a time."""

import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper.shape import Jagged, Rows
from tensorwrapper.shape.lowlevel import Origins, build_rows, tidy_origins, unroll
from tensorwrapper.typing import IntArray


def intersect_rows(left: Rows, right: Rows) -> tuple[Rows, IntArray, IntArray]:
    """Return the rows of all common indices, and the leaves of each shape that have the common leaves.

    Leaves are counted from 0 in either, with as many modes unrolled as in the result: the more of the two.
    Indices are compared as they are, with their origins. O(nodes), a level at a time.
    """
    outer = max(left.outer_rank, right.outer_rank)
    left, right = unroll(left, outer), unroll(right, outer)
    if Jagged(left) == Jagged(right):
        leaves = np.arange(left.leaves[1] - left.leaves[0])
        return left, leaves, leaves
    start, count = _common(left.first, left.count, right.first, right.count)
    levels: list[tuple[IntArray, Origins]] = [(np.array([count]), start)]
    steps = np.arange(count, dtype=np.int64)
    pair = [rows.start + (start - rows.first) + steps for rows in (left, right)]
    for mode in range(1, outer):
        begins, counts, starts = zip(*map(_children, (left, right), (mode, mode), pair), strict=True)
        lows, kept = _overlap(*starts, *counts)
        pair = [concatenated_ranges(b + lows - o, kept) for b, o in zip(begins, starts, strict=True)]
        levels.append((kept, tidy_origins(lows)))
    extents: list[IntArray] = []
    origins: list[Origins] = []
    for mode in range(left.columns.leaf_rank):
        counts, starts = zip(*map(_inside, (left, right), (mode, mode), pair), strict=True)
        lows, kept = _overlap(*starts, *counts)
        extents.append(kept)
        origins.append(tidy_origins(lows))
    common = build_rows(levels, np.stack(extents, axis=1), origins)
    mine, theirs = [nodes - rows.leaves[0] for nodes, rows in zip(pair, (left, right), strict=True)]
    return common, mine, theirs


def _common(a: int, n: int, b: int, m: int) -> tuple[int, int]:
    start = max(a, b)
    return start, max(min(a + n, b + m) - start, 0)


def _overlap(a: IntArray, b: IntArray, n: IntArray, m: IntArray) -> tuple[IntArray, IntArray]:
    """Return where the intervals ``[a, a + n)`` and ``[b, b + m)`` meet, and how long the common part is."""
    low: IntArray = np.maximum(a, b)
    high: IntArray = np.minimum(a + n, b + m)
    return low, np.maximum(high - low, 0)


def _children(rows: Rows, mode: int, nodes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first child of each node, how many it has, and where they start."""
    depth = rows.depth + mode
    splits = rows.columns.splits[depth - 1]
    begins = splits[nodes]
    return begins, splits[nodes + 1] - begins, _starts(rows.columns.origins[depth], nodes)


def _inside(rows: Rows, mode: int, leaves: IntArray) -> tuple[IntArray, IntArray]:
    """Return extent and origin of a mode of these leaves."""
    extents = np.broadcast_to(rows.columns.leaf_extents_at(leaves, mode), leaves.shape)
    return extents, _starts(rows.columns.leaf_origins[mode], leaves)


def _starts(origins: Origins, nodes: IntArray) -> IntArray:
    return np.full(len(nodes), origins) if isinstance(origins, int) else origins[nodes]
