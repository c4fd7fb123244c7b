"""Where the elements of a tensor lie: as an array over memory, or as addresses in batches."""

from collections.abc import Iterator
from typing import Any

import numpy.typing as npt

from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._copy import copy_elements
from tensorwrapper.buffer._dense import Dense
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout._hierarchical import Hierarchical
from tensorwrapper.layout._strided import Strided
from tensorwrapper.layout._tiled import TiledStrided
from tensorwrapper.tensor._tiles import BATCH, tile_after_tile
from tensorwrapper.typing import IntArray, ScalarT_co

__all__ = ["address_batches", "flat_elements", "memory_of"]


def memory_of(held: LayoutCommon, buffer: BufferCommon[ScalarT_co]) -> "npt.NDArray[ScalarT_co] | None":
    """Return the array over the memory that a strided layout addresses; None if there is none. O(rank)."""
    if isinstance(held, Hierarchical):
        held = held.flat
    if isinstance(held, Strided) and isinstance(buffer, Dense):
        return buffer.array(held.shape.extents, held.strides, held.offset)
    return None


def address_batches(held: LayoutCommon) -> Iterator[IntArray]:
    """Return the addresses of all elements in row-major order, about `BATCH` at a time."""
    if isinstance(held, TiledStrided):
        yield from tile_after_tile(held)
        return
    shape: Any = held.shape
    if shape.size <= BATCH:
        yield held.to_numpy().reshape(-1)
    elif shape.kind == "smooth" and shape.rank:
        yield from _slabs(held)
    else:
        yield from map(held.offsets_of, shape.indices().batches(BATCH))


def _slabs(held: LayoutCommon) -> Iterator[IntArray]:
    """Return the addresses of a large box, slab after slab of its first mode."""
    extents = held.shape.extents
    rows = max(BATCH // max(held.shape.size // extents[0], 1), 1)
    for start in range(0, extents[0], rows):
        slab = held.at(slice(start, start + rows) if rows > 1 else start)
        yield from address_batches(slab)


def flat_elements(held: LayoutCommon, buffer: BufferCommon[ScalarT_co]) -> "npt.NDArray[ScalarT_co]":
    """Return the elements as a flat array in row-major order; a view if they lie so, else a copy."""
    size = held.shape.size
    if isinstance(buffer, Dense):
        if held.is_contiguous:
            return buffer.flat[held.offset : held.offset + size] if size else buffer.flat[:0]
        array = memory_of(held, buffer)
        if array is not None:
            return copy_elements(array).reshape(-1)
    return buffer.gather(address_batches(held), size)
