"""Sizes of requests: split large selections, and combine small ones."""

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from tensorwrapper.selection import Outer, Runs, Wanted
from tensorwrapper.typing import Array

Piece = tuple[int, Wanted, Array]
"""Number of the selection, the piece of it to request, and the target."""

_POSITIONS: Final = 2**20
_SELECTIONS: Final = 128
_MODES: Final = 512
"""Limit on the total modes of the selections in a request, which limits the label."""


def batches_of(
    selections: Sequence[Wanted], out: Sequence[Array], itemsize: int, answer_bytes: Callable[[], int]
) -> Iterator[list[Piece]]:
    """Return the pieces of each request, limited to the current answer size."""

    def most() -> int:
        return max(answer_bytes() // itemsize, 1)

    batch: list[Piece] = []
    size = positions = modes = 0
    for number, (wanted, target) in enumerate(zip(selections, out, strict=True)):
        for own, part in _cut(wanted, target, most):
            own_positions, own_modes = own.nbytes // 8, len(own.extents) + 1
            full = size + own.size > most() or positions + own_positions > _POSITIONS
            if batch and (full or len(batch) == _SELECTIONS or modes + own_modes > _MODES):
                yield batch
                batch, size, positions, modes = [], 0, 0, 0
            batch.append((number, own, part))
            size, positions, modes = size + own.size, positions + own_positions, modes + own_modes
    if batch:
        yield batch


def _cut(wanted: Wanted, target: Array, most: Callable[[], int]) -> Iterator[tuple[Wanted, Array]]:
    """Return pieces of a selection with at most `most` elements, with the part of the array for each."""
    if not wanted.size:
        return
    if isinstance(wanted, Runs):
        if wanted.size <= most() and len(wanted.starts) <= _POSITIONS // 2:
            yield wanted, target
            return
        start = 0
        while start < wanted.size:
            stop = min(start + min(most(), _POSITIONS // 2), wanted.size)
            yield _part_of(wanted, start, stop), target[start:stop]
            start = stop
        return
    yield from _cut_outer(wanted, target, most)


def _cut_outer(wanted: Outer, target: Array, most: Callable[[], int]) -> Iterator[tuple[Wanted, Array]]:
    if wanted.size <= most():
        yield wanted, target
        return
    mode = next(k for k, extent in enumerate(wanted.extents) if extent > 1)
    extent = wanted.extents[mode]
    before = (slice(None),) * mode
    start = 0
    while start < extent:
        own = slice(start, min(start + max(most() // (wanted.size // extent), 1), extent))
        start = own.stop
        modes = [*wanted.modes[:mode], wanted.modes[mode][own], *wanted.modes[mode + 1 :]]
        yield from _cut_outer(Outer(modes), target[(*before, own)], most)


def _part_of(runs: Runs, start: int, stop: int) -> Runs:
    """Return the runs of the elements from `start` to `stop`."""
    ends = np.cumsum(runs.lengths)
    first, last = int(np.searchsorted(ends, start, "right")), int(np.searchsorted(ends, stop, "left"))
    starts, lengths = runs.starts[first : last + 1].copy(), runs.lengths[first : last + 1].copy()
    before = start - (int(ends[first]) - int(runs.lengths[first]))
    lengths[-1] -= int(ends[last]) - stop
    starts[0] += before
    lengths[0] -= before
    return Runs(starts, lengths)


def halves_of(wanted: Wanted) -> list[Wanted]:
    """Split a selection of at least two elements into two."""
    half = wanted.size // 2
    if isinstance(wanted, Runs):
        return [_part_of(wanted, 0, half), _part_of(wanted, half, wanted.size)]
    mode = next(k for k, extent in enumerate(wanted.extents) if extent > 1)
    middle = wanted.extents[mode] // 2
    return [
        Outer([*wanted.modes[:mode], wanted.modes[mode][own], *wanted.modes[mode + 1 :]])
        for own in (slice(0, middle), slice(middle, None))
    ]


def halved(batch: list[Piece]) -> list[list[Piece]]:
    """Return two batches of half the size; none for a single element."""
    if len(batch) > 1:
        return [batch[: len(batch) // 2], batch[len(batch) // 2 :]]
    (number, wanted, target) = batch[0]
    if wanted.size < 2:
        return []
    first, second = halves_of(wanted)
    mode = 0 if isinstance(wanted, Runs) else next(k for k, own in enumerate(wanted.extents) if own > 1)
    here, before = first.extents[mode], (slice(None),) * mode
    return [
        [(number, first, target[(*before, slice(None, here))])],
        [(number, second, target[(*before, slice(here, None))])],
    ]
