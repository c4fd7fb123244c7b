"""Parts of cells that lie anywhere: runs of rows, what a key selects, windows.

Each is a table of cells again.
"""

from collections.abc import Sequence
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges, shared_row, shared_table
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout.axes._axis import Stride, Table
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64, check_region
from tensorwrapper.layout.boxes._keys import expand_positional, is_whole, parse_positional
from tensorwrapper.layout.boxes._separable import Separable, from_axes
from tensorwrapper.layout.boxes._strided import Strided, new_strided, packed_strides
from tensorwrapper.layout.cells._keys import Level, Nodes, choose_nodes, resolve_position, resolve_slice
from tensorwrapper.shape import Jagged, JaggedCommon, JaggedView, Rows, Shape, Tiled
from tensorwrapper.shape.lowlevel import Origins, build_rows, make_smooth, rows_under, unroll, wrap
from tensorwrapper.typing import Extents, Index, IntArray, PositionalItem, PositionalKey

CellPart: TypeAlias = tuple[Shape[Any], IntArray, IntArray]
"""A jagged shape, the place of each of its cells, and their strides."""


def rows_of(shape: Shape[Any]) -> Rows:
    """Return the columns of a jagged shape."""
    return cast("JaggedCommon", shape.implementation).rows


def split_items(
    items: list[PositionalItem], n_modes: int
) -> tuple[list[PositionalItem], list[PositionalItem]]:
    """Return the items of the first `n_modes` modes, with new modes among them, and the rest."""
    seen = 0
    for place, item in enumerate(items):
        if seen == n_modes:
            return items[:place], items[place:]
        seen += item is not None
    return items, []


def tile_runs(shape: Shape[Any], key: PositionalKey) -> list[tuple[int, int]] | None:
    """Return what a key takes of each mode of a grid: the first tile, and how many; whole tiles, in order.

    None if the shape is not tiled, or the key does anything else.
    """
    if not isinstance(shape.implementation, Tiled):
        return None
    tiled = shape.implementation
    rank = len(tiled.partitions)
    heads, tails = split_items(expand_positional(key, 2 * rank), rank)
    if len(heads) != rank or not all(isinstance(item, slice) for item in heads):
        return None
    if not all(map(is_whole, tails)):
        return None
    found = parse_positional(tuple(heads), tiled.grid.extents)
    runs = [(entry[0], entry[2]) for entry in found if isinstance(entry, tuple) and entry[1] == 1]
    return runs if len(runs) == rank else None


def elements_before(shape: Shape[Any], first: int) -> int:
    """Return the number of elements in the rows before row `first`."""
    start: int = shape.origin_at(())
    return shape.slice_outer(start, first).size


def run_of_rows(shape: Shape[Any], region: Shape[Any]) -> tuple[int, int] | None:
    """Return the first and the last row of a region, None if its rows are not whole ones of `shape`."""
    check_region(region, shape, "a part of it (slice its shape for the region)")
    first: int = region.origin_at(())
    last = first + region.extent(0)
    return (first, last) if shape.slice_outer(first, last) == region else None


def starts_at_zero(rows: Rows) -> bool:
    """Tell whether all modes of rows start at zero."""
    columns = rows.columns
    origins = (rows.first, *columns.origins[rows.depth + 1 :], *columns.leaf_origins)
    return all(isinstance(origin, int) and not origin for origin in origins)


def plain_run(heads: Sequence[PositionalItem], extent: int, lead: Index) -> tuple[int, int] | None:
    """Return the first and the last position of a slice with step 1; None for any other item."""
    if not isinstance(heads[0], slice):
        return None
    start, step, count = cast("tuple[int, int, int]", parse_positional((heads[0],), (extent,), lead)[0])
    return (start, start + count) if step == 1 else None


def packed_cell(shape: Shape[Any], offset: int, position: int, column: object = None) -> Strided | None:
    """Return row `position` of packed rows if it is a cell, as loops over rows ask for; else None.

    Of a row with one mode, and a column that is an integer, its element there.
    """
    implementation = shape.implementation
    if type(implementation) is not Jagged and type(implementation) is not JaggedView:
        # Tiles and triangles have no columns until they are accessed: there may be too many.
        return None
    rows = implementation.rows
    columns, count = rows.columns, rows.stop - rows.start
    if position < 0:
        position += count
    if rows.depth + 1 < len(columns.origins) or not 0 <= position < count:
        return None
    node, leaf = rows.start + position, columns.leaf
    if leaf.ndim == 1:
        start = leaf.item(node)
        place, extent = offset + start - leaf.item(rows.start), leaf.item(node + 1) - start
        if type(column) is int and -extent <= column < extent:
            return new_strided((), (), (), place + (column if column >= 0 else column + extent))
        return new_strided((extent,), (0,), (1,), place)
    extents: Extents = tuple(leaf[node].tolist())
    strides = packed_strides(extents, range(len(extents) - 1, -1, -1))
    place = offset + columns.elements(rows.start, node)
    return new_strided(extents, (0,) * len(extents), strides, place)


def _spread(starts: IntArray, counts: IntArray, steps: IntArray) -> IntArray:
    """Return ``starts[k] + j * steps[k]`` for j below ``counts[k]``, one k after the other."""
    places = concatenated_ranges(np.zeros_like(counts), counts)
    places *= np.repeat(steps, counts)
    places += np.repeat(starts, counts)
    return places


@final
@frozen(eq=False)
class PlacedRows:
    """Rows, and a place and strides for every cell; with strides of no mode every element is a cell."""

    rows: Rows
    starts: IntArray
    strides: IntArray

    @classmethod
    def of(cls, layout: LayoutCommon) -> "PlacedRows":
        """Return the place and strides of every cell of a layout of rank 2 or more; of a box cell k is row k.

        O(cells) where cells are strided; of any other layout every element becomes a cell.
        """
        rows = rows_under(layout.shape)
        check_int64(layout, layout.offset)
        table = layout.cell_table()
        if table is not None:
            return cls(rows, *table)
        places = np.asarray(layout.to_numpy()).reshape(-1)
        return cls(unroll(rows, rows.rank - 1), places, shared_table((), len(places)))

    @property
    def width(self) -> int:
        """The number of modes within a cell."""
        return int(self.strides.shape[1])

    def unrolled(self, outer_rank: int) -> "PlacedRows":
        """Return the same elements with `outer_rank` unrolled modes or more; O(cells of the result).

        With all modes but none left in the cells, every element is one: `outer_rank` is the rank.
        """
        table = self
        while table.rows.rank - table.width < outer_rank and table.width:
            rows = table.rows
            counts = rows.columns.leaf_extents(*rows.leaves)[:, 0]
            starts = _spread(table.starts, counts, table.strides[:, 0])
            row = shared_row(table.strides)
            if row is None:
                strides = np.repeat(table.strides[:, 1:], counts, axis=0)
            else:
                strides = shared_table(row[1:], len(starts))
            table = PlacedRows(unroll(rows, min(rows.outer_rank + 1, rows.rank - 1)), starts, strides)
        return table

    def number_of(self, leaf: int) -> int:
        """Return the number of the first cell in or after a leaf of the columns."""
        first = self.rows.leaves[0]
        return leaf - first if self.width else self.rows.columns.elements(first, leaf)

    def cells_of(self, nodes: IntArray) -> IntArray:
        """Return the numbers of the cells that `choose_nodes` left."""
        first = self.rows.leaves[0]
        return nodes - (first if self.width else self.rows.columns.offsets.item(first))

    def table_of(self, rows: Rows) -> tuple[IntArray, IntArray]:
        """Return the places and strides of a part of the rows."""
        start, stop = map(self.number_of, rows.leaves)
        return self.starts[start:stop], self.strides[start:stop]

    def steps(self, mode: int, cells: IntArray) -> IntArray | int:
        """Return the strides of a mode in these cells; one number if all are alike."""
        if self.strides.strides[0] or not len(self.strides):
            return np.asarray(self.strides[cells, mode])
        return int(self.strides[0, mode])

    def locate(self, indices: IntArray, shape: object) -> tuple[IntArray, IntArray]:
        """Return the offsets of (n, rank) indices, and their cells; an error names `shape`."""
        inside, leaves, places = Jagged(self.rows).find_cells(indices)
        if not inside.all():
            index = tuple(indices[int(np.argmin(inside))].tolist())
            raise OutOfBoundsError(f"index {index} is not in {shape}")
        if not self.width:
            cells = self.rows.elements_before(leaves)
            # The cells of a table by element have leaves of rank 1.
            cells += places[0] if places else 0
            return self.starts[cells], cells
        cells = leaves - self.rows.leaves[0] if self.rows.leaves[0] else leaves
        offsets = self.starts[cells]
        for mode, place in enumerate(places):
            offsets += place * self.steps(mode, cells)
        return offsets, cells

    def cell(self, number: int) -> Strided | Separable:
        """Return the layout of one leaf, counted from 0 in row-major order; its origin is kept."""
        leaf = self.rows.leaves[0] + number
        box = wrap(make_smooth(*self.rows.columns.leaf_box(leaf)))
        if self.width:
            strides: list[int] = self.strides[number].tolist()
            # The place of a cell without elements may be any number, and says nothing.
            return Strided(box, tuple(strides), self.starts.item(number) if box.size else 0)
        base, axis = Table(self.starts[self.number_of(leaf) : self.number_of(leaf + 1)]).simplify()
        return from_axes(box, base, (axis,))

    def select(
        self, rows: Rows, heads: Sequence[PositionalItem], tails: Sequence[PositionalItem], lead: Index
    ) -> CellPart | Strided | Separable:
        """Return the selection of a key from a part of the rows, starting at zero.

        Parameters
        ----------
        rows
            The rows under the indices `lead`.
        heads
            The items for the modes before the cells; one of them is a slice.
        tails
            The items for the modes of a cell.
        lead
            The prefix of the rows in errors.
        """
        levels, nodes = choose_nodes(rows, heads, lead)
        cells = self.cells_of(nodes)
        starts = self.starts[cells]
        extents: list[IntArray] = []
        strides: list[IntArray] = []
        at, mode = Nodes(rows, rows.outer_rank, nodes, lead), 0
        for item in tails:
            if item is None:
                extents.append(np.ones(len(cells), dtype=np.int64))
                strides.append(np.zeros(len(cells), dtype=np.int64))
                continue
            counts = np.broadcast_to(rows.columns.leaf_extents_at(nodes, mode), cells.shape)
            stride = self.steps(mode, cells)
            if is_whole(item):
                extents.append(counts)
                strides.append(np.broadcast_to(np.asarray(stride), cells.shape))
            elif isinstance(item, slice):
                first, step, kept = resolve_slice(item, counts, len(lead) + rows.outer_rank + mode)
                starts += first * stride
                extents.append(kept)
                strides.append(np.broadcast_to(np.asarray(stride * step), cells.shape))
            else:
                starts += resolve_position(item, counts, rows.outer_rank + mode, at) * stride
            mode += 1
        if not any(isinstance(item, slice) for item in tails) and _count_kept(levels) == 1:
            return _box_of(levels, starts, len(extents))
        return _part_of([(level.counts, 0) for level in levels], extents, strides, starts)

    def window(self, region: Shape[Any], shape: object) -> CellPart:
        """Return the part with the indices of `region`, a jagged shape of the same rank."""
        rows = rows_of(region)
        if not self.width:
            table = region.indices_at(np.arange(region.size, dtype=np.int64))
            starts, _ = self.locate(table, shape)
            return region, starts, shared_table((), len(starts))
        if rows.outer_rank < self.rows.outer_rank:
            rows = unroll(rows, self.rows.outer_rank)
            region = wrap(Jagged(rows))
        table_ = rows.cell_table()
        filled = np.asarray((table_.extents > 0).all(axis=1))
        firsts = np.concatenate([table_.indices, table_.origins], axis=1)[filled]
        lasts = firsts.copy()
        lasts[:, rows.outer_rank :] += table_.extents[filled] - 1
        # If the first and the last element are in one cell, all are.
        self.locate(lasts, shape)
        starts = np.zeros(len(filled), dtype=np.int64)
        strides = np.zeros((len(filled), table_.extents.shape[1]), dtype=np.int64)
        starts[filled], cells = self.locate(firsts, shape)
        strides[filled] = self.strides[cells, -strides.shape[1] :]
        return region, starts, strides


def _count_kept(levels: list[Level]) -> int:
    return sum(level.mode is not None for level in levels)


def _box_of(levels: list[Level], starts: IntArray, n_new: int) -> Strided | Separable:
    """Return the layout of one mode, with new modes around it and `n_new` after it."""
    base, axis = Table(starts).simplify()
    axes = [axis if level.mode is not None else Stride(1, 0) for level in levels]
    axes += [Stride(1, 0)] * n_new
    extents = tuple([a.extent for a in axes])
    return from_axes(wrap(make_smooth(extents, (0,) * len(extents))), base, tuple(axes))


def _part_of(
    levels: list[tuple[IntArray, Origins]], extents: list[IntArray], strides: list[IntArray], starts: IntArray
) -> CellPart:
    if extents:
        rows = build_rows(levels, np.stack(extents, axis=1), [0] * len(extents))
        return wrap(Jagged(rows)), starts, np.stack(strides, axis=1)
    # The innermost remaining mode becomes that of the cells, whose elements are at any offsets.
    *levels, (inner, _) = levels
    rows = build_rows(levels, inner[:, np.newaxis], [0])
    return wrap(Jagged(rows)), starts, shared_table((), len(starts))
