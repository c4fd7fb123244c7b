"""Strided copies at the speed of memory, also where modes change their order.

NumPy copies in the order of the target. If the mode that is fastest in the source is slow in the target, each
cache line of the source is then loaded once for every element in it. Such copies are done block by block,
small enough that the lines stay in cache; all others are left to NumPy.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import TypeVar

import numpy as np

from tensorwrapper._arrays import CACHED
from tensorwrapper.typing import Array

_LINE = 64  # bytes that are loaded together
_LINES = 1024  # lines that stay loaded from one use to the next
_APART = 2048  # lines that lie multiples of so many bytes apart compete for few places in the cache
_COMPETING = 32  # lines that stay loaded where they do
_SIDE = 512  # elements of a block along the fastest modes of each side; as measured
_SIDE_WIDE = 256  # the same for wide elements that go through a buffer, which is to stay in the cache

_T = TypeVar("_T")


def in_threads(work: Callable[[_T], None], parts: Sequence[_T], threads: int) -> None:
    """Do the work on all parts, several at a time; the threads end with it."""
    from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415

    if threads == 1 or len(parts) < 2:
        for part in parts:
            work(part)
        return
    with ThreadPoolExecutor(min(threads, len(parts))) as pool:
        for _ in pool.map(work, parts):
            pass


def copy_strided(target: Array, source: Array, *, threads: int = 1) -> None:
    """Write `source` into `target`, of the same extents and without memory in common; cast as NumPy does.

    One thread needs about twice to three times as long to transpose a large array as to copy it; two threads
    bring a contiguous copy little, as they share one memory, and a transposed one almost twice the speed.

    Parameters
    ----------
    target, source
        Arrays of the same extents and any strides.
    threads
        How many threads copy; they are made for this copy and end with it. Small copies use one.
    """
    if source.size <= CACHED:
        np.copyto(target, source, casting="unsafe")
        return
    # From the slowest mode of the target to its fastest.
    order = sorted(range(target.ndim), key=lambda mode: -abs(target.strides[mode]))
    target, source = target.transpose(order), source.transpose(order)
    steps = _block_steps(source)
    parts = list(zip(*[_cut(array, steps, threads) for array in (target, source)], strict=True))

    def copy(pair: tuple[Array, Array]) -> None:
        if steps is None:
            np.copyto(*pair, casting="unsafe")
        else:
            _copy_blocks(*pair, steps)

    in_threads(copy, parts, threads)


def _cut(array: Array, steps: Sequence[int] | None, threads: int) -> list[Array]:
    """Return parts of an array for threads, cut in the mode with the most blocks, or in the slowest."""
    extents = array.shape
    if steps is None:
        mode = next((m for m, n in enumerate(extents) if n >= threads), len(extents) - 1)
        step = 1
    else:
        mode = max(range(len(extents)), key=lambda m: extents[m] // steps[m])
        step = steps[mode]
    blocks = -(-extents[mode] // step)
    marks = [blocks * k // threads * step for k in range(threads)]
    before = (slice(None),) * mode
    ends = [*marks[1:], extents[mode]]
    return [array[(*before, slice(a, b))] for a, b in zip(marks, ends, strict=True) if a < b]


def _block_steps(source: Array) -> tuple[int, ...] | None:
    """Return the extents of the blocks for a source whose modes are in the order of the target.

    None if blocks are no faster: the fastest mode is the same, or the data between two uses of a line fits
    the cache, or lines are used up at once.
    """
    strides = [abs(step) if n > 1 else 0 for n, step in zip(source.shape, source.strides, strict=True)]
    moving = [mode for mode, step in enumerate(strides) if step]
    if len(moving) < 2:
        return None
    fastest, last = min(moving, key=lambda mode: strides[mode]), len(strides) - 1
    while source.shape[last] == 1:
        last -= 1
    # How often a line would be loaded, if it did not stay.
    loads = min(strides[last], _LINE) // strides[fastest]
    if loads < 4:
        return None
    lines = 1
    for extent in source.shape[fastest + 1 :]:
        lines *= extent
    if lines <= (_COMPETING if _competes(strides[last]) else _LINES):
        return None
    side = _SIDE_WIDE if source.itemsize > 8 and _competes(strides[last]) else _SIDE
    steps = [1] * source.ndim
    by_source = sorted(moving, key=lambda mode: strides[mode])
    for order in (range(last, -1, -1), by_source):
        left = side
        for mode in order:
            step = min(source.shape[mode], left)
            steps[mode] = max(steps[mode], step)
            left //= step
    return tuple(steps)


def _competes(stride: int) -> bool:
    return stride % _APART == 0


def _copy_blocks(target: Array, source: Array, steps: Sequence[int]) -> None:
    """Copy block by block; where lines compete, each block goes through a buffer whose lines do not."""
    last = max([mode for mode, n in enumerate(source.shape) if n > 1], default=0)
    # Small elements use up the lines of a row late, so many of them have to stay.
    staged = source.itemsize < 4 or _competes(source.strides[last])
    by_source = sorted(range(source.ndim), key=lambda mode: -abs(source.strides[mode]))
    inverse = sorted(range(source.ndim), key=by_source.__getitem__)
    buffer = _buffer(source, [steps[mode] for mode in by_source]) if staged else None
    for block in _blocks(source.shape, steps):
        part = source[block]
        if buffer is not None:
            own = buffer.transpose(inverse)[tuple([slice(0, n) for n in part.shape])]
            np.copyto(own, part)
            part = own
        np.copyto(target[block], part, casting="unsafe")


def _buffer(source: Array, extents: list[int]) -> Array:
    # One line more than a row needs: rows then do not start at the same place of the cache.
    *outer, last = extents
    return np.empty((*outer, last + -(-_LINE // source.itemsize)), dtype=source.dtype)


def _blocks(extents: Iterable[int], steps: Sequence[int]) -> Iterator[tuple[slice, ...]]:
    starts = [range(0, extent, step) for extent, step in zip(extents, steps, strict=True)]
    for corner in product(*starts):
        yield tuple([slice(a, a + step) for a, step in zip(corner, steps, strict=True)])
