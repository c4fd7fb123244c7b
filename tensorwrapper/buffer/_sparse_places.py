"""What sparse buffers hold of a layout: nothing here goes through elements that are not stored."""

from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper.buffer._dense import convert_elements
from tensorwrapper.buffer._sparse import Sparse, make_sparse
from tensorwrapper.buffer._sparse_merge import is_fill, nearest
from tensorwrapper.buffer.copies._copy import copy_elements, join_elements, scatter_elements, take_elements
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.layout.lowlevel import has_elements, locate, run_of
from tensorwrapper.typing import Array, IntArray, ScalarT_co

__all__ = [
    "collect_sparse",
    "convert_sparse",
    "equal_sparse",
    "in_sparse",
    "pack_sparse",
    "put_elements",
    "sparse_elements",
    "sparse_from",
    "stored_of",
]


def stored_of(held: LayoutCommon, buffer: Sparse[ScalarT_co]) -> "tuple[IntArray, npt.NDArray[ScalarT_co]]":
    """Return the stored elements that a layout reaches: ordinals, ascending, and the element at each.

    Where the layout takes them as they come, the elements are not copied, and read-only.
    """
    addresses, values = buffer.stored
    run = run_of(held, addresses)
    if run is not None:
        places = addresses[run[0] : run[1]]
        return (places - held.offset if held.offset else places), values[run[0] : run[1]]
    numbers, ordinals = locate(held, addresses)
    return ordinals, take_elements(values, iter([numbers]), len(numbers))


def sparse_elements(held: LayoutCommon, buffer: Sparse[ScalarT_co]) -> "npt.NDArray[ScalarT_co]":
    """Return all elements as a flat array in row-major order."""
    ordinals, values = stored_of(held, buffer)
    flat: npt.NDArray[ScalarT_co] = np.full(held.shape.size, buffer.fill_value, dtype=buffer.dtype)
    scatter_elements(values, (ordinals,), flat)
    return flat


def pack_sparse(held: LayoutCommon, buffer: Sparse[Any]) -> Sparse[Any]:
    """Return a sparse buffer of these elements in row-major order; what never changes may be shared."""
    ordinals, values = stored_of(held, buffer)
    if len(values) < buffer.nnz and values.base is not None:
        # A part would keep all of the memory alive.
        ordinals, values = ordinals.copy(), copy_elements(values)
    return make_sparse(ordinals, values, held.shape.size, buffer.fill_value)


def sparse_from(flat: Array, fill: Array) -> Sparse[Any]:
    """Return a sparse buffer of the elements of a flat array."""
    kept = np.flatnonzero(~is_fill(flat, fill))
    return make_sparse(kept, take_elements(flat, iter([kept]), len(kept)), len(flat), fill)


def convert_sparse(
    held: LayoutCommon, buffer: Sparse[Any], dtype: "np.dtype[Any]", *, checked: bool
) -> Sparse[Any]:
    """Return a sparse buffer of these elements in row-major order, as ones of another type."""
    ordinals, values = stored_of(held, buffer)
    fill = convert_elements(buffer.fill_value, dtype, checked=checked)
    return Sparse(
        ordinals, convert_elements(values, dtype, checked=checked), held.shape.size, fill_value=fill
    )


def in_sparse(held: LayoutCommon, buffer: Sparse[Any], value: object) -> bool:
    """Tell whether an element equals `value`."""
    ordinals, values = stored_of(held, buffer)
    filled = len(ordinals) < held.shape.size and bool(np.any(buffer.fill_value == cast("Any", value)))
    return filled or bool(np.any(values == cast("Any", value)))


def equal_sparse(
    mine: tuple[LayoutCommon, Sparse[Any]], theirs: tuple[LayoutCommon, Sparse[Any]], *, equal_nan: bool
) -> bool:
    """Tell whether two sparse tensors of one shape have equal elements."""
    (layout, buffer), (_, other) = mine, theirs
    a, b = stored_of(*mine), stored_of(*theirs)
    size = layout.shape.size
    if len(a[0]) != len(b[0]) or not np.array_equal(a[0], b[0]):
        places = np.union1d(a[0], b[0])
        a = places, make_sparse(*a, size, buffer.fill_value).read(places)
        b = places, make_sparse(*b, size, other.fill_value).read(places)
    if len(a[0]) < size and not np.array_equal(buffer.fill_value, other.fill_value, equal_nan=equal_nan):
        return False
    return np.array_equal(a[1], b[1], equal_nan=equal_nan)


def put_elements(held: LayoutCommon, buffer: Sparse[Any], ordinals: IntArray, values: Array) -> None:
    """Make these the stored elements of all that a layout reaches: everything else of it is the fill."""
    places = held.offsets_of(held.shape.indices_at(ordinals)) if len(ordinals) else ordinals
    buffer.replace(lambda stored: has_elements(held, stored), places, values)


def collect_sparse(batches: Iterator[IntArray], buffer: Sparse[Any], size: int) -> Sparse[Any]:
    """Return a buffer of the elements at addresses that come in batches, one after the other."""
    addresses, values = buffer.stored
    ordinals: list[IntArray] = []
    found: list[Array] = []
    start = 0
    for batch in batches:
        flat = batch.reshape(-1)
        if len(addresses):
            near = nearest(addresses, flat)
            hits = np.flatnonzero(addresses[near] == flat)
            ordinals.append(hits + start)
            found.append(take_elements(values, iter([near[hits]]), len(hits)))
        start += len(flat)
    places = np.concatenate(ordinals) if ordinals else addresses[:0]
    return make_sparse(places, join_elements(found, buffer.dtype), size, buffer.fill_value)
