"""Pieces that share out the positions of a mode, as progressions: which piece each position is of."""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias, final

import numpy as np

from tensorwrapper._progressions import solve_progression
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import SelectionError
from tensorwrapper.layout import AxisMap, Cycle, Stride
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.typing import Extents, IntArray

RUNS = 64  # runs of a mode up to which each becomes a separate piece

Run: TypeAlias = "tuple[int, int, int, int]"
"""First position of the view, how many, first position of the mode, and the step there."""


@final
@frozen
class Piece:
    """Positions of a mode that come from one view: ``start + step * i`` is its position i."""

    start: int
    step: int
    view: Expression

    def count(self, mode: int) -> int:
        """Return how many positions they are."""
        extents: Extents = self.view.extents
        return extents[mode]

    def positions(self, mode: int) -> range:
        """Return the positions."""
        return range(self.start, self.start + self.step * self.view.extents[mode], self.step)


@final
@frozen
class Part:
    """Positions of the view, ``start + step * i``, that are ``first + stride * i`` of one operand."""

    start: int
    step: int
    count: int
    operand: Expression
    first: int
    stride: int


def parts_in_a_row(offsets: IntArray, operands: Sequence[Expression], run: Run) -> Iterator[Part]:
    """Return the parts of a run of positions, of operands of which each begins at its offset."""
    start, count, first, step = run
    done = 0
    if step == 1 and count:
        low, high = np.searchsorted(offsets, [first, first + count - 1], "right").tolist()
        begins: list[int] = offsets[low - 1 : high + 1].tolist()
        for number, (begin, end) in enumerate(pairwise(begins), low - 1):
            inside = min(end, first + count) - max(begin, first)
            if inside:
                yield Part(start + done, 1, inside, operands[number], max(first - begin, 0), 1)
                done += inside
        return
    while done < count:
        position = first + step * done
        number = int(np.searchsorted(offsets, position, "right")) - 1
        low, high = int(offsets[number]), int(offsets[number + 1])
        inside = (high - 1 - position) // step + 1 if step > 0 else (position - low) // -step + 1
        inside = min(inside, count - done)
        yield Part(start + done, 1, inside, operands[number], position - low, step)
        done += inside


def are_separate(runs: int) -> bool:
    """Return True if runs of a mode are so few that each becomes a separate piece."""
    return runs <= RUNS


def runs_of(constant: int, move: AxisMap) -> list[Run] | None:
    """Return evenly spaced runs that a move of a mode consists of; None if they are too many, or none."""
    if isinstance(move, Stride):
        return [(0, move.extent, constant, move.step)]
    if not isinstance(move, Cycle) or move.divisor > 1 or move.modulus is None:
        return None
    modulus, turn = move.modulus, move.increment
    if not are_separate(-(-abs(turn) * move.extent // modulus)):
        return None
    runs: list[Run] = []
    done, place = 0, move.start % modulus
    while done < move.extent:
        inside = (modulus - 1 - place) // turn + 1 if turn > 0 else place // -turn + 1
        inside = min(inside, move.extent - done)
        runs.append((done, inside, constant + move.step * place, move.step * turn))
        done += inside
        place = (place + turn * inside) % modulus
    return runs


_PAIRED = 256  # pieces with gaps up to which each is compared with each


def check_cover(pieces: Sequence[Piece], mode: int, where: str, work: Callable[[int], None]) -> int:
    """Return the number of positions of all pieces; raise unless each position is in exactly one of them.

    `work` is called with the number of positions that are checked one by one.
    """
    counts = [piece.count(mode) for piece in pieces]
    total = sum(counts)
    runs: list[tuple[int, int]] = []
    spread: list[tuple[int, int, int]] = []
    for piece, count in zip(pieces, counts, strict=True):
        if not count:
            continue
        last = piece.start + piece.step * (count - 1)
        if last >= total:
            raise SelectionError("cover", f"{where}: a piece goes on to position {last} of {total}")
        if piece.step == 1 or count == 1:
            runs.append((piece.start, last + 1))
        else:
            spread.append((piece.start, piece.step, count))
    # As many positions as there are, none beyond the end: if none is in two pieces, each is in one.
    runs.sort()
    if any(end > start for (_, end), (start, _) in pairwise(runs)):
        raise _twice(where)
    if len(spread) <= _PAIRED:
        _check_spread(runs, spread, where)
    elif total:
        work(total)
        met = np.zeros(total, dtype=np.bool_)
        for start, step, count in [*[(a, 1, b - a) for a, b in runs], *spread]:
            met[start : start + step * (count - 1) + 1 : step] = True
        if not met.all():
            raise _twice(where)
    return total


def _check_spread(runs: list[tuple[int, int]], spread: list[tuple[int, int, int]], where: str) -> None:
    ends = np.array(runs, dtype=np.int64).reshape(-1, 2)
    for number, (start, step, count) in enumerate(spread):
        # Count the positions of the progression before each end of each run: equal counts mean none is
        # inside.
        before = np.clip(-((start - ends) // step), 0, count)
        if (before[:, 0] != before[:, 1]).any():
            raise _twice(where)
        if any(_meet((start, step, count), other) for other in spread[:number]):
            raise _twice(where)


def _meet(a: tuple[int, int, int], b: tuple[int, int, int]) -> bool:
    """Return True if two progressions, each a start, a step and a count, have a position in common."""
    start, step, count = a
    first, other, many = b
    met = solve_progression(start, step, other, count, first % other)
    if not met:
        return False
    place, gap = start + step * met.start, step * met.step
    place += gap * max(-((place - first) // gap), 0)
    return place <= min(start + step * (count - 1), first + other * (many - 1))


def _twice(where: str) -> SelectionError:
    return SelectionError("cover", f"{where}: the pieces have a position twice, and another one not at all")
