"""The addresses of the elements of a layout in row-major order, in batches, so that no table is large.

And what batches of them say.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from tensorwrapper._arrays import BATCH, last_run
from tensorwrapper.layout.boxes._common import LayoutCommon
from tensorwrapper.layout.cells._blocked import Blocked
from tensorwrapper.layout.cells._parts import rows_of
from tensorwrapper.layout.tiles._tiled import TiledStrided
from tensorwrapper.typing import IntArray

_FOLLOWED = 1 << 24  # elements up to which it is looked whether they follow one another


def address_batches(layout: LayoutCommon) -> Iterator[IntArray]:
    """Return the addresses of all elements in row-major order, about `BATCH` at a time."""
    layout = layout.without_layers()
    if isinstance(layout, TiledStrided):
        layout = layout.as_blocked()
    shape: Any = layout.shape
    if shape.size <= BATCH:
        yield layout.to_numpy().reshape(-1)
    elif isinstance(layout, Blocked):
        yield from _runs_of_cells(layout)
    elif shape.is_box and shape.rank:
        yield from _slabs(layout)
    else:
        yield from map(layout.offsets_of, shape.indices().batches(BATCH))


def _slabs(layout: LayoutCommon) -> Iterator[IntArray]:
    """Return the addresses of a large box, slab after slab of its first mode."""
    extents = layout.shape.extents
    rows = max(BATCH // max(layout.shape.size // extents[0], 1), 1)
    for start in range(0, extents[0], rows):
        slab = layout.at(slice(start, start + rows) if rows > 1 else start)
        yield from address_batches(slab)


def _runs_of_cells(layout: Blocked) -> Iterator[IntArray]:
    """Return the addresses of many cells, as many of them at a time as fit."""
    befores = (
        rows_of(layout.shape).cell_offsets() if layout.strides.shape[1] else np.arange(len(layout.starts) + 1)
    )
    first = 0
    while first < len(layout.starts):
        last = last_run(befores, befores.item(first) + BATCH)
        if last > first:
            yield layout.cells.run(first, last).offsets()
        else:
            last = first + 1
            yield from address_batches(layout.cell(first))
        first = last


def bounds_of_batches(batches: Iterable[IntArray]) -> tuple[int, int]:
    """Return the least and the greatest of the offsets in all batches; (0, -1) if there is none."""
    ends = [(int(batch.min()), int(batch.max())) for batch in batches if batch.size]
    return (min([low for low, _ in ends]), max([high for _, high in ends])) if ends else (0, -1)


def search_contiguous(layout: LayoutCommon, batches: Iterable[IntArray]) -> bool:
    """Tell by looking whether offsets count on one by one, where no rule decides; False of too many."""
    size, start = layout.shape.size, layout.offset
    if size > _FOLLOWED or (size and layout.offset_of(layout.shape.index(size - 1)) - start != size - 1):
        return False
    for batch in batches:
        if not np.array_equal(batch, np.arange(start, start + len(batch), dtype=np.int64)):
            return False
        start += len(batch)
    return True
