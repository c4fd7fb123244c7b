"""Windows of boxes, and how they are cut into blocks that fit a cache."""

from collections.abc import Iterator
from itertools import product
from math import prod
from types import EllipsisType
from typing import TypeAlias

from tensorwrapper.typing import Array, Extents

__all__ = [
    "BLOCK",
    "Window",
    "boxes_of_run",
    "cut",
    "full_window",
    "inside",
    "shift_window",
    "window_extents",
]

BLOCK = 1 << 16  # elements of a block: with what is read for it, it stays in a cache

Window: TypeAlias = "tuple[slice, ...]"
"""For each mode of a box a slice of step 1, both ends given and inside."""


def full_window(extents: Extents) -> Window:
    """Return the window that is the whole box."""
    return tuple([slice(0, extent) for extent in extents])


def window_extents(window: Window) -> Extents:
    """Return how many positions of each mode a window has."""
    return tuple([part.stop - part.start for part in window])


def shift_window(window: Window, block: Window) -> Window:
    """Return a block of a window, which counts from the start of the window, in positions of the box."""
    return tuple([slice(w.start + b.start, w.start + b.stop) for w, b in zip(window, block, strict=True)])


def cut(extents: Extents, most: int = BLOCK) -> Iterator[Window]:
    """Return an iterator over blocks of a box in row-major order, of at most so many elements each.

    A block has all positions of the last modes, some of the one before, and one of those before that.
    """
    inner = 1
    mode = len(extents)
    while mode and inner * extents[mode - 1] <= most:
        mode -= 1
        inner *= extents[mode]
    if not mode:
        yield full_window(extents)
        return
    mode -= 1
    step = max(most // inner, 1)
    tail = full_window(extents[mode + 1 :])
    starts = range(0, extents[mode], step)
    for lead in product(*map(range, extents[:mode])):
        head = tuple([slice(n, n + 1) for n in lead])
        for start in starts:
            yield (*head, slice(start, min(start + step, extents[mode])), *tail)


def inside(array: Array, block: Window) -> Array:
    """Return the part of an array that a block is; also of an array of rank 0."""
    key: tuple[slice | EllipsisType, ...] = (*block, ...)
    return array[key]


def boxes_of_run(extents: Extents, start: int, stop: int) -> Iterator[tuple[Window, int]]:
    """Return boxes that make up a run of places in row-major order, and how many places lie before each.

    At most two for each mode but the last, of which there is one.
    """
    yield from _boxes(extents, start, stop, (), 0)


def _boxes(extents: Extents, start: int, stop: int, lead: Window, done: int) -> Iterator[tuple[Window, int]]:
    if start >= stop:
        return
    if not extents:
        yield lead, done
        return
    row = prod(extents[1:])
    first, last = -(-start // row), stop // row
    if first > last:
        # Both ends lie in one row.
        inner = start - last * row, stop - last * row
        yield from _boxes(extents[1:], *inner, (*lead, slice(last, first)), done)
        return
    if start < first * row:
        yield from _boxes(extents[1:], start - (first - 1) * row, row, (*lead, slice(first - 1, first)), done)
        done += first * row - start
    if first < last:
        yield (*lead, slice(first, last), *full_window(extents[1:])), done
        done += (last - first) * row
    if last * row < stop:
        yield from _boxes(extents[1:], 0, stop - last * row, (*lead, slice(last, last + 1)), done)
