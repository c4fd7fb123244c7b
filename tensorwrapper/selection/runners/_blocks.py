"""Windows of boxes, and blocks of them that fit a cache."""

from collections.abc import Iterator
from types import EllipsisType
from typing import TypeAlias

from tensorwrapper._boxes import cut_box
from tensorwrapper.typing import Array, Extents

__all__ = [
    "BLOCK",
    "Window",
    "cut",
    "full_window",
    "inside",
    "is_dense",
    "is_scratch",
    "shift_window",
    "window_extents",
]

BLOCK = 1 << 16  # elements of a block: with its operands, it stays in a cache
_SCRATCH = 1 << 23  # bytes of elements that are kept while some of them are written
_SPARSE = 8  # elements in between, for each one that is wanted, which still take less than single ones

Window: TypeAlias = "tuple[slice, ...]"
"""One slice of step 1 per mode of a box, both ends given and inside."""


def is_dense(span: int, count: int) -> bool:
    """Return True if so many elements are close together in a run: all of it takes less than each alone."""
    return span <= _SPARSE * count


def is_scratch(nbytes: int) -> bool:
    """Return True if so many bytes of elements may be kept while some of them are written."""
    return nbytes <= _SCRATCH


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
    """Return an iterator over blocks of a box in row-major order, of at most so many elements each."""
    return cut_box(extents, most)


def inside(array: Array, block: Window) -> Array:
    """Return the part of an array that a block is; also of an array of rank 0."""
    key: tuple[slice | EllipsisType, ...] = (*block, ...)
    return array[key]
