"""Operations on the modes of layouts of cells and of tiles; those of other boxes are passed on.

Every cell keeps its elements and they lie where they lay: a permutation transposes cell by cell, a reversal
turns every row round by itself, and a gather of rows takes their places along.
"""

from collections.abc import Iterable, Sequence
from typing import Any, SupportsIndex, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shared_table
from tensorwrapper.errors import LayoutError, RankError
from tensorwrapper.layout.boxes import _modes
from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64, to_offset_array
from tensorwrapper.layout.boxes._separable import Separable, axes_of
from tensorwrapper.layout.boxes._separable import indices_at as box_indices_at
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked, rows_of
from tensorwrapper.layout.cells._keys import Item, Nodes, Places, choose_nodes, resolve_position
from tensorwrapper.layout.cells._padded import Padded
from tensorwrapper.layout.cells._parts import PlacedRows
from tensorwrapper.layout.operations._tables import gather_rows
from tensorwrapper.layout.tiles._tile_major import TileMajor
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.layout.tiles._tiles_in_memory import Mosaic
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import (
    Origins,
    build_rows,
    integer_array,
    mode_of,
    tidy_origins,
    to_index_array,
    to_permutation,
    unroll,
    wrap,
)
from tensorwrapper.typing import Index, IntArray

__all__ = ["gather", "indices_at", "indices_of", "permute", "reverse"]

_Celled: TypeAlias = Packed | Blocked | Padded | TiledStrided


def _blocked(layout: _Celled) -> Blocked:
    return layout if isinstance(layout, Blocked) else layout.as_blocked()


def indices_of(layout: LayoutCommon, offset: int) -> list[Index]:
    """Return all indices whose elements lie at `offset`, in row-major order."""
    if isinstance(layout, TileMajor):
        return [layout.index_of(offset)]
    if isinstance(layout, _Celled | Mosaic):
        return (layout.as_blocked() if isinstance(layout, TiledStrided) else layout).indices_of(offset)
    base, axes = axes_of(layout, "indices_of")
    return Separable(layout.shape, base, axes).indices_of(offset)


def indices_at(layout: LayoutCommon, offsets: npt.ArrayLike) -> IntArray:
    """Return the first index whose element lies at each offset: an (..., rank) array."""
    if isinstance(layout, TileMajor):
        layout = layout.as_mosaic()
    if not isinstance(layout, _Celled | Mosaic):
        return box_indices_at(layout, offsets)
    check_int64(layout, 0)
    given = to_offset_array(offsets)
    table = layout.as_blocked() if isinstance(layout, TiledStrided) else layout
    return table.indices_at(given.reshape(-1)).reshape(*given.shape, layout.shape.rank)


def permute(layout: LayoutCommon, order: Iterable[SupportsIndex]) -> LayoutCommon:
    """Return the layout whose mode k is mode ``order[k]`` of this one."""
    if isinstance(layout, TileMajor | Mosaic):
        return layout.permute(order)
    if not isinstance(layout, _Celled):
        return _modes.permute(layout, order)
    modes = to_permutation(order, layout.shape.rank)
    if modes == tuple(range(layout.shape.rank)):
        return layout
    rank = layout.shape.rank // 2
    alike = modes == modes[:rank] + tuple([mode + rank for mode in modes[:rank]])
    if isinstance(layout, Padded) or (isinstance(layout, TiledStrided) and alike):
        return layout.permute(modes)
    table = _blocked(layout)
    shape = table.shape.permute(modes)  # raises if a mode would come before what it depends on
    width = table.strides.shape[1]
    outer = shape.rank - width
    if not width:
        indices = np.empty((shape.size, shape.rank), dtype=np.int64)
        indices[:, list(modes)] = shape.indices_at(np.arange(shape.size, dtype=np.int64))
        starts = table.offsets_of(indices)
        return make_blocked(shape, starts, shared_table((), len(starts)), table.offset)
    if min(modes[outer:]) < outer:
        raise LayoutError(
            f"the permutation {modes} puts modes of cells, {tuple(range(outer, shape.rank))}, before some "
            "that lead to them, which is no view: copy first"
        )
    inner = [mode - outer for mode in modes[outer:]]
    if modes[:outer] == tuple(range(outer)):
        return make_blocked(shape, table.starts, table.strides[:, inner], table.offset)
    cells = _cells_before(table.shape, shape, modes[:outer])
    return make_blocked(shape, table.starts[cells], table.strides[cells][:, inner], table.offset)


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


def reverse(layout: LayoutCommon, reversed_modes: Iterable[int]) -> LayoutCommon:
    """Return the layout with the order of some modes reversed, each row by itself."""
    modes = set(reversed_modes)
    if isinstance(layout, TileMajor | Mosaic):
        return layout.reverse(modes)
    if not isinstance(layout, _Celled):
        return _modes.reverse(layout, modes)
    table = _blocked(layout)
    outer = table.shape.rank - table.strides.shape[1]
    heads = [slice(None, None, -1) if mode in modes else slice(None) for mode in range(outer)]
    if min(modes, default=outer) < outer:
        table = _rebuilt(table, heads)
    extents, starts = table.cells.extents, table.starts
    strides = table.strides
    for mode in modes:
        if mode >= outer:
            starts = starts + (extents[:, mode - outer] - 1) * strides[:, mode - outer]
    signs = np.array([-1 if mode in modes else 1 for mode in range(outer, table.shape.rank)], dtype=np.int64)
    return make_blocked(table.shape, starts, strides * signs, table.offset)


def gather(layout: LayoutCommon, mode: SupportsIndex, positions: npt.ArrayLike) -> LayoutCommon:
    """Return the layout of the given positions of a mode, under every prefix the same ones."""
    if not isinstance(layout, _Celled):
        return _modes.gather(layout, mode, positions)
    number = mode_of(mode, layout.shape.rank)
    places = integer_array(positions, "positions")
    if places.ndim != 1:
        raise RankError(f"positions of one mode form one axis, not an array of shape {places.shape}")
    chosen = to_index_array(places[:, np.newaxis], 1)[:, 0]
    found = gather_rows(layout, chosen) if isinstance(layout, Packed) and not number else None
    if found is not None:
        return found
    table = _blocked(layout)
    outer = table.shape.rank - table.strides.shape[1]
    if number >= outer:
        return _gather_inside(table, number, chosen)
    items: list[Item] = [slice(None)] * outer
    items[number] = Places(chosen)
    made = _rebuilt(table, items)
    return make_blocked(made.shape, made.starts, made.strides, table.offset)


def _gather_inside(table: Blocked, mode: int, places: IntArray) -> LayoutCommon:
    """Return the layout of positions one step apart, of a mode of the cells."""
    rows = rows_of(table.shape)
    inner = mode - rows.outer_rank
    steps = np.diff(places)
    even = not len(steps) or ((steps == steps[0]).all() and (places[0] < 0) == (places[-1] < 0))
    if not even:
        raise LayoutError(
            f"positions of mode {mode}, which lies within the cells, are a view only if one step apart"
        )
    extents, strides = table.cells.extents.copy(), table.strides.copy()
    starts = table.starts
    if len(places):
        nodes = Nodes(rows, rows.outer_rank, np.arange(*rows.leaves, dtype=np.int64))
        counts = table.cells.extents[:, inner]
        firsts, _ = [resolve_position(int(k), counts, mode, nodes) for k in (places[0], places[-1])]
        starts = starts + firsts * strides[:, inner]
    extents[:, inner] = len(places)
    strides[:, inner] *= int(steps[0]) if len(steps) else 1
    columns = rows.packed().columns
    origins: list[Origins] = [*columns.leaf_origins]
    origins[inner] = 0
    levels = _levels_of(rows.packed())
    made = build_rows(levels, extents, origins)
    return make_blocked(wrap(Jagged(made)), starts, strides, table.offset)


def _levels_of(rows: Rows) -> list[tuple[IntArray, Origins]]:
    """Return counts and origins of the unrolled modes of rows that stand alone in their columns."""
    counts = [np.array([rows.count]), *[np.diff(splits) for splits in rows.columns.splits]]
    return list(zip(counts, (rows.first, *rows.columns.origins[1:]), strict=True))


def _rebuilt(table: Blocked, items: Sequence[Item]) -> Blocked:
    """Return the table with other nodes, one item per mode that leads to the cells; origins are kept.

    The origin of a mode whose positions are given one by one becomes 0.
    """
    rows, width = rows_of(table.shape), table.strides.shape[1]
    columns, outer = rows.columns, rows.outer_rank
    levels, nodes = choose_nodes(rows, items)
    cells = PlacedRows(rows, table.starts, table.strides).cells_of(nodes)
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
        shape = wrap(Jagged(build_rows(built, inner[:, np.newaxis], [origin])))
        return Blocked(shape, table.starts[cells], shared_table((), len(cells)))
    extents = [np.broadcast_to(columns.leaf_extents_at(nodes, mode), nodes.shape) for mode in range(width)]
    origins: list[Origins] = [
        stored if isinstance(stored, int) else tidy_origins(stored[nodes]) for stored in columns.leaf_origins
    ]
    shape = wrap(Jagged(build_rows(built, np.stack(extents, axis=1), origins)))
    return Blocked(shape, table.starts[cells], table.strides[cells])
