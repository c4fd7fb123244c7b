"""Axis maps: the offsets of the positions of one mode, relative to a common base.

A layout of a box is a base offset plus one axis map per mode. Three forms suffice for every selection of
positions of a mode: `Stride` (one step), `Cycle` (a progression that wraps and dwells, closed under every
slice) and `Table` (any positions). Each operation returns the simplest exact form, with a separate constant.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias, final

import attrs
import numpy as np

from tensorwrapper._arrays import different, digest_of, frozen_array, is_immutable
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import memory_for
from tensorwrapper._progressions import progression_bounds
from tensorwrapper._value_class import evolve, value_class
from tensorwrapper.errors import SizeOverflowError
from tensorwrapper.layout.axes._sums import Listing
from tensorwrapper.typing import IntArray

Based: TypeAlias = "tuple[int, AxisMap]"
"""A constant and a map: the offset of position j is their sum at j."""

_SEARCHED = 1 << 20  # positions up to which an undecided question is answered by looking at all of them


class AxisMap(ABC):
    """Abstract: the methods that are marked so."""

    __slots__ = ()

    @property
    @abstractmethod
    def extent(self) -> int:
        """Number of positions."""

    @abstractmethod
    def at(self, position: int) -> int:
        """Return the offset of a position in ``[0, extent)``, which is not checked."""

    @abstractmethod
    def offsets_at(self, positions: IntArray) -> IntArray:
        """Return the offsets of many positions, which are not checked."""

    @abstractmethod
    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest offset, exactly; (0, -1) if there is no position."""

    def reach(self) -> tuple[int, int]:
        """Return numbers between which all offsets are known to be, where bounds would have to be found."""
        return self.bounds()

    @property
    @abstractmethod
    def is_injective(self) -> bool:
        """Return True if all positions have different offsets; False if that is undecided."""

    @abstractmethod
    def take(self, start: int, step: int, count: int) -> Based:
        """Return the positions ``start + step * j`` for j from 0 to `count`, which must all exist."""

    @abstractmethod
    def simplify(self) -> Based:
        """Return the simplest form with the same offsets."""

    def run(self, first: int, last: int) -> IntArray:
        """Return the offsets of consecutive positions, which are not checked; they may be read-only."""
        return self.offsets_at(np.arange(first, last))

    def offsets(self) -> IntArray:
        """Return the offsets of all positions, which may be read-only."""
        self._check_int64()
        with memory_for(self.extent, "offsets"):
            return self.offsets_at(np.arange(self.extent, dtype=np.int64))

    def distinct(self) -> Sequence[int]:
        """Return the different offsets, ascending: a range where they are evenly spaced by rule."""
        found: list[int] = different(self.offsets()).tolist()
        return found

    def distinct_count(self) -> int:
        """Return how many different offsets there are."""
        return len(self.distinct())

    def gap(self) -> int:
        """Return the least distance between two different offsets; 0 if there is one only.

        For a long cycle with missing offsets it may be smaller.
        """
        values = self.distinct()
        if isinstance(values, range):
            # A long range has no len.
            return values.step if len(values[:2]) > 1 else 0
        if len(values) < 2:
            return 0
        wide = max(-values[0], values[-1], values[-1] - values[0]) > MAX_INT64
        return int(np.diff(np.array(values, dtype=np.object_ if wide else np.int64)).min())

    def _check_int64(self) -> None:
        least, greatest = self.bounds()
        if least < -MAX_INT64 or greatest > MAX_INT64:
            raise SizeOverflowError(f"offsets from {least} to {greatest} leave 64 bits")

    def reverse(self) -> Based:
        """Return the positions from the last to the first."""
        return self.take(self.extent - 1, -1, self.extent)

    def rotate(self, shift: int) -> Based:
        """Return the map whose position j is position ``(j - shift) mod extent``, as NumPy's roll."""
        return self.wrap(-shift, self.extent)

    def repeat(self, times: int) -> Based:
        """Return all positions, `times` times over, as NumPy's tile."""
        return self.wrap(0, self.extent * times)

    def wrap(self, start: int, count: int) -> Based:
        """Return the positions ``(start + j) mod extent`` for j from 0 to `count`."""
        if not count:
            return 0, Stride(0, 0)
        with memory_for(count, "positions"):
            return self.gather((start % self.extent + np.arange(count, dtype=np.int64)) % self.extent)

    def wrap_pad(self, before: int, after: int) -> Based:
        """Return all positions, with so many of the other end before and after, as NumPy's pad wraps."""
        return self.wrap(-before, self.extent + before + after)

    def repeat_each(self, times: int) -> Based:
        """Return every position `times` times, as NumPy's repeat."""
        if not times:
            return 0, Stride(0, 0)
        with memory_for(self.extent * times, "positions"):
            return self.gather(np.repeat(np.arange(self.extent, dtype=np.int64), times))

    def gather(self, positions: IntArray) -> Based:
        """Return the given positions, in their order, which must all exist."""
        self._check_int64()
        return Table(self.offsets_at(positions)).simplify()


@final
@value_class
class Stride(AxisMap):
    """One step: the offset of position j is ``step * j``; step 0 gives all positions one place."""

    _extent: int = attrs.field(alias="extent")
    step: int

    if TYPE_CHECKING:

        def __init__(self, extent: int, step: int) -> None: ...

    @property
    def extent(self) -> int:
        return self._extent

    def at(self, position: int) -> int:
        return self.step * position

    def offsets_at(self, positions: IntArray) -> IntArray:
        # A stride that is never taken may be of any size.
        return positions * np.int64(self.step if self._extent > 1 else 0)

    def gather(self, positions: IntArray) -> Based:
        if self._extent < 2 or not self.step or not is_immutable(positions):
            return super().gather(positions)
        self._check_int64()
        return Table(positions, self.step, self.bounds()).simplify()

    def bounds(self) -> tuple[int, int]:
        if not self._extent:
            return 0, -1
        last = self.step * (self._extent - 1)
        return min(last, 0), max(last, 0)

    @property
    def is_injective(self) -> bool:
        return self._extent <= 1 or self.step != 0

    def distinct(self) -> Sequence[int]:
        low, high = self.bounds()
        return range(low, high + 1, abs(self.step) or 1)

    def take(self, start: int, step: int, count: int) -> Based:
        return (start * self.step if count else 0), Stride(count, step * self.step)

    def simplify(self) -> Based:
        return 0, self

    def wrap(self, start: int, count: int) -> Based:
        return _simplest(count, start, 1, self._extent, 1, self.step) if count else (0, Stride(0, 0))

    def repeat_each(self, times: int) -> Based:
        if not times:
            return 0, Stride(0, 0)
        return _simplest(self._extent * times, 0, 1, None, times, self.step)


@final
@value_class
class Cycle(AxisMap):
    """A progression that wraps and dwells: ``step * (((start + increment * j) mod modulus) div divisor)``.

    Reversal, strides, rotation, repetition of the whole or of each position, wrapped pads and
    nearest-neighbour resizing are all of this form, and every slice of it is again. Division and remainder
    round down; without a modulus nothing wraps. Source: the axis algebra in the design notes.
    """

    _extent: int = attrs.field(alias="extent")
    start: int
    increment: int
    modulus: int | None
    divisor: int
    step: int

    if TYPE_CHECKING:

        def __init__(
            self, extent: int, start: int, increment: int, modulus: int | None, divisor: int, step: int
        ) -> None: ...

    @property
    def extent(self) -> int:
        return self._extent

    def at(self, position: int) -> int:
        place = self.start + self.increment * position
        if self.modulus is not None:
            place %= self.modulus
        return self.step * (place // self.divisor)

    def offsets_at(self, positions: IntArray) -> IntArray:
        last = self.start + self.increment * (self._extent - 1)
        if max(abs(self.start), abs(last), self.modulus or 0, self.divisor) > MAX_INT64:
            raise SizeOverflowError(f"the positions of {self} leave 64 bits on the way")
        places = self.start + positions * np.int64(self.increment)
        if self.modulus is not None:
            places %= self.modulus
        if self.divisor > 1:
            places //= self.divisor
        return places * np.int64(self.step)

    def _place_bounds(self) -> tuple[int, int]:
        """Return the least and the greatest place before it is multiplied by the step."""
        if self.modulus is None:
            ends = sorted((self.start, self.start + self.increment * (self._extent - 1)))
        else:
            ends = list(progression_bounds(self.start, self.increment, self.modulus, self._extent))
        return ends[0] // self.divisor, ends[1] // self.divisor

    def bounds(self) -> tuple[int, int]:
        if not self._extent:
            return 0, -1
        low, high = self._place_bounds()
        ends = sorted((low * self.step, high * self.step))
        return ends[0], ends[1]

    @property
    def is_injective(self) -> bool:
        if self._extent <= 1:
            return True
        if not self.step:
            return False
        if self.modulus is None:
            # Neighbours differ by increment div divisor or one more, so only small increments can repeat an
            # offset.
            return abs(self.increment) >= self.divisor or abs(self.at(self._extent - 1) - self.at(0)) == abs(
                self.step
            ) * (self._extent - 1)
        if self.divisor == 1:
            return self._extent <= self.modulus // math.gcd(self.increment, self.modulus)
        low, high = self._place_bounds()
        if self._extent > high - low + 1 or self._extent > _SEARCHED:
            return False
        return len(different(self.offsets())) == self._extent

    def distinct(self) -> Sequence[int]:
        spacing = self.spacing()
        low, high = self.bounds()
        if self._extent and spacing and self.step:
            return range(low, high + 1, spacing * abs(self.step))
        if max(-low, high) <= MAX_INT64 or abs(self.step) == 1:
            return AxisMap.distinct(self)
        return sorted([place * self.step for place in evolve(self, step=1).distinct()])

    def spacing(self) -> int:
        """Return how far neighbouring places lie apart where all of them are visited, else 0."""
        if self.modulus is None:
            return 1 if abs(self.increment) <= self.divisor else 0
        divisor = math.gcd(self.increment, self.modulus)
        if self._extent < self.modulus // divisor:
            return 0
        if divisor <= self.divisor:
            return 1
        return 0 if divisor % self.divisor else divisor // self.divisor

    def gap(self) -> int:
        if self._extent <= _SEARCHED or self.spacing():
            return AxisMap.gap(self)
        # No table of so many positions: a distance that no two offsets fall below serves as well.
        even = self.divisor == 1 and self.modulus is not None
        return abs(self.step) * (math.gcd(self.increment, self.modulus or 0) if even else 1)

    def take(self, start: int, step: int, count: int) -> Based:
        first, increment = self.start + self.increment * start, self.increment * step
        return _simplest(count, first, increment, self.modulus, self.divisor, self.step)

    def wrap(self, start: int, count: int) -> Based:
        if not count:
            return 0, Stride(0, 0)
        found = self._as_round()
        if found is None:
            return AxisMap.wrap(self, start, count)
        base, whole = found
        first = whole.start + self.increment * start
        more, part = _simplest(count, first, whole.increment, whole.modulus, whole.divisor, whole.step)
        return base + more, part

    def _as_round(self) -> "tuple[int, Cycle] | None":
        """Return the same map in a form whose last position is followed by its first, if there is one."""
        if self.modulus is not None:
            return None if self.increment * self._extent % self.modulus else (0, self)
        # A modulus of all places that are stepped over; it must begin where a divisor does.
        least = min(self.start, self.start + self.increment * (self._extent - 1))
        whole, rest = divmod(least, self.divisor)
        if rest >= abs(self.increment):
            return None
        modulus, start = abs(self.increment) * self._extent, self.start - whole * self.divisor
        return whole * self.step, Cycle(self._extent, start, self.increment, modulus, self.divisor, self.step)

    def repeat_each(self, times: int) -> Based:
        if not times or abs(self.increment) != 1:
            return AxisMap.repeat_each(self, times)
        start = self.start * times + (times - 1 if self.increment < 0 else 0)
        modulus = None if self.modulus is None else self.modulus * times
        return _simplest(
            self._extent * times, start, self.increment, modulus, self.divisor * times, self.step
        )

    def simplify(self) -> Based:
        return _simplest(self._extent, self.start, self.increment, self.modulus, self.divisor, self.step)

    def _is_still(self) -> bool:
        low, high = self._place_bounds()
        return low == high

    def _is_even(self) -> bool:
        return self._extent <= _SEARCHED and len(different(np.diff(self.offsets()))) == 1


def _simplest(extent: int, start: int, increment: int, modulus: int | None, divisor: int, step: int) -> Based:
    """Return the simplest form of the cycle with these parts: a stride if it is one.

    On numbers alone: each cycle made on the way would cost as much as the rest.
    """
    if extent <= 2:
        return _short(Cycle(extent, start, increment, modulus, divisor, step))
    if modulus is not None:
        # The short way round, so that a window that runs backwards is seen not to wrap.
        start, increment = start % modulus, increment % modulus
        increment -= modulus if 2 * increment > modulus else 0
        if 0 <= start + increment * (extent - 1) < modulus:
            modulus = None
    if divisor > 1 and not increment % divisor and (modulus is None or not modulus % divisor):
        start, increment, modulus = start // divisor, increment // divisor, modulus and modulus // divisor
        divisor = 1
    second, last = start + increment, start + increment * (extent - 1)
    if modulus is not None:
        second, last = second % modulus, last % modulus
    offset, gap = step * (start // divisor), step * (second // divisor - start // divisor)
    # Without a divisor the first two offsets differ, unless the increment is 0, so no search for bounds is
    # needed.
    if (
        not step
        or not increment
        or (divisor > 1 and Cycle(extent, start, increment, modulus, divisor, step)._is_still())
    ):
        return offset, Stride(extent, 0)
    # Without a modulus the steps between neighbours differ by at most one, so an even total means that all
    # are equal. With one it is only a hint.
    if step * (last // divisor) - offset == gap * (extent - 1) and (
        modulus is None or Cycle(extent, start, increment, modulus, divisor, step)._is_even()
    ):
        return offset, Stride(extent, gap)
    return _normal(extent, start, increment, modulus, divisor, step)


def _normal(extent: int, start: int, increment: int, modulus: int | None, divisor: int, step: int) -> Based:
    """Return the form with a positive step, and without a modulus a start below `divisor`.

    So that turns which amount to the same are equal, in whatever order they were made.
    """
    base = 0
    if step < 0 and not (modulus or 0) % divisor:
        # Counted from the other end of the round; without a round, from the last place of the first divisor.
        start, step = (modulus or divisor) - 1 - start, -step
        increment = increment if 2 * increment == modulus else -increment
        base = -step * (modulus // divisor - 1) if modulus else 0
    if modulus is None:
        base, start = base + step * (start // divisor), start % divisor
    return base, Cycle(extent, start, increment, modulus, divisor, step)


def _short(axis: AxisMap) -> Based:
    """Return a map of at most two positions as a stride, which every such map is."""
    if axis.extent < 2:
        return (axis.at(0) if axis.extent else 0), Stride(axis.extent, 0)
    return axis.at(0), Stride(2, axis.at(1) - axis.at(0))


@final
@value_class(eq=False, getstate_setstate=False)
class Table(AxisMap):
    """Any offsets, one per position; 8 bytes each. Inverse by a sorted copy, made once when asked for.

    Those that are multiples of a step may be over numbers that others hold as well.
    """

    numbers: IntArray
    """The offsets, in steps."""
    step: int = 1
    _reach: tuple[int, int] | None = attrs.field(alias="reach", default=None, repr=False)
    """Offsets between which all are known to be."""
    # Computed on first use, and never pickled.
    _sorted: tuple[IntArray, IntArray] | None = attrs.field(default=None, init=False, repr=False)
    _different: Listing | None = attrs.field(default=None, init=False, repr=False)

    if TYPE_CHECKING:

        def __init__(
            self, numbers: IntArray, step: int = 1, reach: tuple[int, int] | None = None
        ) -> None: ...

    def __attrs_post_init__(self) -> None:
        object.__setattr__(self, "numbers", frozen_array(self.numbers))

    @property
    def values(self) -> IntArray:
        """The offsets."""
        return self.numbers if self.step == 1 else self.numbers * np.int64(self.step)

    @property
    def extent(self) -> int:
        return len(self.numbers)

    def at(self, position: int) -> int:
        return int(self.numbers[position]) * self.step

    def offsets_at(self, positions: IntArray) -> IntArray:
        found = self.numbers[positions]
        if self.step != 1:
            found *= np.int64(self.step)
        return found

    def offsets(self) -> IntArray:
        return self.values

    def run(self, first: int, last: int) -> IntArray:
        found = self.numbers[first:last]
        return found if self.step == 1 else found * np.int64(self.step)

    def reach(self) -> tuple[int, int]:
        return self._reach or self.bounds()

    def bounds(self) -> tuple[int, int]:
        if not len(self.numbers):
            return 0, -1
        if self._sorted is None:
            # A tenth of the time of sorting, which only the inverse needs.
            ends = int(self.numbers.min()) * self.step, int(self.numbers.max()) * self.step
            return min(ends), max(ends)
        ordered, _ = self._sorted
        return int(ordered[0]), int(ordered[-1])

    def ordered(self) -> tuple[IntArray, IntArray]:
        """Return the offsets ascending and the position of each; equal ones by ascending position."""
        pair = self._sorted
        if pair is None:
            values = self.values
            order = np.argsort(values, kind="stable")
            pair = values[order], order
            object.__setattr__(self, "_sorted", pair)
        return pair

    @property
    def is_injective(self) -> bool:
        ordered, _ = self.ordered()
        return bool((ordered[1:] != ordered[:-1]).all())

    def listing(self) -> Listing:
        """Return the different offsets, ascending."""
        listing = self._different
        if listing is None:
            values = different(self.values)  # not sorted where they are dense
            # Neighbours are less than 2**64 apart, which unsigned numbers divisor.
            gaps = np.diff(values).view(np.uint64)
            ends = (int(gaps.min()), int(np.gcd.reduce(gaps))) if len(gaps) else (0, 0)
            listing = Listing(values, *ends)
            object.__setattr__(self, "_different", listing)
        return listing

    def distinct(self) -> Sequence[int]:
        found: list[int] = self.listing().values.tolist()
        return found

    def distinct_count(self) -> int:
        return len(self.listing().values)

    def gap(self) -> int:
        return self.listing().gap

    def take(self, start: int, step: int, count: int) -> Based:
        if not count:
            return 0, Stride(0, 0)
        end = start + step * (count - 1)
        # A slice that runs down to position 0 has no end that a number could say.
        stop = None if step < 0 and end + step < 0 else end + (1 if step > 0 else -1)
        return Table(self.numbers[start:stop:step], self.step, self._reach).simplify()

    def simplify(self) -> Based:
        numbers = self.numbers
        if len(numbers) <= 2:
            return _short(self)
        first, second = int(numbers[0]), int(numbers[1])
        if int(numbers[-1]) - first == (second - first) * (len(numbers) - 1):
            steps = np.diff(numbers)
            if (steps == second - first).all():
                return first * self.step, Stride(len(numbers), (second - first) * self.step)
        return 0, self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return "Table", digest_of(self.values)

    def __reduce__(self) -> tuple[Callable[[IntArray, int], "Table"], tuple[IntArray, int]]:
        return Table, (np.ascontiguousarray(self.numbers), self.step)
