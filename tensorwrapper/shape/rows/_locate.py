"""Arrays of indices of a jagged shape: membership and ordinals.

Each mode is one pass over whole arrays; the arrays of the shape are read in place.
"""

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.shape.boxes._common import walk_batches
from tensorwrapper.shape.boxes._smooth import make_smooth
from tensorwrapper.shape.rows._columns import Origins
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import Index, IntArray

_Mask = npt.NDArray[np.bool_]
_RUN = 64  # consecutive ordinals from which on a search costs more than finding out that they are


def contains(rows: Rows, indices: IntArray) -> _Mask:
    """Return which of the (n, rank) `indices` are inside, however many elements there are."""
    inside, nodes = _locate(rows, indices)
    for mode in range(rows.columns.leaf_rank if rows.size else 0):
        place, counts = _place_in_leaf(rows, indices, nodes, mode)
        inside &= _is_below(place, counts)
    return inside


def find(rows: Rows, indices: IntArray) -> tuple[_Mask, IntArray]:
    """Return which of the (n, rank) `indices` are inside, and their ordinals (0 where not)."""
    inside, nodes = _locate(rows, indices)
    if not rows.size:
        return inside, nodes
    ordinals, counts = _place_in_leaf(rows, indices, nodes, 0)
    inside &= _is_below(ordinals, counts)
    for mode in range(1, rows.columns.leaf_rank):
        place, counts = _place_in_leaf(rows, indices, nodes, mode)
        inside &= _is_below(place, counts)
        ordinals = ordinals * counts + place
    ordinals += rows.elements_before(nodes)
    ordinals *= inside
    return inside, ordinals


def find_cells(rows: Rows, indices: IntArray) -> tuple[_Mask, IntArray, list[IntArray]]:
    """Return which of the (n, rank) `indices` are inside, their leaves, and their places in each leaf mode.

    Indices outside have an arbitrary leaf and place.
    """
    inside, leaves = _locate(rows, indices)
    places: list[IntArray] = []
    for mode in range(rows.columns.leaf_rank if rows.size else 0):
        place, counts = _place_in_leaf(rows, indices, leaves, mode)
        inside &= _is_below(place, counts)
        places.append(place)
    return inside, leaves, places


def _locate(rows: Rows, indices: IntArray) -> tuple[_Mask, IntArray]:
    """Return which indices lead to a leaf, and to which; those that lead nowhere get some leaf."""
    if not rows.size:
        return np.zeros(len(indices), dtype=np.bool_), np.zeros(len(indices), dtype=np.int64)
    columns = rows.columns
    nodes = indices[:, 0] - rows.first
    inside = _is_below(nodes, rows.count)
    nodes += rows.start
    # Indices that are outside go on as node 0, which exists.
    nodes *= inside
    for depth in range(rows.depth + 1, columns.depth):
        splits = columns.splits[depth - 1]
        begins = splits[nodes]
        place = indices[:, depth - rows.depth] - _origins_at(columns.origins[depth], nodes)
        inside &= _is_below(place, splits[nodes + 1] - begins)
        place += begins
        place *= inside
        nodes = place
    return inside, nodes


def _place_in_leaf(
    rows: Rows, indices: IntArray, leaves: IntArray, mode: int
) -> tuple[IntArray, IntArray | int]:
    columns = rows.columns
    place = indices[:, rows.outer_rank + mode] - _origins_at(columns.leaf_origins[mode], leaves)
    return place, columns.leaf_extents_at(leaves, mode)


def _origins_at(origins: Origins, nodes: IntArray) -> Origins:
    return origins if isinstance(origins, int) else origins[nodes]


def _is_below(place: IntArray, counts: IntArray | int) -> _Mask:
    """Return a mask of ``0 <= place < counts``; one comparison, as negative numbers are huge if unsigned.

    This holds for a place that wrapped, too: it is above every extent that ends within 64 bits.
    """
    bound: Any = np.uint64(counts) if isinstance(counts, int) else counts.view(np.uint64)
    return np.asarray(place.view(np.uint64) < bound)


def indices_at(rows: Rows, ordinals: IntArray) -> IntArray:
    """Return the (n, rank) indices with these ordinals."""
    size = rows.size
    if ordinals.size and not (int(ordinals.min()) >= 0 and int(ordinals.max()) < size):
        raise OutOfBoundsError(f"ordinals from {ordinals.min()} to {ordinals.max()} leave [0, {size})")
    leaves, rest = _leaves_of(rows, ordinals)
    outer = rows.outer_rank
    indices = np.empty((len(ordinals), rows.rank), dtype=np.int64)
    indices[:, :outer] = rows.prefixes_of(outer, leaves)
    for mode in range(rows.rank - 1, outer - 1, -1):
        if mode > outer:
            extents = rows.columns.leaf_extents_at(leaves, mode - outer)
            # An ordinal is never in an empty leaf, so the division by an extent of 0 does not occur.
            rest, indices[:, mode] = np.divmod(rest, extents or 1 if isinstance(extents, int) else extents)
        else:
            indices[:, mode] = rest
        indices[:, mode] += _origins_at(rows.columns.leaf_origins[mode - outer], leaves)
    return indices


def _leaves_of(rows: Rows, ordinals: IntArray) -> tuple[IntArray, IntArray]:
    """Return the leaf that holds each ordinal, and the ordinal within it; a run of them without a search."""
    count = len(ordinals)
    if count < _RUN or rows.columns.even is not None or (np.diff(ordinals) != 1).any():
        return rows.leaves_of(ordinals)
    first, last = (int(leaf) for leaf in rows.leaves_of(ordinals[[0, -1]])[0])
    if last - first > count:
        # Mostly empty leaves: they would cost more than the search.
        return rows.leaves_of(ordinals)
    leaves = np.arange(first, last + 1, dtype=np.int64)
    befores = rows.elements_before(leaves)
    counts = np.diff(befores, append=ordinals[-1] + 1)
    counts[0] -= ordinals[0] - befores[0]
    return np.repeat(leaves, counts), ordinals - np.repeat(befores, counts)


_LONG = 16  # the mean extent of the last mode from which on lines are faster than batches
_LINES = 1024  # lines made at a time


def walk(rows: Rows) -> Iterator[Index]:
    """Return an iterator over the indices."""
    inner = rows.columns.leaf_rank > 1
    heads = rows.leading(rows.rank - 1) if inner else rows
    lines = heads.size if inner else heads.leaves[1] - heads.leaves[0]
    if lines <= MAX_INT64 and rows.size >= _LONG * lines:
        starts = range(0, lines, _LINES)
        return itertools.chain.from_iterable(
            _walk_lines(rows, heads, np.arange(start, min(start + _LINES, lines))) for start in starts
        )
    if rows.size > MAX_INT64:
        return _walk_leaves(rows)
    return walk_batches(rows.size, lambda ordinals: indices_at(rows, ordinals))


def _walk_lines(rows: Rows, heads: Rows, lines: IntArray) -> Iterator[Index]:
    """Walk the lines with these numbers; `heads` are the rows themselves if each leaf is one line."""
    columns, mode = rows.columns, rows.columns.leaf_rank - 1
    if mode:
        leaves, prefixes = heads.leaves_of(lines)[0], indices_at(heads, lines)
    else:
        leaves = lines + rows.leaves[0]
        prefixes = rows.prefixes_of(rows.outer_rank, leaves)
    starts, extents = columns.leaf_origins[mode], columns.leaf_extents_at(leaves, mode)
    first = np.full(len(lines), starts) if isinstance(starts, int) else starts[leaves]
    ranges = map(range, first.tolist(), (first + extents).tolist())
    repeated = [map(itertools.repeat, column) for column in prefixes.T.tolist()]
    return itertools.chain.from_iterable(map(zip, *repeated, ranges))


def _walk_leaves(rows: Rows) -> Iterator[Index]:
    """Walk leaf by leaf, for more lines than arrays can number."""
    for leaf in range(*rows.leaves):
        prefix = rows.prefix_of(leaf)
        for rest in make_smooth(*rows.columns.leaf_box(leaf)).walk("C"):
            yield prefix + rest
