"""Runner of parts in memory, one after the other: runs of them at once, and points part by part."""

from collections.abc import Callable
from typing import Any, final

import attrs
import numpy as np

from tensorwrapper._arrays import last_run, run_of
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import assign_indexed, join_into, take_along, write_elements
from tensorwrapper.selection.runners._blocks import Window
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["JoinedRunner"]

_POINTS = 512  # points for each part, on average, from which a part is worth the calls that it takes
_MOST = 1 << 19  # points at a time, of which five numbers are held
_RUN = 512  # bytes of a run that are copied while the part of a point is found
_LONG = 1 << 15  # and while that of a run of elements is, of which there are fewer for each part


@final
@frozen(eq=False)
class JoinedRunner(Runner):
    """Arrays of rank 1, one after the other; each is made on first use, and cached."""

    kept: list[Array | None]
    """The arrays that are known. Others may read and complete it at the same time."""
    make: Callable[[int], Array]
    starts: IntArray
    """Start of each array, and the end of the last."""
    dtype: "np.dtype[Any]"  # pyright: ignore[reportIncompatibleMethodOverride]
    runs: "dict[int, Runner]" = attrs.field(factory=dict, init=False, repr=False)
    """Those of runs, by their number of elements."""

    @property
    def extents(self) -> Extents:
        return (self.starts.item(-1),)

    @property
    def parts(self) -> int:
        """Number of arrays."""
        return len(self.kept)

    @property
    def has_places(self) -> bool:
        return True

    @property
    def points_together(self) -> int:
        return min(_POINTS * len(self.kept), _MOST)

    @property
    def run_for_point(self) -> int:
        return _RUN // self.dtype.itemsize

    def in_runs(self, width: int) -> Runner:
        """Return the same with each run of so many elements as one; the sizes of all arrays are multiples."""
        if width == 1:
            return self
        # A concurrent thread makes the same.
        return self.runs.get(width) or self.runs.setdefault(width, _RunsRunner(self, width))

    def array(self, number: int) -> Array:
        """Return an array by its number, made on first use."""
        found = self.kept[number]
        if found is None:
            found = self.kept[number] = self.make(number)
        return found

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        low, high = window[0].start, window[0].stop
        if low == high:
            return
        begin, end = last_run(self.starts, low), last_run(self.starts, high - 1)
        kept = self.kept
        parts = [own if (own := kept[k]) is not None else self.array(k) for k in range(begin, end + 1)]
        # The last first: it may be the first as well.
        parts[-1] = parts[-1][: high - self.starts.item(end)]
        parts[0] = parts[0][low - self.starts.item(begin) :]
        if len(parts) == 1:
            write_elements(out, parts[0], threads=threads)
        else:
            join_into(out, parts, 0)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        (own,) = places
        found: Array = np.empty(own.shape, self.dtype)
        if not own.size:
            return found
        numbers = run_of(self.starts, own)
        # NumPy sorts numbers of two bytes, which nearly all are, by their digits.
        order = np.argsort(numbers.astype(np.min_scalar_type(len(self.kept))), kind="stable")
        counts = np.bincount(numbers, minlength=len(self.kept))
        ascending = own[order]
        values: Array = np.empty(own.shape, self.dtype)
        chosen = np.flatnonzero(counts)
        ends: list[int] = [0, *np.cumsum(counts[chosen]).tolist()]
        ascending -= np.repeat(self.starts[chosen], counts[chosen])
        for k, number in enumerate(chosen.tolist()):
            part = slice(ends[k], ends[k + 1])
            take_along(values[part], self.array(number), ascending[part], 0)
        assign_indexed(found, (order,), values)
        return found


@final
@frozen(eq=False)
class _RunsRunner(Runner):
    """The same arrays, in which `width` elements side by side are one of many bytes."""

    joined: JoinedRunner
    width: int
    _runs: JoinedRunner = attrs.field(init=False, repr=False)

    def __attrs_post_init__(self) -> None:
        joined, kind = self.joined, self.dtype
        empty: list[Array | None] = [None] * joined.parts
        runs = JoinedRunner(
            empty, lambda number: joined.array(number).view(kind), joined.starts // self.width, kind
        )
        object.__setattr__(self, "_runs", runs)

    @property
    def extents(self) -> Extents:
        return self._runs.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return np.dtype((np.void, self.width * self.joined.dtype.itemsize))

    @property
    def has_places(self) -> bool:
        return True

    @property
    def points_together(self) -> int:
        return self._runs.points_together

    @property
    def run_for_point(self) -> int:
        return _LONG // self.dtype.itemsize

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        # The arrays are there; views of them as bytes are made for points only.
        low, high = window[0].start * self.width, window[0].stop * self.width
        self.joined.fill((slice(low, high),), out.view(self.joined.dtype), threads)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        return self._runs.points(places)
