"""Positions and masks that are jagged themselves: what they choose under every prefix, as a layout."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import (
    concatenated_ranges,
    frozen_array,
    last_run,
    shared_table,
    splits_of,
    tidy_table,
)
from tensorwrapper._compiled import nonzero, reduced
from tensorwrapper.errors import (
    ConversionError,
    ExtentMismatchError,
    LayerError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked
from tensorwrapper.layout.cells._parts import PlacedRows
from tensorwrapper.layout.operations._nested import NestedLayout
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import Columns, mode_text, rows_under, unroll, wrap
from tensorwrapper.typing import Array, IntArray

_ROWS = 1 << 14  # rows at a time
_NARROW = (1 << 31) - 1  # bools of which half as many bytes say how many are true


def choose(layout: LayoutCommon, shape: Shape[Any], key: Array) -> LayoutCommon:
    """Return the layout of a selection by a jagged mask or by jagged positions, without a copy.

    The key has rank d, at most that of the layout: under every prefix of d - 1 indices it selects from mode d
    - 1. O(key), plus the size of the selection. Layers are kept: a selected mode stays in its layer.

    Parameters
    ----------
    layout
        The layout, over a shape of any kind.
    shape
        The shape of the key, without layers or with the same.
    key
        Its elements in row-major order: bools, or positions, with negative ones counted from the end.

    Raises
    ------
    ExtentMismatchError
        If the rows of the key and of the layout differ.
    LayerError
        If the key has layers that differ from those of the layout.
    OutOfBoundsError
        If a position does not exist; the text names the row.
    """
    layers = layout.layers
    if shape.has_layers and shape.layers != layers:
        raise LayerError(
            f"a key with the layers {shape.layers} chooses from what has {layers or 'none'}: it has the "
            "same, or flatten() drops them"
        )
    chosen = _chosen(layout.without_layers(), shape.flatten().as_jagged(), key)
    return NestedLayout(chosen, layers) if layers else chosen


def _chosen(layout: LayoutCommon, shape: Shape[Any], key: Array) -> Packed | Blocked:
    """Return what `choose` does, where neither has layers."""
    mode = shape.rank - 1
    if layout.shape.rank < shape.rank:
        raise RankError(
            f"a key of rank {shape.rank} does not choose from a tensor of rank {layout.shape.rank}"
        )
    if key.dtype.kind not in "biu":
        raise ConversionError(f"a key holds positions or a mask, not {key.dtype}")
    chosen: Shape[Any] = layout.shape.as_jagged()
    prefixes: Shape[Any] = chosen.leading(mode)
    _check_rows(prefixes, shape, mode)
    splits = chosen.splits(mode)
    if key.dtype.kind == "b":
        theirs = shape.splits(mode)
        if not _are_one(theirs, splits) and not np.array_equal(theirs, splits):
            lengths, mine = np.diff(theirs), np.diff(splits)
            place = int(np.argmax(lengths != mine))
            raise ExtentMismatchError(
                f"the mask has other rows: {lengths[place]} bools for {_where(prefixes, place, mode)}, "
                f"of extent {mine[place]}"
            )
        return _part(layout, mode, _counts(key, splits), nonzero(cast("npt.NDArray[np.bool_]", key)))
    nodes = _nodes(cast("IntArray", key), shape.splits(mode), splits, (prefixes, mode))
    return _part(layout, mode, shape.lengths(mode), nodes)


def _are_one(left: IntArray, right: IntArray) -> bool:
    """Return True if two arrays are the same memory: a mask mostly shares the splits of its operand."""
    return left is right or (
        left.shape == right.shape and left.strides == right.strides and left.ctypes.data == right.ctypes.data
    )


def _counts(mask: Array, splits: IntArray) -> IntArray:
    """Return how many bools of each row are true; some rows at a time, so that sums stay in a cache."""
    sums = reduced(np.add, mask, splits, np.dtype(np.int64))
    if sums is not None:
        return cast("IntArray", sums)
    counts = np.empty(len(splits) - 1, dtype=np.int64)
    for first in range(0, len(counts), _ROWS):
        part = splits[first : first + _ROWS + 1]
        own = mask[part.item(0) : part.item(-1)]
        before = np.empty(len(own) + 1, dtype=np.int32 if len(own) <= _NARROW else np.int64)
        before[0] = 0
        np.cumsum(own, dtype=before.dtype, out=before[1:])
        ends = cast("IntArray", before.take(part - part[0]))
        np.subtract(ends[1:], ends[:-1], out=counts[first : first + _ROWS])
    return counts


def _check_rows(prefixes: Shape[Any], shape: Shape[Any], mode: int) -> None:
    """Raise unless the key has one row for each prefix."""
    theirs: Shape[Any] = shape.leading(mode)
    if theirs.is_congruent(prefixes):
        return
    if theirs.extent(0) != prefixes.extent(0):
        raise ExtentMismatchError(
            f"the key has {theirs.extent(0)} rows, but the tensor has {prefixes.extent(0)}"
        )
    for inner in range(1, mode):
        lengths, mine = theirs.lengths(inner), prefixes.lengths(inner)
        if len(lengths) == len(mine) and (lengths != mine).any():
            place = int(np.argmax(lengths != mine))
            where = _where(prefixes.leading(inner), place, inner)
            raise ExtentMismatchError(
                f"the key has {lengths[place]} rows for {where}, which has extent {mine[place]}"
            )


def _where(prefixes: Shape[Any], place: int, mode: int) -> str:
    return mode_text(mode, tuple(prefixes.indices_at(np.array([place]))[0].tolist()))


def _nodes(key: IntArray, rows: IntArray, splits: IntArray, place: tuple[Shape[Any], int]) -> IntArray:
    """Return the numbers of the chosen indices among all of their mode.

    Some rows at a time, so that what is made on the way stays in a cache. A key is of any integer type: NumPy
    compares them exactly.
    """
    nodes = np.empty(len(key), dtype=np.int64)
    for first in range(0, len(rows) - 1, _ROWS):
        part, own = rows[first : first + _ROWS + 1], splits[first : first + _ROWS + 1]
        low, high = part.item(0), part.item(-1)
        counts, given = part[1:] - part[:-1], key[low:high]
        # Both numbers of a row as one element of 16 bytes, in half the time of two repetitions.
        pairs = np.empty((len(counts), 2), dtype=np.int64)
        pairs[:, 0] = own[:-1]
        np.subtract(own[1:], own[:-1], out=pairs[:, 1])
        pairs = np.repeat(pairs.view(np.complex128)[:, 0], counts).view(np.int64).reshape(-1, 2)
        begins, extents = nodes[low:high], pairs[:, 1]
        begins[...] = pairs[:, 0]
        if given.dtype == np.int64 and (given.view(np.uint64) < extents.view(np.uint64)).all():
            # Seen as unsigned, those below zero are beyond every extent.
            begins += given
            continue
        wrong = (given >= extents) | (given < -extents)
        if wrong.any():
            number = int(np.argmax(wrong))
            row = first + last_run(part, low + number)
            raise OutOfBoundsError(
                f"position {given[number]} is outside {_where(place[0], row, place[1])}, which has extent "
                f"{extents[number]}"
            )
        wide = given.astype(np.int64, copy=False)
        begins += np.where(wide < 0, wide + extents, wide)
    return nodes


def _part(layout: LayoutCommon, mode: int, counts: IntArray, nodes: IntArray) -> Packed | Blocked:
    """Return the layout with these nodes of depth ``mode + 1``, so many under each of depth `mode`."""
    if layout.is_packed and mode == layout.shape.rank - 1:
        # The number of an element is its place, so that no table of places is needed.
        columns = unroll(rows_under(layout.shape), mode).packed().columns
        shape = _shape_of([*columns.splits, splits_of(counts)])
        return make_blocked(
            shape,
            nodes + layout.offset if layout.offset else nodes,
            shared_table((), len(nodes)),
            layout.offset,
        )
    table = PlacedRows.of(layout).unrolled(mode + 1)
    columns = table.rows.packed().columns
    levels = [*columns.splits[: mode - 1], splits_of(counts)]
    below = [*columns.splits[mode:]]
    if not table.width and mode < layout.shape.rank - 1:
        below.append(cast("IntArray", columns.offsets))
    for splits in below:
        begins = splits[nodes]
        kept = splits[nodes + 1] - begins
        levels.append(splits_of(kept))
        nodes = concatenated_ranges(begins, kept)
    cells = [np.broadcast_to(columns.leaf_extents_at(nodes, k), nodes.shape) for k in range(table.width)]
    shape = _shape_of(levels, np.stack(cells, axis=1) if cells else None)
    return make_blocked(shape, table.starts[nodes], table.strides[nodes], layout.offset)


def _shape_of(levels: list[IntArray], cells: IntArray | None = None) -> Shape[Any]:
    """Return the shape with these splits and extents of cells; by default the last splits are for cells."""
    if cells is None:
        *levels, leaf = levels
    else:
        leaf = splits_of(cells[:, 0]) if cells.shape[1] == 1 else tidy_table(cells)
    width = 1 if cells is None else cells.shape[1]
    columns = Columns(
        tuple(map(frozen_array, levels)), frozen_array(leaf), (0,) * (len(levels) + 1), (0,) * width
    )
    return wrap(Jagged(Rows.whole(columns)))
