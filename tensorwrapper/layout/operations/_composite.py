"""Composite layouts: one layout after the other, exact where no single one is."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from operator import mul
from typing import Any, SupportsIndex, TypeAlias, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LayoutError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.layout.axes._values import too_many
from tensorwrapper.layout.boxes._common import (
    AlgebraParts,
    LayoutCommon,
    no_element,
)
from tensorwrapper.layout.boxes._hierarchical import Hierarchical, ordinal_expression
from tensorwrapper.layout.boxes._hierarchy import IntTree, OrdinalOrder, layout_text
from tensorwrapper.layout.boxes._orders import fastest_first
from tensorwrapper.layout.boxes._strided import Strided, packed_strides
from tensorwrapper.layout.boxes._swizzle import Swizzle
from tensorwrapper.layout.operations._addresses import bounds_of_batches, search_contiguous
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Index, IntArray, PositionalKey

Stage: TypeAlias = Hierarchical | Swizzle
"""A function from integers to integers: a layout, taken at ordinals, or a swizzle."""

_BATCH = 1 << 18
_LOOKED_AT = 1 << 28  # elements up to which bounds and order are found by looking at all of them
_SEARCHED = 1 << 20  # as for strided layouts: more elements are not searched for overlaps, or at one place


@final
@frozen
class Composite(LayoutCommon):
    """First the layout `inner`, then the stages from the last to the first.

    The offset that one gives is the ordinal at which the next is taken. Its shape is that of `inner`.
    """

    stages: tuple[Stage, ...]
    inner: Hierarchical
    _bounds: tuple[int, int] | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def order(self) -> OrdinalOrder:
        """Order of the ordinals of all its layouts."""
        return self.inner.order

    @property
    def shape(self) -> Shape[Any]:
        return self.inner.shape

    @property
    def offset(self) -> int:
        return self._after(self.inner.offset) if self.inner.size else 0

    def _after(self, place: int) -> int:
        for stage in reversed(self.stages):
            place = stage(place) if isinstance(stage, Swizzle) else stage.offset_of_ordinal(place)
        return place

    def _all_after(self, places: IntArray) -> IntArray:
        for stage in reversed(self.stages):
            if isinstance(stage, Swizzle):
                places = stage.apply(places)
                continue
            least, greatest = stage.bounds()
            if max(-least, greatest, stage.size) > MAX_INT64:
                raise SizeOverflowError(
                    f"{stage.size} offsets from {least} to {greatest} leave 64 bits; use offset_of()"
                )
            places = stage.offsets_at(places)
        return places

    def _batches(self) -> Iterator[IntArray]:
        """Return all offsets in row-major order, a batch at a time."""
        size = self.inner.size
        flat = self.inner.flat
        row_major = Hierarchical(flat.shape.extents, flat.strides, flat.offset, "lex")
        least, greatest = flat.bounds()
        if max(size, greatest, -least) > MAX_INT64:
            raise SizeOverflowError(f"{size} offsets from {least} to {greatest} leave 64 bits")
        for start in range(0, size, _BATCH):
            ordinals = np.arange(start, min(start + _BATCH, size), dtype=np.int64)
            yield self._all_after(row_major.offsets_at(ordinals))

    def bounds(self) -> tuple[int, int]:
        bounds = self._bounds
        if bounds is None:
            bounds = self._whole_periods()
            if bounds is None:
                size = self.inner.size
                if size > _LOOKED_AT:
                    raise SizeOverflowError(
                        f"{size} offsets would be looked at one by one; {_LOOKED_AT} are the most"
                    )
                # Nothing less than looking at all of them is exact.
                bounds = bounds_of_batches(self._batches())
            object.__setattr__(self, "_bounds", bounds)
        return bounds

    def _whole_periods(self) -> tuple[int, int] | None:
        """Return the bounds of offsets that swizzles keep within their periods; None if they exceed them."""
        size = self.inner.size
        if not size or not self.inner.is_injective:
            return None
        least, greatest = self.inner.bounds()
        periods = [stage.period for stage in self.stages if isinstance(stage, Swizzle)]
        is_full = len(periods) == len(self.stages) and greatest - least + 1 == size
        return (least, greatest) if is_full and not any(least % n or size % n for n in periods) else None

    @property
    def is_contiguous(self) -> bool:
        return search_contiguous(self, self._batches())

    @property
    def is_injective(self) -> bool:
        if self.inner.is_injective and all(_is_injective(stage) for stage in self.stages):
            return True
        size = self.inner.size
        return size <= _SEARCHED and len(different(self.to_numpy())) == size

    def moved_to(self, shape: Shape[Any]) -> "Composite":
        return attrs.evolve(self, inner=self.inner.moved_to(shape))

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        return self._after(self.inner.offset_of(index))

    def offset_of_ordinal(self, ordinal: object) -> int:
        """Return the offset at an ordinal, or a tuple with one ordinal per mode of `mode_tree`."""
        return self._after(self.inner.offset_of_ordinal(ordinal))

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        return self._all_after(self.inner.offsets_of(indices))

    @property
    def is_composite(self) -> bool:
        return True

    @property
    def has_ordinals(self) -> bool:
        return True

    @property
    def ordinal_order(self) -> OrdinalOrder:
        return self.order

    @property
    def mode_tree(self) -> IntTree:
        return self.inner.extents

    def algebra_parts(self) -> AlgebraParts | None:
        inner = self.inner
        if inner.origin is not None:
            return None
        return inner.extents, inner.nested_strides, inner.offset, inner.order, self.stages

    def text(self) -> str | None:
        if self.inner.origin is not None:
            return None
        text = _stage_text(self.stages[0])
        for stage in (*self.stages[1:], self.inner):
            offset = 0 if isinstance(stage, Swizzle) else stage.offset
            text += f" o {offset} o {_stage_text(stage, with_offset=False)}"
        return text

    def expression(self) -> str:
        return ordinal_expression(self)

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        found: list[Index] = []
        for place in self._before(wanted, _SEARCHED):
            with suppress(OutOfBoundsError):
                found.append(self.inner.index_of(place))
        if not found:
            raise no_element(self.shape, wanted)
        return min(found)

    def indices_of(self, offset: int, limit: int) -> list[Index]:
        found: list[Index] = []
        for place in self._before(offset, limit):
            with suppress(OutOfBoundsError):
                found += self.inner.indices_of(place, limit)
            if len(found) > limit:
                raise too_many(limit)
        if not found:
            raise no_element(self.shape, offset)
        return sorted(found)

    def _before(self, offset: int, limit: int) -> list[int]:
        """Return the offsets of `inner` that the stages take to one offset."""
        places = [offset]
        for stage in self.stages:
            if isinstance(stage, Swizzle):
                # It is its own inverse.
                places = [stage(place) for place in places if place >= 0]
                continue
            found: list[int] = []
            for place in places:
                with suppress(OutOfBoundsError):
                    found += [_ordinal_of(stage, index) for index in stage.indices_of(place, limit)]
                if len(found) > limit:
                    raise too_many(limit)
            places = found
        return places

    def to_numpy(self) -> IntArray:
        return self._all_after(self.inner.to_numpy())

    def by_ordinal(self) -> IntArray:
        """Return the offsets of all elements in the layout's own order, in one dimension."""
        return self._all_after(self.inner.by_ordinal())

    def at(self, key: PositionalKey) -> "Composite":
        return Composite(self.stages, as_inner(self.inner.flat.at(key), self.order))

    def window(self, region: Shape[Any]) -> "Composite":
        return Composite(self.stages, as_inner(self.inner.flat.window(region), self.order))

    def __reduce__(self) -> tuple[Callable[..., "Composite"], tuple[tuple[Stage, ...], Hierarchical]]:
        # The bounds, which are remembered, stay behind.
        return Composite, (self.stages, self.inner)


def _ordinal_of(stage: Hierarchical, index: Index) -> int:
    modes = fastest_first("C" if stage.order == "lex" else "F", len(index))
    return sum(map(mul, index, packed_strides(stage.flat.extents, modes)))


def _stage_text(stage: Stage, *, with_offset: bool = True) -> str:
    if isinstance(stage, Swizzle):
        return str(stage)
    return layout_text(stage.extents, stage.nested_strides, stage.offset if with_offset else 0)


def as_inner(strided: Strided, order: OrdinalOrder) -> Hierarchical:
    """Return a strided layout as the part of a composite that is taken first."""
    shape = strided.shape
    origin = shape.origin if any(shape.origin) else None
    return Hierarchical(shape.extents, strided.strides, strided.offset, order, origin)


def make_composite(stages: tuple[Stage, ...], inner: Hierarchical) -> Composite:
    """Return first `inner`, then the stages from the last to the first.

    Raises
    ------
    LayoutError
        If a stage is given an integer at which it has no value.
    """
    if inner.size:
        within = inner.bounds()
        for place in range(len(stages) - 1, -1, -1):
            if not _takes(stages[place], within) and place < len(stages) - 1:
                # The bounds of a stage are those of all its values; the reached ones may be fewer.
                within = Composite(stages[place + 1 :], inner).bounds()
            _check_takes(stages[place], within)
            within = _image_bounds(stages[place], within)
    return Composite(stages, inner)


def _takes(stage: Stage, within: tuple[int, int]) -> bool:
    return within[0] >= 0 and (isinstance(stage, Swizzle) or within[1] < stage.size)


def _check_takes(stage: Stage, within: tuple[int, int]) -> None:
    if not _takes(stage, within):
        domain = "0 on" if isinstance(stage, Swizzle) else f"0 to {stage.size - 1}"
        raise LayoutError(
            f"the inner layout reaches from {within[0]} to {within[1]}, outside the ordinals of the outer "
            f"one, which go from {domain}"
        )


def _image_bounds(stage: Stage, within: tuple[int, int]) -> tuple[int, int]:
    """Return bounds of the values of a stage for integers within bounds; not always the tightest."""
    if isinstance(stage, Swizzle):
        return 0, within[1] // stage.period * stage.period + stage.period - 1
    return stage.bounds()


def _is_injective(stage: Stage) -> bool:
    return isinstance(stage, Swizzle) or stage.is_injective
