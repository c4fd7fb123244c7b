"""Methods of all layouts of cells that use their tables; they differ in how they make one."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import SupportsIndex

import numpy.typing as npt

from tensorwrapper.layout.boxes._common import LayoutCommon, ModeOperation
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.typing import Index, IntArray


class CellLayout(LayoutCommon, ABC):
    """Abstract: `as_blocked`, and the primitives of `LayoutCommon`.

    A layout of a jagged shape, whose cells are strided.
    """

    __slots__ = ()

    @abstractmethod
    def as_blocked(self) -> LayoutCommon:
        """Return the same layout as a table of cells, which answers all that follows by itself; O(cells)."""

    def cell_table(self) -> tuple[IntArray, IntArray] | None:
        return self.as_blocked().cell_table()

    @property
    def cell_rank(self) -> int:
        return rows_of(self.shape).columns.leaf_rank

    def cell(self, number: int) -> LayoutCommon:
        return self.as_blocked().cell(number)

    def indices_of(self, offset: int, limit: int) -> list[Index]:
        return [self.index_of(offset)] if self.is_injective else self.as_blocked().indices_of(offset, limit)

    def indices_at(self, offsets: IntArray) -> IntArray:
        return self.as_blocked().indices_at(offsets)

    def permute(self, order: Iterable[SupportsIndex]) -> LayoutCommon:
        return self.as_blocked().permute(order)

    def reverse(self, modes: Iterable[int]) -> LayoutCommon:
        return self.as_blocked().reverse(modes)

    def gather(self, mode: SupportsIndex, positions: npt.ArrayLike) -> LayoutCommon:
        return self.as_blocked().gather(mode, positions)

    def change(self, operation: ModeOperation) -> LayoutCommon:
        return operation.of_maps(self) if operation.of_cells is None else operation.of_cells(self)
