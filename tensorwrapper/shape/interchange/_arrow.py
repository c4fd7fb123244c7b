"""Shapes as lists of Arrow, level by level: variable ones with offsets, views, and those of one size."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, SupportsIndex, TypeAlias, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import to_items_of
from tensorwrapper._integers import MAX_INT64, to_count
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape.interchange._row_partitions import RowPartition
from tensorwrapper.shape.interchange._tensorflow import RowPartitions
from tensorwrapper.shape.rows._partition import int64_array
from tensorwrapper.typing import IntArray


@final
@frozen(eq=False)
class Lists:
    """Lists that follow one another: list k is ``offsets[k]`` up to ``offsets[k + 1]``."""

    offsets: IntArray


@final
@frozen(eq=False)
class Views:
    """Lists anywhere: list k is ``starts[k]`` up to ``stops[k]``."""

    starts: IntArray
    stops: IntArray


ListLevel: TypeAlias = Lists | Views | int
"""One level of lists; an integer is the length of all of them."""


def rows_of_levels(levels: Sequence[ListLevel], length: int, inner: tuple[int, ...] = ()) -> RowPartitions:
    """Return the rows of `length` lists, whose elements are lists of the next level; O(lists).

    `inner` are the extents of the elements of the last level.
    """
    first, last = 0, length
    found: list[RowPartition] = []
    for number, level in enumerate(levels):
        if isinstance(level, int):
            found.append(RowPartition.from_uniform_row_length(level, last - first))
            first, last = first * level, last * level
            if last > MAX_INT64:
                raise SizeOverflowError(f"the lists of level {number} have more elements than 64 bits count")
            continue
        starts, stops = _bounds(level, first, last, number)
        found.append(RowPartition.from_row_lengths(stops - starts))
        run = _run_of(starts, stops)
        if run is None:
            if any(not isinstance(below, int) for below in levels[number + 1 :]):
                raise ConversionError(
                    f"the lists of level {number} do not follow one another, so that those below would have "
                    "to be gathered: pack the array first"
                )
            # All elements are alike, so that it does not matter which they are.
            run = 0, found[-1].nvals
        first, last = run
    return RowPartitions(found, (last - first, *inner))


def _bounds(level: Lists | Views, first: int, last: int, number: int) -> tuple[IntArray, IntArray]:
    """Return where the lists `first` to `last` start and stop, once they are lists."""
    count = len(level.offsets) - 1 if isinstance(level, Lists) else min(len(level.starts), len(level.stops))
    if last > max(count, 0):
        raise OutOfBoundsError(f"level {number} has {max(count, 0)} lists, but {last} are asked for")
    if isinstance(level, Lists):
        # No lists need no offsets.
        starts, stops = level.offsets[first:last], level.offsets[first + 1 : last + 1]
    else:
        starts, stops = level.starts[first:last], level.stops[first:last]
    wrong = (starts < 0) | (stops < starts)
    if wrong.any():
        k = int(np.argmax(wrong))
        raise ExtentError(
            f"list {first + k} of level {number} goes from {starts[k]} to {stops[k]}, but lists start at 0 "
            "or above, and stop after they start"
        )
    return starts, stops


def _run_of(starts: IntArray, stops: IntArray) -> tuple[int, int] | None:
    """Return the run of elements that lists cover one after the other, ``None`` if they do not."""
    if not (starts[1:] == stops[:-1]).all():
        # Lists without elements may lie anywhere.
        some = stops > starts
        starts, stops = starts[some], stops[some]
        if not (starts[1:] == stops[:-1]).all():
            return None
    return (int(starts[0]), int(stops[-1])) if len(starts) else (0, 0)


ListType: TypeAlias = Literal["list", "large_list", "list_view", "large_list_view", "fixed_size_list"]
"""Arrow's types of lists."""

_Offsets: TypeAlias = npt.NDArray[np.int32] | npt.NDArray[np.int64]
_TYPES: dict[str, type[np.int32 | np.int64]] = {
    "list": np.int32,
    "large_list": np.int64,
    "list_view": np.int32,
    "large_list_view": np.int64,
}


def _offsets_or_none(values: object) -> _Offsets | None:
    """Return offsets as an immutable array, without a copy if the given one is read-only."""
    if values is None:
        return None
    array = (
        cast("npt.NDArray[Any]", values) if isinstance(values, np.ndarray) else int64_array(values, "offsets")
    )
    if array.dtype.kind not in "iu" or array.ndim != 1:
        raise ConversionError(f"offsets are one-dimensional integers, not {array.dtype} of {array.shape}")
    if array.flags.writeable:
        array = array.copy()
        array.flags.writeable = False
    return array


_SAME: Any = attrs.cmp_using(eq=np.array_equal)


@final
@frozen(getstate_setstate=False)
class ArrowList:
    """One level of lists, as Arrow lays it out.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> (level,) = Shape.jagged([3, 1, 2]).arrow_lists("list")
    >>> level.type, level.offsets.tolist(), level.offsets.dtype
    ('list', [0, 3, 4, 6], dtype('int32'))
    """

    type: ListType
    """Which type of list."""
    offsets: _Offsets | None = attrs.field(default=None, converter=_offsets_or_none, eq=_SAME, hash=False)
    """Where lists start: n + 1 numbers for n lists, or, with `sizes`, one for each; of 32 or 64 bits."""
    sizes: _Offsets | None = attrs.field(default=None, converter=_offsets_or_none, eq=_SAME, hash=False)
    """How long each list is, in views."""
    list_size: int | None = None
    """How long all lists are, in lists of one size."""

    def __reduce__(self) -> "tuple[Callable[..., ArrowList], tuple[object, ...]]":
        return ArrowList, (self.type, self.offsets, self.sizes, self.list_size)


def arrow_of_rows(rows: RowPartitions, kind: ListType, even: Mapping[int, IntArray]) -> tuple[ArrowList, ...]:
    """Return the lists of rows, from the outermost; modes of one extent are lists of one size.

    Those under the modes of `even` are rows all the same, and have these splits.
    """
    if kind not in _TYPES:
        raise ConversionError(f"a list of rows is one of {', '.join(_TYPES)}, not {kind!r}")
    if not rows.rank:
        raise RankError("an array of Arrow has a mode, but this shape has none")
    dtype = _TYPES[kind]
    found: list[ArrowList] = []
    for mode, size in enumerate(rows.static_lengths[1:]):
        if size is not None and mode not in even:
            if size > np.iinfo(np.int32).max:
                raise SizeOverflowError(f"a fixed_size_list has at most 2**31 - 1 elements, not {size}")
            found.append(ArrowList("fixed_size_list", list_size=size))
            continue
        splits = even[mode] if mode in even else rows.partitions[mode].row_splits
        if splits[-1] > np.iinfo(dtype).max:
            raise SizeOverflowError(f"{splits[-1]} elements need offsets of 64 bits: large_list, not {kind}")
        offsets = splits.astype(dtype, copy=False)
        if kind in ("list", "large_list"):
            found.append(ArrowList(kind, offsets))
        else:
            found.append(ArrowList(kind, offsets[:-1], np.diff(offsets)))
    return tuple(found)


def rows_of_arrow(levels: Iterable[ArrowList], length: SupportsIndex) -> RowPartitions:
    """Return the rows of `length` lists of these levels."""
    count = to_count(length, "the length of an array")
    return rows_of_levels(
        [
            _level(level, number)
            for number, level in enumerate(to_items_of(levels, "levels must be a sequence"))
        ],
        count,
    )


def _level(level: ArrowList, number: int) -> ListLevel:
    if not isinstance(cast("object", level), ArrowList):
        raise ConversionError(f"levels are of the class ArrowList, unlike {level!r}")
    if level.type == "fixed_size_list":
        if level.list_size is None:
            raise ExtentError(f"level {number} is a fixed_size_list and needs a list_size")
        return to_count(level.list_size, f"the list_size of level {number}")
    if level.type not in _TYPES or level.offsets is None:
        raise ConversionError(f"level {number} is a {level.type!r} and needs offsets")
    offsets = int64_array(level.offsets, f"the offsets of level {number}")
    if level.type in ("list", "large_list"):
        return Lists(offsets)
    if level.sizes is None or len(level.sizes) != len(level.offsets):
        raise ExtentError(f"level {number} is a {level.type} and needs a size for each offset")
    sizes = int64_array(level.sizes, f"the sizes of level {number}")
    if (offsets > MAX_INT64 - np.maximum(sizes, 0)).any():
        raise SizeOverflowError(f"a list of level {number} ends beyond 64 bits")
    return Views(offsets, _sums(offsets, sizes))


def _sums(offsets: IntArray, sizes: IntArray) -> IntArray:
    stops: IntArray = offsets + sizes
    return stops
