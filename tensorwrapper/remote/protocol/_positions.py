"""Encode positions as frames of integers: the narrowest differences, or the numbers themselves."""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast, final

import numpy as np

from tensorwrapper._arrays import positions_array
from tensorwrapper._json import Json
from tensorwrapper._json_fields import Field
from tensorwrapper.errors import TensorWrapperError
from tensorwrapper.selection import Outer, Runs, Wanted
from tensorwrapper.typing import BufferLike, IntArray

_WIDTHS: Final["dict[str, np.dtype[Any]]"] = {f"u{n}": np.dtype(f"<u{n}") for n in (1, 2, 4)}
_MOST: Final = 2**63 - 1
_T = TypeVar("_T")


@final
class PositionsWriter:
    """Writer of the frames of a request's selections."""

    __slots__ = ("frames",)

    def __init__(self) -> None:
        self.frames: list[BufferLike] = []

    def ascending(self, positions: "range | IntArray") -> Json:
        """Return the JSON of ascending positions: three numbers, or the frame with the differences."""
        if isinstance(positions, range):
            return [positions.start if positions else 0, len(positions), positions.step if positions else 1]
        if not len(positions):
            return [0, 0, 1]
        steps = np.diff(positions)
        return self._table(steps, {"first": int(positions[0]), "n": len(positions)}, positions)

    def counts(self, numbers: IntArray) -> Json:
        """Return the JSON of counts: one number if all are equal, else the frame with them."""
        if not len(numbers) or (numbers == numbers[0]).all():
            return int(numbers[0]) if len(numbers) else 0
        return self._table(numbers, {"n": len(numbers)}, numbers)

    def _table(self, numbers: IntArray, said: dict[str, Json], whole: IntArray) -> Json:
        most = int(numbers.max(initial=0))
        width = next((name for name, dtype in _WIDTHS.items() if most < 256**dtype.itemsize), "i8")
        table = whole.astype("<i8") if width == "i8" else numbers.astype(_WIDTHS[width])
        self.frames.append(memoryview(cast("Any", table)))
        return {**said, "as": width, "frame": len(self.frames) - 1}

    def selection(self, wanted: Wanted) -> Json:
        """Return the JSON of a selection."""
        if isinstance(wanted, Outer):
            return {"modes": [self.ascending(mode) for mode in wanted.modes]}
        return self.runs(wanted)

    def runs(self, wanted: Runs) -> Json:
        """Return the JSON of runs."""
        starts = wanted.starts
        if len(starts) < wanted.size < 1.5 * len(starts):
            # Encode elements one by one if few are adjacent, which needs no lengths.
            return {"starts": self.ascending(wanted.numbers()), "lengths": 1}
        found = starts if len(starts) != 1 else range(int(starts[0]), int(starts[0]) + 1)
        if len(starts) > 1:
            step, reach = starts.item(1) - starts.item(0), starts.item(-1) - starts.item(0)
            # Compare the last position first: with an uneven step it rarely matches.
            if step * (len(starts) - 1) == reach and bool((np.diff(starts) == step).all()):
                found = range(int(starts[0]), int(starts[-1]) + 1, step)
        said = self.ascending(found)
        lengths = 1 if len(starts) == wanted.size > 0 else self.counts(wanted.lengths)
        return {"starts": said, "lengths": lengths}


@final
class PositionsReader:
    """Reader of an untrusted request's selections, limited to `most` positions in total."""

    __slots__ = ("_frames", "_left", "_used")

    def __init__(self, frames: "tuple[memoryview, ...]", most: int) -> None:
        self._frames = frames
        self._used = 0
        self._left = most

    def end(self, field: Field) -> None:
        """Refuse unreferenced frames."""
        if self._used != len(self._frames):
            field.refuse(f"refers to {self._used} of {len(self._frames)} frames")

    def rest(self, field: Field) -> "tuple[memoryview, ...]":
        """Return the remaining frames, at least one."""
        found = self._frames[self._used :]
        if not found:
            field.refuse(f"comes with {len(self._frames)} frames, and needs more")
        self._used = len(self._frames)
        return found

    def selection(self, field: Field) -> Wanted:
        """Return a selection."""
        field.object(optional={"modes", "starts", "lengths"})
        if "modes" not in field:
            return self.runs(field)
        field.object({"modes"})
        modes = [self.ascending(mode) for mode in field["modes"].items(most=64)]
        return self._made(field, lambda: Outer(modes))

    def runs(self, field: Field) -> Runs:
        """Return runs."""
        field.object({"starts", "lengths"})
        starts = self.ascending(field["starts"])
        if isinstance(starts, range):
            # The range may become an array.
            self._take(field, len(starts))
        lengths = field["lengths"]
        if not isinstance(lengths.value, dict):
            length = lengths.count(most=_MOST)
            if length * len(starts) > _MOST:
                field.refuse(f"has {length * len(starts)} elements", "limit")
            if isinstance(starts, range):
                # A few digits may describe a huge range, so allocate nothing before checking it against the
                # tensor.
                return self._made(field, lambda: Runs.evenly(starts, length))
            return self._made(field, lambda: Runs(starts, np.full(1, length, dtype=np.int64)))
        lengths.object({"n", "as", "frame"})
        if lengths["n"].count(least=0) != len(starts):
            lengths.refuse(f"are {lengths['n'].value} for {len(starts)} runs")
        counts = self._table(lengths, len(starts))
        total = int(counts.max(initial=0)) * len(starts)
        if total > _MOST:
            # Use Python integers, which do not overflow.
            total = sum(counts.tolist())
        if total > _MOST:
            field.refuse(f"has {total} elements", "limit")
        return self._made(field, lambda: Runs(positions_array(starts), counts))

    def ascending(self, field: Field) -> "range | IntArray":
        """Return ascending positions."""
        if isinstance(field.value, list):
            start, count, step = field.integers(0, _MOST, length=3)
            if step < 1 or (count and start + (count - 1) * step > _MOST):
                field.refuse("has a step of 0, or goes beyond 64 bits")
            return range(start, start + count * step, step)
        field.object({"first", "n", "as", "frame"})
        count = field["n"].count(least=1)
        first = field["first"].integer(0, _MOST)
        if field["as"].value == "i8":
            table = self._table(field, count)
            if int(table[0]) != first:
                field.refuse(f"begins at {table[0]}, and says {first}")
            return table
        steps = self._table(field, count - 1)
        # Each difference has 32 bits and there are fewer than 2^30: no sum of them leaves 64 bits.
        if first > _MOST - (int(steps.sum()) if len(steps) else 0):
            field.refuse("goes beyond 64 bits")
        found: IntArray = np.empty(count, np.int64)
        found[0] = first
        np.cumsum(steps, out=found[1:])
        found[1:] += first
        return found

    def _take(self, field: Field, count: int) -> None:
        self._left -= count
        if self._left < 0:
            field.refuse("has too many positions", "limit")

    def _table(self, field: Field, count: int) -> IntArray:
        self._take(field, count)
        width = field["as"].one_of([*_WIDTHS, "i8"])
        number = field["frame"].integer()
        if number != self._used or number >= len(self._frames):
            field["frame"].refuse(f"is {number}, and the next frame is {self._used} of {len(self._frames)}")
        frame = self._frames[number]
        self._used += 1
        dtype = _WIDTHS.get(width, np.dtype("<i8"))
        if frame.nbytes != count * dtype.itemsize:
            field.refuse(f"has {frame.nbytes} bytes for {count} numbers of type {width}")
        found: IntArray = np.frombuffer(frame, dtype).astype(np.int64)
        return found

    @staticmethod
    def _made(field: Field, make: Callable[[], _T]) -> _T:
        try:
            return make()
        except TensorWrapperError as error:
            field.refuse(f"is not a selection: {error}")


def single_runs(runs: Runs) -> tuple[bytes, BufferLike] | None:
    """Return the JSON and the table of runs of one element each, a fast path of `PositionsWriter.runs`.

    Return None for a single run, or if runs are evenly spaced, longer, or further apart than 32 bits.
    """
    starts = runs.starts
    if len(starts) < 3 or len(starts) != runs.size:
        return None
    steps = starts[1:] - starts[:-1]
    most = steps.item(steps.argmax())
    if most >= 2**32 or (most == steps.item(0) and most == steps.item(steps.argmin())):
        return None
    width = 1 if most < 2**8 else 2 if most < 2**16 else 4
    table = memoryview(cast("Any", steps.astype(_WIDTHS[f"u{width}"])))
    said = b'{"lengths":1,"starts":{"as":"u%d","first":%d,"frame":0,"n":%d}}'
    return said % (width, starts.item(0), len(starts)), table
