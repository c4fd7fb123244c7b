"""Packed layouts: the elements of any shape one after the other, in row-major order.

For a jagged shape this is row after row; for a tiled shape it is tile after tile.
"""

from collections.abc import Iterable
from typing import Any, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout._common import LayoutCommon, check_region
from tensorwrapper.layout._keys import Positional, expand_positional, is_whole, parse_positional
from tensorwrapper.layout._strided import Strided, row_major
from tensorwrapper.shape import Shape
from tensorwrapper.shape._shape import zero_based
from tensorwrapper.typing import Index, IntArray, PositionalItem, PositionalKey

__all__ = ["Packed", "contiguous"]


def contiguous(shape: Shape[Any], offset: int) -> "Strided | Packed":
    """Return the layout of `shape` without gaps, in row-major order."""
    if shape.kind == "nested":
        raise LayoutError(f"lay out the flatten() of the nested shape {shape}: layers do not order memory")
    return row_major(shape, offset) if shape.kind == "smooth" else Packed(shape, offset)


@final
@attrs.frozen
class Packed(LayoutCommon):
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
        return self._shape.ordinals(indices) + self._offset

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        least, greatest = self.bounds()
        if not least <= wanted <= greatest:
            raise OutOfBoundsError(f"no element of {self._shape} lies at offset {wanted}")
        found: Index = self._shape.index(wanted - self._offset)
        return found

    def to_numpy(self) -> IntArray:
        return np.arange(self._offset, self._offset + self._shape.size, dtype=np.int64)

    def at(self, key: PositionalKey) -> LayoutCommon:
        shape, offset = self._shape, self._offset
        items = expand_positional(key, shape.rank)
        lead: Index = ()
        while shape.kind == "jagged":
            entry = parse_positional((items[0],), (shape.extent(0),), lead)[0]
            if not isinstance(entry, int):
                return self._rows(shape, offset, entry, items[1:])
            index = entry + shape.origin_at(())
            offset += _elements_before(shape, index)
            shape = shape.chip(index)
            items = items[1:]
            lead = (*lead, entry)
        return row_major(zero_based(shape), offset).at(tuple(items), lead)

    def _rows(
        self, shape: Shape[Any], offset: int, entry: Positional, rest: list[PositionalItem]
    ) -> LayoutCommon:
        if not isinstance(entry, tuple) or entry[1] != 1 or not all(is_whole(item) for item in rest):
            raise LayoutError(
                "a packed jagged tensor gives views of runs of rows (step 1) and of single cells; other "
                "selections of it are copies: take the cells that you need"
            )
        start, _, count = entry
        first = shape.origin_at(()) + start
        rows = shape.slice_outer(first, first + count)
        before = _elements_before(shape, first) if count else 0
        return Packed(zero_based(rows), offset + before)

    def window(self, region: Shape[Any]) -> LayoutCommon:
        check_region(region, self._shape, "a run of its rows (slice its shape for the region)")
        first = region.origin_at(())
        rows = self._shape.slice_outer(first, first + region.extent(0))
        if rows != region:
            raise LayoutError(f"{region} is not a run of whole rows of {self._shape}")
        return Packed(region, self._offset + (_elements_before(self._shape, first) if region.size else 0))


def _elements_before(shape: Shape[Any], first: int) -> int:
    """Return how many elements lie in the rows before row `first`."""
    start: int = shape.origin_at(())
    return shape.slice_outer(start, first).size
