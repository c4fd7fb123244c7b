"""Runs of elements by number: points of a box, rows of other shapes."""

from collections.abc import Callable, Iterable
from math import prod
from types import EllipsisType
from typing import TYPE_CHECKING, Any, SupportsIndex, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import concatenated_ranges, frozen_array, positions_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.shape.lowlevel import integer_array
from tensorwrapper.typing import Array, Extents, IntArray

if TYPE_CHECKING:
    from typing import Self

Positions: TypeAlias = range | IntArray
"""Ascending positions of a mode: a range if they are evenly spaced, else a read-only array."""


def _to_positions(given: "range | npt.ArrayLike") -> Positions:
    if isinstance(given, range):
        if given and (given[0] < 0 or given.step < 0):
            raise OutOfBoundsError(f"positions of a mode ascend from 0 or more, unlike {given}")
        return given
    array = integer_array(given, "positions")
    if array.ndim != 1:
        raise ConversionError(f"positions of a mode are a row of integers, not of extents {array.shape}")
    values = frozen_array(array.astype(np.int64, copy=False))
    steps = np.diff(values)
    if len(values) and (values[0] < 0 or (steps <= 0).any()):
        raise OutOfBoundsError("positions of a mode ascend from 0 or more, and none comes twice")
    if len(values) < 2:
        return range(int(values[0]), int(values[0]) + 1) if len(values) else range(0)
    step = int(steps[0])
    if (steps == step).all():
        return range(int(values[0]), int(values[-1]) + 1, step)
    if isinstance(given, np.ndarray) and given.flags.writeable:
        values = values.copy()
        values.flags.writeable = False
    return values


def _to_modes(modes: "Iterable[range | npt.ArrayLike]") -> tuple[Positions, ...]:
    return tuple([_to_positions(mode) for mode in modes])


@final
@value_class(eq=False, getstate_setstate=False)
class Outer:
    """Outer product of ascending zero-based positions of each mode of a box.

    It is a value: two are equal if they have the same positions.

    Parameters
    ----------
    modes
        For each mode a range, or ascending positions without repeats, which are kept as a range if they
        are evenly spaced.

    Examples
    --------
    >>> from tensorwrapper.selection import Outer
    >>> outer = Outer([range(2), [0, 3, 4]])
    >>> outer.extents, outer.size, outer == Outer([[0, 1], [0, 3, 4]])
    ((2, 3), 6, True)
    """

    modes: tuple[Positions, ...] = attrs.field(converter=_to_modes)
    extents: Extents = attrs.field(init=False, repr=False)
    """Number of positions of each mode."""

    if TYPE_CHECKING:

        def __init__(self, modes: Iterable[range | npt.ArrayLike]) -> None: ...

    def __attrs_post_init__(self) -> None:
        # Cached, as every read uses it several times.
        object.__setattr__(self, "extents", tuple([len(mode) for mode in self.modes]))

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self.extents)

    @property
    def nbytes(self) -> int:
        """Number of bytes that describe the selection: 24 for a range, else 8 for each position."""
        return sum([24 if isinstance(mode, range) else mode.nbytes for mode in self.modes])

    def bounding_box(self) -> "Outer":
        """Return the box from the first to the last position of each mode."""
        return Outer([range(int(m[0]), int(m[-1]) + 1) if len(m) else range(0) for m in self.modes])

    def hull(self, other: "Outer") -> "Outer":
        """Return the smallest box that has the positions of both; they are not empty."""
        pairs = zip(self.modes, other.modes, strict=True)
        ends = [(min(a[0], b[0]), max(a[-1], b[-1])) for a, b in pairs]
        return Outer([range(int(low), int(high) + 1) for low, high in ends])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Outer) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[range | bytes, ...]:
        # Equal positions have one form.
        return tuple([m if isinstance(m, range) else m.tobytes() for m in self.modes])

    def __reduce__(self) -> "tuple[Callable[..., Outer], tuple[tuple[Any, ...]]]":
        return Outer, (self.modes,)


_ONE = frozen_array(np.ones(1, dtype=np.int64))


def _column(given: npt.ArrayLike) -> IntArray:
    array = integer_array(given, "runs")
    if array.ndim > 1:
        raise ConversionError(f"runs are rows of integers, not of extents {array.shape}")
    return array.astype(np.int64, copy=False)


@final
@value_class(eq=False, getstate_setstate=False)
class Runs:
    """Elements of a source by row-major number: ascending runs that do not overlap.

    Rows of a jagged source are runs of its elements, points of a box are runs of one. It is a value: equal
    if they have the same elements, since adjacent runs are merged. The result of reading them has one mode.

    Parameters
    ----------
    starts
        The number of the first element of each run.
    lengths
        How many elements each run has, or all of them have.

    Raises
    ------
    OutOfBoundsError
        If a run starts before 0 or within the one before it, or has a negative length.

    Examples
    --------
    >>> from tensorwrapper.selection import Runs
    >>> runs = Runs([2, 4, 9], [2, 3, 1])
    >>> runs.starts.tolist(), runs.lengths.tolist(), runs.size
    ([2, 9], [5, 1], 6)
    >>> runs == Runs([2, 3, 4, 5, 6, 9])
    True
    """

    starts: IntArray = attrs.field(converter=_column)
    lengths: IntArray = attrs.field(converter=_column, default=_ONE)
    size: int = attrs.field(init=False, repr=False)
    """Number of elements."""
    even: range | None = attrs.field(init=False, repr=False, default=None)
    """Starts of several runs that were given as evenly spaced and of one length; else None."""

    if TYPE_CHECKING:

        def __init__(self, starts: npt.ArrayLike, lengths: npt.ArrayLike = ...) -> None: ...

    def __getattr__(self, name: str) -> IntArray:
        # Called for empty slots: evenly spaced runs make these arrays only on request.
        if name not in ("starts", "lengths") or self.even is None:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        even = self.even
        object.__setattr__(
            self, "lengths", frozen_array(np.full(len(even), self.size // len(even), np.int64))
        )
        object.__setattr__(self, "starts", frozen_array(positions_array(even)))
        return self.starts if name == "starts" else self.lengths

    def __attrs_post_init__(self) -> None:
        if self.lengths is _ONE and self.starts.ndim == 1 and self._of_single(self.starts):
            return
        starts = np.atleast_1d(self.starts)
        lengths = np.broadcast_to(self.lengths, starts.shape)
        ends = starts + lengths
        if len(starts) and (starts.min() < 0 or lengths.min() < 0 or (ends < starts).any()):
            raise OutOfBoundsError("runs start at 0 or more, and have as many elements")
        if not lengths.all():
            some = lengths > 0
            starts, lengths, ends = starts[some], lengths[some], ends[some]
        gaps = starts[1:] - ends[:-1]
        least = int(gaps.min()) if len(gaps) else 1
        if least < 0:
            raise OutOfBoundsError("runs ascend, and have no element twice")
        if not least:
            # Those that touch are one.
            apart = np.flatnonzero(gaps)
            starts = starts[np.concatenate([[0], apart + 1])]
            lengths = ends[np.concatenate([apart, [len(ends) - 1]])] - starts
        object.__setattr__(self, "starts", frozen_array(np.array(starts)))
        object.__setattr__(self, "lengths", frozen_array(np.array(lengths)))
        # Cached, as every read uses it several times.
        object.__setattr__(self, "size", int(lengths.sum()))

    def _of_single(self, starts: IntArray) -> bool:
        """Take single elements without copying, or return False: the fast path of the general checks."""
        count = len(starts)
        # Differences may leave 64 bits; those of numbers that ascend from 0 do not.
        if not count or starts.item(0) < 0 or starts.item(-1) >= MAX_INT64:
            return False
        if not (starts[1:] > starts[:-1]).all():
            return False
        apart = starts[1:] - starts[:-1] > 1
        if apart.all():
            lengths = np.ones(count, dtype=np.int64)
            starts = starts.copy()
        else:
            # Those that touch are one.
            ends = np.append(np.flatnonzero(apart) + 1, count)
            lengths = np.diff(ends, prepend=0)
            starts = starts[ends - lengths]
        object.__setattr__(self, "starts", frozen_array(starts))
        object.__setattr__(self, "lengths", frozen_array(lengths))
        object.__setattr__(self, "size", count)
        return True

    @classmethod
    def of(cls, positions: Positions) -> "Self":
        """Return the runs of ascending numbers without repeats. O(1) for a range."""
        if isinstance(positions, range) and positions.step > 0:
            return cls.evenly(positions)
        return cls(positions_array(positions))

    @classmethod
    def evenly(cls, starts: range, length: SupportsIndex = 1) -> "Self":
        """Return runs of one length that begin evenly spaced. O(1): arrays are made on first use.

        Raises
        ------
        OutOfBoundsError
            As for any other runs.
        ConversionError
            If the starts are not range.

        Examples
        --------
        >>> runs = Runs.evenly(range(0, 10**15, 10), 3)
        >>> runs.count, runs.size, runs.stop
        (100000000000000, 300000000000000, 999999999999993)
        """
        if not isinstance(cast("object", starts), range):
            raise ConversionError(f"evenly spaced starts are a range, not {brief(starts)}")
        length = length if type(length) is int else to_int(length, "length")
        count, first, last = len(starts), starts.start, starts[-1] if starts else 0
        if count and (min(first, length, starts.step) < 0 or last + length > MAX_INT64):
            raise OutOfBoundsError("runs start at 0 or more, and have as many elements")
        if count > 1 and length > starts.step:
            raise OutOfBoundsError("runs ascend, and have no element twice")
        size, even = count * length, None
        begins = lengths = frozen_array(np.empty(0, np.int64))
        if size and (count == 1 or length == starts.step):
            # Adjacent runs are one. Whole shards are one run each, and there may be many.
            begins = frozen_array(np.array([first], dtype=np.int64))
            lengths = frozen_array(np.array([size], dtype=np.int64))
        elif size:
            even = starts[:]
        made = object.__new__(cls)
        if even is None:
            object.__setattr__(made, "starts", begins)
            object.__setattr__(made, "lengths", lengths)
        object.__setattr__(made, "even", even)
        object.__setattr__(made, "size", size)
        return made

    @property
    def count(self) -> int:
        """Number of runs. O(1)."""
        return len(self.starts) if self.even is None else len(self.even)

    @property
    def stop(self) -> int:
        """The number after the last element; 0 if there is none. O(1)."""
        if self.even is not None:
            return self.even[-1] + self.size // len(self.even)
        return self.starts.item(-1) + self.lengths.item(-1) if len(self.starts) else 0

    @property
    def extents(self) -> Extents:
        """The extents of the read elements: one mode."""
        return (self.size,)

    @property
    def ends(self) -> IntArray:
        """The number after the last element of each run."""
        return self.starts + self.lengths

    @property
    def nbytes(self) -> int:
        """Number of bytes that describe the selection: 8 a run where all have one length, else 16."""
        if self.even is not None:
            return 8 * len(self.even) + 8
        alike = bool((self.lengths == self.lengths[:1]).all())
        return 8 * len(self.starts) + (8 if alike else 8 * len(self.starts))

    def numbers(self) -> IntArray:
        """Return the numbers of all elements. O(size)."""
        if len(self.starts) == self.size:
            return self.starts
        return concatenated_ranges(self.starts, self.lengths)

    def places(self, numbers: IntArray) -> IntArray:
        """Return where elements are among those that are read. O(numbers log runs)."""
        run = np.searchsorted(self.starts, numbers, "right") - 1
        before = np.cumsum(self.lengths) - self.lengths
        return before[run] + numbers - self.starts[run]

    def rows(self, splits: IntArray) -> "tuple[IntArray, IntArray] | None":
        """Return first rows and how many follow, by where rows begin; None if a run is not of whole rows.

        Rows without elements, which no run has, belong to none.
        """
        first = np.searchsorted(splits, self.starts, "right") - 1
        if (splits[first] != self.starts).any():
            return None
        last = np.searchsorted(splits, self.ends, "left")
        if (splits[last] != self.ends).any():
            return None
        return first, last - first

    def bounding_box(self) -> "Runs":
        """Return the one run from the first element to the last."""
        if len(self.starts) < 2:
            return self
        start = self.starts.item(0)
        return Runs.of(range(start, self.starts.item(-1) + self.lengths.item(-1)))

    def union(self, other: "Runs") -> "Runs":
        """Return the runs of the elements of both."""
        starts = np.concatenate([self.starts, other.starts])
        ends = np.concatenate([self.ends, other.ends])
        order = np.argsort(starts, kind="stable")
        starts, reached = starts[order], np.maximum.accumulate(ends[order])
        first = np.flatnonzero(np.r_[True, starts[1:] > reached[:-1]]) if len(starts) else order
        last = np.r_[first[1:] - 1, len(starts) - 1] if len(starts) else order
        return Runs(starts[first], reached[last] - starts[first])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Runs) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[bytes, bytes]:
        return self.starts.tobytes(), self.lengths.tobytes()

    def __repr__(self) -> str:
        return f"Runs({len(self.starts)} of {self.size} elements)"

    def __reduce__(self) -> "tuple[Callable[..., Runs], tuple[Any, ...]]":
        return Runs, (self.starts, self.lengths)


Wanted: TypeAlias = Outer | Runs
"""A selection from a source: positions of each mode of a box, or runs of elements by number."""


Run: TypeAlias = "tuple[slice, slice, slice | Array]"
"""Its positions, the slice to read for them, and their places in the result of the read."""


def key_of(positions: Positions, move: int = 0) -> "slice | Array":
    """Return positions as a key that other libraries take: a slice if they are evenly spaced."""
    if not isinstance(positions, range):
        return positions + move if move else positions
    return _slice_of(positions, move)


def _slice_of(positions: range, move: int = 0) -> slice:
    step = positions.step if len(positions) > 1 else 1
    stop = positions[-1] + 1 if positions else positions.start
    return slice(positions.start + move, stop + move, step)


def part_of(array: Array, places: tuple[slice, ...]) -> Array:
    """Return the part of an array at these places; also of an array of rank 0."""
    key: tuple[slice | EllipsisType, ...] = (*places, ...)
    return array[key]


def runs_of(positions: Positions, gap: int) -> list[Run]:
    """Return slices that have all positions: those at most `gap` from one another are in one slice."""
    if isinstance(positions, range):
        return [(slice(0, len(positions)), _slice_of(positions), slice(None))] if positions else []
    cuts = (np.flatnonzero(np.diff(positions) > gap) + 1).tolist()
    runs: list[Run] = []
    for start, stop in zip([0, *cuts], [*cuts, len(positions)], strict=True):
        first, last = positions.item(start), positions.item(stop - 1)
        whole = last - first == stop - start - 1
        picked: Any = slice(None) if whole else positions[start:stop] - first
        runs.append((slice(start, stop), slice(first, last + 1), picked))
    return runs


def count_chunks(positions: Positions, chunk: int) -> int:
    """Return how many chunks of a mode have any of these positions; O(1) if the steps are short."""
    if not len(positions):
        return 0
    if isinstance(positions, range) and positions.step <= chunk:
        return positions[-1] // chunk - positions[0] // chunk + 1
    if isinstance(positions, range):
        return len(positions)
    return 1 + int(np.count_nonzero(np.diff(positions // chunk)))
