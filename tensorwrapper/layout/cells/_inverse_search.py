"""Cells at any offsets, with a search for the element of an offset."""

from abc import ABC, abstractmethod
from contextlib import suppress
from typing import SupportsIndex

import numpy as np

from tensorwrapper._arrays import run_between
from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout.axes._values import too_many
from tensorwrapper.layout.boxes._common import no_element
from tensorwrapper.layout.cells._cell_layout import CellLayout
from tensorwrapper.layout.cells._cells import Cells
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.typing import Index, IntArray

_FEW = 4  # cells that may hold an offset up to which looking into each is faster than a search in arrays


class SearchedCells(CellLayout, ABC):
    """Abstract: `cells`, and what `CellLayout` leaves open."""

    __slots__ = ()

    @property
    @abstractmethod
    def cells(self) -> Cells:
        """The table of places, strides and extents; strides of no mode say that every element is a cell."""

    @property
    def _width(self) -> int:
        return int(self.cells.strides.shape[1])

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        cells = self.cells.candidates(wanted)
        if len(cells) > _FEW and self.cells.has_digits:
            cells = self.cells.first_cells(np.array([wanted]))
        for cell in cells[cells >= 0].tolist():
            with suppress(OutOfBoundsError):
                return self._prefix_of(cell) + (self.cell(cell).index_of(wanted) if self._width else ())
        raise no_element(self.shape, wanted)

    def indices_of(self, offset: int, limit: int) -> list[Index]:
        """Return all indices whose elements have this `offset`, in row-major order."""
        found: list[Index] = []
        for cell in self.cells.candidates(offset).tolist():
            with suppress(OutOfBoundsError):
                inner = self.cell(cell).indices_of(offset, limit) if self._width else [()]
                prefix = self._prefix_of(cell)
                found += [prefix + index for index in inner]
            if len(found) > limit:
                raise too_many(limit)
        if not found:
            raise no_element(self.shape, offset)
        return found

    def _prefix_of(self, cell: int) -> Index:
        if not self._width:
            only: Index = self.shape.index(cell)
            return only
        rows = rows_of(self.shape)
        return rows.prefix_of(rows.leaves[0] + cell)

    def indices_at(self, offsets: IntArray) -> IntArray:
        """Return the first index whose element has each of a flat array of offsets."""
        cells = self.cells.first_cells(offsets)
        if (cells < 0).any():
            raise no_element(self.shape, int(offsets[cells < 0][0]))
        if not self._width:
            return self.shape.indices_at(cells)
        rows = rows_of(self.shape)
        leaves, outer = cells + rows.leaves[0], rows.outer_rank
        indices = np.empty((len(offsets), rows.rank), dtype=np.int64)
        indices[:, :outer] = rows.prefixes_of(outer, leaves)
        indices[:, outer:] = self.cells.places(cells, offsets)[1]
        for mode, stored in enumerate(rows.columns.leaf_origins):
            indices[:, outer + mode] += stored if isinstance(stored, int) else stored[leaves]
        return indices

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
        return numbers, self.shape.ordinals(self.indices_at(offsets[numbers]))
