"""Write elements of a line by their number: pieces of other lines, and selections of one by layouts.

A line is a box of rank 1: the elements of rows in their order. Rows are many and short, so nothing here keeps
a number for each of them, or for an element, longer than for a block.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, cast, final

import numpy as np

from tensorwrapper._arrays import concatenated_ranges
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_indexed, take_along, write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.runners._leaves import BLOCK, Runner, Window, is_dense, is_scratch
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["PiecesRunner", "PlacedRunner", "are_long", "elements_at", "write_at"]

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
    return runner.part((slice(low, high),)), places - low


def write_at(runner: Runner, places: IntArray, target: Array) -> None:
    """Write the result of `elements_at`; without intermediate memory, if the target is suitable."""
    memory, near = _near(runner, places)
    if memory is None:
        write_elements(target, runner.points((near,)))
    elif target.dtype == memory.dtype and target.flags.c_contiguous and memory.flags.c_contiguous:
        take_along(target, memory, near, 0)
    else:
        write_elements(target, memory[near])


def _groups(sources: IntArray) -> list[tuple[int, IntArray]]:
    """Return each line that occurs, and the places where."""
    order = np.argsort(sources, kind="stable")
    ascending = sources[order]
    marks = [0, *(np.flatnonzero(ascending[1:] != ascending[:-1]) + 1).tolist(), len(order)]
    return [(sources.item(order.item(a)), order[a:b]) for a, b in pairwise(marks) if b > a]


def _blocks(window: Window) -> Iterator[tuple[int, int]]:
    start, stop = window[0].start, window[0].stop
    for low in range(start, stop, BLOCK):
        yield low, min(low + BLOCK, stop)


def _together(batches: Iterator[IntArray], most: int) -> Iterator[IntArray]:
    """Return an iterator over the same places, in larger batches of up to so many."""
    held: list[IntArray] = []
    for places in batches:
        if held and sum(map(len, held)) + len(places) > most:
            yield np.concatenate(held)
            held = []
        held.append(places)
    if held:
        yield np.concatenate(held)


@final
@frozen(eq=False)
class PiecesRunner(Runner):
    """Pieces of lines, one after the other: ``start + step * i`` for all i below the length."""

    runners: tuple[Runner, ...]
    sources: IntArray
    """Line of each piece."""
    starts: IntArray
    lengths: IntArray
    ends: IntArray
    steps: tuple[int, ...]
    """For each line 1, or 0 if a piece of it repeats one element."""

    @property
    def extents(self) -> Extents:
        return (self.ends.item(-1),)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.runners[0].dtype

    @property
    def has_places(self) -> bool:
        return all(own.has_places for own in self.runners)

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        first = window[0].start
        for low, high in _blocks(window):
            self._fill(low, high, out[low - first : high - first])

    def _fill(self, low: int, high: int, out: Array) -> None:
        begin, end = np.searchsorted(self.ends, [low, high - 1], "right").tolist()
        part = slice(begin, end + 1)
        sources, starts, lengths = self.sources[part], self.starts[part].copy(), self.lengths[part].copy()
        cut = low - (self.ends.item(begin) - lengths.item(0))
        starts[0] += cut * self.steps[sources.item(0)]
        lengths[0] -= cut
        lengths[-1] -= self.ends.item(end) - high
        begins = np.cumsum(lengths) - lengths
        if are_long(high - low, len(lengths)):
            self._copy(sources, starts, lengths, begins, out)
            return
        groups = self._groups(sources)
        if len(groups) > 1:
            # Write a constant first: it stays at all places without other elements.
            number = max([number for number, _ in groups], key=lambda k: _is_constant(self.runners[k]))
            if _is_constant(self.runners[number]):
                write_elements(out, self.runners[number].part((slice(0, 1),)))
                groups = [(k, own) for k, own in groups if k != number]
                for k, own in groups:
                    values = self._values(k, starts[own], lengths[own])
                    assign_indexed(out, (concatenated_ranges(begins[own], lengths[own]),), values)
                return
        for k, own in groups:
            if len(groups) == 1:
                write_elements(out, self._values(k, starts, lengths))
            else:
                values = self._values(k, starts[own], lengths[own])
                assign_indexed(out, (concatenated_ranges(begins[own], lengths[own]),), values)

    def _groups(self, sources: IntArray) -> list[tuple[int, IntArray]]:
        if len(self.runners) == 1:
            return [(0, sources)]
        return _groups(sources)

    def _values(self, number: int, starts: IntArray, lengths: IntArray) -> Array:
        runner = self.runners[number]
        if self.steps[number]:
            return elements_at(runner, concatenated_ranges(starts, lengths))
        return cast("Array", np.repeat(elements_at(runner, starts), lengths))

    def _copy(
        self, sources: IntArray, starts: IntArray, lengths: IntArray, begins: IntArray, out: Array
    ) -> None:
        """Write pieces that are long, each as a run."""
        rows = zip(sources.tolist(), starts.tolist(), lengths.tolist(), begins.tolist(), strict=True)
        for number, start, length, begin in cast("Iterator[tuple[int, int, int, int]]", rows):
            target, runner = out[begin : begin + length], self.runners[number]
            if self.steps[number]:
                runner.fill((slice(start, start + length),), target)
            else:
                write_elements(target, runner.part((slice(start, start + 1),)))

    def points(self, places: tuple[IntArray, ...]) -> Array:
        (own,) = places
        pieces = np.searchsorted(self.ends, own, "right")
        sources = self.sources[pieces]
        within = own - (self.ends[pieces] - self.lengths[pieces])
        within *= np.array(self.steps, dtype=np.int64)[sources]
        within += self.starts[pieces]
        found: Array = np.empty(own.shape, self.dtype)
        for number, chosen in _groups(sources):
            found[chosen] = elements_at(self.runners[number], within[chosen])
        return found


def _is_constant(runner: Runner) -> bool:
    memory = runner.memory
    return memory is not None and not any(memory.strides) and memory.size > 1


@final
@frozen(eq=False)
class PlacedRunner(Runner):
    """The elements of a line that a layout of any shape selects, in row-major order."""

    runner: Runner
    layout: Layout
    first: int
    """The place of the layout at which the line begins."""

    @property
    def extents(self) -> Extents:
        return (self.layout.shape.size,)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.runner.dtype

    @property
    def has_places(self) -> bool:
        return self.runner.has_places

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
        if found is None:
            for low, high in _blocks(window):
                yield self._places(np.arange(low, high, dtype=np.int64))
            return
        for places in found:
            yield places - self.first if self.first else places

    def points(self, places: tuple[IntArray, ...]) -> Array:
        return elements_at(self.runner, self._places(places[0]))

    def _places(self, ordinals: IntArray) -> IntArray:
        found: IntArray = self.layout.offsets_of_ordinals(ordinals)
        if self.first:
            found = found - self.first
        return found
