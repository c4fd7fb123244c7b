"""Merge stored elements with new ones: sorted, new ones first, without fills."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import frozen_array, frozen_values
from tensorwrapper.buffer.copies._copy import copy_elements, scatter_elements, take_elements
from tensorwrapper.errors import BufferSizeError, ConversionError
from tensorwrapper.typing import Array, IntArray

_MANY = 1 << 14  # addresses from which on they are sorted before they are looked up


def to_fill(number: Array) -> Array:
    """Return a number as a new read-only array of rank 0."""
    fill = np.empty((), number.dtype)
    fill[...] = number
    return frozen_values(fill)


def rises(addresses: IntArray) -> bool:
    """Return True if each address is greater than the one before."""
    return bool((addresses[1:] > addresses[:-1]).all())


def nearest(stored: IntArray, wanted: IntArray) -> IntArray:
    """Return for each address the place at which it is stored, if it is; `stored` is not empty."""
    if len(wanted) < _MANY or rises(wanted):
        return np.minimum(np.searchsorted(stored, wanted), len(stored) - 1)
    # In order, neighbours search in memory that is still at hand: four times as fast, the sort included.
    order = np.argsort(wanted)
    near = np.empty(len(wanted), dtype=np.int64)
    near[order] = np.minimum(np.searchsorted(stored, wanted[order]), len(stored) - 1)
    return near


def check_addresses(addresses: IntArray, values: Array, size: int) -> IntArray:
    """Return flat addresses, of which each is below `size` and comes once, as many as there are values."""
    if addresses.ndim != 1 or values.shape != addresses.shape:
        raise BufferSizeError(
            f"addresses and values are flat and equally many, not of {addresses.shape} and {values.shape}"
        )
    if len(addresses) and not 0 <= int(addresses.min()) <= int(addresses.max()) < size:
        wrong = addresses[(addresses < 0) | (addresses >= size)]
        raise BufferSizeError(f"address {int(wrong[0])} is not from 0 to {size - 1}")
    if not rises(addresses):
        ordered = np.sort(addresses)
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice):
            raise ConversionError(f"address {int(twice[0])} is given more than once")
    return addresses


def is_fill(values: Array, fill: Array) -> npt.NDArray[np.bool_]:
    """Return which values need not be stored: equal to the fill, or not-a-number like it.

    Zeros of either sign are equal, as everywhere in NumPy.
    """
    if fill.dtype.kind == "c":
        found = cast("npt.NDArray[np.complexfloating[Any, Any]]", values)
        number = cast("npt.NDArray[np.complexfloating[Any, Any]]", fill)
        return is_fill(found.real, number.real) & is_fill(found.imag, number.imag)
    if bool(fill != fill):  # noqa: PLR0124 - only what is not a number differs from itself
        return np.asarray(values != values)  # noqa: PLR0124
    return np.asarray(values == fill)


def merge(
    stored: tuple[IntArray, Array], addresses: IntArray, values: Array, fill: Array
) -> tuple[IntArray, Array]:
    """Return the stored elements after a write: at every address the new value if there is one; no fills.

    Addresses may come in any order, but none twice. One pass over the stored elements; O(log stored) per
    address, and a sort if they do not ascend. The result shares no memory with the given arrays.
    """
    given = addresses
    if not rises(addresses):
        order = np.argsort(addresses)
        addresses, values = addresses[order], take_elements(values, iter([order]), len(order))
    old, kept = stored
    if len(old) and len(addresses):
        near = nearest(old, addresses)
        stays = np.ones(len(old), dtype=np.bool_)
        stays[near[old[near] == addresses]] = False
        old, kept = _chosen(old, kept, stays)
    addresses, values = _chosen(addresses, values, ~is_fill(values, fill))
    if not len(addresses):
        return _frozen(old, kept)
    if not len(old):
        return _frozen(
            *((addresses.copy(), copy_elements(values)) if addresses is given else (addresses, values))
        )
    # Each new element comes after the old ones below it and the new ones before it.
    new = np.searchsorted(old, addresses) + np.arange(len(addresses))
    is_old = np.ones(len(old) + len(new), dtype=np.bool_)
    is_old[new] = False
    before = np.flatnonzero(is_old)
    merged = np.empty(len(is_old), dtype=np.int64)
    merged[new], merged[before] = addresses, old
    elements = np.empty(len(is_old), dtype=kept.dtype)
    scatter_elements(values, (new,), elements)
    scatter_elements(kept, (before,), elements)
    return _frozen(merged, elements)


def _chosen(addresses: IntArray, values: Array, mask: npt.NDArray[np.bool_]) -> tuple[IntArray, Array]:
    if mask.all():
        return addresses, values
    places = np.flatnonzero(mask)
    return addresses[places], take_elements(values, iter([places]), len(places))


def _frozen(addresses: IntArray, values: Array) -> tuple[IntArray, Array]:
    return frozen_array(addresses), frozen_values(values)
