"""Layouts of jagged shapes: packed, cell after cell, or by a table with the offset of each cell.

A cell of a jagged shape is a box, so one offset and one stride per mode describe it. Every selection of such
cells has this form again: runs and gathers of rows, slices with any step in the cells, single positions.
"""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import (
    ArrayState,
    array_of_state,
    array_state,
    digest_of,
    frozen_array,
    same_values,
    shared_row,
    shared_table,
    tidy_table,
)
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen, token_of
from tensorwrapper.layout.boxes._common import (
    LayoutCommon,
    ListTable,
    check_int64,
    no_element,
    search_injective,
)
from tensorwrapper.layout.boxes._keys import expand_positional, is_whole, resolve
from tensorwrapper.layout.boxes._separable import Separable
from tensorwrapper.layout.boxes._strided import Strided, row_major
from tensorwrapper.layout.cells._cell_layout import CellLayout
from tensorwrapper.layout.cells._cells import Cells, check_reach, packed_table
from tensorwrapper.layout.cells._inverse_search import SearchedCells
from tensorwrapper.layout.cells._parts import (
    PlacedRows,
    elements_before,
    packed_cell,
    plain_run,
    rows_of,
    run_of_rows,
    split_items,
    starts_at_zero,
    tile_runs,
)
from tensorwrapper.layout.cells._rearranged import (
    extents_of,
    gathered,
    permuted,
    positions_of,
    reversed_modes,
)
from tensorwrapper.layout.cells._row_layout import Lists, gathered_lists, seen_starts, sliced_lists
from tensorwrapper.shape import Jagged, Rows, Shape, Tiled
from tensorwrapper.shape.lowlevel import mode_of, to_index, to_index_array, to_permutation, unroll, wrap
from tensorwrapper.typing import Index, IntArray, PositionalKey

_SHOWN = 4  # places of cells that a repr shows


@final
@frozen
class Packed(CellLayout):
    """Offset plus the ordinal of the index, over a jagged shape."""

    shape: Shape[Any]
    offset: int

    def bounds(self) -> tuple[int, int]:
        size = self.shape.size
        return (self.offset, self.offset + size - 1) if size else (0, -1)

    @property
    def is_contiguous(self) -> bool:
        return True

    @property
    def is_injective(self) -> bool:
        return True

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return self.offset + self.shape.ordinal(index)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        ordinals = self.shape.ordinals(indices)
        return ordinals + self._int64_offset()

    def _int64_offset(self) -> int:
        """Return the offset, of a shape without elements 0; it raises if an offset leaves 64 bits."""
        check_int64(self, 0)
        return self.offset if self.shape.size else 0

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        least, greatest = self.bounds()
        if not least <= wanted <= greatest:
            raise no_element(self.shape, wanted)
        found: Index = self.shape.index(wanted - self.offset)
        return found

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the index whose element has each of a flat array of offsets."""
        least, greatest = self.bounds()
        outside = (offsets < least) | (offsets > greatest)
        if outside.any():
            raise no_element(self.shape, int(offsets[outside][0]))
        return self.shape.indices_at(offsets - self._int64_offset())

    def to_numpy(self) -> IntArray:
        start = self._int64_offset()
        return np.arange(start, start + self.shape.size, dtype=np.int64)

    def at(self, key: PositionalKey) -> LayoutCommon:
        items: Any = key if type(key) is tuple else (key,)
        first, column = items if len(items) == 2 else (items[0] if items else None, None)
        row = packed_cell(self.shape, self.offset, first, column) if type(first) is int else None
        if row is not None:
            # A row has a mode, and an element of it none.
            part = row._at_plain(items[1:]) if row.strides and len(items) > 1 else row
            if part is not None:
                return part
        shape, offset = self.shape, self.offset
        jagged: Any = shape.implementation  # to cast it would be a call
        items = expand_positional(key, jagged.rank)
        lead: Index = ()
        for item in items[: jagged.outer_rank]:
            if item is None:
                return self.as_blocked().at(key)
            entry = resolve(item, 0, jagged.extent_at(lead), lead)
            if not isinstance(entry, int):
                break
            lead = (*lead, entry + jagged.origin_at(lead))
        else:
            cell = shape.chip(*lead)
            before = shape.ordinal(lead + cell.origin) if cell.size else 0
            return row_major(cell.zero_based(), offset + before).at(tuple(items[len(lead) :]), lead)
        start, step, count = entry
        rest = items[len(lead) + 1 :]
        run = step == 1 and rest.count(slice(None)) == len(rest)
        # One item for each mode: with a new mode among them the last does not say it all.
        # Without tiles along one mode, those of the others stay cut as they are: a run of rows forgets them.
        no_tiles = not count and isinstance(jagged, Tiled)
        if no_tiles or (not run and not len(items) == jagged.rank == len(lead) + 2):
            return self.as_blocked().at(key)
        base = offset if run else self._int64_offset()
        offset = base
        for index in lead:
            offset += elements_before(shape, index)
            shape = shape.chip(index)
        if not run:
            found = sliced_lists(shape, offset, (start, step, count), items[-1], len(lead) + 1)
            if found is None:
                return self.as_blocked().at(key)
            return _of_lists(*found, base, self.bounds(), are_different=True)
        jagged = shape.implementation
        before, cut = jagged.cut_rows(start, start + count)
        return Packed(wrap(cut), offset + before if count else offset)

    def window(self, region: Shape[Any]) -> LayoutCommon:
        run = run_of_rows(self.shape, region)
        if run is None:
            return self.as_blocked().window(region)
        before = elements_before(self.shape, region.origin_at(())) if region.size else 0
        return Packed(region, self.offset + before)

    @property
    def is_packed(self) -> bool:
        return True

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        modes = to_permutation(order, self.shape.rank)
        return self if modes == tuple(range(len(modes))) else self.as_blocked().permute(modes)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> LayoutCommon:
        number = mode_of(mode, self.shape.rank)
        chosen = positions_of(positions)
        base = self._int64_offset()
        found = None if number else gathered_lists(self.shape, base, chosen)
        if found is None:
            return self.as_blocked().gather(number, chosen)
        shape, lists, are_different = found
        return _of_lists(shape, lists, base, self.bounds(), are_different=are_different)

    def as_blocked(self) -> "Blocked":
        """Return the same layout as a table of cells; O(cells), and no copy where the shape has them."""
        check_reach(*self.bounds())
        rows = rows_of(self.shape)
        befores = rows.cell_offsets()
        extents = rows.columns.leaf_extents(*rows.leaves)
        strides = packed_table(extents, tuple(range(extents.shape[1] - 1, -1, -1)))
        # Where there is no element, the offset may be of any size.
        starts = befores[:-1] + self.offset if self.offset and befores[-1] else befores[:-1]
        return Blocked(self.shape, frozen_array(starts), frozen_array(strides))


def _run_of_tiles(shape: Shape[Any], runs: "list[tuple[int, int]]") -> Shape[Any]:
    """Return the shape of a run of tiles in each mode of a grid. A run may be empty."""
    parts = cast("Tiled", shape.implementation).partitions
    chosen = tuple([p.run(start, start + n) for p, (start, n) in zip(parts, runs, strict=True)])
    return wrap(Tiled(chosen, (0,) * len(chosen)))


def make_blocked(
    shape: Shape[Any], starts: IntArray, strides: IntArray, offset: int = 0
) -> "Packed | Blocked":
    """Return the layout of a table of cells that is known to fit: packed, if that is what the table says.

    `strides` has a column for each mode of a cell, none if `starts` has all elements.
    """
    inner = max(strides.shape[1], 1)
    if rows_of(shape).columns.leaf_rank > inner:
        shape = wrap(Jagged(unroll(rows_of(shape), shape.rank - inner)))
    if not strides.shape[1]:
        return _of_elements(shape, starts, strides, offset)
    extents = extents_of(PlacedRows(rows_of(shape), starts, strides))
    cells = Cells(extents, starts, strides)
    filled = cells.filled()
    if not filled.any():
        return Packed(shape, offset)
    befores = rows_of(shape).cell_offsets()[:-1]
    first, last = int(np.argmax(filled)), len(filled) - 1 - int(np.argmax(filled[::-1]))
    start = int(starts[first])
    # Most tables differ from packed cells at the ends already.
    if int(starts[last]) - start == int(befores[last]) and cells.is_packed(start, befores):
        return Packed(shape, start)
    return _known_blocked(shape, starts, strides)


def _of_elements(shape: Shape[Any], places: IntArray, strides: IntArray, offset: int) -> "Packed | Blocked":
    """Return the layout of places of single elements: `make_blocked`, where every cell is one of them."""
    if not len(places):
        return Packed(shape, offset)
    first = places.item(0)
    if places.item(-1) - first == len(places) - 1 and (places[1:] - places[:-1] == 1).all():
        return Packed(shape, first)
    return _known_blocked(shape, places, strides)


def _known_blocked(shape: Shape[Any], starts: IntArray, strides: IntArray) -> "Blocked":
    """Return the layout of a table that is known to be not packed, which takes several passes to find out."""
    made = Blocked(shape, frozen_array(starts), tidy_table(strides))
    object.__setattr__(made, "_contiguous", False)
    return made


def _of_lists(
    shape: Shape[Any], lists: Lists, offset: int, reach: tuple[int, int], *, are_different: bool
) -> "Packed | Blocked":
    """Return the layout of rows of packed lists: the result of `make_blocked`, with all known properties."""
    if not lists.size:
        return Packed(shape, offset)
    if lists.is_packed():
        return Packed(shape, lists.starts.item(lists.ends()[0]))
    count = len(lists.starts)
    strides = shared_table((lists.step,), count) if count > 1 else np.array([[lists.step]], dtype=np.int64)
    made = _known_blocked(shape, lists.starts, strides)
    if are_different:
        # This would be found out again, by sorting them.
        object.__setattr__(made, "_injective", True)
    object.__setattr__(made, "_reach", reach)
    return made


@final
@frozen(eq=False, getstate_setstate=False)
class Blocked(SearchedCells):
    """A place and strides for every cell of a jagged shape, in row-major order of its unrolled modes.

    `make_blocked` gives the packed layout where a table says no more than that.
    """

    shape: Shape[Any]
    starts: IntArray
    """The place of the first element of each cell; any number for a cell without elements."""
    strides: IntArray
    """An (n, rank of a cell) table, one row in memory if all are alike; (n, 0) if every element is a cell."""
    _cells: Cells | None = attrs.field(default=None, init=False, repr=False)
    _injective: bool | None = attrs.field(default=None, init=False, repr=False)
    _contiguous: bool | None = attrs.field(default=None, init=False, repr=False)
    _reach: tuple[int, int] | None = attrs.field(default=None, init=False, repr=False)
    _hash: int | None = attrs.field(default=None, init=False, repr=False)

    @property
    def _width(self) -> int:
        return int(self.strides.shape[1])

    @property
    def _placed(self) -> PlacedRows:
        return PlacedRows(rows_of(self.shape), self.starts, self.strides)

    @property
    def cells(self) -> Cells:
        """The table with the extents of the cells."""
        cells = self._cells
        if cells is None:
            cells = Cells(extents_of(self._placed), self.starts, self.strides)
            object.__setattr__(self, "_cells", cells)
        return cells

    @property
    def offset(self) -> int:
        table = self.list_table()
        if table is not None:
            lists = Lists(*table)
            return self.starts.item(lists.ends()[0]) if lists.size else 0
        filled = self.cells.filled()
        return int(self.starts[int(np.argmax(filled))]) if filled.any() else 0

    def bounds(self) -> tuple[int, int]:
        table = self.list_table()
        return self.cells.bounds() if table is None else Lists(*table).bounds()

    def reach(self) -> tuple[int, int]:
        return self._reach or self.bounds()

    @property
    def is_contiguous(self) -> bool:
        if self._contiguous is None:
            found = make_blocked(self.shape, self.starts, self.strides)
            object.__setattr__(self, "_contiguous", found.is_packed)
        return bool(self._contiguous)

    @property
    def is_injective(self) -> bool:
        if self._injective is None:
            known = self.cells.shares_no_place()
            object.__setattr__(self, "_injective", search_injective(self, 0) if known is None else known)
        return bool(self._injective)

    # From indices to offsets.

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        numbers, rows = to_index(index, self.shape.rank), rows_of(self.shape)
        if not self._width:
            return int(self.starts[rows.ordinal(numbers)])
        leaf, origin = rows.cell_of(numbers)
        cell = leaf - rows.leaves[0]
        steps: list[int] = self.strides[cell].tolist()
        inner = zip(numbers[rows.outer_rank :], origin, steps, strict=True)
        return self.starts.item(cell) + sum([(i - start) * step for i, start, step in inner])

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        array = to_index_array(indices, self.shape.rank)
        flat = array.reshape(-1, array.shape[-1])
        return self._placed.locate(flat, self.shape)[0].reshape(array.shape[:-1])

    def to_numpy(self) -> IntArray:
        return self.cells.offsets()

    # Its modes.

    def as_blocked(self) -> "Blocked":
        return self

    def cell_table(self) -> tuple[IntArray, IntArray]:
        return self.starts, self.strides

    def list_table(self) -> ListTable | None:
        rows, row = rows_of(self.shape), shared_row(self.strides)
        if row is None or len(row) != 1 or rows.columns.leaf.ndim > 1:
            return None
        first, last = rows.leaves
        return rows.columns.leaf[first : last + 1], self.starts, row[0]

    def places_between(self, first: int, last: int) -> Iterator[IntArray] | None:
        table = self.list_table()
        return None if table is None else Lists(*table).batches(first, last)

    @property
    def cell_rank(self) -> int:
        return self._width

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        modes = to_permutation(order, self.shape.rank)
        same = modes == tuple(range(len(modes)))
        return self if same else make_blocked(*permuted(self._placed, self.shape, modes), self.offset)

    def reverse(self, modes: Iterable[int]) -> LayoutCommon:
        return make_blocked(*reversed_modes(self._placed, self.shape, modes), self.offset)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> LayoutCommon:
        number = mode_of(mode, self.shape.rank)
        return make_blocked(*gathered(self._placed, number, positions_of(positions)), self.offset)

    def moved_to(self, shape: Shape[Any]) -> LayoutCommon:
        rows, width = rows_of(shape), self._width
        if width and rows.outer_rank < shape.rank - width:
            shape = wrap(Jagged(unroll(rows, shape.rank - width)))
        return make_blocked(shape, self.starts, self.strides, self.offset)

    def expression(self) -> str:
        starts, more = self._seen(_SHOWN).tolist(), ", ..." if len(self.starts) > _SHOWN else ""
        row = shared_row(self.strides)
        own = f"strides {row}" if row is not None else "strides of their own"
        steps = own if self._width else "one for each element"
        return f"<Layout of {self.shape!r}: cells at {', '.join(map(str, starts))}{more}, {steps}>"

    # Parts.

    def cell(self, number: int) -> Strided | Separable:
        """Return the layout of one cell, counted from 0 in row-major order; its origin is kept."""
        return self._placed.cell(number)

    def at(self, key: PositionalKey) -> LayoutCommon:
        tiles = tile_runs(self.shape, key)
        if tiles is not None:
            return self._tiles_at(tiles)
        placed, rank = self._placed, self.shape.rank
        heads, tails = split_items(expand_positional(key, rank), rank - placed.width)
        if not any(isinstance(item, slice) for item in heads):
            # New modes commute with dropped ones; the rest is a part of one cell.
            tails = [*[item for item in heads if item is None], *tails]
            heads = [item for item in heads if item is not None]
        rows: Rows | int = placed.rows
        pins: list[int] = []
        while isinstance(rows, Rows) and heads and not (heads[0] is None or isinstance(heads[0], slice)):
            entry = cast("int", resolve(heads[0], 0, rows.count, tuple(pins)))
            pins.append(entry + rows.first)
            rows, heads = rows.under((pins[-1],)), heads[1:]
        lead = tuple(pins)
        if not isinstance(rows, Rows):
            cell = placed.cell(rows - placed.rows.leaves[0])
            inner = (*heads, *tails)
            return cell.at(inner, lead)
        run = plain_run(heads, rows.count, lead) if all(map(is_whole, [*heads[1:], *tails])) else None
        if run == (0, placed.rows.count) and rows is placed.rows and starts_at_zero(rows):
            return self  # with its known properties, which took time
        if run is not None:
            rows = Rows(rows.columns, rows.depth, rows.start + run[0], rows.start + run[1], 0)
            return make_blocked(wrap(Jagged(rows)).zero_based(), *placed.table_of(rows), self.offset)
        part = placed.select(rows, heads, tails, lead)
        return make_blocked(*part, self.offset) if isinstance(part, tuple) else part

    def _tiles_at(self, runs: "list[tuple[int, int]]") -> LayoutCommon:
        """Return the tiles of a run in each mode of the grid: still tiles of a box."""
        tiled = cast("Tiled", self.shape.implementation)
        shape = _run_of_tiles(self.shape, runs)
        if not all(count for _, count in runs):
            return Packed(shape, self.offset)
        chosen = tuple([slice(start, start + n) for start, n in runs])
        grid = tiled.grid.extents
        table = np.broadcast_to(self.strides, (len(self.starts), self._width)).reshape(*grid, self._width)
        # Strides that all tiles share stay one row in memory.
        strides = table[chosen].reshape(-1, self._width) if shared_row(self.strides) is None else None
        count = math.prod([n for _, n in runs])
        if strides is None:
            strides = shared_table(cast("Index", shared_row(self.strides)), count)
        return make_blocked(shape, self.starts.reshape(grid)[chosen].reshape(-1), strides, self.offset)

    def window(self, region: Shape[Any]) -> LayoutCommon:
        placed = self._placed
        run = run_of_rows(self.shape, region)
        if run is None:
            return make_blocked(*placed.window(region, self.shape), self.offset)
        whole = placed.rows
        first, last = (whole.start + index - whole.first for index in run)
        rows = Rows(whole.columns, whole.depth, first, last, run[0])
        # The table is for the modes that are unrolled here: the region may unroll others.
        same = not placed.width or rows_of(region).outer_rank == whole.outer_rank
        shape = region if same else wrap(Jagged(rows))
        return make_blocked(shape, *placed.table_of(rows), self.offset)

    # As a value.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Blocked):
            return NotImplemented
        return self is other or (
            self.shape == other.shape
            and same_values(self.strides, other.strides)
            and (same_values(self.starts, other.starts) or same_values(self._seen(), other._seen()))
        )

    def _seen(self, count: int | None = None) -> IntArray:
        """Return where the first of the cells start, as they are compared: 0 if one has no elements."""
        return seen_starts(self.shape, self.starts[:count], self._width)

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self.shape, self._seen().tobytes(), self._width)))
        return cast("int", self._hash)

    def __dask_tokenize__(self) -> object:
        starts, strides = digest_of(self._seen()), digest_of(self.strides)
        return token_of("Blocked", self.shape, starts, self.strides.shape, strides)

    def __reduce__(self) -> tuple[Callable[..., "Blocked"], tuple[object, ...]]:
        return _restored, (self.shape, array_state(self.starts), array_state(self.strides), self._width)


def _restored(shape: Shape[Any], starts: ArrayState, strides: ArrayState, width: int) -> Blocked:
    """Return an unpickled layout, its arrays read-only again."""
    return Blocked(shape, array_of_state(starts, 0), array_of_state(strides, width))
