"""The inverse of a layout for many offsets at once, most of which may have no element: for sparse tensors.

An offset splits into one offset per mode like a number into digits, from the widest mode to the finest;
offsets outside of a mode have no element and are dropped. A mode that repeats gives one offset several
positions. Overlapping modes have no digits, so the positions of the shortest ones are tried one by one.
Memory is that of the offsets, never of the layout.
"""

import math
from collections.abc import Sequence
from typing import Any, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different, run_between
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.layout.axes._axis import AxisMap, Cycle, Stride, Table
from tensorwrapper.layout.axes._positions import Spread, spread_of
from tensorwrapper.layout.boxes._common import LayoutCommon, TileView
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray

_BATCH = 1 << 18  # offsets and candidates looked at in one step, where each costs several


@final
@frozen(eq=False)
class InverseMap:
    """The elements of a layout at strictly ascending offsets.

    The layout may be any. O(rank) per offset, for cells at any offsets O(rank + log cells), and one sort if
    the order changes. Tile-major and composite layouts, and overlapping cells, are visited completely.
    """

    layout: LayoutCommon

    def elements(self, offsets: IntArray) -> tuple[IntArray, IntArray]:
        """Return every element at one of the offsets: which of them, and the ordinal of its index.

        Both ascend by ordinal, which counts in row-major order; offsets without an element are passed over.
        `SizeOverflowError` if ordinals do not fit into 64 bits.
        """
        layout = self.layout
        if layout.shape.size > MAX_INT64:
            raise SizeOverflowError(f"the elements of {layout.shape} cannot be counted in 64 bits")
        layout, run = layout.without_layers(), self.run(offsets)
        if run is not None:
            first, end = run
            return np.arange(first, end), offsets[first:end] - layout.offset
        if layout.has_mode_maps:
            return _ascending(*_find(layout, offsets).elements())
        view, box = layout.tiled, layout.padded_box
        if view is not None:
            numbers, ordinals = InverseMap(view.under).elements(offsets)
            return _ascending(numbers, _tiled_ordinals(layout.shape, view, ordinals))
        if box is not None:
            numbers, ordinals = InverseMap(box).elements(offsets)
            indices = box.shape.indices_at(ordinals)
            inside = layout.shape.contains(indices)
            return _ascending(numbers[inside], layout.shape.ordinals(indices[inside]))
        found = layout.locate(offsets)
        return _search_all(layout, offsets) if found is None else _ascending(*found)

    def has(self, offsets: IntArray) -> npt.NDArray[np.bool_]:
        """Return a mask of the offsets that have an element."""
        mask = np.zeros(len(offsets), dtype=np.bool_)
        run = self.run(offsets)
        if run is not None:
            mask[run[0] : run[1]] = True
            return mask
        under = _under(self.layout.without_layers())
        mask[_find(under, offsets).numbers if under.has_mode_maps else self.elements(offsets)[0]] = True
        return mask

    def count(self, offsets: IntArray) -> int:
        """Return the number of elements with these offsets, counting each index."""
        run = self.run(offsets)
        if run is not None:
            return run[1] - run[0]
        under = _under(self.layout.without_layers())
        if under.has_mode_maps:
            return _find(under, offsets).count()
        return len(self.elements(offsets)[0])

    def run(self, offsets: IntArray) -> tuple[int, int] | None:
        """Return the first and the end of the offsets with elements, if these lie one after the other.

        That is if the elements in row-major order have consecutive offsets; None otherwise.
        """
        layout = self.layout.without_layers()
        if not layout.shape.size:
            return 0, 0
        known = layout.mode_strides is not None or layout.is_packed
        if not known or not layout.is_contiguous:
            return None
        return run_between(offsets, *layout.bounds())


def _ascending(numbers: IntArray, ordinals: IntArray) -> tuple[IntArray, IntArray]:
    if (ordinals[1:] > ordinals[:-1]).all():
        return numbers, ordinals
    order = np.argsort(ordinals)
    return numbers[order], ordinals[order]


def _under(layout: LayoutCommon) -> LayoutCommon:
    view = layout.tiled
    return layout if view is None else view.under


def _tiled_ordinals(shape: Shape[Any], view: TileView, ordinals: IntArray) -> IntArray:
    """Return the ordinals in the tiled shape of elements with these ordinals in the box."""
    elements = view.under.shape.indices_at(ordinals)
    tiles = view.tiling.tiles_of(elements)
    columns = [
        tiles + np.array(view.grid_origin, dtype=np.int64),
        elements - np.stack([marks[tiles[:, mode]] for mode, marks in enumerate(view.tiling.marks)], axis=1),
    ]
    found: IntArray = shape.ordinals(np.concatenate(columns, axis=1))
    return found


def _search_all(layout: LayoutCommon, offsets: IntArray) -> tuple[IntArray, IntArray]:
    """Answer as `InverseMap.elements` does, for a layout without an inverse: by all of its offsets."""
    numbers, ordinals, start = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], 0
    if not len(offsets):
        return numbers[0], ordinals[0]
    for batch in layout.shape.indices().batches(_BATCH):
        places = layout.offsets_of(batch)
        near = np.minimum(np.searchsorted(offsets, places), len(offsets) - 1)
        hits = np.flatnonzero(offsets[near] == places)
        numbers.append(near[hits])
        ordinals.append(hits + start)
        start += len(places)
    return np.concatenate(numbers), np.concatenate(ordinals)


@final
@frozen(eq=False)
class _Mode:
    """One mode: its offsets lie at `low` and multiples of `unit` above, up to `span`; unit 0 if at one."""

    axis: AxisMap
    weight: int
    low: int
    span: int
    unit: int


def _modes_of(axes: Sequence[AxisMap]) -> list[_Mode]:
    """Return the modes with several positions; `weight` is how many elements one position stands for."""
    weight = math.prod([axis.extent for axis in axes])
    modes: list[_Mode] = []
    for axis in axes:
        weight //= axis.extent
        if axis.extent > 1:
            low, high = axis.bounds()
            modes.append(_Mode(axis, weight, low, high - low, _unit_of(axis) if high > low else 0))
    return modes


def _unit_of(axis: AxisMap) -> int:
    """Return a number that all distances between different offsets of a mode are at least."""
    if isinstance(axis, Stride):
        return abs(axis.step)
    if isinstance(axis, Cycle):
        # Its places are congruent modulo this divisor; the exact gap could cost a table of all positions.
        even = axis.divisor == 1 and axis.modulus is not None
        return abs(axis.step) * (math.gcd(axis.increment, axis.modulus or 0) if even else 1)
    return axis.gap()


def _separate(modes: Sequence[_Mode]) -> tuple[list[_Mode], list[_Mode]]:
    """Return the modes whose offsets split like digits, widest first, and those that reach into them."""
    fine: list[_Mode] = []
    crossing: list[_Mode] = []
    for mode in sorted(modes, key=lambda mode: mode.unit):
        while fine and mode.unit <= sum([finer.span for finer in fine]):
            shortest = min([*fine, mode], key=lambda mode: mode.axis.extent)
            crossing.append(shortest)
            if shortest is mode:
                break
            fine.remove(shortest)
        else:
            fine.append(mode)
    return fine[::-1], crossing


@final
@frozen(eq=False)
class _Found:
    """Offsets with elements: which (possibly several times), the ordinal of their first digits, the rest."""

    numbers: IntArray
    ordinals: IntArray
    spreads: tuple[tuple[Spread, int], ...]

    def count(self) -> int:
        if not self.spreads:
            return len(self.numbers)
        totals = [spread.totals() for spread, _ in self.spreads]
        bound = len(self.numbers) * math.prod([int(total.max(initial=0)) for total in totals])
        wide = bound > MAX_INT64
        product: npt.NDArray[Any] = np.ones(len(self.numbers), dtype=np.object_ if wide else np.int64)
        for total in totals:
            product = product * total
        return int(product.sum())

    def elements(self) -> tuple[IntArray, IntArray]:
        numbers, ordinals = self.numbers, self.ordinals
        rows = np.arange(len(numbers))
        for spread, weight in self.spreads:
            again, places = spread.positions(rows)
            rows, ordinals = rows[again], ordinals[again] + places * weight
        return (numbers[rows] if self.spreads else numbers), ordinals


def _find(layout: LayoutCommon, offsets: IntArray) -> _Found:
    """Return the offsets at which a layout over a box, which has elements, has some."""
    _, axes = layout.mode_maps("the inverse")
    modes = _modes_of(axes)
    single = [mode for mode in modes if not mode.unit]
    digits, crossing = _separate([mode for mode in modes if mode.unit])
    least, greatest = layout.bounds()
    first, end = run_between(offsets, least, greatest)
    # Which offset, what is left of it, the ordinal so far; then the offset of each mode that is not a stride.
    columns: list[IntArray] = [np.arange(first, end), offsets[first:end] - least]
    columns.append(np.zeros(len(columns[0]), dtype=np.int64))
    if crossing:
        columns = _tried(columns, crossing, greatest - least)
    others: list[_Mode] = []
    for mode in digits:
        keep = _take_digit(columns, mode)
        if not isinstance(mode.axis, Stride):
            others.append(mode)
        if not keep.all():
            columns = [column[keep] for column in columns]
    keep = columns[1] == 0
    if not keep.all():
        columns = [column[keep] for column in columns]
    numbers, _, ordinals, *values = columns
    values += [np.full(len(numbers), mode.low, dtype=np.int64) for mode in single]
    spreads = [spread_of(mode.axis, value) for mode, value in zip([*others, *single], values, strict=True)]
    weights = [mode.weight for mode in (*others, *single)]
    keep = np.ones(len(numbers), dtype=np.bool_)
    for spread in spreads:
        keep &= spread.totals() > 0
    if not keep.all():
        numbers, ordinals, spreads = numbers[keep], ordinals[keep], [spread.only(keep) for spread in spreads]
    return _Found(numbers, ordinals, tuple(zip(spreads, weights, strict=True)))


def _take_digit(columns: list[IntArray], mode: _Mode) -> npt.NDArray[np.bool_]:
    """Take the offset of one mode off what is left, in place; tell where there may be such an offset."""
    _, rest, ordinals, *_ = columns
    axis = mode.axis
    if isinstance(axis, Table):
        values = different(axis.values) - mode.low
        near = values[np.searchsorted(values, rest, side="right") - 1]
        rest -= near
        columns.append(near + mode.low)
        return np.ones(len(rest), dtype=np.bool_)
    places = rest // mode.unit if mode.unit > 1 else rest.copy()
    rest -= places * mode.unit if mode.unit > 1 else places
    keep = places <= mode.span // mode.unit
    if isinstance(axis, Stride):
        if axis.step < 0:
            np.subtract(axis.extent - 1, places, out=places)
        places *= mode.weight
        ordinals += places
    else:
        places *= mode.unit
        places += mode.low
        columns.append(places)
    return keep


def _tried(columns: list[IntArray], crossing: Sequence[_Mode], span: int) -> list[IntArray]:
    """Return the columns with every offset combined with every position of the crossing modes."""
    steps = ordinals = np.zeros(1, dtype=np.int64)
    for mode in crossing:
        positions = np.arange(mode.axis.extent, dtype=np.int64)
        steps = np.add.outer(steps, mode.axis.offsets_at(positions) - mode.low).reshape(-1)
        ordinals = np.add.outer(ordinals, positions * mode.weight).reshape(-1)
    left = span - sum([mode.span for mode in crossing])
    found: list[list[IntArray]] = [[column[:0]] for column in columns]
    rows = max(_BATCH // len(steps), 1)
    for start in range(0, len(columns[0]), rows):
        numbers, given, _ = [column[start : start + rows] for column in columns]
        rest = np.subtract.outer(given, steps)
        row, step = np.nonzero((rest >= 0) & (rest <= left))
        for parts, part in zip(found, (numbers[row], rest[row, step], ordinals[step]), strict=True):
            parts.append(part)
    return [np.concatenate(parts) for parts in found]
