"""What writes elements that are put together of others: routed, chosen, least and greatest, cast, drawn."""

from bisect import bisect_right
from collections.abc import Iterator
from typing import Any, cast, final

import attrs
import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer.lowlevel import choose_elements, join_into, write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.expressions._generators import RandomField
from tensorwrapper.selection.expressions._nodes import Choosing, Extreme, Routing
from tensorwrapper.selection.normal._transform import Transform
from tensorwrapper.selection.runners._blocks import Window, cut, inside, shift_window, window_extents
from tensorwrapper.selection.runners._leaves import Runner, places_in, points_through
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["CastRunner", "ChoosingRunner", "ExtremeRunner", "RoutingRunner", "SamplingRunner"]

_MANY = 16  # pieces in memory from which NumPy joins them
_SLAB = 1 << 22  # bytes of a result of which pieces that take turns are all written before the next


@final
@attrs.frozen(eq=False)
class RoutingRunner(Runner):
    """Pieces that share out the positions of a mode, each written by itself."""

    node: Routing
    runners: tuple[Runner, ...]
    starts: tuple[int, ...] | None
    """Where pieces begin that follow one after the other; None if they take turns."""

    @classmethod
    def of(cls, node: Routing, runners: tuple[Runner, ...]) -> "RoutingRunner":
        """Return what writes the pieces of a node."""
        in_a_row = all(piece.step == 1 for piece in node.pieces)
        return cls(node, runners, tuple([piece.start for piece in node.pieces]) if in_a_row else None)

    @property
    def extents(self) -> Extents:
        return self.node.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.node.dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        mode = self.node.mode
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
        for number in sorted(range(first, last), key=lambda n: -self.node.pieces[n].count(mode)):
            piece, runner = self.node.pieces[number], self.runners[number]
            begin = max(-((piece.start - low) // piece.step), 0)
            end = min(-((piece.start - high) // piece.step), piece.count(mode))
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
        mode = self.node.mode
        parts: list[Array] = []
        for number in range(first, last):
            memory = self.runners[number].memory
            if memory is None:
                return False
            start = self.node.pieces[number].start
            begin, end = (
                max(window[mode].start - start, 0),
                min(window[mode].stop - start, memory.shape[mode]),
            )
            parts.append(memory[(*window[:mode], slice(begin, end), *window[mode + 1 :])])
        join_into(out, parts, mode)
        return True

    def points(self, places: tuple[IntArray, ...]) -> Array:
        mode = self.node.mode
        own = places[mode]
        found: Array = np.empty(own.shape, self.dtype)
        for number, chosen in self._groups(own):
            piece = self.node.pieces[number]
            local = (own[chosen] - piece.start) // piece.step
            rest = [places[m][chosen] if m != mode else local for m in range(len(places))]
            found[chosen] = self.runners[number].points(tuple(rest))
        return found

    def _groups(self, own: IntArray) -> Iterator[tuple[int, IntArray]]:
        """Return an iterator over pieces, and which of the positions are theirs."""
        mode = self.node.mode
        if self.starts is not None:
            numbers = np.searchsorted(np.array(self.starts), own, "right") - 1
            order = np.argsort(numbers, kind="stable")
            marks = np.flatnonzero(np.diff(numbers[order])) + 1
            for chosen in np.split(order, marks):
                yield int(numbers[chosen[0]]), chosen
            return
        for number, piece in enumerate(self.node.pieces):
            local, rest = np.divmod(own - piece.start, piece.step)
            chosen = np.flatnonzero((rest == 0) & (local >= 0) & (local < piece.count(mode)))
            if len(chosen):
                yield number, chosen


@final
@attrs.frozen(eq=False)
class ChoosingRunner(Runner):
    """Elements of one of two operands, as a third one says, block by block."""

    node: Choosing
    runners: tuple[Runner, Runner, Runner]

    @property
    def extents(self) -> Extents:
        return self.node.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.node.dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        for block in cut(out.shape):
            own = shift_window(window, block)
            mask, x, y = [runner.part(own) for runner in self.runners]
            choose_elements(inside(out, block), cast("npt.NDArray[np.bool_]", mask), x, y)

    def points(self, places: tuple[IntArray, ...]) -> Array:
        mask, x, y = [runner.points(places) for runner in self.runners]
        found: Array = np.empty(x.shape, self.dtype)
        choose_elements(found, cast("npt.NDArray[np.bool_]", mask), x, y)
        return found


@final
@attrs.frozen(eq=False)
class ExtremeRunner(Runner):
    """The least or the greatest of the operands, block by block."""

    node: Extreme
    runners: tuple[Runner, ...]

    @property
    def extents(self) -> Extents:
        return self.node.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.node.dtype

    @property
    def _better(self) -> "np.ufunc":
        return np.minimum if self.node.kind == "minimum" else np.maximum

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        better = self._better
        first, second, *rest = self.runners
        for block in cut(out.shape):
            own, target = shift_window(window, block), inside(out, block)
            better(first.part(own), second.part(own), out=target, casting="unsafe")
            for runner in rest:
                better(target, runner.part(own), out=target, casting="unsafe")

    def points(self, places: tuple[IntArray, ...]) -> Array:
        first, *rest = [runner.points(places) for runner in self.runners]
        for other in rest:
            first = self._better(first, other)
        return first


@final
@attrs.frozen(eq=False)
class CastRunner(Runner):
    """The elements of another runner as ones of another type."""

    runner: Runner
    _dtype: "np.dtype[Any]"

    @property
    def extents(self) -> Extents:
        return self.runner.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self._dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        # What does not fit wraps round, as in constants, which are cast beforehand.
        with np.errstate(all="ignore"):
            if self.runner.memory is not None and out.dtype == self._dtype:
                self.runner.fill(window, out, threads)
                return
            for block in cut(out.shape):
                write_elements(inside(out, block), self.part(shift_window(window, block)))

    def part(self, window: Window) -> Array:
        out: Array = np.empty(window_extents(window), self._dtype)
        with np.errstate(all="ignore"):
            write_elements(out, self.runner.part(window))
        return out

    def points(self, places: tuple[IntArray, ...]) -> Array:
        found = self.runner.points(places)
        out: Array = np.empty(found.shape, self._dtype)
        with np.errstate(all="ignore"):
            write_elements(out, found)
        return out


@final
@attrs.frozen(eq=False)
class SamplingRunner(Runner):
    """Random numbers whose parameters are elements of operands, block by block."""

    field: RandomField
    layout: Layout
    transform: Transform | None
    runners: tuple[Runner, ...]

    @property
    def extents(self) -> Extents:
        return self.layout.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.field.dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        for block in cut(out.shape):
            own = shift_window(window, block)
            places = places_in(self.layout, self.transform, own, self.field.extents)
            values = self.field.draw(places, [runner.part(own) for runner in self.runners])
            write_elements(inside(out, block), np.broadcast_to(values, window_extents(own)))

    def points(self, places: tuple[IntArray, ...]) -> Array:
        here = points_through(self.layout, places, self.field.extents)
        return self.field.draw(here, [runner.points(places) for runner in self.runners])
