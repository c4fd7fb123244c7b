"""Elements of several buffers that one layout reaches: where they are is found once."""

from collections.abc import Sequence
from typing import Any, Final

from tensorwrapper.buffer._common import BufferCommon, Dense
from tensorwrapper.buffer._nullable import Nullable
from tensorwrapper.buffer.copies._copy import take_together
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import address_batches

_LONG: Final = 512  # elements of a cell from which on copies of whole cells are faster than an index table


def pack_together(buffers: Sequence[BufferCommon[Any]], layout: LayoutCommon) -> list[BufferCommon[Any]]:
    """Return the results of `pack` of each buffer for one layout, which reaches into all of them."""
    sides = [side for own in buffers for side in _sides(own)]
    found = iter(_packed(sides, layout))
    return [Nullable(next(found), next(found)) if type(own) is Nullable else next(found) for own in buffers]


def _sides(buffer: BufferCommon[Any]) -> tuple[BufferCommon[Any], ...]:
    return (buffer.values, buffer.validity) if type(buffer) is Nullable else (buffer,)


def _packed(buffers: Sequence[BufferCommon[Any]], layout: LayoutCommon) -> list[BufferCommon[Any]]:
    dense = {number: buffer.flat for number, buffer in enumerate(buffers) if type(buffer) is Dense}
    size = layout.shape.size
    if len(dense) < 2 or layout.is_contiguous or size > _LONG * _count_cells(layout):
        return [buffer.pack(layout) for buffer in buffers]
    taken = take_together(list(dense.values()), address_batches(layout), size)
    found = iter(taken)
    return [Dense(next(found)) if number in dense else own.pack(layout) for number, own in enumerate(buffers)]


def _count_cells(layout: LayoutCommon) -> int:
    """Return how many cells a layout over rows has; of a mask each element is one."""
    return max(layout.shape.outer().size, 1) if not layout.shape.is_box else 1
