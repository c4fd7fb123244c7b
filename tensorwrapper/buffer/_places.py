"""Where the elements of a tensor lie: as an array over memory, or as addresses in batches."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import BATCH, last_run
from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer._dense import Dense
from tensorwrapper.buffer._sparse import Sparse
from tensorwrapper.buffer._sparse_places import sparse_elements
from tensorwrapper.buffer.copies._copy import copy_elements
from tensorwrapper.buffer.copies._run_copy import run_copy
from tensorwrapper.layout import Layout, LayoutCommon
from tensorwrapper.layout.lowlevel import (
    Blocked,
    Hierarchical,
    Strided,
    TiledStrided,
    contiguous,
    plan_copy,
    rows_of,
    wrap_layout,
)
from tensorwrapper.shape import Shape
from tensorwrapper.typing import IntArray, ScalarT_co

__all__ = ["address_batches", "flat_elements", "memory_of", "own_elements", "packed_layout"]


def packed_layout(shape: Shape[Any]) -> Layout[Any]:
    """Return the layout of a shape without gaps, in row-major order."""
    return Layout(shape) if shape.kind == "nested" else wrap_layout(contiguous(shape, 0))


def memory_of(held: LayoutCommon, buffer: BufferCommon[ScalarT_co]) -> "npt.NDArray[ScalarT_co] | None":
    """Return the array over the memory that a strided layout addresses; None if there is none. O(rank)."""
    held = held.without_layers()
    if isinstance(held, Hierarchical):
        held = held.flat
    if isinstance(held, Strided) and isinstance(buffer, Dense):
        return buffer.array(held.shape.extents, held.strides, held.offset)
    return None


def address_batches(held: LayoutCommon) -> Iterator[IntArray]:
    """Return the addresses of all elements in row-major order, about `BATCH` at a time."""
    held = held.without_layers()
    if isinstance(held, TiledStrided):
        held = held.as_blocked()
    shape: Any = held.shape
    if shape.size <= BATCH:
        yield held.to_numpy().reshape(-1)
    elif isinstance(held, Blocked):
        yield from _runs_of_cells(held)
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


def _runs_of_cells(held: Blocked) -> Iterator[IntArray]:
    """Return the addresses of many cells, as many of them at a time as fit."""
    befores = rows_of(held.shape).cell_offsets() if held.strides.shape[1] else np.arange(len(held.starts) + 1)
    first = 0
    while first < len(held.starts):
        last = last_run(befores, befores.item(first) + BATCH)
        if last > first:
            yield held.cells.run(first, last).offsets()
        else:
            last = first + 1
            yield from address_batches(held.cell(first))
        first = last


def flat_elements(held: LayoutCommon, buffer: BufferCommon[ScalarT_co]) -> "npt.NDArray[ScalarT_co]":
    """Return the elements as a flat array in row-major order; a view if they lie so, else a copy."""
    size = held.shape.size
    if isinstance(buffer, Sparse):
        return sparse_elements(held, buffer)
    if not isinstance(buffer, Dense):
        if held.is_contiguous and size:
            return buffer.read_run(held.offset, held.offset + size)
        return buffer.gather(address_batches(held), size)
    if held.is_contiguous:
        return buffer.flat[held.offset : held.offset + size] if size else buffer.flat[:0]
    array = memory_of(held, buffer)
    if array is not None:
        return copy_elements(array).reshape(-1)
    packed: npt.NDArray[ScalarT_co] = np.empty(size, buffer.dtype)
    run_copy(plan_copy(held, packed_layout(held.shape).implementation), buffer.flat, packed)
    return packed


def own_elements(held: LayoutCommon, buffer: BufferCommon[ScalarT_co]) -> "npt.NDArray[ScalarT_co]":
    """Return the elements as a flat array in row-major order that nobody else has."""
    flat = flat_elements(held, buffer)
    # What lies in one run, also in one part of a joined buffer, is a view of it.
    shared = held.is_contiguous and (isinstance(buffer, Dense) or flat.base is not None)
    return copy_elements(flat) if shared else flat
