"""Strided layouts: one step per mode."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, SupportsIndex, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import to_int
from tensorwrapper.errors import LayoutError, OutOfBoundsError
from tensorwrapper.layout._common import LayoutCommon, check_int64, check_region, search_injective, to_inside
from tensorwrapper.layout._keys import parse_positional
from tensorwrapper.shape import Shape
from tensorwrapper.shape._common import to_index
from tensorwrapper.shape._shape import wrap
from tensorwrapper.shape._smooth import make_smooth, to_permutation
from tensorwrapper.typing import Extents, Index, IntArray, PositionalKey

__all__ = ["Strided", "packed_strides", "row_major", "sum_table"]


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
    extents = shape.extents
    return Strided(shape, packed_strides(extents, range(len(extents) - 1, -1, -1)), offset)


@final
@attrs.frozen
class Strided(LayoutCommon):
    """Offset plus the sum of (index - origin) * stride, over a smooth shape."""

    _shape: Shape[Any]
    strides: Index
    _offset: int
    _injective: bool | None = attrs.field(default=None, init=False, eq=False, repr=False)

    @property
    def shape(self) -> Shape[Any]:
        return self._shape

    @property
    def offset(self) -> int:
        return self._offset

    def bounds(self) -> tuple[int, int]:
        return _bounds_of(self._shape.extents, self.strides, self._offset)

    @property
    def is_contiguous(self) -> bool:
        if 0 in self._shape.extents:
            return True
        step = 1
        for extent, stride in zip(reversed(self._shape.extents), reversed(self.strides), strict=True):
            if extent > 1 and stride != step:
                return False
            step *= extent
        return True

    @property
    def is_injective(self) -> bool:
        injective = self._injective
        if injective is None:
            injective = self._find_injective()
            object.__setattr__(self, "_injective", injective)
        return injective

    def _find_injective(self) -> bool:
        extents = self._shape.extents
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
        return search_injective(self, self._offset)

    def repeated_mode(self) -> int | None:
        """Return the first mode that gives several elements one place by itself, if there is one."""
        for mode, (extent, stride) in enumerate(zip(self._shape.extents, self.strides, strict=True)):
            if extent > 1 and not stride:
                return mode
        return None

    def offset_of(self, index: Iterable[SupportsIndex]) -> int:
        strides, offset = self.strides, self._offset
        numbers = to_index(index, len(strides))
        box = self._shape._held
        for i, start, extent, stride in zip(numbers, box.origin, box.extents, strides, strict=True):
            place = i - start
            if not 0 <= place < extent:
                raise OutOfBoundsError(f"index {numbers} is not in {self._shape}")
            offset += place * stride
        return offset

    def offsets_of(self, indices: npt.ArrayLike) -> IntArray:
        array = to_inside(indices, self._shape)
        check_int64(self, self._offset)
        offsets = np.full(array.shape[:-1], self._offset, dtype=np.int64)
        for mode, (start, stride) in enumerate(zip(self._shape.origin, self.strides, strict=True)):
            offsets += (array[..., mode] - start) * stride
        return offsets

    def index_of(self, offset: SupportsIndex) -> Index:
        wanted = to_int(offset, "an offset")
        found = _first_solution(self._shape.extents, self.strides, wanted - self._offset)
        if found is None:
            raise self._no_element(wanted)
        return self._absolute(found)

    def indices_of(self, offset: int) -> list[Index]:
        """Return the indices whose elements lie at `offset`, in any order; never an empty list.

        Of a mode that repeats its elements only the first index is given.
        """
        found = list(_solutions(self._shape.extents, self.strides, offset - self._offset))
        if not found:
            raise self._no_element(offset)
        return [self._absolute(places) for places in found]

    def _absolute(self, places: Index) -> Index:
        return tuple([i + start for i, start in zip(places, self._shape.origin, strict=True)])

    def _no_element(self, offset: int) -> OutOfBoundsError:
        return OutOfBoundsError(f"no element of {self._shape} lies at offset {offset}")

    def to_numpy(self) -> IntArray:
        if 0 in self._shape.extents:
            return np.empty(self._shape.extents, dtype=np.int64)
        check_int64(self, self._offset)
        steps = zip(self._shape.extents, self.strides, strict=True)
        # A stride that is never taken may be of any size.
        return sum_table(
            self._offset,
            [np.arange(n, dtype=np.int64) * (step if n > 1 else 0) for n, step in steps],
        )

    def at(self, key: PositionalKey, lead: Index = ()) -> "Strided":
        """Return the layout of what a key selects; ``lead`` is where errors say that the box lies."""
        extents: list[int] = []
        strides: list[int] = []
        offset = self._offset
        mode = 0
        for entry in parse_positional(key, self._shape.extents, lead):
            if entry is None:
                extents.append(1)
                strides.append(0)
                continue
            stride = self.strides[mode]
            mode += 1
            if isinstance(entry, int):
                offset += entry * stride
                continue
            start, step, count = entry
            # An empty range may start past the end: its offset stays inside the parent.
            offset += start * stride if count else 0
            extents.append(count)
            strides.append(step * stride)
        return Strided(wrap(make_smooth(tuple(extents), (0,) * len(extents))), tuple(strides), offset)

    def window(self, region: Shape[Any]) -> "Strided":
        check_region(region, self._shape, "a box of the same rank inside it")
        inside = self._shape.slice(
            region.origin, [o + n for o, n in zip(region.origin, region.extents, strict=True)]
        )
        starts = zip(region.origin, self._shape.origin, self.strides, strict=True)
        offset = self._offset + sum([(new - old) * stride for new, old, stride in starts])
        return Strided(inside, self.strides, self._offset if not region.size else offset)

    def __reduce__(self) -> tuple[Callable[..., "Strided"], tuple[Shape[Any], Index, int]]:
        # What `is_injective` remembers stays behind.
        return Strided, (self._shape, self.strides, self._offset)

    def permute(self, order: Iterable[SupportsIndex]) -> "Strided":
        """Return the layout whose mode k is mode ``order[k]`` of this one."""
        modes = to_permutation(order, self._shape.rank)
        return Strided(self._shape.permute(modes), tuple([self.strides[m] for m in modes]), self._offset)

    def reverse(self, modes: Iterable[int]) -> "Strided":
        """Return the layout with the order of some modes reversed."""
        strides, offset = list(self.strides), self._offset
        for mode in modes:
            offset += max(self._shape.extents[mode] - 1, 0) * strides[mode]
            strides[mode] = -strides[mode]
        return Strided(self._shape, tuple(strides), offset)

    def broadcast(self, shape: Shape[Any]) -> "Strided":
        """Return the layout over `shape` that repeats modes of extent 1 and adds leading modes."""
        new = shape.rank - self._shape.rank
        if new < 0:
            raise LayoutError(
                f"a layout of {self._shape} does not broadcast to {shape}, which has fewer modes"
            )
        strides: list[int] = [0] * new
        pairs = zip(self._shape.extents, shape.extents[new:], self.strides, strict=True)
        for mode, (old, extent, stride) in enumerate(pairs):
            if old not in {1, extent}:
                raise LayoutError(
                    f"mode {mode} of {self._shape} has extent {old}, which does not broadcast to {extent}"
                )
            strides.append(stride if old == extent else 0)
        return Strided(shape, tuple(strides), self._offset)


def sum_table(base: int, vectors: list[IntArray]) -> IntArray:
    """Return the array of all sums of one entry per vector, and `base`.

    The innermost plane is made once and added to each outer entry, which costs about one pass over the
    result, in row-major order.
    """
    table: IntArray = np.full((), base, dtype=np.int64)
    for vector in reversed(vectors):
        table = np.add.outer(vector, table)
    return table


def _bounds_of(extents: Extents, strides: Index, offset: int) -> tuple[int, int]:
    """Return the least and the greatest offset, in Python integers; (0, -1) if there is no element."""
    if 0 in extents:
        return 0, -1
    least = greatest = offset
    for extent, stride in zip(extents, strides, strict=True):
        reach = (extent - 1) * stride
        if reach < 0:
            least += reach
        else:
            greatest += reach
    return least, greatest


def _solutions(extents: Extents, strides: Index, total: int) -> Iterator[Index]:
    """Return an iterator over the places, counted from 0, whose sum of place times stride is `total`.

    The widest stride comes first, with backtracking. A mode with stride 0 has the same sum at every place,
    so only place 0 of it is given.
    """
    if 0 in extents:
        return
    # Descending modes are counted from their end, so that all steps are upwards.
    rest = total - _bounds_of(extents, strides, 0)[0]
    modes = sorted(range(len(extents)), key=lambda mode: -abs(strides[mode]))
    reach, divisors = [0], [0]
    for mode in reversed(modes):
        step = abs(strides[mode])
        reach.append(reach[-1] + (extents[mode] - 1) * step)
        divisors.append(math.gcd(divisors[-1], step))
    reach.reverse()
    divisors.reverse()
    places = [0] * len(extents)

    def descend(depth: int, left: int) -> Iterator[Index]:
        if not divisors[depth]:
            # What is left are modes of stride 0, or none.
            if not left:
                yield tuple(places)
            return
        if left % divisors[depth]:
            return
        mode = modes[depth]
        step, extent = abs(strides[mode]), extents[mode]
        low = max(0, -(-(left - reach[depth + 1]) // step))
        for count in range(low, min(extent - 1, left // step) + 1):
            places[mode] = count if strides[mode] > 0 else extent - 1 - count
            yield from descend(depth + 1, left - count * step)

    yield from descend(0, rest)


def _first_solution(extents: Extents, strides: Index, total: int) -> Index | None:
    """Return the solution that comes first in row-major order, without going through all of them."""
    found = _solutions(extents, strides, total)
    only = next(found, None)
    if only is None or next(found, None) is None:
        return only
    # There are several: each mode takes the least place that leaves the later modes a solution.
    first: list[int] = []
    for mode, stride in enumerate(strides):
        later = extents[mode + 1 :], strides[mode + 1 :]
        place = 0
        if stride:
            least, greatest = _bounds_of(*later, 0)
            place = max(0, -(((greatest if stride > 0 else least) - total) // stride))
            while next(_solutions(*later, total - place * stride), None) is None:
                place += 1
        first.append(place)
        total -= place * stride
    return tuple(first)
