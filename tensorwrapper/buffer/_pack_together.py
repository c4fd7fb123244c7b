"""Elements of several buffers that one layout reaches: where they are is found once."""

from collections.abc import Sequence
from typing import Any, Final

from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer.copies._copy import take_together
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import address_batches

__all__ = ["pack_together"]

_LONG: Final = 512  # elements of a cell from which on copies of whole cells are faster than an index table


def pack_together(buffers: Sequence[BufferCommon[Any]], layout: LayoutCommon) -> list[BufferCommon[Any]]:
    """Return what `pack` gives of each buffer for one layout, which reaches into all of them."""
    dense = {number: buffer.flat for number, buffer in enumerate(buffers) if type(buffer) is Dense}
    size = layout.shape.size
    if len(dense) < 2 or layout.is_contiguous or size > _LONG * _count_cells(layout):
        return [buffer.pack(layout) for buffer in buffers]
    taken = take_together(list(dense.values()), address_batches(layout), size)
    found = dict(zip(dense, map(Dense, taken), strict=True))
    return [
        found[number] if number in found else buffer.pack(layout) for number, buffer in enumerate(buffers)
    ]


def _count_cells(layout: LayoutCommon) -> int:
    """Return how many cells a layout over rows has; of a mask each element is one."""
    return max(layout.shape.outer().size, 1) if not layout.shape.is_box else 1
