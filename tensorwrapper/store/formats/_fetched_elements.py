"""Source of contiguous elements in a file, read by byte ranges."""

from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import numpy as np

from tensorwrapper._arrays import are_truths, concatenated_ranges, positions_array
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import DataFileError
from tensorwrapper.layout import Layout
from tensorwrapper.shape import Shape
from tensorwrapper.store.formats._contents import Done
from tensorwrapper.store.ranges._joined import LONGEST
from tensorwrapper.store.ranges._ranges import Ranges
from tensorwrapper.typing import Array, Extents, IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import Ability, Outer, Wanted

_NUMBERS: Final = "biufcmM"
_BLOCK: Final = 2**22
"""Elements to fetch before copying, when reading everything."""
_AT_ONCE: Final = 2**26
"""Bytes to fetch before copying to the result."""
_Spans: TypeAlias = tuple[IntArray, IntArray, IntArray, IntArray]
"""Lengths, first and last bytes of runs, and the runs that begin a request."""


@final
@frozen(eq=False, repr=False)
class FetchedElements:
    """A source over contiguous elements in a file, in row-major order of its shape."""

    ranges: Ranges
    place: int
    """Start of the first element in the file."""
    shape: Shape[Any]
    dtype: "np.dtype[Any]"
    layout: "Layout[Any] | None" = None
    """The layout of the view over the elements; None if it is row-major over the shape."""

    @property
    def version(self) -> str:
        """The version of the file."""
        return self.ranges.version

    @property
    def abilities(self) -> "frozenset[Ability]":
        """Abilities of the source: reads in any thread."""
        return frozenset(("runs", "threads"))

    def cost(self, selection: "Wanted") -> int:
        """Return the number of fetched bytes: runs, and short gaps between them."""
        return self.fetches([selection])[1]

    def fetches(self, selections: "Sequence[Wanted]") -> tuple[int, int]:
        """Return the number of requests and bytes of a read. O(runs)."""
        n_requests = n_bytes = 0
        for selection in selections:
            if selection.size:
                starts, stops, groups = self._spans(selection)[1:]
                lengths = stops[groups[1:] - 1] - starts[groups[:-1]]
                n_requests += int((-(-lengths // LONGEST)).sum())
                n_bytes += int(lengths.sum())
        return n_requests, n_bytes

    def read(self, selections: "Sequence[Wanted]", out: Sequence[Array]) -> Done:
        """Fetch runs concurrently, with one request for neighbouring runs."""
        parts = [
            (self._spans(selection), target)
            for selection, target in zip(selections, out, strict=True)
            if selection.size
        ]
        found = self._fetched([spans for spans, _ in parts])
        for spans, target in parts:
            is_flat = target.flags.c_contiguous
            flat = target.reshape(-1) if is_flat else np.empty(target.size, self.dtype)
            self._fill(flat, spans, found)
            if not is_flat:
                target[...] = flat.reshape(target.shape)
        return Done(len(out))

    def whole(self) -> Array:
        """Return all elements."""
        flat: Array = np.empty(self.shape.size, self.dtype)
        for block in range(0, len(flat), _BLOCK):
            stop = min(block + _BLOCK, len(flat))
            spans = np.array([[block, stop]]) * self.dtype.itemsize + self.place
            (raw,) = self.ranges.fetch(spans[:, 0], spans[:, 1])
            flat[block:stop] = np.frombuffer(raw, self.dtype)
        if self.layout is None:
            return flat.reshape(self.shape.extents)
        order = self.layout.offsets_of_ordinals(np.arange(self.layout.shape.size))
        return flat[order].reshape(self.layout.shape.extents)

    def _fetched(self, parts: "Sequence[_Spans]") -> Iterator[bytes]:
        """Yield the bytes of each request of the selections."""
        if not parts:
            return
        firsts = np.concatenate([starts[groups[:-1]] for _, starts, _, groups in parts])
        lasts = np.concatenate([stops[groups[1:] - 1] for _, _, stops, groups in parts])
        yield from in_turns(self.ranges, firsts, lasts)

    def _fill(self, flat: Array, spans: "_Spans", found: Iterator[bytes]) -> None:
        lengths, starts, _, groups = spans
        done = 0
        for begin, end in zip(groups[:-1].tolist(), groups[1:].tolist(), strict=True):
            runs = slice(begin, end)
            count = int(lengths[runs].sum())
            own = flat[done : done + count]
            given = np.frombuffer(next(found), self.dtype)
            if len(given) == count:
                own[...] = given
            else:
                inner = (starts[runs] - starts[begin]) // self.dtype.itemsize
                own[...] = given[concatenated_ranges(inner, lengths[runs])]
            done += count
        if not are_truths(flat):
            raise DataFileError(f"{self.ranges.name} has a bool that is neither 0 nor 1")

    def _spans(self, selection: "Wanted") -> "_Spans":
        from tensorwrapper.selection import Runs  # noqa: PLC0415 - a room above, which files alone do not need

        if isinstance(selection, Runs):
            numbers, lengths = selection.starts, selection.lengths
        else:
            numbers, lengths = _runs_of(selection, self.shape.extents)
        size = self.dtype.itemsize
        starts: IntArray = self.place + size * numbers
        stops: IntArray = starts + size * lengths
        return lengths, starts, stops, self.ranges.grouped(starts, stops)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, FetchedElements)
            and self.ranges is other.ranges
            and (self.place, self.shape, self.dtype) == (other.place, other.shape, other.dtype)
            and self.layout == other.layout
        )

    def __hash__(self) -> int:
        return hash((id(self.ranges), self.place))

    def __repr__(self) -> str:
        return f"{self.ranges.name}[{self.place}:]({self.shape!r}, {self.dtype})"


def fetched_array(
    ranges: Ranges, place: int, shape: tuple[int, ...], dtype: "np.dtype[Any]", *, is_fortran: bool = False
) -> "FetchedElements | Array":
    """Return numbers as a source. Fetch other elements completely and return an array."""
    count = prod(shape)
    if place + count * dtype.itemsize > ranges.size:
        raise ValueError(f"{shape} elements of {dtype} do not fit the {ranges.size} bytes of the file")
    is_number = dtype.kind in _NUMBERS or dtype.isbuiltin == 2
    if count and is_number and shape:
        if is_fortran:
            layout = Layout(Shape(*shape), order="F")
            return FetchedElements(ranges, place, Shape(count), dtype, layout)
        return FetchedElements(ranges, place, Shape(*shape), dtype)
    raw = ranges.read([(place, place + count * dtype.itemsize)])[0]
    if not count:
        return np.empty(shape, dtype)
    return np.frombuffer(raw, dtype, count).reshape(shape, order="F" if is_fortran else "C")


def in_turns(ranges: Ranges, starts: IntArray, stops: IntArray) -> Iterator[bytes]:
    """Yield the bytes of spans, fetched by one request each, a few at a time."""
    # Limit the data under way to save memory.
    turn = np.cumsum(stops - starts) // _AT_ONCE
    turns = np.concatenate([[0], np.flatnonzero(np.diff(turn)) + 1, [len(turn)]])
    for begin, end in zip(turns[:-1].tolist(), turns[1:].tolist(), strict=True):
        yield from ranges.fetch(starts[begin:end], stops[begin:end])


def _runs_of(outer: "Outer", extents: Extents) -> tuple[IntArray, IntArray]:
    """Return the runs of row-major ordinals of an outer selection of a box."""
    modes, tail = list(outer.modes), 1
    # Completely selected trailing modes, and the last mode before them, form runs.
    while modes and len(modes[-1]) == extents[len(modes) - 1]:
        tail *= extents[len(modes) - 1]
        modes.pop()
    if modes and isinstance(last := modes[-1], range) and last.step == 1:
        length, first = len(last) * tail, last.start * tail
        tail *= extents[len(modes) - 1]
        modes.pop()
    else:
        length, first = tail, 0
    numbers: IntArray = np.array([first], dtype=np.int64)
    for mode in reversed(range(len(modes))):
        own = positions_array(modes[mode]) * (tail * prod(extents[mode + 1 : len(modes)]))
        numbers = (own[:, None] + numbers).reshape(-1)
    return numbers, np.full(len(numbers), length, dtype=np.int64)
