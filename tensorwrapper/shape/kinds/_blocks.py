"""Parts of a shape: its blocks (boxes), and runs of its cells with limited volume.

A block is a box of full rank. Equal neighbouring cells of a jagged shape form one block, if only the last
unrolled index differs. The cells are then consecutive in the box as in row-major order, so the blocks in turn
have the indices of the shape in order. Array operations find the boundaries of blocks; for equal cells that
are stored once, and for tilings, they follow without the cells.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from typing import SupportsIndex, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import Sizes, frozen_array, splits_of, tuples_of
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.shape.boxes._smooth import SmoothCommon, make_smooth
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.kinds._nested import Flat
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.rows._compare import unroll
from tensorwrapper.shape.rows._partition import Partition, runs_by_volume, to_volume
from tensorwrapper.shape.rows._rows import Rows
from tensorwrapper.typing import IntArray

_BATCH = 2**13  # blocks, or cells looked at, at a time: the first block does not wait for the last

_Boxes: TypeAlias = tuple[IntArray, IntArray]
"""Extents and origins of boxes, (n, rank) each."""


@final
@frozen(eq=False, getstate_setstate=False)
class BlockTable:
    """The smooth blocks of a shape, in row-major order; none is empty.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> table = Shape.jagged([4, 4, 4, 0, 2]).block_table()
    >>> table.extents.tolist(), table.origins.tolist(), table.offsets.tolist()
    ([[3, 4], [1, 2]], [[0, 0], [4, 0]], [0, 12, 14])
    """

    extents: IntArray = attrs.field(converter=frozen_array)
    """The (n, rank) extents."""
    origins: IntArray = attrs.field(converter=frozen_array)
    """The (n, rank) first indices."""
    offsets: IntArray = attrs.field(converter=frozen_array)
    """Number of elements before each block, and (last) in all: n + 1 numbers."""

    def __reduce__(self) -> tuple[Callable[..., "BlockTable"], tuple[IntArray, IntArray, IntArray]]:
        return BlockTable, (self.extents, self.origins, self.offsets)


def blocks_of(shape: Flat) -> Iterator[SmoothCommon]:
    """Return an iterator over the blocks of a shape without layers; a box is its own, unless empty."""
    if isinstance(shape, SmoothCommon):
        return iter((shape,) if shape.size else ())
    return itertools.chain.from_iterable(map(_boxes_of, _tables(shape, _BATCH)))


def _boxes_of(table: _Boxes) -> Iterator[SmoothCommon]:
    extents, origins = table
    return map(make_smooth, tuples_of([extents]), tuples_of([origins]))


def block_table_of(shape: Flat) -> BlockTable:
    """Return the blocks of a shape without layers as arrays."""
    size, rank = shape.size, shape.rank
    if size > MAX_INT64:
        raise SizeOverflowError(
            f"offsets of blocks up to {size} do not fit into 64 bits; blocks() yields them"
        )
    if isinstance(shape, SmoothCommon):
        shape.indices_at(np.zeros(0, dtype=np.int64))  # raises if the box leaves 64 bits
        count = min(size, 1)
        extents = np.array([shape.extents] * count, dtype=np.int64).reshape(count, rank)
        origins = np.array([shape.origin] * count, dtype=np.int64).reshape(count, rank)
    else:
        tables = list(_tables(shape, MAX_INT64))
        nothing = np.empty((0, rank), dtype=np.int64)
        extents = np.concatenate([nothing, *[extents for extents, _ in tables]])
        origins = np.concatenate([nothing, *[origins for _, origins in tables]])
    return BlockTable(extents, origins, splits_of(np.multiply.reduce(extents, axis=1, dtype=np.int64)))


def _tables(shape: JaggedCommon, length: int) -> Iterator[_Boxes]:
    """Return an iterator over the blocks, those that are found among `length` cells at a time."""
    if isinstance(shape, Tiled):
        return _blocks_of_tiles(shape, length)
    rows = shape.rows
    return (_boxes_at(rows, *runs) for runs in _runs_of_leaves(rows, length))


def _boxes_at(rows: Rows, leaves: IntArray, counts: IntArray) -> _Boxes:
    """Return the boxes of runs of equal leaves: the first of each run, and how many there are."""
    outer, columns = rows.outer_rank, rows.columns
    extents = np.ones((len(leaves), rows.rank), dtype=np.int64)
    extents[:, outer - 1] = counts
    for mode in range(columns.leaf_rank):
        extents[:, outer + mode] = columns.leaf_extents_at(leaves, mode)
    filled = (extents > 0).all(axis=1)
    if not filled.all():
        extents, leaves = extents[filled], leaves[filled]
    origins = np.empty_like(extents)
    origins[:, :outer] = rows.prefixes_of(outer, leaves)
    for mode, stored in enumerate(columns.leaf_origins):
        origins[:, outer + mode] = stored if isinstance(stored, int) else stored[leaves]
    return extents, origins


def _runs_of_leaves(rows: Rows, length: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Return an iterator over the runs of equal leaves under one parent: first leaves and counts."""
    columns = rows.columns
    a, b = rows.leaves
    if columns.even is not None and all(isinstance(o, int) for o in columns.leaf_origins):
        # All leaves are equal, so a run is all cells under a parent.
        return _runs_of_parents(rows, length)
    return _runs_found(rows, a, b, length)


def _runs_of_parents(rows: Rows, length: int) -> Iterator[tuple[IntArray, IntArray]]:
    outer = rows.outer_rank
    if outer == 1:
        yield np.array([rows.start]), np.array([rows.count])
        return
    splits = rows.columns.splits[-1]
    a, b = rows.run(outer - 1)
    for start in range(a, b, length):
        part = splits[start : min(start + length, b) + 1]
        yield part[:-1], np.diff(part)


def _runs_found(rows: Rows, a: int, b: int, length: int) -> Iterator[tuple[IntArray, IntArray]]:
    """Return an iterator over the runs among the leaves `a` to `b`, each compared with the one before."""
    if a == b:
        return
    pending = a
    for start in range(a + 1, b, length):
        stop = min(start + length, b)
        ends = np.flatnonzero(_differs(rows, start, stop)) + start
        if len(ends):
            firsts = np.concatenate(([pending], ends[:-1]))
            yield firsts, ends - firsts
            pending = int(ends[-1])
    yield np.array([pending]), np.array([b - pending])


def _differs(rows: Rows, start: int, stop: int) -> npt.NDArray[np.bool_]:
    """Tell for each of a run of leaves whether it is unlike the one before, or has another parent."""
    columns = rows.columns
    extents = columns.leaf_extents(start - 1, stop)
    differs: npt.NDArray[np.bool_] = (extents[1:] != extents[:-1]).any(axis=1)
    for stored in columns.leaf_origins:
        if not isinstance(stored, int):
            differs |= stored[start:stop] != stored[start - 1 : stop - 1]
    if rows.outer_rank > 1:
        a, b = rows.run(rows.outer_rank - 1)
        firsts = columns.splits[-1][a:b]
        low, high = np.searchsorted(firsts, (start, stop))
        differs[firsts[low:high] - start] = True
    return differs


def _blocks_of_tiles(shape: Tiled, length: int) -> Iterator[_Boxes]:
    """Return an iterator over the blocks of a tiled shape: a product of runs of tiles per mode."""
    outer, columns = shape.outer_rank, [_runs_of_tiles(p) for p in shape.partitions[:-1]]
    columns.append(_runs_of_tiles(shape.partitions[-1], merged=True))
    grid = make_smooth(tuple([len(firsts) for firsts, _, _ in columns]), (0,) * outer)
    for start in range(0, grid.size, length):
        numbers = grid.indices_at(np.arange(start, min(start + length, grid.size), dtype=np.int64))
        extents = np.empty((len(numbers), 2 * outer), dtype=np.int64)
        origins = np.zeros_like(extents)
        for mode, (firsts, counts, sizes) in enumerate(columns):
            place = numbers[:, mode]
            extents[:, mode], extents[:, outer + mode] = counts[place], sizes[place]
            origins[:, mode] = firsts[place] + shape.grid.origin[mode]
        yield extents, origins


def _runs_of_tiles(partition: Partition, *, merged: bool = False) -> tuple[IntArray, IntArray, IntArray]:
    """Return the first tile, the number of tiles and their size for each run of equal tiles, none empty.

    Only the last mode's are `merged`: the tiles of another are not neighbours in row-major order.
    """
    sizes = partition.sizes
    if merged:
        firsts = np.flatnonzero(np.diff(sizes, prepend=sizes[:1] - 1))
    else:
        firsts = np.arange(len(sizes), dtype=np.int64)
    counts = np.diff(firsts, append=len(sizes))
    filled = sizes[firsts] > 0
    return firsts[filled], counts[filled], sizes[firsts][filled]


# Runs of cells.


def runs_of_cells(shape: Flat, modes: int, max_elements: SupportsIndex) -> Partition:
    """Return runs of the cells under the prefixes of `modes` indices, of at most so many elements each."""
    most = to_volume(max_elements)
    if isinstance(shape, SmoothCommon):
        return _equal_runs(math.prod(shape.extents[:modes]), math.prod(shape.extents[modes:]), most)
    if shape.size <= most:
        return _equal_runs(shape.leading(modes).size, 0, most)
    if modes == shape.rank:
        return _equal_runs(shape.size, 1, most)
    if isinstance(shape, Tiled) and modes == shape.outer_rank:
        return runs_by_volume(shape.partitions, most)
    rows = shape.rows
    if modes > rows.outer_rank:
        rows = unroll(rows, modes)
    even = rows.columns.even
    if even is not None and modes == rows.outer_rank:
        a, b = rows.leaves
        return _equal_runs(b - a, math.prod(even), most)
    return Partition.by_volume(_offsets_under(rows, modes), most)


def _equal_runs(count: int, volume: int, most: int) -> Partition:
    """Return the runs of `count` cells that have one volume; O(runs)."""
    if count > MAX_INT64:
        raise SizeOverflowError(f"{count} cells cannot be numbered with 64 bits")
    length = max(min(most // volume, count), 1) if volume else max(count, 1)
    runs = -(-count // length)
    marks = np.empty(runs + 1, dtype=np.int64)
    marks[:-1] = np.arange(runs, dtype=np.int64) * length
    marks[-1] = count
    return Partition(frozen_array(marks))


def _offsets_under(rows: Rows, modes: int) -> Sizes:
    """Return how many elements come before each prefix of `modes` unrolled modes, and the end."""
    if not modes:
        return np.array([0, rows.size], dtype=np.object_)
    a, b = rows.run(modes)
    if modes == rows.outer_rank:
        return rows.columns.offsets[a : b + 1]
    ends = rows.columns.splits[rows.depth + modes - 1][a : b + 1]
    for splits in rows.columns.splits[rows.depth + modes :]:
        ends = splits[ends]
    return rows.elements_before(ends) if rows.columns.even is not None else rows.columns.offsets[ends]
