"""Check that pieces partition a mode: each position is in exactly one of them."""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from tensorwrapper._progressions import solve_progression
from tensorwrapper.errors import SelectionError
from tensorwrapper.selection.expressions._axis_pieces import Piece

__all__ = ["check_cover"]

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
