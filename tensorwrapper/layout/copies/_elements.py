"""Copies of single elements to where they follow one another: from places of a table, or of short rows."""

from collections.abc import Callable, Iterator
from typing import final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.cells._row_layout import Lists
from tensorwrapper.layout.copies._table import CopySteps, CopyTable, ElementRuns
from tensorwrapper.typing import IntArray

_ELEMENTS = 1 << 18  # elements at a time
_SHORT = 32  # elements of a row, on average, up to which a table of all places is faster than row by row


@final
@frozen(eq=False)
class ElementCopy(CopySteps):
    """Element k goes from ``places[k]`` to ``goal + k``."""

    places: IntArray
    goal: int

    def elements(self) -> ElementRuns:
        for first in range(0, len(self.places), _ELEMENTS):
            yield self.places[first : first + _ELEMENTS], self.goal + first

    def blocks(self) -> Iterator[CopyTable]:
        for places, goal in self.elements():
            starts = np.flatnonzero(np.append(True, np.diff(places) != 1))
            lengths = np.diff(starts, append=len(places))[:, np.newaxis]
            ones = np.ones_like(lengths)
            yield CopyTable(lengths, places[starts], ones, goal + starts, ones)


@final
@frozen(eq=False)
class ListCopy(CopySteps):
    """Elements of rows, most of them short, go one after the other from `goal` on."""

    lists: Lists
    goal: int
    cells: Callable[[], CopySteps]
    """The same, row by row, to compute the cost."""
    source_reach: tuple[int, int] | None

    def elements(self) -> ElementRuns:
        goal = self.goal
        for places in self.lists.batches():
            yield places, goal
            goal += len(places)

    def runs(self) -> tuple[IntArray, IntArray, int] | None:
        lists = self.lists
        return (lists.starts, lists.splits, self.goal - lists.splits.item(0)) if lists.step == 1 else None

    def blocks(self) -> Iterator[CopyTable]:
        return self.cells().blocks()


def list_copy(source: LayoutCommon, target: LayoutCommon, cells: Callable[[], CopySteps]) -> ListCopy | None:
    """Return the copy of short rows with one step to a jagged shape without gaps, or None."""
    table = source.list_table() if target.is_packed else None
    if table is None or source.shape.size > _SHORT * len(table[1]):
        return None
    return ListCopy(Lists(*table), target.offset, cells, source.reach())


def element_copy(source: LayoutCommon, target: LayoutCommon) -> ElementCopy | None:
    """Return the copy of single elements to a jagged shape without gaps, or None."""
    table = source.cell_table() if target.is_packed and source.cell_rank == 0 else None
    return None if table is None else ElementCopy(table[0], target.offset)
