"""One strided block that is copied: the modes of both sides, put together as far as both allow."""

import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias, final

import attrs

from tensorwrapper.typing import Extents, Index

__all__ = ["BlockRow", "JointMode", "StridedCopy", "join_modes", "strided_copy"]

JointMode: TypeAlias = tuple[int, int, int]
"""How many positions, and the step of each side from one to the next."""

BlockRow: TypeAlias = tuple[Sequence[int], int, Sequence[int], int, Sequence[int]]
"""Extents, where the first element comes from and the steps there, where it goes and the steps there."""


@final
@attrs.frozen
class StridedCopy:
    """Element j goes from ``source + sum(j * source_strides)`` to ``target + sum(j * target_strides)``.

    Modes stand from the widest step of the target to the narrowest; none could be left out or be one with its
    neighbour, and the target ascends in all of them.
    """

    extents: Extents
    source: int
    source_strides: Index
    target: int
    target_strides: Index

    @property
    def size(self) -> int:
        """How many elements are copied."""
        return math.prod(self.extents)

    @property
    def run_length(self) -> int:
        """How many elements lie one after the other on both sides."""
        if not self.extents:
            return 1
        return self.extents[-1] if self.source_strides[-1] == self.target_strides[-1] == 1 else 1

    def in_bytes(self, size: int) -> BlockRow:
        """Return the block in bytes, of elements with `size` bytes each."""
        source = [step * size for step in self.source_strides]
        target = [step * size for step in self.target_strides]
        return self.extents, self.source * size, source, self.target * size, target

    @property
    def moves_nothing(self) -> bool:
        """Whether every element has one place on both sides."""
        return not self.size or (self.source == self.target and self.source_strides == self.target_strides)


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


def strided_copy(modes: Iterable[JointMode], source: int, target: int) -> StridedCopy:
    """Return the block with these modes, put together, whose first element goes from `source` to `target`."""
    joined, from_source, from_target = join_modes(modes)
    return StridedCopy(
        tuple([count for count, _, _ in joined]),
        source + from_source,
        tuple([step for _, step, _ in joined]),
        target + from_target,
        tuple([step for _, _, step in joined]),
    )
