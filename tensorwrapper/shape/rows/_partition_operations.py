"""One mode cut anew: evenly, into chunks, joined with another, cut to a part, with more boundaries.

The functions on modes take and give partitions; ``mode`` is for the text of errors.
"""

from collections.abc import Iterable, Sequence
from typing import SupportsIndex, TypeAlias

import numpy as np

from tensorwrapper._arrays import different, frozen_array
from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_int, to_ints
from tensorwrapper._memory import memory_for
from tensorwrapper.errors import ConversionError, ExtentError, OutOfBoundsError, RankError
from tensorwrapper.shape.rows._partition import Partition, check_span
from tensorwrapper.typing import IntArray

Chunk: TypeAlias = SupportsIndex | Iterable[SupportsIndex] | None
"""How one mode is cut: one size for all chunks, the size of each, or -1 or ``None`` for one chunk."""

PerMode: TypeAlias = SupportsIndex | Iterable[SupportsIndex]
"""One integer for each mode, or one for all."""


def tiles_for(extent: int, target: int, mode: int) -> int:
    """Return how many tiles of at most `target` elements an extent needs."""
    if target < 0 or (extent and not target):
        raise ExtentError(f"mode {mode} of extent {extent} cannot be cut into tiles of {target} elements")
    return -(-extent // target) if extent else 0


def even(origin: int, extent: int, count: int, mode: int) -> Partition:
    """Return `count` tiles whose sizes differ by one at most, the larger ones first."""
    if count < 0 or (extent and not count):
        raise ExtentError(f"mode {mode} of extent {extent} cannot be cut into {count} tiles")
    check_span(origin, extent)
    if not count:
        return Partition(frozen_array(np.array([origin], dtype=np.int64)))
    size, rest = divmod(extent, count)
    with memory_for(count, "tiles"):
        numbers = np.arange(count + 1, dtype=np.int64)
        return Partition(frozen_array(origin + size * numbers + np.minimum(numbers, rest)))


def chunked(chunk: Chunk, extent: int | None, origin: int, mode: int) -> Partition:
    """Return the partition that a chunk grid has in one mode; the extent may be known from the sizes."""
    if isinstance(chunk, Iterable):
        if isinstance(chunk, str | bytes):
            raise ConversionError(
                f"the chunks of mode {mode} are given in elements, not by the text {chunk!r}"
            )
        given = Partition.of_sizes(chunk, origin, f"the chunks of mode {mode}")
        if extent is not None and given.extent != extent:
            raise ExtentError(
                f"the chunks of mode {mode} add up to {given.extent}, but its extent is {extent}"
            )
        return given
    size = -1 if chunk is None else to_int(chunk, f"the chunk size of mode {mode}")
    if extent is None:
        raise ExtentError(
            f"mode {mode} has the chunk size {size}: without extents, every chunk must be given"
        )
    if size < -1 or not size:
        raise ExtentError(
            f"the chunk size of mode {mode} must be positive, or -1 for one chunk, but is {size}"
        )
    check_span(origin, extent)
    size = extent if size == -1 else min(size, extent)
    # Chunks of one size are never none: a mode of extent 0 has one empty chunk, as in Dask.
    count = -(-extent // size) if size else 1
    with memory_for(count, "chunks"):
        marks = np.arange(count + 1, dtype=np.int64)
        marks *= size
        marks[-1] = extent
        return Partition(frozen_array(marks + origin))


def per_mode(value: PerMode, rank: int, what: str) -> tuple[int, ...]:
    """Return one integer per mode: an integer alone stands for every mode."""
    if isinstance(value, Iterable):
        numbers = to_ints(value, what)
        if len(numbers) != rank:
            raise RankError(f"{numbers} are {len(numbers)} {what} for {rank} modes")
        return numbers
    return to_ints([value] * max(rank, 1), what)[:rank]


def to_chunks(chunks: Iterable[Chunk] | SupportsIndex, extents: tuple[int, ...] | None) -> list[Chunk]:
    """Return one chunk specification per mode."""
    if isinstance(chunks, str | bytes):
        raise ConversionError(f"chunks are given in elements, not by the text {brief(chunks)}")
    if not isinstance(chunks, Iterable):
        if extents is None:
            raise ExtentError(f"the chunk size {chunks!r} needs extents, or every chunk must be given")
        return [chunks] * len(extents)
    modes = list(chunks)
    if extents is not None and len(modes) != len(extents):
        raise RankError(
            f"{tuple(modes)} are the chunks of {len(modes)} modes, but there are {len(extents)} extents; "
            "the sizes of the chunks of one mode are a sequence of their own, as in ((3, 2),)"
        )
    return modes


def moved(partition: Partition, by: int) -> Partition:
    """Return the same tiles, `by` further on."""
    if not by:
        return partition
    check_span(partition.origin + by, partition.extent)
    return Partition(frozen_array(partition.marks + by))


def joined(partitions: Sequence[Partition]) -> Partition:
    """Return the tiles of all partitions in sequence: each starts at the end of the one before."""
    first = partitions[0]
    if not any(part.count for part in partitions[1:]):
        return first
    check_span(first.origin, sum([part.extent for part in partitions]))
    marks = np.empty(1 + sum([part.count for part in partitions]), dtype=np.int64)
    marks[0] = end = first.origin
    filled = 1
    for part in partitions:
        tail = marks[filled : filled + part.count]
        # Distances, not marks, are added up, so that nothing in between leaves 64 bits.
        np.subtract(part.marks[1:], part.origin, out=tail)
        tail += end
        filled += part.count
        end += part.extent
    return Partition(frozen_array(marks))


def part_of(partition: Partition, start: int, stop: int) -> Partition:
    """Return the tiles cut to `start` up to `stop`, which must be within, with their indices.

    An empty tile belongs to the elements after it, at the very end to those before; a part without elements
    has no tiles.
    """
    marks = partition.marks
    if start == partition.origin and stop == partition.end:
        return partition
    if start == stop:
        return Partition(frozen_array(np.array([start], dtype=np.int64)))
    first = int(np.searchsorted(marks, start, side="left"))
    last = len(marks) if stop == partition.end else int(np.searchsorted(marks, stop, side="left"))
    head, tail = bool(marks[first] != start), last < len(marks)
    if not head and (not tail or marks[last] == stop):
        return partition.run(first, last if tail else last - 1)
    cut = np.empty(last - first + head + tail, dtype=np.int64)
    cut[head : head + last - first] = marks[first:last]
    cut[0] = start
    if tail:
        cut[-1] = stop
    return Partition(frozen_array(cut))


def refined(partition: Partition, points: IntArray, mode: int) -> Partition:
    """Return the partition with a boundary at each point as well; one that is there is not doubled."""
    if not len(points):
        return partition
    low, high = int(points.min()), int(points.max())
    if not partition.origin <= low <= high <= partition.end:
        wrong = low if low < partition.origin else high
        raise OutOfBoundsError(
            f"mode {mode} reaches from {partition.origin} to {partition.end}: it has no boundary at {wrong}"
        )
    new = different(points[~partition.has_marks(points)])
    if not len(new):
        return partition
    return Partition(frozen_array(np.insert(partition.marks, np.searchsorted(partition.marks, new), new)))


def is_refinement(fine: Partition, coarse: Partition) -> bool:
    """Tell whether every tile of `coarse` is a run of tiles of `fine`: its marks are marks of `fine`."""
    if fine.origin != coarse.origin or fine.end != coarse.end:
        return False
    return bool(fine.has_marks(coarse.marks).all())


def merged_marks(first: IntArray, second: IntArray) -> IntArray:
    """Return the distinct marks of two ascending arrays, ascending; O(n).

    A stable sort finds the two runs and merges them, where a sort of any other kind starts anew.
    """
    marks = np.concatenate((first, second))
    marks.sort(kind="stable")
    return marks[_is_new(marks)]


def merged_runs(first: IntArray, second: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return the distinct marks of two, and for each the number of the last mark of either that is not above.

    One merge says all three, where two searches would take twice as long; O(n).
    """
    marks = np.concatenate((first, second))
    order = marks.argsort(kind="stable")
    marks = marks[order]
    of_first = np.cumsum(order < len(first), dtype=np.int64)
    last = np.append(_is_new(marks)[1:], True)
    places = np.flatnonzero(last)
    firsts = of_first[places]
    return marks[places], firsts - 1, places - firsts


def merged(first: Partition, second: Partition) -> Partition:
    """Return the coarsest partition that refines both, which must cover the same indices; O(n).

    Where one has more empty tiles than the other at one place, all of the one's are kept.
    """
    if first == second:
        return first
    if all(_is_new(p.marks).all() for p in (first, second)):
        return Partition(frozen_array(merged_marks(first.marks, second.marks)))
    (mine, many), (theirs, more) = _counted(first.marks), _counted(second.marks)
    marks, counts = np.concatenate((mine, theirs)), np.concatenate((many, more))
    order = marks.argsort(kind="stable")
    marks, counts = marks[order], counts[order]
    new = _is_new(marks)
    # Each mark comes once from each side, so a repeated one directly follows its equal.
    again = np.flatnonzero(~new)
    counts[again - 1] = np.maximum(counts[again - 1], counts[again])
    return Partition(frozen_array(np.repeat(marks[new], counts[new])))


def _counted(marks: IntArray) -> tuple[IntArray, IntArray]:
    """Return the distinct marks, and how often each occurs."""
    places = np.flatnonzero(_is_new(marks))
    return marks[places], np.diff(places, append=len(marks))


def _is_new(marks: IntArray) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
    """Tell for each of the ascending marks whether it differs from the one before."""
    new = np.empty(len(marks), dtype=np.bool_)
    new[0] = True
    np.not_equal(marks[1:], marks[:-1], out=new[1:])
    return new
