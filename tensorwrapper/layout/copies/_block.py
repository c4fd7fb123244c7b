"""The modes of a strided block that is copied, put together as far as both sides allow."""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

JointMode: TypeAlias = tuple[int, int, int]
"""How many positions, and the step of each side from one to the next."""

BlockRow: TypeAlias = tuple[Sequence[int], int, Sequence[int], int, Sequence[int]]
"""Extents, where the first element comes from and the steps there, where it goes and the steps there."""


def join_modes(modes: Iterable[JointMode]) -> tuple[list[JointMode], int, int]:
    """Return the fewest modes that copy the same, and how far the first element moves on both sides.

    A mode in which the target descends is turned round, modes are sorted by the step of the target, widest
    first, and neighbours become one where both sides allow it. Steps may be in any unit. O(n log n).

    Examples
    --------
    >>> join_modes([(3, 1, -4), (4, 3, -1)])
    ([(3, -1, 4), (4, -3, 1)], 11, -11)
    >>> join_modes([(2, 12, 12), (3, 4, 4), (1, 0, 0), (4, 1, 1)])
    ([(24, 1, 1)], 0, 0)
    """
    from_source = from_target = 0
    upward: list[JointMode] = []
    for count, source, target in modes:
        if not count:
            return [(0, 1, 1)], 0, 0
        if count == 1:
            continue
        if target < 0:
            from_source += (count - 1) * source
            from_target += (count - 1) * target
            upward.append((count, -source, -target))
        else:
            upward.append((count, source, target))
    upward.sort(key=_step_of_target)
    joined: list[JointMode] = []
    for count, source, target in upward:
        if joined:
            inner, from_step, to_step = joined[-1]
            if source == inner * from_step and target == inner * to_step:
                joined[-1] = (inner * count, from_step, to_step)
                continue
        joined.append((count, source, target))
    joined.reverse()
    return joined, from_source, from_target


def _step_of_target(mode: JointMode) -> int:
    return mode[2]
