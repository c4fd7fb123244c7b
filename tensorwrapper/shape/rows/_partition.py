"""A partition: how one mode is cut into tiles.

Stored as *marks*, the ascending boundaries, because positions are what lookups need: 8 bytes per tile and
never one per element. Empty tiles are legal, and a partition has a position even when it has no tile.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import Sizes, digest_of, frozen_array, run_of, same_values, shown_array, splits_of
from tensorwrapper._integers import MAX_INT64, to_int, to_ints
from tensorwrapper._value_class import value_class
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, SizeOverflowError
from tensorwrapper.typing import IntArray

_FEW = 16  # cells per run from which a search for each run is cheaper than one for each cell
_TABLE = 4  # elements per lookup up to which a table of all elements is faster than a search for each


@final
@value_class(eq=False, getstate_setstate=False)
class Partition:
    """The tiles of one mode; tile ``k`` is ``[marks[k], marks[k + 1])``.

    Made by `of_sizes` and `of_marks`, which check what they are given; the class itself checks nothing.

    Examples
    --------
    >>> p = Partition.of_sizes([5, 15, 10])
    >>> p.count, p.extent, p.tile_of(7), p.tile(2)
    (3, 30, 1, (10, 20))
    """

    marks: IntArray = attrs.field(repr=lambda marks: str(marks.tolist()))
    """The boundaries: one more than there are tiles, never descending; read-only."""
    _view: "memoryview[int] | None" = attrs.field(default=None, init=False, repr=False)
    _hash: int | None = attrs.field(default=None, init=False, repr=False)

    if TYPE_CHECKING:

        def __init__(self, marks: IntArray) -> None: ...

    @classmethod
    def of_marks(cls, marks: npt.ArrayLike, what: str = "marks") -> "Partition":
        """Return the partition with these boundaries; O(n).

        ``what`` names the marks in errors.
        """
        array = int64_array(marks, what)
        if not len(array):
            raise ExtentError(f"{what}: a partition needs at least one mark, its position")
        if (array[1:] < array[:-1]).any():
            place = int(np.argmax(array[1:] < array[:-1]))
            raise ExtentError(
                f"{what} must not descend, but mark {place + 1} is {array[place + 1]} after {array[place]}"
            )
        check_span(int(array[0]), int(array[-1]) - int(array[0]))
        return cls(_owned(array, marks))

    @classmethod
    def of_sizes(
        cls, sizes: Iterable[SupportsIndex] | IntArray, origin: SupportsIndex = 0, what: str = "tile sizes"
    ) -> "Partition":
        """Return the partition whose tiles have these sizes, starting at `origin`; O(n).

        ``what`` names the sizes in errors.
        """
        array = int64_array(sizes, what)
        try:
            marks = splits_of(array)
        except ExtentError as error:
            raise ExtentError(f"{error}, among {what}") from error
        start = to_int(origin, "an origin")
        check_span(start, int(marks[-1]))
        return cls(frozen_array(marks + start) if start else marks)

    @classmethod
    def by_volume(cls, offsets: Sizes, max_elements: SupportsIndex) -> "Partition":
        """Return runs of cells with at most so many elements; each but the last is as long as possible.

        A larger cell is a separate run. O(runs * log n) if runs are long, O(n) if they are short.

        Parameters
        ----------
        offsets
            Number of elements before each cell, from any start, and (last) the end: an ascending array of
            int64, or of Python integers.
        max_elements
            Maximal number of elements in a run, at least one.

        Raises
        ------
        ExtentError
            If the limit is less than one element.

        Examples
        --------
        >>> import numpy as np
        >>> Partition.by_volume(np.array([0, 3, 4, 4, 9, 10]), 4)
        Partition(marks=[0, 3, 4, 5])
        """
        most = to_volume(max_elements)
        count = len(offsets) - 1
        total = int(offsets[-1]) - int(offsets[0])
        if not count or total <= most:
            return _of_list([0, count] if count else [0])
        if offsets.dtype == np.object_:
            return _of_list(_search_runs(offsets.tolist(), most))
        splits = cast("IntArray", offsets)
        # Two neighbouring runs have more than `most` elements, or the first would have been longer.
        if _FEW * (2 * total // most + 1) < count:
            view: memoryview[int] = splits.data
            return _of_list(_search_runs(view, most))
        ends = run_of(splits, np.minimum(splits[:-1], MAX_INT64 - most) + most)
        following: list[int] = np.maximum(ends, np.arange(1, count + 1)).tolist()
        marks, last = [0], 0
        # One step per run: where a run starts is known only when the one before has ended.
        while last < count:
            last = following[last]
            marks.append(last)
        return _of_list(marks)

    @property
    def count(self) -> int:
        """The number of tiles."""
        return len(self.marks) - 1

    @property
    def origin(self) -> int:
        """The first index."""
        return int(self.marks[0])

    @property
    def end(self) -> int:
        """The index after the last."""
        return int(self.marks[-1])

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
        """Position of each mark, relative to the origin."""
        starts: IntArray = self.marks - self.marks[0]
        return starts

    def bounds(self) -> tuple[int, int]:
        """Return the least and the greatest tile extent; (0, 0) if there is no tile."""
        sizes = self.sizes
        return (int(sizes.min()), int(sizes.max())) if len(sizes) else (0, 0)

    def tile(self, k: SupportsIndex) -> tuple[int, int]:
        """Return extent and origin of tile `k`."""
        number = to_int(k, "a tile")
        if not 0 <= number < self.count:
            raise OutOfBoundsError(f"tile {number} is outside [0, {self.count})")
        start = int(self.marks[number])
        return int(self.marks[number + 1]) - start, start

    # Element to tile. A tile that is found is never empty: it is the last that starts at or before.

    def tile_of(self, i: SupportsIndex) -> int:
        """Return the tile (never an empty one) that holds index `i`; O(log n)."""
        number = i if type(i) is int else to_int(i, "an index")
        view = self._view or self._make_view()
        k = bisect_right(view, number) - 1
        if 0 <= k < len(view) - 1:
            return k
        raise OutOfBoundsError(f"index {number} is outside [{self.origin}, {self.end})")

    def _make_view(self) -> "memoryview[int]":
        # A search for one number is a dozen reads, which are much faster through a memory view than through
        # an array. Native byte order, because a memory view requires it.
        view: memoryview[int] = self.marks.astype(np.int64, copy=False).data
        object.__setattr__(self, "_view", view)
        return view

    def tiles_at(self, indices: IntArray) -> IntArray:
        """Return the tile of each index; all must be inside. O(log n) each, or less for many."""
        if self.extent <= _TABLE * indices.size:
            table = np.repeat(np.arange(self.count, dtype=np.int64), self.sizes)
            numbers: IntArray = table[indices - self.marks[0]]
            return numbers
        return run_of(self.marks, indices)

    def tile_run(self, start: int, stop: int) -> tuple[int, int]:
        """Return the first and the last (not included) of the tiles that hold `start` up to `stop`.

        Both must lie within. An empty range has no tiles, but a place among them: that of the tile which
        holds it.
        """
        view = self._view or self._make_view()
        first = min(bisect_right(view, start) - 1, self.count)
        return first, bisect_left(view, stop) if start < stop else first

    def has_mark(self, i: int) -> bool:
        """Tell whether a tile starts or stops at index `i`; O(log n)."""
        view = self._view or self._make_view()
        k = bisect_left(view, i)
        return k < len(view) and view[k] == i

    def has_marks(self, indices: IntArray) -> npt.NDArray[np.bool_]:
        """Tell for each index whether a tile starts or stops there; O(log n) each."""
        found = np.searchsorted(self.marks, indices, side="left")
        # Those beyond the last mark are compared with it, and differ.
        same: npt.NDArray[np.bool_] = self.marks[np.minimum(found, self.count)] == indices
        return same

    # Parts and comparison.

    def coarsen(
        self, groups: Iterable[SupportsIndex] | IntArray, what: str = "numbers of tiles to join"
    ) -> "Partition":
        """Return the partition that joins runs of tiles: the first ``groups[0]`` tiles, and so on; O(n).

        ``what`` names the groups in errors.
        """
        ends = Partition.of_sizes(groups, what=f"the {what}").marks
        if ends[-1] != self.count:
            raise ExtentError(f"the {what} add up to {ends[-1]}, but there are {self.count} tiles")
        return Partition(frozen_array(self.marks[ends]))

    def run(self, start: int, stop: int) -> "Partition":
        """Return the tiles `start` to `stop`, with their indices; no copy."""
        return Partition(self.marks[start : stop + 1])

    def is_congruent(self, other: "Partition") -> bool:
        """Return True if both have tiles of the same sizes, for any origins."""
        move = other.origin - self.origin
        if not move or self.count != other.count or self.extent != other.extent:
            return self == other
        # Ends that are alike bound the marks between them, so the move cannot leave 64 bits.
        return same_values(self.marks, other.marks, move)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        if self.marks is other.marks:
            return True
        if not same_values(self.marks, other.marks):
            return False
        _share(self, other)
        return True

    def __hash__(self) -> int:
        number = self._hash
        if number is None:
            number = hash(self.marks.tobytes())
            object.__setattr__(self, "_hash", number)
        return number

    def __dask_tokenize__(self) -> tuple[object, ...]:
        return "Partition", digest_of(self.marks)

    def __reduce__(self) -> tuple[Callable[[IntArray], "Partition"], tuple[IntArray]]:
        # A new array object each time, so that partitions with a shared array pickle like others.
        return _restore, (np.ascontiguousarray(self.marks).view(),)


def to_volume(max_elements: SupportsIndex) -> int:
    """Return the most elements that a run may have, at least one, as a Python integer."""
    most = to_int(max_elements, "the most elements of a run")
    if most < 1:
        raise ExtentError(f"a run must be allowed one element at least, not {most}")
    return most


def _search_runs(offsets: Sequence[int], most: int) -> list[int]:
    """Return the marks of the runs of cells with these offsets by one search for each."""
    marks, last, count = [0], 0, len(offsets) - 1
    while last < count:
        last = max(bisect_right(offsets, offsets[last] + most) - 1, last + 1)
        marks.append(last)
    return marks


def _of_list(marks: list[int]) -> Partition:
    return Partition(frozen_array(np.array(marks, dtype=np.int64)))


def _restore(marks: IntArray) -> Partition:
    return Partition(frozen_array(marks))


def _share(first: Partition, second: Partition) -> None:
    """Let two equal partitions hold one array, so that comparing them again takes no time.

    Not an array that is a window on a larger one, which would be kept alive by it.
    """
    for giver, taker in ((first, second), (second, first)):
        # The base of an array may be anything that has a buffer, whatever NumPy's stubs say.
        owner = cast("object", giver.marks if giver.marks.base is None else giver.marks.base)
        if isinstance(owner, np.ndarray) and owner.base is None and owner.nbytes == giver.marks.nbytes:
            object.__setattr__(taker, "marks", giver.marks)
            return


def check_span(origin: int, extent: int) -> None:
    """Raise if a partition that starts here leaves 64 bits, which is what marks hold."""
    if not -MAX_INT64 <= origin <= origin + extent <= MAX_INT64 or extent > MAX_INT64:
        raise SizeOverflowError(f"a partition from {origin} with extent {extent} leaves 64 bits")


def int64_array(values: object, what: str) -> IntArray:
    """Return `values` as a one-dimensional int64 array."""
    if isinstance(values, np.ndarray):
        array: npt.NDArray[Any] = shown_array(cast("object", values))
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise ConversionError(
                f"{what} must be a one-dimensional array of integers, not {array.dtype} of {array.shape}"
            )
        if array.dtype.kind == "u" and array.size and int(array.max()) > MAX_INT64:
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


def volumes_of_tiles(partitions: tuple[Partition, ...]) -> IntArray:
    """Return the number of elements of every tile, one axis per mode; O(tiles)."""
    grid = tuple([p.count for p in partitions])
    largest = math.prod([p.bounds()[1] for p in partitions])
    if largest > MAX_INT64:
        raise SizeOverflowError(f"the largest tile has {largest} elements, which does not fit into 64 bits")
    if not largest:
        # An empty factor at the end would not keep a product in between from leaving 64 bits.
        return np.zeros(grid, dtype=np.int64)
    volumes = np.ones((), dtype=np.int64)
    for partition in partitions:
        volumes = np.multiply.outer(volumes, partition.sizes)
    return volumes


def offsets_of_tiles(partitions: tuple[Partition, ...]) -> IntArray:
    """Return how many elements the tiles before each one have, in row-major order of the tiles; O(tiles)."""
    grid = tuple([p.count for p in partitions])
    if not check_total(partitions):
        return np.zeros(grid, dtype=np.int64)
    rest = 1
    offsets = np.zeros((), dtype=np.int64)
    for partition in reversed(partitions):
        inner = np.multiply.outer(partition.sizes, offsets)
        before = partition.starts[:-1] * rest
        inner += before.reshape(-1, *[1] * offsets.ndim)
        offsets = inner
        rest *= partition.extent
    return offsets


def runs_by_volume(partitions: tuple[Partition, ...], most: int) -> Partition:
    """Return runs of tiles, in row-major order, of at most `most` elements; a larger tile is its own run.

    Every run but the last is as long as it can be. O(tiles).
    """
    total = check_total(partitions)
    splits = np.empty(math.prod([p.count for p in partitions]) + 1, dtype=np.int64)
    splits[:-1] = offsets_of_tiles(partitions).reshape(-1)
    splits[-1] = total
    return Partition.by_volume(splits, most)


def check_total(partitions: tuple[Partition, ...]) -> int:
    """Return the number of elements of all tiles, which must fit into 64 bits."""
    total = math.prod([p.extent for p in partitions])
    if total > MAX_INT64:
        raise SizeOverflowError(f"the tiles have {total} elements, which does not fit into 64 bits")
    return total
