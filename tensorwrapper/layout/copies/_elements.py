"""Copies of single elements, each from a place that a table says, to where they follow one another."""

from collections.abc import Iterator
from typing import final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.copies._table import CopySteps, CopyTable, ElementRuns
from tensorwrapper.typing import IntArray

__all__ = ["ElementCopy", "element_copy"]

_ELEMENTS = 1 << 18  # elements at a time


@final
@frozen(eq=False)
class ElementCopy(CopySteps):
    """Element k goes from ``places[k]`` to ``goal + k``."""

    places: IntArray
    goal: int

    def elements(self) -> ElementRuns:
        for first in range(0, len(self.places), _ELEMENTS):
            yield self.places[first : first + _ELEMENTS], self.goal + first

    def tables(self) -> Iterator[CopyTable]:
        for places, goal in self.elements():
            starts = np.flatnonzero(np.append(True, np.diff(places) != 1))
            lengths = np.diff(starts, append=len(places))[:, np.newaxis]
            ones = np.ones_like(lengths)
            yield CopyTable(lengths, places[starts], ones, goal + starts, ones)


def element_copy(source: LayoutCommon, target: LayoutCommon) -> ElementCopy | None:
    """Return the copy from places of single elements to a jagged shape without gaps; None if it is none."""
    table = source.cell_table() if target.is_packed and source.cell_rank == 0 else None
    return None if table is None else ElementCopy(table[0], target.offset)
