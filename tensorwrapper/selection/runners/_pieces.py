"""Write elements of a line by their number: those that a layout selects.

A line is a box of rank 1: the elements of rows in their order. Rows are many and short, so nothing here keeps
a number for each of them, or for an element, longer than for a block.
"""

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import take_along, write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.runners._leaves import BLOCK, Runner, Window, is_dense, is_scratch
from tensorwrapper.typing import Array, Extents, IntArray

_LONG = 256  # elements of a piece, on average, from which pieces are copied one by one


def are_long(elements: int, pieces: int) -> bool:
    """Return True if pieces of so many elements together are better copied one by one."""
    return elements >= _LONG * pieces


def elements_at(runner: Runner, places: IntArray) -> Array:
    """Return the elements of a line at some places: as a run, where they are close together."""
    memory, places = _near(runner, places)
    if memory is None:
        return runner.points((places,))
    # For memory with gaps NumPy's `take` would copy all of it first.
    return memory.take(places) if memory.flags.c_contiguous else memory[places]


def _near(runner: Runner, places: IntArray) -> tuple[Array | None, IntArray]:
    """Return memory with the elements at some places, and the places in it; None where they are scattered."""
    memory = runner.memory
    if memory is not None:
        return memory, places
    low, high = int(places.min()), int(places.max()) + 1
    span, count = high - low, len(places)
    is_near = is_dense(span, count) or is_scratch(span * runner.dtype.itemsize)
    if span > runner.run_for_point * count or not is_near:
        return None, places
    return runner.part((slice(low, high),)), places - low if low else places


def write_at(runner: Runner, places: IntArray, target: Array) -> None:
    """Write the result of `elements_at`; without intermediate memory, if the target is suitable."""
    memory, near = _near(runner, places)
    if memory is None:
        write_elements(target, runner.points((near,)))
    elif target.dtype == memory.dtype and target.flags.c_contiguous and memory.flags.c_contiguous:
        take_along(target, memory, near, 0)
    else:
        write_elements(target, memory[near])


def _together(batches: Iterator[IntArray], most: int) -> Iterator[IntArray]:
    """Return an iterator over the same places, in larger batches of up to so many."""
    held: list[IntArray] = []
    for places in batches:
        if held and sum(map(len, held)) + len(places) > most:
            yield np.concatenate(held)
            held = []
        held.append(places)
    if held:
        yield np.concatenate(held) if len(held) > 1 else held[0]


@final
@frozen(eq=False)
class PlacedRunner(Runner):
    """The elements of a line that a layout of any shape selects, in row-major order."""

    runner: Runner
    layout: Layout

    @property
    def extents(self) -> Extents:
        return (self.layout.shape.size,)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.runner.dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        done = 0
        for places in _together(self._runs(window), self.runner.points_together):
            start, count = places.item(0), len(places)
            target = out[done : done + count]
            done += count
            if places.item(-1) - start == count - 1 and (np.diff(places) == 1).all():
                self.runner.fill((slice(start, start + count),), target)
            else:
                write_at(self.runner, places, target)

    def _runs(self, window: Window) -> Iterator[IntArray]:
        """Return an iterator over the places of a window, some at a time."""
        found = self.layout.implementation.places_between(window[0].start, window[0].stop)
        if found is not None:
            yield from found
            return
        for low in range(window[0].start, window[0].stop, BLOCK):
            high = min(low + BLOCK, window[0].stop)
            yield self.layout.offsets_of_ordinals(np.arange(low, high, dtype=np.int64))

    def points(self, places: tuple[IntArray, ...]) -> Array:
        return elements_at(self.runner, self.layout.offsets_of_ordinals(places[0]))
