"""Pieces that share out the positions of a mode, as progressions: which piece each position is of."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.layout import AxisMap, Cycle, Stride
from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.typing import Extents, IntArray

__all__ = ["RUNS", "Part", "Piece", "Run", "are_separate", "parts_in_a_row", "runs_of"]

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
