"""Next indices of a running iterator as runs of elements, boxes, or tiles of a tensor.

The iterator is queried for each of them, so changes while it runs affect the following ones. It always
points behind the last one: a sender that stops, and resumes from its position, misses nothing.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from tensorwrapper._boxes import boxes_of_run
from tensorwrapper.errors import OutOfBoundsError, RankError
from tensorwrapper.shape import IndexIterator, Shape, Tiling
from tensorwrapper.typing import Index, IntArray

PlaceOf: TypeAlias = "Callable[[int], int]"

_FIRST: Final = 16
_MOST: Final = 1 << 16
"""Indices that are looked at together: few at first, since few may fill a block."""


def runs_over(
    over: IndexIterator[Any], shape: Shape[Any], room: int, place_of: PlaceOf = int
) -> Iterator[tuple[int, int]]:
    """Return an iterator over runs of elements in row-major order of a shape, by where each starts and stops.

    A run has those under one index, or under several that follow one another and have together at most
    `room` places; `place_of` says where the element with a number begins.

    Raises
    ------
    OutOfBoundsError
        If an index is not one of the leading modes of the shape; the iterator stays before it.
    RankError
        If it has more modes.
    """
    while over.remaining:
        leading, first, count = _next_run(over, shape, room, place_of)
        over.position += count
        start, stop = _start(shape, leading, first), _start(shape, leading, first + count)
        yield place_of(start), place_of(stop)


def boxes_over(over: IndexIterator[Any], box: Shape[Any], room: int) -> Iterator[Shape[Any]]:
    """Return an iterator over boxes in a box, which `runs_over` would be runs of elements.

    Raises
    ------
    OutOfBoundsError, RankError
        As `runs_over`.
    """
    while over.remaining:
        leading, first, count = _next_run(over, box, room, int)
        window, _ = next(boxes_of_run(leading.extents, first, first + count))
        extents = [part.stop - part.start for part in window]
        over.position += prod(extents)
        starts = [part.start + o for part, o in zip(window, box.origin, strict=False)]
        modes = len(window)
        yield Shape(*extents, *box.extents[modes:], origin=(*starts, *box.origin[modes:]))


def tiles_over(
    over: IndexIterator[Any], tiling: Tiling[Any], first: Index, seen: Shape[Any]
) -> Iterator[Shape[Any]]:
    """Return an iterator over boxes in a tiled box, one for each index of its tiled view.

    Parameters
    ----------
    tiling
        That of the box.
    first
        The number of its first tile in each mode.
    seen
        The shape of the tiled view: indices are those of its leading modes.

    Raises
    ------
    OutOfBoundsError, RankError
        As `runs_over`.
    """
    while over.remaining:
        table = over.ahead(1).to_numpy()
        leading, _ = _leading(table, seen)
        index: Index = tuple(table[0].tolist())
        ends: list[tuple[int, int]] = []
        for mode, part in enumerate(tiling.partitions):
            start, stop = int(part.marks[0]), int(part.marks[-1])
            if mode < leading.rank:
                number = index[mode] - first[mode]
                start, stop = int(part.marks[number]), int(part.marks[number + 1])
            inside = len(first) + mode
            if inside < leading.rank:
                start, stop = start + index[inside], start + index[inside] + 1
            ends.append((start, stop))
        over.position += 1
        yield Shape(*[b - a for a, b in ends], origin=[a for a, _ in ends])


def _next_run(
    over: IndexIterator[Any], shape: Shape[Any], room: int, place_of: PlaceOf
) -> tuple[Shape[Any], int, int]:
    """Return the leading modes that indices are of, which of them is next, and how many follow on it."""
    ahead = over.ahead()
    table = ahead[:_FIRST].to_numpy()
    leading, first = _leading(table, shape)

    def places(count: int) -> int:
        return place_of(_start(shape, leading, first + count))

    start, count = places(0), 0
    while len(table):
        more = _following(leading, table, first + count)
        count += more
        if more < len(table) or places(count) - start > room:
            break
        table = ahead[count : count + min(count, _MOST)].to_numpy()
    fitting = bisect_right(range(1, count + 1), start + room, key=places)
    return leading, first, max(fitting, 1)


def _leading(table: IntArray, shape: Shape[Any]) -> tuple[Shape[Any], int]:
    """Return the leading modes of a shape that indices are of, and the number of the first among them."""
    modes = table.shape[1]
    if modes > shape.rank:
        raise RankError(f"indices of {modes} modes lead to nothing in the {shape.rank} of {shape}")
    leading = shape.leading(modes)
    if not leading.contains(table[:1]).all():
        index = tuple(table[0].tolist())
        raise OutOfBoundsError(f"{index} is not in {leading}, the leading modes of {shape}")
    return leading, int(leading.ordinals(table[:1])[0])


def _following(leading: Shape[Any], table: IntArray, number: int) -> int:
    """Return how many indices of a table follow one another, from the one with a number on."""
    outside = np.flatnonzero(~leading.contains(table))
    inside = table[: outside[0]] if len(outside) else table
    numbers = leading.ordinals(inside)
    jumps = np.flatnonzero(numbers != np.arange(number, number + len(numbers)))
    return int(jumps[0]) if len(jumps) else len(numbers)


def _start(shape: Shape[Any], leading: Shape[Any], number: int) -> int:
    """Return how many elements come before those under the leading index with a number; O(log n)."""
    if number >= leading.size:
        return shape.size
    prefix = leading.index(number)
    part = shape[prefix]
    if part.size:
        return shape.ordinal((*prefix, *part.index(0)))
    # It has no elements: find the number of elements before it by bisection.
    low, high = 0, shape.size
    while low < high:
        middle = (low + high) // 2
        if leading.ordinal(shape.index(middle)[: leading.rank]) < number:
            low = middle + 1
        else:
            high = middle
    return low
