"""Modes of tables of cells: permuted, reversed, gathered; the elements of each cell stay in place.

A permutation transposes cell by cell, a reversal reverses every row separately, and a gather of rows moves
their offsets. The result is a table of cells again.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shared_table
from tensorwrapper.errors import LayoutError, RankError
from tensorwrapper.layout.cells._keys import Item, Nodes, Places, choose_nodes, resolve_position
from tensorwrapper.layout.cells._parts import CellPart, PlacedRows, rows_of
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import (
    Origins,
    build_rows,
    integer_array,
    tidy_origins,
    to_index_array,
    unroll,
    wrap,
)
from tensorwrapper.typing import Index, IntArray


def permuted(table: PlacedRows, old: Shape[Any], modes: Index) -> CellPart:
    """Return the table whose mode k is mode ``modes[k]`` of the shape `old`.

    Raises
    ------
    JaggedModeError
        If a mode would come before one on which it depends.
    LayoutError
        If a mode of the cells would come before one that leads to them.
    """
    shape = old.permute(modes)
    outer = shape.rank - table.width
    if not table.width:
        indices = np.empty((shape.size, shape.rank), dtype=np.int64)
        indices[:, list(modes)] = shape.indices_at(np.arange(shape.size, dtype=np.int64))
        starts, _ = table.locate(indices, old)
        return shape, starts, shared_table((), len(starts))
    if min(modes[outer:]) < outer:
        raise LayoutError(
            f"the permutation {modes} puts modes of cells, {tuple(range(outer, shape.rank))}, before some "
            "that lead to them, which is not a view: copy first"
        )
    inner = [mode - outer for mode in modes[outer:]]
    if modes[:outer] == tuple(range(outer)):
        return shape, table.starts, table.strides[:, inner]
    cells = _cells_before(old, shape, modes[:outer])
    return shape, table.starts[cells], table.strides[cells][:, inner]


def _cells_before(old: Shape[Any], new: Shape[Any], heads: Index) -> IntArray:
    """Return for each cell of `new` its number in `old`; 0 for those that are not there, which are empty."""
    rows = rows_of(new)
    if rows.outer_rank < len(heads):
        rows = unroll(rows, len(heads))
    prefixes = np.empty((rows.leaves[1] - rows.leaves[0], len(heads)), dtype=np.int64)
    prefixes[:, list(heads)] = rows.prefixes(len(heads))
    leading = old.leading(len(heads))
    found = leading.contains(prefixes)
    cells = np.zeros(len(prefixes), dtype=np.int64)
    cells[found] = leading.ordinals(prefixes[found])
    return cells


def reversed_modes(table: PlacedRows, shape: Shape[Any], reversed_modes: Iterable[int]) -> CellPart:
    """Return the table with the order of some modes of `shape` reversed, each row by itself."""
    modes = set(reversed_modes)
    outer = shape.rank - table.width
    heads = [slice(None, None, -1) if mode in modes else slice(None) for mode in range(outer)]
    if min(modes, default=outer) < outer:
        shape, table = _rebuilt(table, heads)
    extents, starts, strides = extents_of(table), table.starts, table.strides
    for mode in modes:
        if mode >= outer:
            starts = starts + (extents[:, mode - outer] - 1) * strides[:, mode - outer]
    signs = np.array([-1 if mode in modes else 1 for mode in range(outer, shape.rank)], dtype=np.int64)
    return shape, starts, strides * signs


def positions_of(positions: npt.ArrayLike) -> IntArray:
    """Return positions of one mode, which users gave, as int64."""
    places = integer_array(positions, "positions")
    if places.ndim != 1:
        raise RankError(f"positions of one mode form one axis, not an array of shape {places.shape}")
    return to_index_array(places[:, np.newaxis], 1)[:, 0]


def gathered(table: PlacedRows, mode: int, places: IntArray) -> CellPart:
    """Return the table of the given positions of a mode, under every prefix the same ones."""
    outer = table.rows.rank - table.width
    if mode >= outer:
        return _gathered_inside(table, mode, places)
    items: list[Item] = [slice(None)] * outer
    items[mode] = Places(places)
    shape, made = _rebuilt(table, items)
    return shape, made.starts, made.strides


def extents_of(table: PlacedRows) -> IntArray:
    """Return the extents of the cells of a table; without columns if every cell is one element."""
    return table.rows.columns.leaf_extents(*table.rows.leaves) if table.width else table.strides


def _gathered_inside(table: PlacedRows, mode: int, places: IntArray) -> CellPart:
    """Return the table of positions one step apart, of a mode of the cells."""
    rows = table.rows
    inner = mode - rows.outer_rank
    steps = np.diff(places)
    even = not len(steps) or ((steps == steps[0]).all() and (places[0] < 0) == (places[-1] < 0))
    if not even:
        raise LayoutError(
            f"positions of mode {mode}, which lies within the cells, are a view only if one step apart"
        )
    extents, strides = extents_of(table).copy(), table.strides.copy()
    starts = table.starts
    if len(places):
        nodes = Nodes(rows, rows.outer_rank, np.arange(*rows.leaves, dtype=np.int64))
        counts = extents_of(table)[:, inner]
        firsts, _ = [resolve_position(int(k), counts, mode, nodes) for k in (places[0], places[-1])]
        starts = starts + firsts * strides[:, inner]
    extents[:, inner] = len(places)
    strides[:, inner] *= int(steps[0]) if len(steps) else 1
    columns = rows.packed().columns
    origins: list[Origins] = [*columns.leaf_origins]
    origins[inner] = 0
    levels = _levels_of(rows.packed())
    made = build_rows(levels, extents, origins)
    return wrap(Jagged(made)), starts, strides


def _levels_of(rows: Rows) -> list[tuple[IntArray, Origins]]:
    """Return counts and origins of the unrolled modes of rows that stand alone in their columns."""
    counts = [np.array([rows.count]), *[np.diff(splits) for splits in rows.columns.splits]]
    return list(zip(counts, (rows.first, *rows.columns.origins[1:]), strict=True))


def _rebuilt(table: PlacedRows, items: Sequence[Item]) -> tuple[Shape[Any], PlacedRows]:
    """Return the table with other nodes, one item per mode that leads to the cells; origins are kept.

    The origin of a mode whose positions are given one by one becomes 0.
    """
    rows, width = table.rows, table.width
    columns, outer = rows.columns, rows.outer_rank
    levels, nodes = choose_nodes(rows, items)
    cells = table.cells_of(nodes)
    built: list[tuple[IntArray, Origins]] = []
    for mode, (level, item) in enumerate(zip(levels, items, strict=True)):
        stored: Origins = rows.first
        if mode:
            stored = columns.origins[rows.depth + mode] if mode < outer else columns.leaf_origins[0]
        if isinstance(item, Places):
            stored = 0
        built.append(
            (level.counts, stored if isinstance(stored, int) else tidy_origins(stored[level.parents]))
        )
    if not width:
        *built, (inner, origin) = built
        made = build_rows(built, inner[:, np.newaxis], [origin])
        return wrap(Jagged(made)), PlacedRows(made, table.starts[cells], shared_table((), len(cells)))
    extents = [np.broadcast_to(columns.leaf_extents_at(nodes, mode), nodes.shape) for mode in range(width)]
    origins: list[Origins] = [
        stored if isinstance(stored, int) else tidy_origins(stored[nodes]) for stored in columns.leaf_origins
    ]
    made = build_rows(built, np.stack(extents, axis=1), origins)
    return wrap(Jagged(made)), PlacedRows(made, table.starts[cells], table.strides[cells])
