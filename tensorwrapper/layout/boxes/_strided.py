"""Strided layouts: one step per mode."""

# The field of a frozen class implements an abstract property of the same name.
# pyright: reportIncompatibleMethodOverride=false

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, SupportsIndex, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shared_table
from tensorwrapper._integers import to_int
from tensorwrapper._progressions import bounds_of, split_digits
from tensorwrapper._value_class import slot_setters, value_class
from tensorwrapper.errors import OutOfBoundsError
from tensorwrapper.layout.axes._axis import AxisMap, Stride
from tensorwrapper.layout.axes._tables import fill_box
from tensorwrapper.layout.boxes._arithmetic_index import even_positions
from tensorwrapper.layout.boxes._batches import offsets_of_rows
from tensorwrapper.layout.boxes._common import (
    AlgebraParts,
    LayoutCommon,
    StridedBox,
    check_int64,
    check_region,
    first_index_at,
    new_table,
    no_element,
    search_injective,
)
from tensorwrapper.layout.boxes._hierarchy import layout_text, leaf_index, ordinal_offset
from tensorwrapper.layout.boxes._keys import parse_positional, warn_of_indices
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import make_smooth, to_index, to_permutation, wrap
from tensorwrapper.typing import Extents, Index, IntArray, PositionalKey

_Step: TypeAlias = tuple[int, int, int]
"""The first index of a mode, the one behind its last, and its stride."""


def packed_strides(extents: Extents, order: Iterable[int]) -> Index:
    """Return the strides without gaps where ``order[k]`` is the k-th fastest mode."""
    strides = [0] * len(extents)
    step = 1
    for mode in order:
        strides[mode] = step
        step *= extents[mode]
    return tuple(strides)


def row_major(shape: Shape[Any], offset: int) -> "Strided":
    """Return the layout of a box without gaps, in row-major order."""
    box = shape.implementation
    extents = box.extents
    strides: list[int] = []
    step = 1
    for extent in reversed(extents):
        strides.append(step)
        step *= extent
    layout = new_strided(extents, box.origin, tuple(reversed(strides)), offset, injective=True)
    _set_shape(layout, shape)
    return layout


@final
@value_class(repr=False, getstate_setstate=False)
class Strided(LayoutCommon):
    """Offset plus the sum of (index - origin) * stride, over a smooth shape.

    It holds the numbers of its box. The shape is made on first access, because most layouts are only
    intermediate.

    Parameters
    ----------
    shape
        The box.
    strides
        One step per mode.
    offset
        The offset of the element at the origin.
    """

    extents: Extents
    origin: Index
    strides: Index
    offset: int
    # Computed on first access, and not initialized before, which would slow down each slice. Never pickled.
    _shape: Shape[Any] = attrs.field(eq=False, init=False)
    _steps: tuple[int, tuple[_Step, ...]] = attrs.field(eq=False, init=False)
    _injective: bool | None = attrs.field(eq=False)

    names: ClassVar[None] = None  # each slice of a view asks for it, and a property would be a call

    def __init__(self, shape: Shape[Any], strides: Index, offset: int) -> None:
        box = shape.implementation
        _set_extents(self, box.extents)
        _set_origin(self, box.origin)
        _set_strides(self, strides)
        _set_offset(self, offset)
        _set_shape(self, shape)
        _set_injective(self, None)

    @property
    def shape(self) -> Shape[Any]:
        try:
            return self._shape
        except AttributeError:
            shape = wrap(make_smooth(self.extents, self.origin))
            _set_shape(self, shape)
            return shape

    def bounds(self) -> tuple[int, int]:
        return bounds_of(self.extents, self.strides, self.offset)

    @property
    def is_contiguous(self) -> bool:
        if 0 in self.extents:
            return True
        step = 1
        for extent, stride in zip(reversed(self.extents), reversed(self.strides), strict=True):
            if extent > 1 and stride != step:
                return False
            step *= extent
        return True

    def run(self) -> slice | None:
        size = 1
        for extent, stride in zip(self.extents[::-1], self.strides[::-1]):  # noqa: B905 - of one length
            if stride != size:
                return None
            size *= extent
        return slice(self.offset, self.offset + size)

    def moved_to_zero(self) -> "Strided":
        return new_strided(self.extents, self.origin, self.strides, 0, injective=self._injective)

    @property
    def is_injective(self) -> bool:
        injective = self._injective
        if injective is None:
            injective = self._find_injective()
            _set_injective(self, injective)
        return injective

    def _find_injective(self) -> bool:
        extents = self.extents
        if 0 in extents:
            return True
        steps = sorted((abs(s), n) for s, n in zip(self.strides, extents, strict=True) if n > 1)
        reach = 0
        for stride, extent in steps:
            if not stride:
                return False
            if stride <= reach:
                break
            reach += stride * (extent - 1)
        else:
            # Each mode steps over all that the finer ones reach: no two elements can meet.
            return True
        # Otherwise modes interleave.
        return search_injective(self, self.offset)

    def repeated_mode(self) -> int | None:
        """Return the first mode that gives several elements one place by itself, if there is one."""
        for mode, (extent, stride) in enumerate(zip(self.extents, self.strides, strict=True)):
            if extent > 1 and not stride:
                return mode
        return None

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        offset, steps = self._known_steps()
        # Loops over elements call this: a tuple of Python integers in the box is checked once.
        if isinstance(index, tuple) and len(index) == len(steps):
            if len(steps) == 3:
                # The loop below written out, for the most frequent rank: it saves a third of the time.
                i, j, k = index
                (a, a_end, a_step), (b, b_end, b_step), (c, c_end, c_step) = steps
                if (
                    type(i) is int
                    and type(j) is int
                    and type(k) is int
                    and a <= i < a_end
                    and b <= j < b_end
                    and c <= k < c_end
                ):
                    return offset + i * a_step + j * b_step + k * c_step
            for place, (start, end, stride) in zip(index, steps):  # noqa: B905 - they are of one length
                if type(place) is not int or not start <= place < end:
                    break
                offset += place * stride
            else:
                return offset
        return self._checked_offset(index)

    def _known_steps(self) -> tuple[int, tuple[_Step, ...]]:
        """Return, and remember, the offset that the index of zeros would have, and a step per mode."""
        try:
            return self._steps
        except AttributeError:
            pass
        modes = list(zip(self.origin, self.extents, self.strides, strict=True))
        zero = self.offset - sum([start * stride for start, _, stride in modes])
        found = zero, tuple([(start, start + extent, stride) for start, extent, stride in modes])
        _set_steps(self, found)
        return found

    def _checked_offset(self, index: Iterable[SupportsIndex]) -> int:
        numbers = to_index(index, len(self.strides))
        offset, steps = self._known_steps()
        for i, (start, end, stride) in zip(numbers, steps, strict=True):
            if not start <= i < end:
                raise OutOfBoundsError(f"index {numbers} is not in {self.shape}")
            offset += i * stride
        return offset

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        check_int64(self, self.offset)
        return offsets_of_rows(indices, self.shape, self.offset, self.strides)

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        left = wanted - self.offset
        found = () if 0 in self.extents else split_digits(self.extents, self.strides, left)
        if found is None:
            return first_index_at(self, wanted)
        if not found and (self.extents or left):
            raise no_element(self.shape, wanted)
        return tuple([i + start for i, start in zip(found, self.origin, strict=True)])

    def to_numpy(self) -> IntArray:
        if 0 not in self.extents:
            # Before the array is made, which may be far larger than memory.
            check_int64(self, self.offset)
        out = new_table(self.extents)
        self.write_offsets(out)
        return out

    def write_offsets(self, out: IntArray) -> None:
        if out.size:
            check_int64(self, self.offset)
            fill_box(out, self.offset, self.strides)

    def at(self, key: PositionalKey, lead: Index = ()) -> "Strided":
        """Return the layout of a selection by a key; ``lead`` is the prefix of the box in errors."""
        if type(key) is int and self.extents:
            # One row, as loops ask for.
            extent = self.extents[0]
            if -extent <= key < extent:
                place = self.offset + (key if key >= 0 else key + extent) * self.strides[0]
                return new_strided(self.extents[1:], (0,) * (len(self.extents) - 1), self.strides[1:], place)
        items = key if isinstance(key, tuple) else (key,)
        plain = self._rows(key) if type(key) is slice else self._at_plain(items)
        if plain is not None:
            return plain
        extents: list[int] = []
        strides: list[int] = []
        steps, offset = iter(self.strides), self.offset
        for entry in parse_positional(key, self.extents, lead):
            if entry is None:
                extents.append(1)
                strides.append(0)
                continue
            stride = next(steps)
            if isinstance(entry, int):
                offset += entry * stride
                continue
            start, step, count = entry
            offset += start * stride if count else 0  # as in _at_plain
            extents.append(count)
            strides.append(step * stride)
        if 0 in extents:
            warn_of_indices(key, self.extents, self.origin)
        return new_strided(tuple(extents), (0,) * len(extents), tuple(strides), offset)

    def _rows(self, key: slice) -> "Strided | None":
        """Return what `_at_plain` returns of a slice of the first mode, in two thirds of the time."""
        try:
            start, stop, step = key.indices(self.extents[0])
        except (IndexError, TypeError, ValueError):
            return None
        # A range of more than 64 bits has no length.
        count, strides = stop - start if step == 1 else -((start - stop) // step), self.strides
        if count <= 0:
            return self._at_plain((key,))
        extents, place = (count, *self.extents[1:]), self.offset + start * strides[0]
        return new_strided(extents, (0,) * len(extents), (step * strides[0], *strides[1:]), place)

    def _at_plain(self, items: tuple[Any, ...], *, outer: bool = False) -> "Strided | None":
        """Return what integers and slices select; None if the key is another, or wrong.

        Most keys are such. One pass over them takes a third of the time of parsing any key. With `outer`,
        positions that are evenly spaced are what a slice is: a first one, and a new stride.
        """
        extents: list[int] = []
        strides: list[int] = []
        offset, given, repeats = self.offset, len(items), not outer or not self._injective
        empty = False
        if given > len(self.strides):
            return None
        try:
            # Exact types: a bool is not an index. The key may be shorter than the layout.
            for item, extent, stride in zip(items, self.extents, self.strides):  # noqa: B905
                if type(item) is slice:
                    start, stop, step = item.indices(extent)
                    count = stop - start if step == 1 else -((start - stop) // step)
                    if count > 0:
                        offset += start * stride
                        extents.append(count)
                    else:
                        # It may start past the end, where the offset would leave the parent.
                        extents.append(0)
                        empty = True
                    strides.append(step * stride)
                elif type(item) is int and -extent <= item < extent:
                    offset += (item if item >= 0 else item + extent) * stride
                else:
                    even = even_positions(item, extent) if outer else None
                    if even is None:
                        return None
                    start, step, count = even
                    offset += start * stride
                    extents.append(count)
                    strides.append(step * stride)
                    repeats = repeats or (not step and count > 1)
        except (TypeError, ValueError):
            return None
        if empty:
            warn_of_indices(items, self.extents, self.origin)
        rest = (*extents, *self.extents[given:])
        found = new_strided(rest, (0,) * len(rest), (*strides, *self.strides[given:]), offset)
        if not repeats:
            _set_injective(found, True)
        return found

    def outer(self, key: object) -> "Strided | None":
        # Of nothing at all the general way says where it would lie.
        kind: type[object] = type(key)
        items: Any = key if kind is tuple else (key,)
        return None if 0 in self.extents else self._at_plain(items, outer=True)

    def gathered(self, mode: SupportsIndex, positions: object) -> "Strided | None":
        extents, strides = self.extents, self.strides
        if type(mode) is not int or not 0 <= mode < len(extents) or 0 in extents:
            return None
        even = even_positions(positions, extents[mode])
        if even is None:
            return None
        start, step, count = even
        found = new_strided(
            (*extents[:mode], count, *extents[mode + 1 :]),
            (*self.origin[:mode], 0, *self.origin[mode + 1 :]),
            (*strides[:mode], step * strides[mode], *strides[mode + 1 :]),
            self.offset + start * strides[mode],
        )
        if self._injective and (step or count == 1):
            _set_injective(found, True)
        return found

    def window(self, region: Shape[Any]) -> "Strided":
        check_region(region, self.shape, "a box of the same rank inside it")
        inside = self.shape.slice(
            region.origin, [o + n for o, n in zip(region.origin, region.extents, strict=True)]
        )
        starts = zip(region.origin, self.origin, self.strides, strict=True)
        offset = self.offset + sum([(new - old) * stride for new, old, stride in starts])
        return Strided(inside, self.strides, self.offset if not region.size else offset)

    def __repr__(self) -> str:
        return f"Strided({self.shape!r}, {self.strides}, {self.offset})"

    def __reduce__(self) -> tuple[Callable[..., "Strided"], tuple[Shape[Any], Index, int]]:
        return Strided, (self.shape, self.strides, self.offset)

    @property
    def rank(self) -> int:
        return len(self.strides)

    # Its rules.

    has_mode_maps = True

    def mode_maps(self, what: str) -> tuple[int, tuple[AxisMap, ...]]:  # noqa: ARG002 - nothing is refused
        pairs = zip(self.extents, self.strides, strict=True)
        return self.offset, tuple([Stride(extent, step) for extent, step in pairs])

    @property
    def mode_strides(self) -> Index:
        return self.strides

    def strided_box(self) -> StridedBox:
        return self.extents, self.origin, self.strides, self.offset

    def as_strided(self) -> "Strided":
        return self

    def cell_table(self) -> tuple[IntArray, IntArray]:
        starts = self.offset + self.strides[0] * np.arange(self.extents[0], dtype=np.int64)
        return starts, shared_table(self.strides[1:], self.extents[0])

    @property
    def mode_tree(self) -> Extents:
        return self.extents

    def algebra_parts(self) -> AlgebraParts | None:
        return None if any(self.origin) else (self.extents, self.strides, self.offset, "lex", ())

    def offset_of_ordinal(self, ordinal: object) -> int:
        if isinstance(ordinal, tuple | list):
            places = leaf_index(self.extents, cast("object", ordinal), "lex")
            return self.offset + sum([k * step for k, step in zip(places, self.strides, strict=True)])
        modes = list(zip(reversed(self.extents), reversed(self.strides), strict=True))
        return ordinal_offset(modes, self.offset, to_int(cast("SupportsIndex", ordinal), "an ordinal"))

    def moved_to(self, shape: Shape[Any]) -> "Strided":
        return Strided(shape, self.strides, self.offset)

    def text(self) -> str | None:
        return None if any(self.origin) else layout_text(self.extents, self.strides, self.offset)

    def expression(self) -> str:
        return f"Layout({self.shape!r}, strides={self.strides}, offset={self.offset})"

    # Other layouts of the same memory.

    def permute(self, order: Iterable[SupportsIndex]) -> "Strided":
        """Return the layout whose mode k is mode ``order[k]`` of this one."""
        extents: list[int] = []
        origin: list[int] = []
        strides: list[int] = []
        # One loop: three comprehensions would cost twice as much.
        for mode in to_permutation(order, len(self.strides)):
            extents.append(self.extents[mode])
            origin.append(self.origin[mode])
            strides.append(self.strides[mode])
        return new_strided(tuple(extents), tuple(origin), tuple(strides), self.offset)

    def reverse(self, modes: Iterable[int]) -> "Strided":
        """Return the layout with the order of some modes reversed."""
        strides, offset = list(self.strides), self.offset
        for mode in modes:
            offset += max(self.extents[mode] - 1, 0) * strides[mode]
            strides[mode] = -strides[mode]
        return new_strided(self.extents, self.origin, tuple(strides), offset)


# Setters of the slots: a third of the time of attrs' constructor, which every slice would call.
(_set_extents, _set_origin, _set_strides, _set_offset, _set_shape, _set_steps, _set_injective) = slot_setters(
    Strided, "extents", "origin", "strides", "offset", "_shape", "_steps", "_injective"
)


def new_strided(
    extents: Extents, origin: Index, strides: Index, offset: int, *, injective: bool | None = None
) -> Strided:
    """Return the layout of parts that are known to be right: nothing is checked, and no shape is made.

    Whether it is injective may be known, too.
    """
    layout = object.__new__(Strided)
    _set_extents(layout, extents)
    _set_origin(layout, origin)
    _set_strides(layout, strides)
    _set_offset(layout, offset)
    _set_injective(layout, injective)
    return layout


def new_row_major(extents: Extents, origin: Index | None = None) -> Strided:
    """Return the row-major layout of a box, from zero on by default, whose numbers are known to be right."""
    strides: Any = (1,) if extents else ()
    for extent in extents[:0:-1]:
        strides = (strides[0] * extent, *strides)
    start = (0,) * len(extents) if origin is None else origin
    return new_strided(extents, start, strides, 0, injective=True)
