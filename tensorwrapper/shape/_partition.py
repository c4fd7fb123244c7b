"""A partition: how one mode is cut into tiles.

Stored as *marks*, the ascending boundaries, because positions are what lookups need: 8 bytes per tile and
never one per element. Empty tiles are legal, and a partition has a position even when it has no tile.
"""

from collections.abc import Callable, Iterable
from typing import SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._integers import MAX_INT64, to_counts, to_int, to_ints
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.shape._columns import frozen_array, run_of, splits_of
from tensorwrapper.typing import IntArray

__all__ = ["Partition", "int64_array"]


@final
@attrs.frozen(eq=False, getstate_setstate=False)
class Partition:
    """The tiles of one mode; tile ``k`` is ``[marks[k], marks[k + 1])``.

    Examples
    --------
    >>> p = Partition.of_sizes([5, 15, 10])
    >>> p.count, p.extent, p.tile_of(7), p.tile(2)
    (3, 30, 1, (10, 20))
    """

    marks: IntArray = attrs.field(repr=lambda marks: str(marks.tolist()))
    """The boundaries: one more than there are tiles, never descending; read-only."""

    @classmethod
    def of_marks(cls, marks: npt.ArrayLike) -> "Partition":
        """Return the partition with these boundaries; O(n)."""
        array = int64_array(marks, "marks")
        if not len(array):
            raise ExtentError("a partition needs at least one mark, its position")
        if (array[1:] < array[:-1]).any():
            place = int(np.argmax(array[1:] < array[:-1]))
            raise ExtentError(
                f"marks must not descend, but mark {place + 1} is {array[place + 1]} after {array[place]}"
            )
        if int(array[-1]) - int(array[0]) > MAX_INT64:
            raise SizeOverflowError("the extent of a partition must fit into 64 bits")
        return cls(_owned(array, marks))

    @classmethod
    def of_sizes(
        cls, sizes: Iterable[SupportsIndex] | IntArray, origin: int = 0, what: str = "tile sizes"
    ) -> "Partition":
        """Return the partition whose tiles have these sizes, starting at `origin`; O(n).

        ``what`` names the sizes in errors.
        """
        array = int64_array(sizes, what)
        marks = splits_of(array)
        if not -MAX_INT64 <= origin <= MAX_INT64 - int(marks[-1]):
            raise SizeOverflowError(f"a partition from {origin} with extent {marks[-1]} leaves 64 bits")
        return cls(frozen_array(marks + origin) if origin else marks)

    @property
    def count(self) -> int:
        """The number of tiles."""
        return len(self.marks) - 1

    @property
    def origin(self) -> int:
        """The first index."""
        return int(self.marks[0])

    @property
    def extent(self) -> int:
        """The number of indices."""
        return int(self.marks[-1]) - int(self.marks[0])

    @property
    def sizes(self) -> IntArray:
        """The extents of the tiles."""
        return self.marks[1:] - self.marks[:-1]

    @property
    def starts(self) -> IntArray:
        """Where each mark lies, relative to the origin."""
        starts: IntArray = self.marks - self.marks[0]
        return starts

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest tile extent; (0, 0) if there is no tile."""
        sizes = self.sizes
        return (int(sizes.min()), int(sizes.max())) if len(sizes) else (0, 0)

    def tile(self, k: int) -> tuple[int, int]:
        """Return extent and origin of tile `k`."""
        if not 0 <= k < self.count:
            raise OutOfBoundsError(f"tile {k} is outside [0, {self.count})")
        start = int(self.marks[k])
        return int(self.marks[k + 1]) - start, start

    def tile_of(self, i: SupportsIndex) -> int:
        """Return the tile (never an empty one) that holds index `i`; O(log n)."""
        number = to_int(i, "an index")
        low, high = self.origin, self.origin + self.extent
        if not low <= number < high:
            raise OutOfBoundsError(f"index {number} is outside [{low}, {high})")
        return int(run_of(self.marks, np.array(number)))

    def coarsen(self, groups: Iterable[SupportsIndex]) -> "Partition":
        """Return the partition that joins runs of tiles: the first ``groups[0]`` tiles, and so on."""
        counts = to_counts(groups, "the numbers of tiles to join")
        ends = np.cumsum([0, *counts])
        if ends[-1] != self.count:
            raise ExtentError(f"{counts} joins {ends[-1]} tiles, but there are {self.count}")
        return Partition(frozen_array(self.marks[ends]))

    def run(self, start: int, stop: int) -> "Partition":
        """Return the tiles `start` to `stop`, where they lie; no copy."""
        return Partition(self.marks[start : stop + 1])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self.marks is other.marks or np.array_equal(self.marks, other.marks)

    def __hash__(self) -> int:
        return hash(self.marks.tobytes())

    def __reduce__(self) -> tuple[Callable[[IntArray], "Partition"], tuple[IntArray]]:
        return _restore, (np.ascontiguousarray(self.marks),)


def _restore(marks: IntArray) -> Partition:
    return Partition(frozen_array(marks))


def int64_array(values: object, what: str) -> IntArray:
    """Return `values` as a one-dimensional int64 array."""
    if isinstance(values, np.ndarray):
        array = cast("npt.NDArray[np.integer]", values)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ConversionError(
                f"{what} must be a one-dimensional array of integers, not {array.dtype} of {array.shape}"
            )
        if array.dtype == np.uint64 and array.size and int(array.max()) > MAX_INT64:
            raise SizeOverflowError(f"{what} must fit into 64 bits")
        return array.astype(np.int64, copy=False)
    if not isinstance(values, Iterable):
        raise ConversionError(f"{what} must be a sequence of integers, not {values!r}")
    numbers = to_ints(cast("Iterable[SupportsIndex]", values), what)
    if any(not -MAX_INT64 <= number <= MAX_INT64 for number in numbers):
        raise SizeOverflowError(f"{what} must fit into 64 bits")
    return np.array(numbers, dtype=np.int64)


def _owned(array: IntArray, given: object) -> IntArray:
    """Return a frozen array that the giver cannot change behind our back."""
    if isinstance(given, np.ndarray) and np.shares_memory(array, cast("IntArray", given)):
        array = array.copy()
    return frozen_array(array)
