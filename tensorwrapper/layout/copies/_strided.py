"""A copy that is one strided block: the modes of both sides, put together as far as both allow."""

import math
from collections.abc import Iterable, Iterator
from typing import final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.layout.copies._block import BlockRow, JointMode, join_modes
from tensorwrapper.layout.copies._table import CopyCost, CopySteps, CopyTable
from tensorwrapper.typing import Extents, Index


@final
@frozen
class StridedCopy(CopySteps):
    """Element j goes from ``source + sum(j * source_strides)`` to ``target + sum(j * target_strides)``.

    Modes are ordered from the widest step of the target to the narrowest. They are merged as far as possible,
    and the target ascends in all of them.
    """

    is_one_block = True

    extents: Extents
    source: int
    source_strides: Index
    target: int
    target_strides: Index

    @property
    def size(self) -> int:
        """Number of copied elements."""
        return math.prod(self.extents)

    @property
    def run_length(self) -> int:
        """Number of elements that are consecutive on both sides."""
        if not self.extents:
            return 1
        return self.extents[-1] if self.source_strides[-1] == self.target_strides[-1] == 1 else 1

    def in_bytes(self, size: int) -> BlockRow:
        source = [step * size for step in self.source_strides]
        target = [step * size for step in self.target_strides]
        return self.extents, self.source * size, source, self.target * size, target

    def blocks(self) -> Iterator[CopyTable]:
        if self.size:
            source, target = np.array([self.source]), np.array([self.target])
            rows = [
                np.array([row], dtype=np.int64)
                for row in (self.extents, self.source_strides, self.target_strides)
            ]
            yield CopyTable(rows[0], source, rows[1], target, rows[2])

    def cost(self) -> CopyCost:
        size, length = self.size, self.run_length
        return CopyCost(1, size // length, length, length) if size else CopyCost(0, 0, 0, 0)

    def moves_nothing(self) -> bool:
        return not self.size or (self.source == self.target and self.source_strides == self.target_strides)


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
