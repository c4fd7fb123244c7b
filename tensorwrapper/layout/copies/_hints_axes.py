"""What layouts say about memory that are no tables of cells: by their axis maps, by rule, or by looking."""

import math
from collections.abc import Sequence
from typing import Any, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.layout.axes._axis import AxisMap
from tensorwrapper.layout.boxes._common import LayoutCommon, fits_int64
from tensorwrapper.layout.cells._padded import contiguous
from tensorwrapper.layout.copies._hints_cells import BlockFacts, MemoryFacts, cell_facts
from tensorwrapper.typing import Index

__all__ = ["facts_of"]

_SEARCHED = 1 << 20  # elements up to which a layout that no rule describes is looked at

_Numbers: TypeAlias = npt.NDArray[Any]


@final
@attrs.frozen(eq=False)
class _AxisFacts(MemoryFacts):
    """Axis maps: what a mode adds to an offset depends on that mode alone. O(sum of extents)."""

    layout: LayoutCommon
    base: int
    axes: tuple[AxisMap, ...]

    def order(self) -> Index:
        axes = self.axes
        return tuple(sorted(range(len(axes)), key=lambda mode: (axes[mode].gap(), -mode)))

    def row_runs(self) -> int:
        """As of strides: mode m goes on by one where all later modes go back from their end."""
        extents: Index = self.layout.shape.extents
        joints, reach = 0, 0
        for mode in range(len(extents) - 1, -1, -1):
            offsets = self.axes[mode].offsets()
            joints += math.prod(extents[:mode]) * int(np.count_nonzero(np.diff(offsets) == reach + 1))
            reach += int(offsets[-1]) - int(offsets[0])
        return math.prod(extents) - joints

    def blocks(self, modes: int) -> BlockFacts:
        extents, base = self.layout.shape.extents, self.base
        values = [_distinct(axis) for axis in self.axes]
        starts = [base + sum([int(own[0]) for own in values])]
        starts += [int(np.gcd.reduce(own - own[0])) for own in values[:modes]]
        gaps = sorted([np.diff(own) for own in values[modes:] if len(own) > 1], key=lambda own: own.min())
        runs, reach = 1, 0
        for own in gaps:
            runs = runs * (len(own) + 1) - int(np.count_nonzero(own == reach + 1))
            reach += int(own.sum())
        size = math.prod(extents[modes:])
        if runs > 1 and reach + 1 == size and self.layout.is_injective:
            # Modes that interleave may fill a run together.
            runs = 1
        count = math.prod(extents[:modes])
        return BlockFacts(count, size, size, count * runs, math.gcd(*starts))


def _distinct(axis: AxisMap) -> _Numbers:
    values: Sequence[int] = axis.distinct()
    wide = max(abs(values[0]), abs(values[-1])) > MAX_INT64 // 2
    return np.array(values, dtype=object if wide else np.int64)


@final
@attrs.frozen(eq=False)
class _PackedFacts(MemoryFacts):
    """Packed layouts: all lies in row-major order, so that the whole and single elements need no table."""

    layout: LayoutCommon

    def order(self) -> Index:
        return tuple(range(self.layout.shape.rank - 1, -1, -1))

    def row_runs(self) -> int:
        return 1

    def blocks(self, modes: int) -> BlockFacts:
        size, start = self.layout.shape.size, abs(self.layout.offset)
        if not modes:
            return BlockFacts(1, size, size, 1, start)
        if modes == self.layout.shape.rank:
            return BlockFacts(size, 1, 1, size, 1 if size > 1 else start)
        facts = cell_facts(self.layout)
        return facts.blocks(modes) if facts is not None else _SearchedFacts(self.layout).blocks(modes)


@final
@attrs.frozen(eq=False)
class _SearchedFacts(MemoryFacts):
    """Layouts that no rule describes are looked at; of one too large for that, the safe side is said.

    That is: every element is a run of its own, and starts anywhere.
    """

    layout: LayoutCommon

    def order(self) -> Index:
        return self.layout.inner_order or tuple(range(self.layout.shape.rank - 1, -1, -1))

    @property
    def _is_searched(self) -> bool:
        return self.layout.shape.size <= _SEARCHED and fits_int64(self.layout, 0)

    def row_runs(self) -> int:
        if not self._is_searched:
            return self.layout.shape.size
        return 1 + int(np.count_nonzero(np.diff(self.layout.to_numpy().ravel()) != 1))

    def blocks(self, modes: int) -> BlockFacts:
        shape = self.layout.shape
        if not modes and self.layout.tiles is not None and self.layout.span == shape.size:
            return BlockFacts(1, shape.size, shape.size, 1, abs(self.layout.bounds()[0]))
        if not self._is_searched:
            # Sizes are those of any layout of the shape.
            sized = facts_of(contiguous(shape, 0)).blocks(modes)
            return attrs.evolve(sized, runs=shape.size, alignment=1)
        offsets = self.layout.to_numpy().ravel()
        prefixes = shape.indices().to_numpy()[:, :modes]
        changes = np.append([True], (prefixes[1:] != prefixes[:-1]).any(axis=1))
        group, marks = np.cumsum(changes), np.flatnonzero(changes)
        lying = offsets[np.lexsort((offsets, group))]
        joined = (np.diff(lying) <= 1) & ~changes[1:]
        sizes = np.diff(marks, append=len(offsets))
        starts = lying[marks]
        return BlockFacts(
            len(marks),
            int(sizes.min()),
            int(sizes.max()),
            len(offsets) - int(np.count_nonzero(joined)),
            int(np.gcd.reduce(starts)),
        )


def facts_of(layout: LayoutCommon) -> MemoryFacts:
    """Return what can be said of a layout without layers that has elements."""
    layout = layout.as_strided() or layout
    if layout.is_packed:
        return _PackedFacts(layout)
    if layout.has_mode_maps and layout.mode_strides is None:
        return _AxisFacts(layout, *layout.mode_maps("hints"))
    return cell_facts(layout) or _SearchedFacts(layout)
