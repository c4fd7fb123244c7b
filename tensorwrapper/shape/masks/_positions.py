"""Positions: different indices of one mode, in an order; evenly spaced ones are a range, in O(1) memory."""

import contextlib
import math
from collections.abc import Callable
from typing import Any, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import digest_of, frozen_array
from tensorwrapper._integers import MAX_INT64
from tensorwrapper._memory import memory_for
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ExtentError, SizeOverflowError
from tensorwrapper.typing import IntArray

Places: TypeAlias = "range | IntArray"
"""Indices in an order: a range, or a read-only array."""

_TABLE = 8  # places per lookup up to which a table of all places is faster than a search for each
_MAX_INT32 = 2**31 - 1
_CHUNK = 2**16  # places compared at a time: a difference ends the work


@final
@frozen(eq=False, getstate_setstate=False)
class Positions:
    """Distinct indices in an order; pick ``k`` is ``places[k]``.

    Made by `of_range`, by `of_array`, which checks for duplicates, and by `of_distinct`, which does not.

    Examples
    --------
    >>> import numpy as np
    >>> Positions.of_array(np.array([1, 3, 5])), Positions.of_range(range(8, 0, -3)).find(5)
    (Positions(places=range(1, 6, 2)), 1)
    """

    places: Places
    """The indices: a range if they are evenly spaced, which ends right after its last place."""
    _order: "IntArray | None" = attrs.field(default=None, init=False, repr=False)

    @classmethod
    def of_range(cls, places: range) -> "Positions":
        """Return the picks of a range: equal ones get the same start, stop and step."""
        if not places:
            return cls(range(0))
        step = places.step if len(places[:2]) > 1 else 1
        return cls(range(places[0], places[-1] + (1 if step > 0 else -1), step))

    @classmethod
    def of_array(cls, places: IntArray, what: str = "positions") -> "Positions":
        """Return the picks of an immutable array; O(n) if it ascends or descends.

        Raises
        ------
        ExtentError
            If a place is repeated; ``what`` names the places.
        """
        if len(places) > 1:
            rising = places[1:] > places[:-1]
            if not rising.all() and (rising.any() or not (places[1:] < places[:-1]).all()):
                _check_distinct(places, what)
        return cls.of_distinct(places)

    @classmethod
    def of_distinct(cls, places: IntArray) -> "Positions":
        """Return the picks of an array in which nothing comes twice; O(1) unless it looks like a range."""
        count = len(places)
        if count < 2:
            return cls.of_range(range(places.item(0), places.item(0) + 1) if count else range(0))
        first, last = places.item(0), places.item(-1)
        step = places.item(1) - first
        if last - first == step * (count - 1) and _is_even(places, step):
            return cls.of_range(range(first, last + step, step))
        return cls(frozen_array(places))

    @property
    def count(self) -> int:
        """Number of picked indices: a Python integer of any size."""
        places = self.places
        if isinstance(places, range):
            return (places[-1] - places[0]) // places.step + 1 if places else 0
        return len(places)

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest place; (0, -1) if there is none. O(1) if they ascend."""
        places = self.places
        if isinstance(places, range):
            return (min(places[0], places[-1]), max(places[0], places[-1])) if places else (0, -1)
        return int(places.min()), int(places.max())

    def at(self, number: int) -> int:
        """Return the place of pick `number`, which is not checked."""
        places = self.places
        return places.start + places.step * number if isinstance(places, range) else places.item(number)

    def take(self, numbers: IntArray) -> IntArray:
        """Return the places of many picks, which are not checked; O(1) each."""
        places = self.places
        if not isinstance(places, range):
            return places.take(_unlocked(numbers))
        low, high = self.bounds()
        if low < -MAX_INT64 or high > MAX_INT64:
            return _take_wide(places, numbers)
        if places.step == 1:
            return numbers + places.start if places.start else numbers
        taken: IntArray = numbers * np.int64(places.step)
        taken += places.start
        return taken

    def to_numpy(self) -> IntArray:
        """Return all places; an array that is stored is read-only."""
        places = self.places
        if not isinstance(places, range):
            return places
        self._check_int64()
        with memory_for(self.count):
            return np.arange(places.start, places.stop, places.step, dtype=np.int64)

    def _check_int64(self) -> None:
        low, high = self.bounds()
        if low <= -MAX_INT64 or high >= MAX_INT64:
            raise SizeOverflowError(f"places from {low} to {high} leave 64 bits")

    # The inverse: from a place to its pick.

    def find(self, place: int) -> int:
        """Return the number of the pick of a place, -1 if it is not picked; O(1), or O(log n) if stored."""
        places = self.places
        if isinstance(places, range):
            number, rest = divmod(place - places.start, places.step)
            return number if not rest and 0 <= number < self.count else -1
        if not -MAX_INT64 <= place <= MAX_INT64:
            return -1
        order = self._ascending()
        at = int(np.searchsorted(places, place, sorter=order))
        found = order.item(at) if at < len(order) else -1
        return found if places.item(found) == place else -1

    def find_all(self, values: IntArray) -> IntArray:
        """Return the number of the pick of each value, or -1; O(log n) each, or less for many."""
        low, high = self.bounds()
        if low > high:
            return np.full(values.shape, -1, dtype=np.int64)
        inside = (values >= low) & (values <= high)
        places = self.places
        if isinstance(places, range):
            wide = low < -MAX_INT64 or high > MAX_INT64 or high - low > MAX_INT64
            return _numbers_in(places, values.astype(object) if wide else values, inside)
        if high - low < _TABLE * values.size:
            table = np.full(high - low + 1, -1, dtype=np.int64 if len(places) > _MAX_INT32 else np.int32)
            table[places - low] = np.arange(len(places))
            found: IntArray = table[np.where(inside, values - low, 0)].astype(np.int64, copy=False)
        else:
            order = self._ascending()
            at = np.searchsorted(places, values, sorter=order)
            found = order[np.minimum(at, len(places) - 1)]
            inside &= places[found] == values
        return np.where(inside, found, -1)

    def _ascending(self) -> IntArray:
        """Return the picks by ascending place; made once."""
        order = self._order
        if order is None:
            order = np.argsort(cast("IntArray", self.places), kind="stable")
            object.__setattr__(self, "_order", order)
        return order

    # Positions of picks.

    def compose(self, inner: "Positions") -> "Positions":
        """Return the picks with the numbers `inner`, which must all exist; O(1) for ranges, else one take."""
        mine, theirs = self.places, inner.places
        if not isinstance(theirs, range):
            return Positions.of_distinct(self.take(theirs))
        if not theirs:
            return Positions(range(0))
        if isinstance(mine, range):
            return Positions.of_range(_progression(self.at(theirs[0]), mine.step * theirs.step, inner.count))
        stop = theirs.stop if theirs.stop >= 0 else None
        return Positions.of_distinct(mine[theirs.start : stop : theirs.step])

    def intersect(self, other: "Positions") -> "Positions":
        """Return the places that are in both, in the order of the first; O(1) for ranges."""
        mine, theirs = self.places, other.places
        if not isinstance(mine, range):
            return Positions.of_distinct(mine[other.find_all(mine) >= 0])
        if isinstance(theirs, range):
            return Positions.of_range(_common(mine, theirs))
        # Of a range of any size, those places that the other has.
        numbers = self.find_all(theirs)
        kept = numbers >= 0
        return Positions.of_distinct(theirs[kept][np.argsort(numbers[kept])])

    def union(self, other: "Positions") -> "Positions":
        """Return the places that are in either, ascending; O(1) for ranges whose union is one."""
        mine, theirs = self.places, other.places
        if isinstance(mine, range) and isinstance(theirs, range):
            whole = _union(mine, theirs, self.intersect(other).count)
            if whole is not None:
                return Positions.of_range(whole)
        with memory_for(self.count + other.count):
            return Positions.of_distinct(np.union1d(self.to_numpy(), other.to_numpy()))

    def complement(self, start: int, extent: int) -> "Positions":
        """Return the other indices from `start` on, ascending; O(1) if they are a run, else O(extent)."""
        low, high = self.bounds()
        stop = start + extent
        if low > high:
            return Positions.of_range(range(start, stop))
        if self.count == high - low + 1 and (low == start or high == stop - 1):
            return Positions.of_range(range(high + 1, stop) if low == start else range(start, low))
        with memory_for(extent):
            other = np.ones(extent, dtype=np.bool_)
            other[self.to_numpy() - start] = False
            return Positions.of_distinct(np.flatnonzero(other) + start)

    # Values.

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Positions):
            return NotImplemented
        mine, theirs = self.places, other.places
        if isinstance(mine, range) or isinstance(theirs, range):
            return isinstance(mine, range) and isinstance(theirs, range) and mine == theirs
        return mine is theirs or np.array_equal(mine, theirs)

    def __hash__(self) -> int:
        places = self.places
        return hash(places if isinstance(places, range) else places.tobytes())

    def __dask_tokenize__(self) -> tuple[object, ...]:
        places = self.places
        return "Positions", repr(places) if isinstance(places, range) else digest_of(places)

    def __reduce__(self) -> "tuple[Callable[[Places], Positions], tuple[Places]]":
        places = self.places
        # A new array object each time, so that picks with a shared array pickle like others.
        return _restore, (places if isinstance(places, range) else np.ascontiguousarray(places).view(),)


def _unlocked(numbers: IntArray) -> IntArray:
    """Return the same memory as take wants it: of indices that are read-only it would make a copy."""
    if numbers.flags.writeable:
        return numbers
    view = numbers.view()
    with contextlib.suppress(ValueError):  # memory that is read-only itself
        view.flags.writeable = True
    return view


def _restore(places: Places) -> Positions:
    return Positions(places if isinstance(places, range) else frozen_array(places))


def _check_distinct(places: IntArray, what: str) -> None:
    low, high = int(places.min()), int(places.max())
    if high - low < _TABLE * len(places):
        # Marks, because sorting takes ten times as long.
        seen = np.zeros(high - low + 1, dtype=np.bool_)
        seen[places - low] = True
        if np.count_nonzero(seen) == len(places):
            return
    ordered = np.sort(places)
    again = ordered[1:] == ordered[:-1]
    if again.any():
        raise ExtentError(
            f"{what} must differ, but {ordered.item(int(np.argmax(again)))} comes twice; "
            "a mask is a set of indices (gather, of layouts and tensors, repeats them)"
        )


def _is_even(places: IntArray, step: int) -> bool:
    """Tell whether each place is `step` after the one before."""
    for start in range(0, len(places) - 1, _CHUNK):
        part = places[start : start + _CHUNK + 1]
        if (np.diff(part) != step).any():
            return False
    return True


def _numbers_in(places: range, values: npt.NDArray[Any], inside: npt.NDArray[np.bool_]) -> IntArray:
    """Return which number of a range each value is, -1 where it is not inside or between two."""
    moves, step = np.where(inside, values, places.start) - places.start, places.step
    if step == 1:
        numbers = moves
    else:
        numbers = moves // step
        inside = inside & (numbers * step == moves)
    return np.where(inside, numbers, -1).astype(np.int64, copy=False)


def _take_wide(places: range, numbers: IntArray) -> IntArray:
    """Return some places of a range that leaves 64 bits, if they do not."""
    taken = numbers.astype(np.object_) * places.step + places.start
    low, high = (taken.min(), taken.max()) if numbers.size else (0, 0)
    if low < -MAX_INT64 or high > MAX_INT64:
        raise SizeOverflowError(f"indices from {low} to {high} leave 64 bits")
    fitting: IntArray = taken.astype(np.int64)
    return fitting


def _union(first: range, second: range, both: int) -> range | None:
    """Return the range with the numbers of both ranges, which have `both` in common, if there is one."""
    if not first or not second:
        found = first or second
        return found if found.step > 0 else found[::-1]
    ends = first[0], first[-1], second[0], second[-1]
    low, high = min(ends), max(ends)
    step = math.gcd(*[r.step for r in (first, second) if r[0] != r[-1]], first[0] - second[0])
    counts = [(r[-1] - r[0]) // r.step + 1 for r in (first, second)]
    if (high - low) // (step or 1) + 1 == sum(counts) - both:
        return range(low, high + 1, step or 1)
    return None


def _progression(first: int, step: int, count: int) -> range:
    return range(first, first + step * count, step)


def _common(first: range, second: range) -> range:
    """Return the numbers in both ranges, in the order of the first: one progression, by remainders."""
    if not first or not second:
        return range(0)
    up, other = (r if r.step > 0 else r[::-1] for r in (first, second))
    divisor = math.gcd(up.step, other.step)
    gap, rest = divmod(other.start - up.start, divisor)
    if rest:
        return range(0)
    # Steps along the first range until a number of the second is met, wherever the two begin.
    turns = gap * pow(up.step // divisor, -1, other.step // divisor) % (other.step // divisor)
    start, step = up.start + up.step * turns, up.step * (other.step // divisor)
    low, high = max(up[0], other[0]), min(up[-1], other[-1])
    start += -(-max(low - start, 0) // step) * step
    found = range(start, high + 1, step)
    return found if first.step > 0 else found[::-1]
