"""Padded layouts: every element of a jagged shape at its position in the bounding box.

The space between the rows is unused. Only the layout of the box is stored, so an offset is as fast as in a
box. Other programs, which often have no other jagged storage, can read rows at equal distances.
"""

from collections.abc import Callable, Iterable
from typing import SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, shared_table
from tensorwrapper._error_text import shortened
from tensorwrapper._integers import to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import JaggedModeError, LayoutError, OutOfBoundsError
from tensorwrapper.layout.axes._axis import Stride
from tensorwrapper.layout.boxes._common import LayoutCommon, to_inside
from tensorwrapper.layout.boxes._keys import expand_positional, is_whole, parse_positional
from tensorwrapper.layout.boxes._separable import indices_at
from tensorwrapper.layout.boxes._strided import Strided, row_major
from tensorwrapper.layout.cells._blocked import Blocked, Packed, make_blocked
from tensorwrapper.layout.cells._cell_layout import CellLayout
from tensorwrapper.layout.cells._cells import check_reach
from tensorwrapper.layout.cells._parts import rows_of, run_of_rows
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, to_index, to_permutation, wrap
from tensorwrapper.typing import Index, IntArray, PositionalKey


def contiguous(shape: Shape, offset: int) -> Strided | Packed:
    """Return the layout of `shape`, which has no names, without gaps, in row-major order."""
    held = shape.implementation
    if held.has_layers:
        raise LayoutError(f"lay out the flatten() of the nested shape {shape}; Layout(shape) has its layers")
    return row_major(shape, offset) if held.is_box else Packed(shape, offset)


def rows_in_box(whole: LayoutCommon, region: Shape) -> LayoutCommon | None:
    """Return the layout of rows, cells or tiles inside a box, with the offsets of the box.

    None if the cells have no strides. O(1) for a strided box with distinct offsets, else O(cells).

    Raises
    ------
    LayoutError
        If they have another number of modes, or layers.
    OutOfBoundsError
        If they leave the box.
    """
    if region.rank != whole.rank or region.has_layers:
        raise LayoutError(
            f"a window of {shortened(str(whole.shape))} has {whole.rank} modes and no layers, and is not "
            f"{shortened(str(region))}: jagged([t.window(box) for _, box in region.cells()]) has several"
        )
    box = whole.window(region.as_smooth().copy())
    if isinstance(box, Strided) and box.is_injective:
        return Padded(region, box)
    if not region.size:
        return Packed(region, 0)
    axes = box.mode_maps("window")[1][region.outer_rank :] if box.has_mode_maps else ()
    steps = [_taken(axis.step, axis.extent) for axis in axes if isinstance(axis, Stride)]
    if axes and len(steps) == len(axes):
        # Cells stay whole, and with them the extents behind an empty mode.
        columns, (a, b) = rows_of(region).columns, rows_of(region).leaves
        filled = (columns.leaf_extents(a, b) > 0).all(axis=1)
        starts = np.zeros(b - a, dtype=np.int64)
        starts[filled] = box.offsets_of(_first_indices(region)[filled])
        return make_blocked(region, frozen_array(starts), shared_table(tuple(steps), b - a))
    return None


def _first_indices(shape: Shape) -> IntArray:
    """Return the first index of each cell, whether or not the cell is empty."""
    rows = rows_of(shape)
    return np.hstack([rows.prefixes(shape.outer_rank), rows.columns.leaf_starts(*rows.leaves)])


def _taken(step: int, extent: int) -> int:
    """Return the stride of a mode; 0 if it is never stepped along, because then it may be of any size."""
    return step if extent > 1 else 0


@final
@frozen(getstate_setstate=False)
class Padded(CellLayout):
    """The layout `under`, of the bounding box of a jagged shape, for the elements of the shape alone.

    The box has no two elements in one place.
    """

    _shape: Shape
    under: Strided
    _bounds: tuple[int, int] | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def shape(self) -> Shape:
        return self._shape

    @property
    def offset(self) -> int:
        return self.under.offset_of(self._shape.index(0)) if self._shape.size else self.under.offset

    @property
    def padding(self) -> int:
        """Number of unused offsets from the least to the greatest."""
        return self.span - self._shape.size

    def bounds(self) -> tuple[int, int]:
        bounds = self._bounds
        if bounds is None:
            bounds = self.as_blocked().bounds()
            object.__setattr__(self, "_bounds", bounds)
        return bounds

    @property
    def is_contiguous(self) -> bool:
        return not self.padding and self._table().is_contiguous

    @property
    def is_injective(self) -> bool:
        return True

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        numbers = to_index(index, self._shape.rank)
        self._shape.ordinal(numbers)  # raises for what is outside, and says where
        return self.under.offset_of(numbers)

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        return self.under.offsets_of(to_inside(indices, self._shape))

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        found = self.under.index_of(wanted)
        if found in self._shape:
            return found
        raise self._padding_at(wanted)

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the index whose element has each of a flat array of offsets."""
        indices = indices_at(self.under, offsets)
        inside = self._shape.contains(indices)
        if not inside.all():
            raise self._padding_at(int(offsets[~inside][0]))
        return indices

    def _padding_at(self, offset: int) -> OutOfBoundsError:
        return OutOfBoundsError(f"no element of {self._shape} lies at offset {offset}: it is padding")

    def to_numpy(self) -> IntArray:
        return self._table().to_numpy()

    def cell(self, number: int) -> Strided:
        """Return the layout of one cell, counted from 0 in row-major order; its origin is kept."""
        rows = rows_of(self._shape)
        leaf = rows.leaves[0] + number
        box = wrap(make_smooth(*rows.columns.leaf_box(leaf)))
        place = self._place(rows.prefix_of(leaf) + box.origin)
        return Strided(box, self.under.strides[rows.outer_rank :], place)

    def at(self, key: PositionalKey) -> LayoutCommon:
        shape, items = self._shape, expand_positional(key, self._shape.rank)
        lead: Index = ()
        while not shape.is_box and items[0] is not None and not isinstance(items[0], slice):
            entry = cast("int", parse_positional((items[0],), (shape.extent(0),), lead)[0])
            index = entry + shape.origin_at(())
            shape, items, lead = shape.chip(index), items[1:], (*lead, index)
        if shape.is_box:
            place = self._place(lead + shape.origin)
            return Strided(shape.zero_based(), self.under.strides[len(lead) :], place).at(tuple(items), lead)
        entry_ = parse_positional((items[0],), (shape.extent(0),), lead)[0] if items[0] is not None else None
        if not isinstance(entry_, tuple) or entry_[1] != 1 or not all(map(is_whole, items[1:])):
            return self._table().at(key)
        first, count = shape.origin_at(()) + entry_[0], entry_[2]
        rows = shape.slice_outer(first, first + count)
        try:
            start = lead + rows.origin
        except JaggedModeError:
            # Rows that start at different places of the box do not start together at zero.
            return self._table().at(key)
        part = rows.zero_based()
        strides = self.under.strides[len(lead) :]
        place = self._place(start) if count else self.offset
        return Padded(part, Strided(part.as_smooth().copy(), strides, place))

    def _place(self, index: Index) -> int:
        """Return the offset of an index, whether or not it is in the box."""
        under = self.under
        origin: Index = under.shape.origin
        steps = zip(index, origin, under.strides, strict=True)
        return under.offset + sum([(i - start) * step for i, start, step in steps])

    def window(self, region: Shape) -> LayoutCommon:
        if run_of_rows(self._shape, region) is None:
            self.as_blocked().window(region)  # raises if the region leaves the shape
        box = region.as_smooth().copy()
        return Padded(region, Strided(box, self.under.strides, self._place(box.origin)))

    @property
    def padded_box(self) -> Strided:
        return self.under

    def permute(self, order: Iterable[SupportsIndex]) -> "Padded":
        modes = to_permutation(order, self._shape.rank)
        if modes == tuple(range(len(modes))):
            return self
        return Padded(self._shape.permute(modes), self.under.permute(modes))

    def moved_to(self, shape: Shape) -> "Padded":
        return Padded(shape, self.under.moved_to(shape.as_smooth()))

    def expression(self) -> str:
        under = self.under
        return f"<Layout of {self._shape!r} in the box {under.shape!r}: {under.offset} + {under.strides}>"

    def _table(self) -> "Packed | Blocked":
        table = self.as_blocked()
        return make_blocked(self._shape, table.starts, table.strides, self.under.offset)

    def as_blocked(self) -> Blocked:
        """Return the same layout as a table of cells; O(cells)."""
        check_reach(*self.under.bounds())
        outer, firsts = self._shape.outer_rank, _first_indices(self._shape)
        starts = np.zeros(len(firsts), dtype=np.int64)
        if not self._shape.size:
            return Blocked(self._shape, starts, np.zeros((len(starts), self._shape.rank - outer), np.int64))
        starts += self.under.offset
        strides = tuple(map(_taken, self.under.strides, self.under.extents))
        for column, origin, step in zip(firsts.T, self.under.shape.origin, strides, strict=True):
            starts += (column - origin) * step
        return Blocked(self._shape, starts, shared_table(strides[outer:], len(starts)))

    def __reduce__(self) -> tuple[Callable[..., "Padded"], tuple[Shape, Strided]]:
        # The bounds are found again.
        return Padded, (self._shape, self.under)
