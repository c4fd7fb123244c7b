"""Runners write elements: the interface, and its leaves, which read memory or compute."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from types import EllipsisType
from typing import Any, TypeAlias, cast, final

import numpy as np

from tensorwrapper._arrays import CACHED
from tensorwrapper._boxes import cut_box
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer import BufferCommon, Dense
from tensorwrapper.buffer.lowlevel import as_dense, take_along, write_elements
from tensorwrapper.layout import Layout, LayoutCommon, Stride, Table
from tensorwrapper.layout.lowlevel import new_strided
from tensorwrapper.selection.transforms._transform import Transform
from tensorwrapper.typing import Array, Extents, IntArray

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


def cut(extents: Extents, most: int = BLOCK) -> Iterator[Window]:
    """Return an iterator over blocks of a box in row-major order, of at most so many elements each."""
    return cut_box(extents, most)


def inside(array: Array, block: Window) -> Array:
    """Return the part of an array that a block is; also of an array of rank 0."""
    key: tuple[slice | EllipsisType, ...] = (*block, ...)
    return array[key]


_RUN = 4  # elements of a run that are written in the time of a point


def take_one_mode(implementation: LayoutCommon, buffer: Dense[Any], out: Array) -> bool:
    """Write the elements of a layout, one mode of which has a table, into `out`; tell whether it has one.

    Where both sides have no gaps, nothing else is allocated; else blocks pass through memory in between.
    """
    if implementation.mode_strides is not None or not implementation.has_mode_maps:
        return False
    base, axes = implementation.mode_maps("a copy")
    tables = [mode for mode, axis in enumerate(axes) if not isinstance(axis, Stride)]
    if len(tables) != 1 or not isinstance(axes[tables[0]], Table):
        return False
    mode = tables[0]
    offsets = axes[mode].offsets()
    low = int(offsets.min())
    step = int(np.gcd.reduce(offsets - low)) or 1
    places = (offsets - low) // step
    count = int(places.max()) + 1
    extents = [count if m == mode else n for m, n in enumerate(out.shape)]
    strides = [step if m == mode else cast("Stride", axis).step for m, axis in enumerate(axes)]
    array = buffer.array(tuple(extents), tuple(strides), base + low)
    # The slowest mode of memory first: then most arrays have no gaps.
    order = sorted(range(out.ndim), key=lambda m: -abs(array.strides[m]))
    return _take(array.transpose(order), places, order.index(mode), out.transpose(order))


def _take(array: Array, places: IntArray, mode: int, out: Array) -> bool:
    if array.flags.c_contiguous and out.flags.c_contiguous:
        take_along(out, array, places, mode)
        return True
    if not is_dense(array.shape[mode], len(places)):
        return False
    for block in cut(out.shape):
        rows = (*block[:mode], slice(None), *block[mode + 1 :])
        part: Array = np.empty([b.stop - b.start for b in block], out.dtype)
        take_along(part, array[rows], places[block[mode]], mode)
        write_elements(inside(out, block), part)
    return True


class Runner(ABC):
    """Abstract: `extents`, `dtype`, `fill` and `points`.

    Runner over the elements of one box, which writes any window of it to a target. Its temporary
    memory is bounded, whatever the size of the window.
    """

    __slots__ = ()

    @property
    @abstractmethod
    def extents(self) -> Extents:
        """The extents of the box."""

    @property
    @abstractmethod
    def dtype(self) -> "np.dtype[Any]":
        """The type of the elements."""

    @property
    def memory(self) -> Array | None:
        """The array that already has all elements; None if there is none."""
        return None

    @property
    def points_together(self) -> int:
        """Number of points to request at a time: more than a block where each request visits many parts."""
        return 0

    @property
    def run_for_point(self) -> int:
        """Number of elements of a run that are written in the time of a point."""
        return _RUN

    @abstractmethod
    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        """Write the elements of a window into an array of its extents and of any strides and type."""

    @abstractmethod
    def points(self, places: tuple[IntArray, ...]) -> Array:
        """Return the elements at points: for each mode a flat array of positions."""

    def part(self, window: Window) -> Array:
        """Return the elements of a small window: a view of memory, or a new array."""
        memory = self.memory
        if memory is not None:
            return inside(memory, window)
        out: Array = np.empty(window_extents(window), self.dtype)
        self.fill(window, out)
        return out


@final
@frozen(eq=False)
class MemoryLeaf(Runner):
    """Elements that lie in memory with one step per mode."""

    array: Array

    @property
    def extents(self) -> Extents:
        return self.array.shape

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.array.dtype

    @property
    def memory(self) -> Array:
        return self.array

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        write_elements(out, inside(self.array, window), threads=threads)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        return np.asarray(self.array[places])


@final
@frozen(eq=False)
class AddressedLeaf(Runner):
    """Elements of a buffer at a layout that is not an array: tables, rotations, tiles, strings."""

    layout: Layout
    buffer: BufferCommon[Any]

    @property
    def extents(self) -> Extents:
        return self.layout.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.buffer.dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        layout, buffer = _part_of(self.layout, window), self.buffer
        # Strings that were read lie in memory as objects, over which there are no arrays of other strides.
        plain = out.size > CACHED and out.dtype == buffer.dtype and out.dtype.kind not in "TO"
        memory = buffer.memory if plain else None
        if memory is not None:
            if take_one_mode(layout.implementation, Dense(cast("Any", memory)), out):
                return
            target = _implementation_of(out)
            if target is not None:
                flat, implementation = target
                from tensorwrapper.buffer import run_copy  # noqa: PLC0415 - few parts of a view need a plan
                from tensorwrapper.layout.lowlevel import plan_copy  # noqa: PLC0415

                plan = plan_copy(layout.implementation, implementation)
                # Single elements from anywhere are read faster by a table of addresses.
                if plan.method != "gather":
                    run_copy(plan, memory, flat, threads=threads)
                    return
        for block in cut(out.shape):
            part, goal = _part_of(layout, block), inside(out, block)
            if part.implementation.is_contiguous:
                # A run has no table of addresses, which buffers of many parts would search for each element.
                elements = buffer.elements_of(part.implementation).reshape(goal.shape)
            else:
                elements = buffer.read(part.to_numpy())
            write_elements(goal, elements)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        origin = self.layout.shape.origin
        rows = np.stack([own + start for own, start in zip(places, origin, strict=True)], axis=-1)
        return self.buffer.read(self.layout.offsets_of(rows))


def _part_of(layout: Layout, window: Window) -> Layout:
    """Return the layout of a window; mostly that is the whole, which is not indexed."""
    is_whole = window_extents(window) == layout.shape.extents
    return layout if is_whole else layout[(*window, ...)]


def leaf_of(layout: Layout, buffer: BufferCommon[Any]) -> MemoryLeaf | AddressedLeaf:
    """Return the runner of the elements of a buffer for a layout over a box."""
    array = buffer.memory_of(layout.implementation)
    return AddressedLeaf(layout, buffer) if array is None else MemoryLeaf(array)


def _implementation_of(out: Array) -> "tuple[Array, Any] | None":
    """Return the memory under an array as a flat one, and the layout of the array in it."""
    size = out.dtype.itemsize
    if any(step % size for step in out.strides) or out.dtype.kind not in "biufcmM":
        return None
    buffer, strides, offset = as_dense(out)
    return buffer.flat, new_strided(out.shape, (0,) * out.ndim, strides, offset)


def coordinates_of(transform: Transform, window: Window) -> list[IntArray]:
    """Return the positions of each mode of a box over a window of a view, as arrays that broadcast."""
    rank = len(window)
    found: list[IntArray] = []
    for coordinate in transform.coordinates:
        total: IntArray = np.full((1,) * rank, coordinate.constant, dtype=np.int64)
        for mode, axis in coordinate.feeds:
            own = axis.offsets_at(np.arange(window[mode].start, window[mode].stop, dtype=np.int64))
            total = total + own.reshape([-1 if m == mode else 1 for m in range(rank)])
        found.append(total)
    return found


def places_in(
    layout: Layout, transform: Transform | None, window: Window, extents: Extents
) -> Sequence[IntArray]:
    """Return the positions in a box of a window of a view, one array per mode, which broadcast together."""
    if transform is not None:
        return coordinates_of(transform, window)
    # NumPy up to 2.4 returns wrong positions for more than 8192 numbers whose last mode has one position.
    numbers = layout[(*window, ...)].to_numpy()
    return [own.reshape(numbers.shape) for own in np.unravel_index(numbers.reshape(-1), extents)]
