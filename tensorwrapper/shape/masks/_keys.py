"""Reads what users give a mask for a mode or for a whole shape as positions; literal, as keys of shapes."""

from collections.abc import Sequence
from types import EllipsisType
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import shown_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import MAX_INT64, to_int
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, RankError, SizeOverflowError
from tensorwrapper.shape._shape import Shape
from tensorwrapper.shape.boxes._common import to_index_array, to_ordinal_array
from tensorwrapper.shape.masks._positions import Positions
from tensorwrapper.shape.rows._partition import int64_array
from tensorwrapper.typing import IntArray

MaskItem: TypeAlias = (
    SupportsIndex
    | slice
    | range
    | EllipsisType
    | Sequence[SupportsIndex]
    | Sequence[bool]
    | npt.NDArray[np.integer[Any]]
    | npt.NDArray[np.bool_]
)
"""An item for one mode: an index, a slice with any step, a range, indices, or one bool per index."""


def spread_items(items: tuple[MaskItem, ...], rank: int) -> list[MaskItem]:
    """Return one item per mode: an ellipsis, or the end of the items, stands for whole modes."""
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1:
        raise RankError("a mask may have one ellipsis only")
    given = len(items) - len(dots)
    if given > rank:
        raise RankError(f"{given} items are too many for a shape of rank {rank}")
    place = dots[0] if dots else given
    fill: list[MaskItem] = [slice(None)] * (rank - given)
    return [*items[:place], *fill, *items[place + len(dots) :]]


def positions_of_item(item: MaskItem, start: int, extent: int, mode: int) -> Positions | int:
    """Return what an item picks of a mode ``[start, start + extent)``; an integer pins it."""
    if isinstance(item, slice):
        return Positions.of_range(_range_of(item, start, start + extent, mode))
    if isinstance(item, range):
        picks = Positions.of_range(item)
        check_places(picks, start, extent, f"mode {mode}")
        return picks
    array = _array_of(item, mode)
    if isinstance(array, int):
        if not start <= array < start + extent:
            raise OutOfBoundsError(f"index {array} is outside [{start}, {start + extent}) of mode {mode}")
        return array
    if array.dtype.kind == "b":
        if len(array) != extent:
            raise ExtentError(f"mode {mode} has {extent} indices, but {len(array)} bools are given")
        picks = Positions.of_distinct(np.flatnonzero(array))
        if isinstance(picks.places, range):
            # In integers of any size, wherever the mode starts.
            return picks if not start else Positions.of_range(range(start, start + extent)).compose(picks)
        if not -MAX_INT64 <= start <= MAX_INT64 - extent:
            raise SizeOverflowError(f"indices of mode {mode}, from {start} on, do not fit into 64 bits")
        return Positions.of_distinct(picks.places + start)
    what = f"the indices of mode {mode}"
    picks = Positions.of_array(_owned(int64_array(array, what), item), what)
    check_places(picks, start, extent, f"mode {mode}")
    return picks


def _array_of(item: object, mode: int) -> "npt.NDArray[Any] | int":
    """Return an item as an array of rank 1, of bools or integers, or as one integer."""
    if isinstance(item, SupportsIndex) and not isinstance(item, bool | np.bool_ | np.ndarray):
        return to_int(item, f"the index of mode {mode}")
    if isinstance(item, np.ndarray):
        array: npt.NDArray[Any] = shown_array(cast("object", item))
        if not array.ndim and array.dtype.kind in "iu":
            return int(array)
        if array.ndim == 1 and array.dtype.kind in "biu":
            return array
        raise ConversionError(
            f"the item of mode {mode} must be an array of rank 1, of integers or bools, not {array.dtype} of "
            f"{array.shape}; Mask.of_points takes bools for all modes"
        )
    if isinstance(item, list | tuple):
        values = cast("Sequence[object]", item)
        if values and all(isinstance(value, bool | np.bool_) for value in values):
            return np.array(values, dtype=np.bool_)
        return int64_array(values, f"the indices of mode {mode}")
    raise ConversionError(
        f"mode {mode} is picked by an index, a slice, a range, indices or bools, not by {brief(item)}"
    )


def _owned(array: IntArray, given: object) -> IntArray:
    """Return an array that the giver cannot change behind our back."""
    if isinstance(given, np.ndarray) and np.shares_memory(array, cast("IntArray", given)):
        return array.copy()
    return array


def _range_of(item: slice, start: int, stop: int, mode: int) -> range:
    """Return the indices that a slice picks; open bounds are the ends of the mode."""
    step = 1 if item.step is None else to_int(item.step, f"the step of mode {mode}")
    if not step:
        raise ExtentError(f"the step of mode {mode} must not be 0")
    ends = (start, stop) if step > 0 else (stop - 1, start - 1)
    first = ends[0] if item.start is None else to_int(item.start, f"the first index of mode {mode}")
    last = ends[1] if item.stop is None else to_int(item.stop, f"the last index of mode {mode}")
    low, high = (first, last) if step > 0 else (last + 1, first + 1)
    if not start <= low <= high <= stop:
        raise OutOfBoundsError(
            f"slice {first}:{last}:{step} of mode {mode} must run within [{start}, {stop}), and not backwards"
        )
    return range(first, last, step)


def check_places(picks: Positions, start: int, extent: int, where: str) -> None:
    """Raise if a place is outside ``[start, start + extent)``; ``where`` names what has these indices."""
    low, high = picks.bounds()
    if low <= high and not start <= low <= high < start + extent:
        wrong = low if low < start else high
        raise OutOfBoundsError(f"index {wrong} is outside [{start}, {start + extent}) of {where}")


def positions_of_points(shape: Shape, points: npt.ArrayLike) -> Positions:
    """Return the ordinals of points: an (n, rank) table of indices, or a bool for every element."""
    if _are_bools(points):
        return Positions.of_distinct(
            np.flatnonzero(_checked_bools(shape, np.asarray(shown_array(points), dtype=np.bool_)))
        )
    # An empty list has no second axis, and so no rank.
    table = to_index_array(np.empty((0, shape.rank), np.int64) if _is_empty(points) else points, shape.rank)
    if table.ndim != 2:
        raise RankError(f"points are an (n, {shape.rank}) table of indices, not an array of {table.shape}")
    return Positions.of_array(shape.ordinals(table), "the ordinals of points")


def _is_empty(points: object) -> bool:
    return isinstance(points, list | tuple) and not points


def _are_bools(points: object) -> bool:
    """Tell whether an array, or the first item of lists, is bool."""
    while isinstance(points, list | tuple) and points:
        points = cast("Sequence[object]", points)[0]
    if isinstance(points, np.ndarray):
        return cast("npt.NDArray[Any]", points).dtype.kind == "b"
    return isinstance(points, bool | np.bool_)


def _checked_bools(shape: Shape, array: "npt.NDArray[np.bool_]") -> "npt.NDArray[np.bool_]":
    """Return the bools of a shape in row-major order of its elements."""
    flat = shape.flatten()
    allowed = flat.extents if flat.kind == "smooth" else (shape.size,)
    if array.shape not in (allowed, (shape.size,)):
        raise ExtentError(
            f"a mask of this shape takes bools of {allowed}, one for every element, not {array.shape}"
        )
    return array.reshape(-1)


def positions_of_ordinals(shape: Shape, ordinals: npt.ArrayLike | range) -> Positions | int:
    """Return the picks of these ordinals of a shape; one integer stays one."""
    if isinstance(ordinals, range):
        picks = Positions.of_range(ordinals)
    else:
        array = to_ordinal_array(ordinals)
        if array.ndim > 1:
            raise RankError(f"ordinals are an array of rank 1, not of {array.shape}")
        picks = Positions.of_array(_owned(np.atleast_1d(array), ordinals), "ordinals")
        if not array.ndim:
            check_places(picks, 0, shape.size, "the ordinals of the shape")
            return picks.at(0)
    check_places(picks, 0, shape.size, "the ordinals of the shape")
    return picks
