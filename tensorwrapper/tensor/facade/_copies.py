"""Copies of a tensor: packed, padded, as lists; and comparison element by element."""

from typing import Any, Generic, Self, SupportsIndex, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import check_kind_of
from tensorwrapper._arrays import BATCH, concatenated_ranges
from tensorwrapper._memory import filled_memory
from tensorwrapper.buffer.lowlevel import (
    assign_indexed,
    copy_elements,
    fit_number,
    packed_layout,
    put_runs,
)
from tensorwrapper.errors import ConversionError, DTypeError, LayoutError, TensorWrapperError
from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import TiledStrided, packed_strides, wrap_layout
from tensorwrapper.shape import JaggedCommon
from tensorwrapper.tensor._common import TensorCommon, as_computed
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.facade._blocks import blocks_work
from tensorwrapper.tensor.rows._lists import nest, rows_of
from tensorwrapper.tensor.rows._tiles import cell_layouts
from tensorwrapper.tensor.within._groups import row_blocks
from tensorwrapper.typing import IndexT_co, ScalarT_co


class TensorCopies(TensorBase[ScalarT_co, IndexT_co], Generic[ScalarT_co, IndexT_co]):
    """Abstract: the members declared by `TensorBase`."""

    __slots__ = ()

    def copy(self) -> Self:
        """Return the same elements in new memory, packed in row-major order; sparse ones stay sparse."""
        held = self._layout.implementation
        if held.layers:
            packed = self._flat().copy()
            return self._make(Layout.nested(packed._layout, layers=held.layers), packed._buffer)
        if self._buffer.in_tiles:
            layout, here = self._buffer.brought(held)
            if here is not self._buffer:
                return self._make(wrap_layout(layout, held.names), here)
        if self._buffer.stores_orbits and self._buffer.packed_of(held) is not None:
            return self._make(self._layout, self._buffer.pack(held))
        if self._buffer.in_tiles and (tiles := self._buffer.tiles_of(held)) is not None:
            return self._make(*blocks_work().made_of(tiles, tiles.pattern, tiles.own_values(), held.names))
        view = held.tiled
        if view is not None:
            under = self._make(wrap_layout(view.under), self._buffer).copy()
            layout = under._layout.as_tiled(view.tiling).implementation
            seen = TiledStrided(view.tiling, cast("TiledStrided", layout).under, view.grid_origin)
            return self._make(wrap_layout(seen, held.names), under._buffer)
        return self._make(packed_layout(self.shape), self._buffer.pack(held))

    def to_layout(self, layout: Layout[Any], *, threads: SupportsIndex = 1) -> Self:
        """Return the same elements in new memory with this `layout`; gaps are zero, or "".

        This retiles and reorders: ``t.layout.copy_plan(layout)`` predicts the cost.

        Parameters
        ----------
        layout
            A layout over the shape of this tensor, or one that is equal up to its origin.
        threads
            How many threads copy; two are up to twice as fast where the order of modes changes.

        Raises
        ------
        LayoutError
            If the layout is over another shape, gives two indices one place, or has negative offsets.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> t = tw.as_tensor(np.arange(16).reshape(4, 4))
        >>> blocked = t.to_layout(tw.Layout.tiled(tw.Tiling([2, 2], [2, 2])))
        >>> blocked.buffer.flat.tolist(), blocked.array_equal(t)
        ([0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15], True)
        """
        check_kind_of(layout, Layout, "elements are moved to where a layout says")
        least, greatest = layout.bounds()
        if least < 0:
            raise LayoutError(f"the layout needs offset {least}, and memory starts at offset 0")
        placed = self._buffer.place(
            self._layout.implementation, layout.implementation, greatest + 1, threads=threads
        )
        return self._make(layout, placed)

    def to_padded(self, *, fill_value: object = 0) -> "npt.NDArray[ScalarT_co]":
        """Return an array over the bounding box, with `fill_value` where the shape has no element."""
        if self.shape.has_layers:
            return self._flat().to_padded(fill_value=fill_value)
        value = fit_number(fill_value, self.dtype, "fill_value")
        held, box = self._layout.implementation, self.shape.as_smooth()
        array = self._buffer.memory_of(held)
        if array is not None:
            return copy_elements(array)
        if self.shape.is_box:
            return self._buffer.own_elements_of(held).reshape(box.extents)
        origin = box.origin
        padded = filled_memory(box.extents, value, self.dtype)
        flat, start, table = self.elements(), 0, self.shape.cell_table()
        if table.origins.shape[1] == 1:
            firsts = np.concatenate([table.indices, table.origins], axis=1) - np.array(origin, np.int64)
            begins = firsts @ np.array(packed_strides(box.extents, range(box.rank - 1, -1, -1)), np.int64)
            marks = table.offsets
            places = (
                concatenated_ranges(begins[first:last], table.extents[first:last, 0])
                for first, last in row_blocks(marks, BATCH)
            )
            put_runs(padded.reshape(-1), begins, flat, marks, places)
            return padded
        for batch in self.shape.indices().batches(BATCH):
            modes = tuple((batch - np.array(origin, dtype=np.int64)).T)
            assign_indexed(padded, modes, flat[start : start + len(batch)])
            start += len(batch)
        return padded

    def _as_lists(self) -> Any:  # noqa: ANN401
        held = self._layout.implementation
        array = self._buffer.memory_of(held)
        if array is not None:
            return array.tolist()
        if held.layers:
            return self._flat()._as_lists()
        if self.shape.is_box:
            return self._buffer.objects_of(held).reshape(self.shape.extents).tolist()
        rows = cast("JaggedCommon", self.shape.implementation).rows
        if rows.columns.leaf_rank == 1 and held.tiled is None:
            return nest(rows_of(self._buffer.objects_of(held).tolist(), rows), rows)
        cells = cell_layouts(held, self.shape.cell_table())
        lists = [self._make(wrap_layout(cell), self._buffer)._as_lists() for _, cell in cells]
        return nest(lists, rows)

    def array_equal(self, other: "TensorCommon[Any]", *, equal_nan: bool = False) -> bool:
        """Return True if shapes and elements are equal; boxes and tiled boxes are compared without copies.

        Raises
        ------
        ConversionError
            If `other` is not a tensor and no view: `as_tensor` makes one.
        DTypeError
            If elements are times whose units cannot be compared, such as months and days.
        """
        known: TensorBase[Any] = as_computed(other)
        if not isinstance(cast("object", known), TensorBase):
            raise ConversionError(
                f"a tensor is compared with a tensor, not with a {type(other).__name__}: use as_tensor"
            )
        if self.shape != known.shape:
            return False
        if not self.shape.size:
            return True
        mine, theirs = self._layout.implementation, known._layout.implementation
        views = mine.tiled, theirs.tiled
        if views[0] is not None and views[1] is not None:
            mine, theirs = views[0].under, views[1].under
        try:
            return self._buffer.equals(mine, known._buffer, theirs, equal_nan=equal_nan)
        except TensorWrapperError:
            raise
        except (TypeError, OverflowError) as error:
            text = f"array_equal: elements of {self.dtype} are not compared with ones of {known.dtype}"
            raise DTypeError(text) from error

    def __contains__(self, value: object) -> bool:
        # Otherwise Python would compare with each row, which is a tensor and never equal to another object.
        return self._buffer.contains(self._layout.implementation, value)

    def __deepcopy__(self, memo: object) -> Self:
        return self.copy()

    def __copy__(self) -> Self:
        # Python's fallback to pickling would copy elements for some layouts and share them for others.
        return self._make(self._layout, self._buffer)
