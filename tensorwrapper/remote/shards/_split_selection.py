"""Split selections at tile boundaries."""

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.selection import Outer, Positions, Runs, Wanted
from tensorwrapper.typing import Array, IntArray

Place: TypeAlias = tuple[slice, ...] | IntArray
"""Place of a piece in the result of a selection: a box of it, or elements by number."""
_Segment: TypeAlias = tuple[int, Positions, slice]


@final
@frozen(eq=False)
class Piece:
    """Part of a selection within one tile."""

    tile: int
    """The number of the tile in row-major order."""
    local: Wanted
    """Part of the tile."""
    place: Place

    def target(self, out: Array) -> Array:
        """Return the memory to read into: a part of the result, or a temporary array."""
        if isinstance(self.place, tuple):
            return out[self.place]
        return np.empty(self.local.extents, out.dtype)

    def settle(self, target: Array, out: Array) -> None:
        """Copy a temporary array to its place in the result."""
        if not isinstance(self.place, tuple):
            out[self.place] = target


def cuts_of(selection: Wanted, marks: Sequence[IntArray]) -> Iterator[Piece]:
    """Return the pieces of a selection, one per touched tile.

    `marks` are the positions where the tiles of each mode begin, and the end.
    """
    if isinstance(selection, Runs):
        return _cuts_of_runs(selection, marks[0]) if len(marks) == 1 else _cuts_of_points(selection, marks)
    return _cuts_of_box(selection, marks)


def asked_nbytes(selection: Wanted, marks: Sequence[IntArray]) -> int:
    """Return the bytes that describe the selections of all tiles of a box; for runs those of the whole.

    `marks` are as in `cuts_of`. O(tiles of each mode).
    """
    if isinstance(selection, Runs):
        return selection.nbytes
    modes = list(zip(selection.modes, marks, strict=True))
    hits = [len(_hit(_bounds(own, ends))) for own, ends in modes]
    count = math.prod(hits)
    return sum(
        [
            24 * count if isinstance(own, range) else own.nbytes * (count // max(hit, 1))
            for (own, _), hit in zip(modes, hits, strict=True)
        ]
    )


def _cuts_of_box(selection: Outer, marks: Sequence[IntArray]) -> Iterator[Piece]:
    modes = [_segments(own, ends) for own, ends in zip(selection.modes, marks, strict=True)]
    counts = [len(ends) - 1 for ends in marks]
    for parts in itertools.product(*modes):
        tile = 0
        for (number, _, _), count in zip(parts, counts, strict=True):
            tile = tile * count + number
        yield Piece(tile, Outer([own for _, own, _ in parts]), tuple([place for _, _, place in parts]))


def _segments(positions: Positions, marks: IntArray) -> list[_Segment]:
    """Return the touched tiles of a mode, with the positions in the tile and in the selection."""
    bounds = _bounds(positions, marks)
    hit = _hit(bounds)
    found: list[_Segment] = []
    for number, first, last, start in zip(
        hit.tolist(), bounds[hit].tolist(), bounds[hit + 1].tolist(), marks[hit].tolist(), strict=True
    ):
        own = positions[first:last]
        local: Positions = (
            range(own.start - start, own.stop - start, own.step) if isinstance(own, range) else own - start
        )
        found.append((number, local, slice(first, last)))
    return found


def _bounds(positions: Positions, marks: IntArray) -> npt.NDArray[np.intp]:
    """Return the number of positions of a mode before each mark."""
    if isinstance(positions, range):
        return np.clip(-((positions.start - marks) // positions.step), 0, len(positions))
    return np.searchsorted(positions, marks)


def _hit(bounds: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    return np.flatnonzero(bounds[1:] > bounds[:-1])


def _cuts_of_runs(selection: Runs, marks: IntArray) -> Iterator[Piece]:
    """Yield the pieces of runs of elements of one mode; each tile has its elements side by side."""
    starts, ends = selection.starts, selection.ends
    if not len(starts):
        return
    before = np.cumsum(selection.lengths) - selection.lengths
    first = np.searchsorted(ends, marks[:-1], "right")
    last = np.searchsorted(starts, marks[1:], "left")
    hit = np.flatnonzero((first < last) & (marks[1:] > marks[:-1]))
    for number, a, b, low, high in zip(
        hit.tolist(),
        first[hit].tolist(),
        last[hit].tolist(),
        marks[hit].tolist(),
        marks[hit + 1].tolist(),
        strict=True,
    ):
        own, stops = np.maximum(starts[a:b], low), np.minimum(ends[a:b], high)
        local = Runs(own - low, stops - own)
        at = int(before[a]) + max(low - int(starts[a]), 0)
        yield Piece(number, local, (slice(at, at + local.size),))


def _cuts_of_points(selection: Runs, marks: Sequence[IntArray]) -> Iterator[Piece]:
    """Yield the pieces of numbered elements of a box; those of a tile may be anywhere in the list."""
    numbers = selection.numbers()
    if not len(numbers):
        return
    places = np.unravel_index(numbers, [int(own[-1]) for own in marks])
    tiles = np.zeros(len(numbers), np.int64)
    local = np.zeros(len(numbers), np.int64)
    for own, place in zip(marks, places, strict=True):
        part = np.searchsorted(own, place, "right") - 1
        tiles = tiles * (len(own) - 1) + part
        local = local * (own[part + 1] - own[part]) + (place - own[part])
    order = np.argsort(tiles, kind="stable")
    tiles, local = tiles[order], local[order]
    first = np.flatnonzero(np.r_[True, tiles[1:] != tiles[:-1]])
    for a, b in itertools.pairwise([*first.tolist(), len(tiles)]):
        # Elements of a tile ascend in row-major order, as those of the whole box do.
        yield Piece(int(tiles[a]), Runs(local[a:b]), order[a:b])
