"""What writes pieces that share out the positions of a mode."""

# The field of a frozen class is read as the property that it stands for.
# pyright: reportIncompatibleMethodOverride=false

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import join_into
from tensorwrapper.selection.runners._blocks import Window
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["RoutingRunner"]

_MANY = 16  # pieces in memory from which NumPy joins them
_SLAB = 1 << 22  # bytes of a result of which pieces that take turns are all written before the next


@final
@frozen(eq=False)
class RoutingRunner(Runner):
    """Pieces that share out the positions of a mode, each written by itself."""

    mode: int
    extents: Extents
    positions: tuple[range, ...]
    """For each piece which positions of the mode it has."""
    runners: tuple[Runner, ...]
    starts: tuple[int, ...] | None
    """Where pieces begin that follow one after the other; None if they take turns."""

    @classmethod
    def of(
        cls, mode: int, extents: Extents, positions: tuple[range, ...], runners: tuple[Runner, ...]
    ) -> "RoutingRunner":
        """Return what writes pieces that share out a mode."""
        in_a_row = all(own.step == 1 for own in positions)
        starts = tuple([own.start for own in positions]) if in_a_row else None
        return cls(mode, extents, positions, runners, starts)

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.runners[0].dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        mode = self.mode
        turns = self.starts is None and mode > 0 and len(self.runners) <= _MANY
        if turns and threads == 1 and out.nbytes > 2 * _SLAB and len(out) > 1:
            self._fill_slabs(window, out)
            return
        low, high = window[mode].start, window[mode].stop
        first, last = 0, len(self.runners)
        if self.starts is not None:
            first = bisect_right(self.starts, low) - 1
            last = bisect_right(self.starts, high - 1)
            if last - first > _MANY and self._join(window, out, first, last):
                return
        before = (slice(None),) * mode
        # The largest first: new memory is then touched once for nearly all that is written.
        for number in sorted(range(first, last), key=lambda n: -len(self.positions[n])):
            piece, runner = self.positions[number], self.runners[number]
            begin = max(-((piece.start - low) // piece.step), 0)
            end = min(-((piece.start - high) // piece.step), len(piece))
            if begin < end:
                goal = piece.start + piece.step * begin - low
                part = out[(*before, slice(goal, goal + piece.step * (end - begin - 1) + 1, piece.step))]
                runner.fill((*window[:mode], slice(begin, end), *window[mode + 1 :]), part, threads)

    def _fill_slabs(self, window: Window, out: Array) -> None:
        """Write all pieces of some rows before the next ones, while their memory is in the cache."""
        rows = max(len(out) * _SLAB // out.nbytes, 1)
        first = window[0].start
        for start in range(0, len(out), rows):
            part = out[start : start + rows]
            self.fill((slice(first + start, first + start + len(part)), *window[1:]), part)

    def _join(self, window: Window, out: Array, first: int, last: int) -> bool:
        """Write many pieces that lie in memory, one after the other, at once; tell whether they do."""
        mode = self.mode
        parts: list[Array] = []
        for number in range(first, last):
            memory = self.runners[number].memory
            if memory is None:
                return False
            start = self.positions[number].start
            begin, end = (
                max(window[mode].start - start, 0),
                min(window[mode].stop - start, memory.shape[mode]),
            )
            parts.append(memory[(*window[:mode], slice(begin, end), *window[mode + 1 :])])
        join_into(out, parts, mode)
        return True

    def points(self, places: tuple[IntArray, ...]) -> Array:
        mode = self.mode
        own = places[mode]
        found: Array = np.empty(own.shape, self.dtype)
        for number, chosen in self._groups(own):
            piece = self.positions[number]
            local = (own[chosen] - piece.start) // piece.step
            rest = [places[m][chosen] if m != mode else local for m in range(len(places))]
            found[chosen] = self.runners[number].points(tuple(rest))
        return found

    def _groups(self, own: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Return an iterator over pieces, and which of the positions are theirs."""
        if self.starts is not None:
            numbers = np.searchsorted(np.array(self.starts), own, "right") - 1
            order = np.argsort(numbers, kind="stable")
            marks = np.flatnonzero(np.diff(numbers[order])) + 1
            for chosen in np.split(order, marks):
                yield int(numbers[chosen[0]]), chosen
            return
        for number, piece in enumerate(self.positions):
            local, rest = np.divmod(own - piece.start, piece.step)
            chosen = np.flatnonzero((rest == 0) & (local >= 0) & (local < len(piece)))
            if len(chosen):
                yield number, chosen
