"""Memory of layouts without tables of cells: by their axis maps, by rule, or by a search."""

import itertools
import math
from collections import Counter
from typing import final

import attrs
import numpy as np

from tensorwrapper._arrays import different
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride
from tensorwrapper.layout.axes._sums import Listing, Progression
from tensorwrapper.layout.axes._values import numbers_of, tracks_of
from tensorwrapper.layout.boxes._common import LayoutCommon, fits_int64
from tensorwrapper.layout.cells._padded import contiguous
from tensorwrapper.layout.copies._hints_cells import BlockFacts, MemoryFacts, cell_facts
from tensorwrapper.typing import Index, IntArray

_TRACKS = 64  # maximal number of stretches of a cycle that are compared
_SEARCHED = 1 << 20  # maximal number of elements of a layout without a rule that is searched


@final
@frozen(eq=False)
class _AxisFacts(MemoryFacts):
    """Axis maps: what a mode adds to an offset depends on that mode alone.

    O(rank) for strides and cycles, O(extent) for tables.
    """

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
            axis = self.axes[mode]
            joints += math.prod(extents[:mode]) * _steps_by(axis, reach + 1)
            reach += axis.at(axis.extent - 1) - axis.at(0)
        return math.prod(extents) - joints

    def blocks(self, modes: int) -> BlockFacts:
        extents, base = self.layout.shape.extents, self.base
        values = [_values_of(axis) for axis in self.axes]
        starts = [base + sum([axis.bounds()[0] for axis in self.axes])]
        starts += [own.divisor for own in values[:modes]]
        runs, reach = 1, 0
        for own in sorted(values[modes:], key=lambda own: own.gap):
            runs = runs * own.count - own.joints(reach + 1)
            reach += own.span
        size = math.prod(extents[modes:])
        if runs > 1 and reach + 1 == size and self.layout.is_injective:
            # Modes that interleave may fill a run together.
            runs = 1
        count = math.prod(extents[:modes])
        return BlockFacts(count, size, size, count * runs, math.gcd(*starts))


def _steps_by(axis: AxisMap, gap: int) -> int:
    """Return the number of positions to the next offset at this distance; a lower bound for long cycles."""
    if isinstance(axis, Stride):
        return axis.extent - 1 if axis.step == gap else 0
    if isinstance(axis, Cycle):
        last = axis.start + axis.increment * (axis.extent - 1)
        low, high, modulus, hold = min(axis.start, last), max(axis.start, last), axis.modulus, axis.divisor
        down = -1 if axis.increment < 0 else 1
        # How often the place goes on by how much; otherwise it stays.
        moves: list[tuple[int, int]] = []
        if modulus is None and abs(axis.increment) <= hold:
            moves = [(high // hold - low // hold, down)]
        elif (
            modulus is not None and (hold == 1 or abs(axis.increment) == 1) and abs(axis.increment) < modulus
        ):
            wraps, top = high // modulus - low // modulus, (modulus - 1) // hold
            if hold == 1:
                moves = [(axis.extent - 1 - wraps, axis.increment), (wraps, axis.increment - down * modulus)]
            else:
                # Of each round all holds but the first begin within it.
                ends = [end // modulus * top + end % modulus // hold for end in (low, high)]
                moves = [(ends[1] - ends[0], down), (wraps, -down * top)]
        if moves:
            moves.append((axis.extent - 1 - sum([count for count, _ in moves]), 0))
            return sum([count for count, move in moves if move * axis.step == gap])
        if axis.extent > _SEARCHED:
            return 0
    return int(np.count_nonzero(np.diff(axis.offsets()) == gap))


@final
@frozen(eq=False)
class _Values:
    """The different offsets of a mode: how many, how far from first to last, and between neighbours."""

    count: int
    span: int
    gap: int
    divisor: int
    gaps: dict[int, int] = attrs.Factory(dict[int, int])
    """How often two neighbours lie so far apart; not all, of long cycles."""

    def joints(self, gap: int) -> int:
        """Return how many neighbours lie so far apart."""
        return self.gaps.get(gap, 0)


def _values_of(axis: AxisMap) -> _Values:
    numbers = numbers_of(axis)
    if numbers is None:
        return _Values(1, 0, 0, 0)
    if isinstance(numbers, Progression):
        return _Values(
            numbers.count, numbers.span, numbers.step, numbers.step, {numbers.step: numbers.count - 1}
        )
    if isinstance(numbers, Listing):
        return _listed(numbers.values)
    parts = list(itertools.islice(tracks_of(axis, *axis.bounds()), _TRACKS + 1))
    unit = numbers.divisor
    if len(parts) > _TRACKS or any(abs(part.step) != unit for part in parts if len(part[:2]) > 1):
        if axis.extent <= _SEARCHED and _fits(axis):
            return _listed(different(axis.offsets()))
        return _Values(axis.extent, numbers.span, unit, unit)
    # A cycle that wraps only once or twice is a few stretches, which may overlap.
    ends = sorted([(min(part[0], part[-1]), max(part[0], part[-1])) for part in parts])
    gaps: Counter[int] = Counter()
    count, last = 0, ends[0][0] - unit
    for low, high in ends:
        if high > last:
            first = max(low, last + unit)
            if count:
                gaps[first - last] += 1
            gaps[unit] += (high - first) // unit
            count += (high - first) // unit + 1
            last = high
    return _Values(count, numbers.span, min(gap for gap in gaps if gaps[gap]), math.gcd(*gaps), dict(gaps))


def _listed(values: IntArray) -> _Values:
    # Neighbours are less than 2**64 apart, which unsigned numbers hold.
    sizes, counts = np.unique(np.diff(values).view(np.uint64), return_counts=True)
    gaps = dict(zip(sizes.tolist(), counts.tolist(), strict=True))
    span = int(values[-1]) - int(values[0])
    return _Values(len(values), span, min(gaps, default=0), math.gcd(*gaps), gaps)


def _fits(axis: AxisMap) -> bool:
    low, high = axis.bounds()
    return max(-low, high) <= MAX_INT64


@final
@frozen(eq=False)
class _PackedFacts(MemoryFacts):
    """Packed layouts: all elements are in row-major order, so the whole and single elements need no table."""

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
@frozen(eq=False)
class _SearchedFacts(MemoryFacts):
    """Layouts without a rule are searched; large ones get the safe answer.

    The safe answer is that every element is a separate run, and starts anywhere.
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
    """Return the properties of a nonempty layout without layers."""
    layout = layout.as_strided() or layout
    if layout.is_packed:
        return _PackedFacts(layout)
    if layout.has_mode_maps and layout.mode_strides is None:
        return _AxisFacts(layout, *layout.mode_maps("hints"))
    return cell_facts(layout) or _SearchedFacts(layout)
