"""Layouts of jagged shapes: packed, cell after cell, or by a table that says where each cell lies.

A cell of a jagged shape is a box, so one place and one stride per mode describe it. Every selection of such
cells has this form again: runs and gathers of rows, slices of any step within the cells, single positions.
"""

from collections.abc import Callable, Iterable
from contextlib import suppress
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
    tidy_table,
)
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen, token_of
from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout.axes._values import too_many
from tensorwrapper.layout.boxes._common import (
    LayoutCommon,
    check_int64,
    no_element,
    run_between,
    search_injective,
)
from tensorwrapper.layout.boxes._keys import expand_positional, is_whole, parse_positional
from tensorwrapper.layout.boxes._separable import Separable
from tensorwrapper.layout.boxes._strided import Strided, row_major
from tensorwrapper.layout.cells._celled import CellLayout
from tensorwrapper.layout.cells._cells import Cells, check_reach, packed_table
from tensorwrapper.layout.cells._parts import (
    PlacedRows,
    elements_before,
    packed_cell,
    plain_run,
    rows_of,
    run_of_rows,
    split_items,
    starts_at_zero,
)
from tensorwrapper.layout.cells._rearranged import (
    extents_of,
    gathered,
    gathered_lists,
    permuted,
    positions_of,
    reversed_modes,
)
from tensorwrapper.shape import Jagged, Rows, Shape
from tensorwrapper.shape.lowlevel import (
    mode_of,
    to_index,
    to_index_array,
    to_permutation,
    unroll,
    wrap,
)
from tensorwrapper.typing import Index, IntArray, PositionalKey

__all__ = ["Blocked", "Packed", "make_blocked", "rows_of"]

_SHOWN = 4  # places of cells that a repr shows
_FEW = 4  # cells that may hold an offset up to which looking into each is faster than a search in arrays


@final
@frozen
class Packed(CellLayout):
    """Offset plus the ordinal of the index, over a jagged shape."""

    _shape: Shape[Any]
    _offset: int

    @property
    def shape(self) -> Shape[Any]:
        return self._shape

    @property
    def offset(self) -> int:
        return self._offset

    def bounds(self) -> tuple[int, int]:
        size = self._shape.size
        return (self._offset, self._offset + size - 1) if size else (0, -1)

    @property
    def is_contiguous(self) -> bool:
        return True

    @property
    def is_injective(self) -> bool:
        return True

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return self._offset + self._shape.ordinal(index)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        ordinals = self._shape.ordinals(indices)
        return ordinals + self._int64_offset()

    def _int64_offset(self) -> int:
        """Return the offset, of a shape without elements 0; it raises if an offset leaves 64 bits."""
        check_int64(self, 0)
        return self._offset if self._shape.size else 0

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        least, greatest = self.bounds()
        if not least <= wanted <= greatest:
            raise no_element(self._shape, wanted)
        found: Index = self._shape.index(wanted - self._offset)
        return found

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the index whose element lies at each of a flat array of offsets."""
        least, greatest = self.bounds()
        outside = (offsets < least) | (offsets > greatest)
        if outside.any():
            raise no_element(self._shape, int(offsets[outside][0]))
        return self._shape.indices_at(offsets - self._int64_offset())

    def to_numpy(self) -> IntArray:
        start = self._int64_offset()
        return np.arange(start, start + self._shape.size, dtype=np.int64)

    def at(self, key: PositionalKey) -> LayoutCommon:
        row = packed_cell(self._shape, self._offset, key) if type(key) is int else None
        if row is not None:
            return row
        shape, offset = self._shape, self._offset
        items = expand_positional(key, shape.rank)
        lead: Index = ()
        for item in items[: shape.outer_rank]:
            if item is None:
                return self.as_blocked().at(key)
            entry = parse_positional((item,), (shape.extent_at(lead),), lead)[0]
            if not isinstance(entry, int):
                break
            lead = (*lead, entry + shape.origin_at(lead))
        else:
            cell = shape.chip(*lead)
            before = shape.ordinal(lead + cell.origin) if cell.size else 0
            return row_major(cell.zero_based(), offset + before).at(tuple(items[len(lead) :]), lead)
        start, step, count = cast("tuple[int, int, int]", entry)
        if step != 1 or not all(is_whole(item) for item in items[len(lead) + 1 :]):
            return self.as_blocked().at(key)
        for index in lead:
            offset += elements_before(shape, index)
            shape = shape.chip(index)
        first = shape.origin_at(()) + start
        before = elements_before(shape, first) if count else 0
        return Packed(shape.slice_outer(first, first + count).zero_based(), offset + before)

    def window(self, region: Shape[Any]) -> LayoutCommon:
        run = run_of_rows(self._shape, region)
        if run is None:
            return self.as_blocked().window(region)
        before = elements_before(self._shape, region.origin_at(())) if region.size else 0
        return Packed(region, self._offset + before)

    @property
    def is_packed(self) -> bool:
        return True

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        modes = to_permutation(order, self._shape.rank)
        return self if modes == tuple(range(len(modes))) else self.as_blocked().permute(modes)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> LayoutCommon:
        number = mode_of(mode, self._shape.rank)
        chosen = positions_of(positions)
        found = None if number else gathered_lists(rows_of(self._shape), self._offset, chosen)
        if found is None:
            return self.as_blocked().gather(number, chosen)
        part, are_different = found
        made = make_blocked(*part, self._offset)
        if are_different and not made.is_packed:
            # This would be found out again, by sorting them.
            object.__setattr__(made, "_injective", True)
        return made

    def as_blocked(self) -> "Blocked":
        """Return the same layout as a table of cells; O(cells), and no copy where the shape has them."""
        check_reach(*self.bounds())
        rows = rows_of(self._shape)
        befores = rows.cell_offsets()
        extents = rows.columns.leaf_extents(*rows.leaves)
        strides = packed_table(extents, tuple(range(extents.shape[1] - 1, -1, -1)))
        # Where there is no element, the offset may be of any size.
        starts = befores[:-1] + self._offset if self._offset and befores[-1] else befores[:-1]
        return Blocked(self._shape, frozen_array(starts), frozen_array(strides))


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
    if not filled.all():
        starts = np.where(filled, starts, 0)
        cells = Cells(extents, starts, strides)
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


@final
@frozen(eq=False, getstate_setstate=False)
class Blocked(CellLayout):
    """A place and strides for every cell of a jagged shape, in row-major order of its unrolled modes.

    `make_blocked` gives the packed layout where a table says no more than that.
    """

    _shape: Shape[Any]
    starts: IntArray
    """The place of the first element of each cell; 0 for cells without elements."""
    strides: IntArray
    """An (n, rank of a cell) table, one row in memory if all are alike; (n, 0) if every element is a cell."""
    _cells: Cells | None = attrs.field(default=None, init=False, repr=False)
    _injective: bool | None = attrs.field(default=None, init=False, repr=False)
    _contiguous: bool | None = attrs.field(default=None, init=False, repr=False)
    _hash: int | None = attrs.field(default=None, init=False, repr=False)

    @property
    def shape(self) -> Shape[Any]:
        return self._shape

    @property
    def _width(self) -> int:
        return int(self.strides.shape[1])

    @property
    def _placed(self) -> PlacedRows:
        return PlacedRows(rows_of(self._shape), self.starts, self.strides)

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
        filled = self.cells.filled()
        return int(self.starts[int(np.argmax(filled))]) if filled.any() else 0

    def bounds(self) -> tuple[int, int]:
        return self.cells.bounds()

    @property
    def is_contiguous(self) -> bool:
        if self._contiguous is None:
            found = make_blocked(self._shape, self.starts, self.strides)
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
        numbers, rows = to_index(index, self._shape.rank), rows_of(self._shape)
        if not self._width:
            return int(self.starts[rows.ordinal(numbers)])
        leaf, origin = rows.cell_of(numbers)
        cell = leaf - rows.leaves[0]
        steps: list[int] = self.strides[cell].tolist()
        inner = zip(numbers[rows.outer_rank :], origin, steps, strict=True)
        return self.starts.item(cell) + sum([(i - start) * step for i, start, step in inner])

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        array = to_index_array(indices, self._shape.rank)
        flat = array.reshape(-1, array.shape[-1])
        return self._placed.locate(flat, self._shape)[0].reshape(array.shape[:-1])

    def to_numpy(self) -> IntArray:
        return self.cells.offsets()

    # From offsets to indices.

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        cells = self.cells.candidates(wanted)
        if len(cells) > _FEW and self.cells.has_digits:
            cells = self.cells.first_cells(np.array([wanted]))
        for cell in cells[cells >= 0].tolist():
            with suppress(OutOfBoundsError):
                return self._prefix_of(cell) + (self.cell(cell).index_of(wanted) if self._width else ())
        raise no_element(self._shape, wanted)

    def indices_of(self, offset: int, limit: int) -> list[Index]:
        """Return all indices whose elements lie at `offset`, in row-major order."""
        found: list[Index] = []
        for cell in self.cells.candidates(offset).tolist():
            with suppress(OutOfBoundsError):
                inner = self.cell(cell).indices_of(offset, limit) if self._width else [()]
                prefix = self._prefix_of(cell)
                found += [prefix + index for index in inner]
            if len(found) > limit:
                raise too_many(limit)
        if not found:
            raise no_element(self._shape, offset)
        return found

    def _prefix_of(self, cell: int) -> Index:
        if not self._width:
            only: Index = self._shape.index(cell)
            return only
        rows = rows_of(self._shape)
        return rows.prefix_of(rows.leaves[0] + cell)

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the first index whose element lies at each of a flat array of offsets."""
        cells = self.cells.first_cells(offsets)
        if (cells < 0).any():
            raise no_element(self._shape, int(offsets[cells < 0][0]))
        if not self._width:
            return self._shape.indices_at(cells)
        rows = rows_of(self._shape)
        leaves, outer = cells + rows.leaves[0], rows.outer_rank
        indices = np.empty((len(offsets), rows.rank), dtype=np.int64)
        indices[:, :outer] = rows.prefixes_of(outer, leaves)
        indices[:, outer:] = self.cells.places(cells, offsets)[1]
        for mode, stored in enumerate(rows.columns.leaf_origins):
            indices[:, outer + mode] += stored if isinstance(stored, int) else stored[leaves]
        return indices

    # Its modes.

    def as_blocked(self) -> "Blocked":
        return self

    def cell_table(self) -> tuple[IntArray, IntArray]:
        return self.starts, self.strides

    @property
    def cell_rank(self) -> int:
        return self._width

    def locate(self, offsets: IntArray) -> tuple[IntArray, IntArray] | None:
        if not self.is_injective:
            return None
        least, greatest = self.bounds()
        first, end = run_between(offsets, least, greatest)
        try:
            cells = self.cells.first_cells(offsets[first:end])
        except LayoutError:
            return None  # The modes of a cell interleave.
        numbers = np.flatnonzero(cells >= 0) + first
        return numbers, self._shape.ordinals(self.indices_at(offsets[numbers]))

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        modes = to_permutation(order, self._shape.rank)
        same = modes == tuple(range(len(modes)))
        return self if same else make_blocked(*permuted(self._placed, self._shape, modes), self.offset)

    def reverse(self, modes: Iterable[int]) -> LayoutCommon:
        return make_blocked(*reversed_modes(self._placed, self._shape, modes), self.offset)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> LayoutCommon:
        number = mode_of(mode, self._shape.rank)
        return make_blocked(*gathered(self._placed, number, positions_of(positions)), self.offset)

    def moved_to(self, shape: Shape[Any]) -> LayoutCommon:
        rows, width = rows_of(shape), self._width
        if width and rows.outer_rank < shape.rank - width:
            shape = wrap(Jagged(unroll(rows, shape.rank - width)))
        return make_blocked(shape, self.starts, self.strides, self.offset)

    def expression(self) -> str:
        starts, more = self.starts[:_SHOWN].tolist(), ", ..." if len(self.starts) > _SHOWN else ""
        row = shared_row(self.strides)
        own = f"strides {row}" if row is not None else "strides of their own"
        steps = own if self._width else "one for each element"
        return f"<Layout of {self._shape!r}: cells at {', '.join(map(str, starts))}{more}, {steps}>"

    # Parts.

    def cell(self, number: int) -> Strided | Separable:
        """Return the layout of one cell, counted from 0 in row-major order; its origin is kept."""
        return self._placed.cell(number)

    def at(self, key: PositionalKey) -> LayoutCommon:
        placed, rank = self._placed, self._shape.rank
        heads, tails = split_items(expand_positional(key, rank), rank - placed.width)
        if not any(isinstance(item, slice) for item in heads):
            # New modes commute with pinned ones; what is left is a part of one cell.
            tails = [*[item for item in heads if item is None], *tails]
            heads = [item for item in heads if item is not None]
        rows: Rows | int = placed.rows
        lead: Index = ()
        while isinstance(rows, Rows) and heads and not (heads[0] is None or isinstance(heads[0], slice)):
            entry = cast("int", parse_positional((heads[0],), (rows.count,), lead)[0])
            index = entry + rows.first
            rows, heads, lead = rows.under((index,)), heads[1:], (*lead, index)
        if not isinstance(rows, Rows):
            cell = placed.cell(rows - placed.rows.leaves[0])
            inner = (*heads, *tails)
            return cell.at(inner, lead)
        run = plain_run(heads, rows.count, lead) if all(map(is_whole, [*heads[1:], *tails])) else None
        if run == (0, placed.rows.count) and rows is placed.rows and starts_at_zero(rows):
            return self  # with what is known of it: that took time
        if run is not None:
            rows = Rows(rows.columns, rows.depth, rows.start + run[0], rows.start + run[1], 0)
            return make_blocked(wrap(Jagged(rows)).zero_based(), *placed.table_of(rows), self.offset)
        part = placed.select(rows, heads, tails, lead)
        return make_blocked(*part, self.offset) if isinstance(part, tuple) else part

    def window(self, region: Shape[Any]) -> LayoutCommon:
        placed = self._placed
        run = run_of_rows(self._shape, region)
        if run is None:
            return make_blocked(*placed.window(region, self._shape), self.offset)
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
            self._shape == other._shape
            and same_values(self.starts, other.starts)
            and same_values(self.strides, other.strides)
        )

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash((self._shape, self.starts.tobytes(), self._width)))
        return cast("int", self._hash)

    def __dask_tokenize__(self) -> object:
        starts, strides = digest_of(self.starts), digest_of(self.strides)
        return token_of("Blocked", self._shape, starts, self.strides.shape, strides)

    def __reduce__(self) -> tuple[Callable[..., "Blocked"], tuple[object, ...]]:
        return _restored, (self._shape, array_state(self.starts), array_state(self.strides), self._width)


def _restored(shape: Shape[Any], starts: ArrayState, strides: ArrayState, width: int) -> Blocked:
    """Return an unpickled layout, its arrays read-only again."""
    return Blocked(shape, array_of_state(starts, 0), array_of_state(strides, width))
