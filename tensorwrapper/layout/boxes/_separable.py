"""Separable layouts: a base plus one axis map per mode, over a box.

This is what rotation, repetition and gathers make of a strided layout. `from_axes` gives the strided form
back wherever all maps have collapsed to strides.
"""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.axes._axis import AxisMap, Stride
from tensorwrapper.layout.axes._tables import sum_table
from tensorwrapper.layout.boxes._batches import batches, indices_at_offsets, offsets_of_rows
from tensorwrapper.layout.boxes._common import (
    LayoutCommon,
    check_int64,
    check_region,
    first_index_at,
    new_table,
    search_injective,
    to_offset_array,
)
from tensorwrapper.layout.boxes._keys import parse_positional
from tensorwrapper.layout.boxes._strided import Strided, new_strided
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, to_index, to_permutation, wrap
from tensorwrapper.typing import Extents, Index, IntArray, PositionalKey


@final
@frozen
class Separable(LayoutCommon):
    """Base plus the sum over modes of ``axes[mode]`` at (index - origin), over a smooth shape."""

    shape: Shape[Any]
    base: int
    axes: tuple[AxisMap, ...]
    _injective: bool | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def offset(self) -> int:
        return self.base + sum([axis.at(0) for axis in self.axes]) if self.shape.size else self.base

    def bounds(self) -> tuple[int, int]:
        return self._sums([axis.bounds() for axis in self.axes])

    def reach(self) -> tuple[int, int]:
        return self._sums([axis.reach() for axis in self.axes])

    def _sums(self, ends: list[tuple[int, int]]) -> tuple[int, int]:
        if not self.shape.size:
            return 0, -1
        return self.base + sum([low for low, _ in ends]), self.base + sum([high for _, high in ends])

    @property
    def is_contiguous(self) -> bool:
        # Layouts that `from_axes` left here have a mode without a stride, so their elements are not
        # consecutive. The exception is a table that repeats what several strided modes could express, which
        # is not searched for.
        return not self.shape.size

    @property
    def is_injective(self) -> bool:
        injective = self._injective
        if injective is None:
            injective = self._find_injective()
            object.__setattr__(self, "_injective", injective)
        return injective

    def _find_injective(self) -> bool:
        if not self.shape.size:
            return True
        if not all(axis.is_injective for axis in self.axes):
            return False
        if _digits(self.axes) is not None:
            return True
        return search_injective(self, self.base)

    def repeated_mode(self) -> int | None:
        """Return the first mode that gives several elements one place by itself, if there is one."""
        return next((mode for mode, axis in enumerate(self.axes) if not axis.is_injective), None)

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        numbers, offset = to_index(index, len(self.axes)), self.base
        for i, start, axis in zip(numbers, self.shape.implementation.origin, self.axes, strict=True):
            place = i - start
            if not 0 <= place < axis.extent:
                raise OutOfBoundsError(f"index {numbers} is not in {self.shape}")
            offset += axis.at(place)
        return offset

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        check_int64(self, self.base)
        return offsets_of_rows(indices, self.shape, self.base, self.axes)

    def places_between(self, first: int, last: int) -> Iterator[IntArray] | None:
        if len(self.axes) != 1:
            return None
        check_int64(self, self.base)
        (axis,) = self.axes
        runs = (axis.run(first + run.start, first + run.stop) for run in batches(last - first))
        return (own + self.base for own in runs) if self.base else runs

    def index_of(self, offset: SupportsIndex) -> Index:
        return first_index_at(self, to_int(offset, "an offset"))

    def to_numpy(self) -> IntArray:
        if not self.shape.size:
            return new_table(self.shape.extents)
        check_int64(self, self.base)
        return sum_table(self.base, [axis.offsets() for axis in self.axes])

    def write_offsets(self, out: IntArray) -> None:
        if self.shape.size:
            check_int64(self, self.base)
            sum_table(self.base, [axis.offsets() for axis in self.axes], out)

    def at(self, key: PositionalKey, lead: Index = ()) -> "Strided | Separable":
        """Return the layout of a selection by a key; ``lead`` is the prefix of the box in errors."""
        base, mode = self.base, 0
        axes: list[AxisMap] = []
        for entry in parse_positional(key, self.shape.extents, lead):
            if entry is None:
                axes.append(Stride(1, 0))
                continue
            axis = self.axes[mode]
            mode += 1
            if isinstance(entry, int):
                base += axis.at(entry)
                continue
            more, part = axis.take(*entry)
            base += more
            axes.append(part)
        extents = tuple([axis.extent for axis in axes])
        return over_box(extents, (0,) * len(extents), base, tuple(axes))

    def window(self, region: Shape[Any]) -> "Strided | Separable":
        check_region(region, self.shape, "a box of the same rank inside it")
        inside = self.shape.slice(
            region.origin, [o + n for o, n in zip(region.origin, region.extents, strict=True)]
        )
        starts = [new - old for new, old in zip(region.origin, self.shape.origin, strict=True)]
        parts = [
            axis.take(start, 1, count)
            for axis, start, count in zip(self.axes, starts, region.extents, strict=True)
        ]
        return from_axes(inside, self.base + sum([more for more, _ in parts]), tuple([p for _, p in parts]))

    # Its rules.

    has_mode_maps = True

    def mode_maps(self, what: str) -> tuple[int, tuple[AxisMap, ...]]:  # noqa: ARG002 - nothing is refused
        return self.base, self.axes

    def expression(self) -> str:
        return f"<Layout of {self.shape!r}: {self.base} + {self.axes}>"

    # Other layouts of the same memory.

    def permute(self, order: Iterable[SupportsIndex]) -> "Strided | Separable":
        modes = to_permutation(order, len(self.axes))
        extents, origin = self.shape.extents, self.shape.origin
        parts = [(extents[m], origin[m], self.axes[m]) for m in modes]
        return over_box(
            tuple([n for n, _, _ in parts]),
            tuple([start for _, start, _ in parts]),
            self.base,
            tuple([axis for _, _, axis in parts]),
        )

    def reverse(self, modes: Iterable[int]) -> "Strided | Separable":
        chosen = set(modes)
        parts = [axis.reverse() if mode in chosen else (0, axis) for mode, axis in enumerate(self.axes)]
        base = self.base + sum([more for more, _ in parts]) if self.shape.size else self.base
        return over_box(self.shape.extents, self.shape.origin, base, tuple([axis for _, axis in parts]))

    def __reduce__(
        self,
    ) -> tuple[Callable[..., "Separable"], tuple[Shape[Any], int, tuple[AxisMap, ...]]]:
        # The cached result of `is_injective` is not pickled.
        return Separable, (self.shape, self.base, self.axes)


def from_axes(shape: Shape[Any], base: int, axes: tuple[AxisMap, ...]) -> "Strided | Separable":
    """Return the layout with these maps, strided if all of them are."""
    steps = _steps_of(axes)
    return Separable(shape, base, axes) if steps is None else Strided(shape, steps, base)


def over_box(extents: Extents, origin: Index, base: int, axes: tuple[AxisMap, ...]) -> "Strided | Separable":
    """Return the layout with these maps over a box, for which a strided one makes no shape yet."""
    steps = _steps_of(axes)
    if steps is not None:
        return new_strided(extents, origin, steps, base)
    return Separable(wrap(make_smooth(extents, origin)), base, axes)


def _steps_of(axes: tuple[AxisMap, ...]) -> Index | None:
    """Return the stride of each map if all are strides."""
    steps: list[int] = []
    for axis in axes:
        # The class is final, so its instances have that type, which is found faster than by isinstance.
        if type(axis) is not Stride:
            return None
        steps.append(axis.step)
    return tuple(steps)


def _digits(axes: Sequence[AxisMap]) -> list[int] | None:
    """Return the modes that move, widest to finest, if each steps over all that the finer ones reach.

    Then an offset splits into one offset per mode as a number splits into digits; None where modes
    interleave.
    """
    gaps = [axis.gap() for axis in axes]
    modes = [mode for mode, gap in enumerate(gaps) if gap]
    modes.sort(key=gaps.__getitem__)
    reach = 0
    for mode in modes:
        if gaps[mode] <= reach:
            return None
        low, high = axes[mode].bounds()
        reach += high - low
    return modes[::-1]


def indices_at(layout: LayoutCommon, offsets: npt.ArrayLike) -> IntArray:
    """Return the first absolute index whose element has each offset: an (..., rank) array.

    Memory besides the result is the sum of the extents of modes without a stride; O(rank * log extent) per
    offset.

    Raises
    ------
    OutOfBoundsError
        If no element has an offset.
    LayoutError
        If modes interleave, so that an offset does not split into positions.
    """
    _, axes = layout.mode_maps("indices_at")
    shape = layout.shape
    modes = _digits(axes)
    if modes is None:
        raise LayoutError(
            "modes of this layout interleave, so offsets do not split into indices; use index_of"
        )
    if not shape.size:
        given = to_offset_array(offsets)
        if given.size:
            raise OutOfBoundsError(f"no element of {shape} lies at offset {int(given.flat[0])}")
        return np.empty((*given.shape, shape.rank), dtype=np.int64)
    least, greatest = layout.bounds()
    if max(-least, greatest) > MAX_INT64:
        raise SizeOverflowError(f"offsets from {least} to {greatest} leave 64 bits; use index_of()")
    return indices_at_offsets(offsets, shape, (least, greatest), axes, modes)
