"""Packing and unpacking symmetric boxes, at the speed of memory where exchanged modes are neighbours.

Packing reads the canonical elements alone. Unpacking goes row by row. Two equal blocks become a matrix of
pairs first. One take per row then reads along a block, by a table.
"""

import math
from typing import Any

import numpy as np

from tensorwrapper._memory import new_memory
from tensorwrapper.buffer.copies._copy import _count
from tensorwrapper.shape import Symmetry
from tensorwrapper.shape.lowlevel import Block, Copies, Folded, Row, closed_form, columns_of
from tensorwrapper.typing import Array, Extents, IntArray

_STRIP = 128  # rows that are mirrored at a time: so many lines stay in cache
_CHUNK = 1 << 18  # elements at a time


def elements_at(values: Array, folded: Folded) -> Array:
    """Return the elements whose packed places are given, in an array of the extents of these."""
    if not len(values):
        return np.zeros(folded.offsets.shape, values.dtype)
    result = new_memory(folded.offsets.shape, values.dtype)
    values.take(folded.offsets, out=result, mode="clip")
    _count(result.nbytes)
    _apply(result, folded)
    return result


def _apply(result: Array, folded: Folded, axis: int = 0) -> None:
    """Change signs, conjugate and set zeros, in arrays whose axes from `axis` on have the folded places."""
    before = (slice(None),) * axis
    for mask, change in ((folded.negative, np.negative), (folded.conjugate, np.conjugate)):
        if mask is not None:
            places: Any = (*before, *_places_of(mask, folded.offsets.shape), ...)
            result[places] = change(result[places])
    if folded.zero is not None:
        zeros: Any = (*before, *_places_of(folded.zero, folded.offsets.shape), ...)
        result[zeros] = 0


def _places_of(mask: Array, shape: Extents) -> tuple[Array, ...]:
    """Return where a mask is true, as a key; one without modes is itself the key."""
    whole = np.broadcast_to(mask, shape)
    return np.nonzero(whole) if shape else (whole,)


def pack_box(array: Array, symmetry: Symmetry) -> Array:
    """Return the elements at canonical indices of a box in packed order; a copy.

    Nothing else of the box is read.
    """
    packed = _packed(array if array.flags.c_contiguous else array.copy(), symmetry)
    if np.may_share_memory(packed, array):
        packed = packed.copy()
    _count(packed.nbytes)
    return packed


def _packed(array: Array, symmetry: Symmetry) -> Array:
    extents: Extents = array.shape
    block = closed_form(symmetry)
    if isinstance(block, Copies) and block.copies == 2:
        own = extents[: block.block.width]
        return _packed_pairs(array.reshape(math.prod(own), math.prod(own)), block, own)
    if isinstance(block, Row):
        part = array.reshape([math.prod(own) for _, own in block.parts(extents)])
        for axis, (inner, own) in enumerate(block.parts(extents)):
            if inner.width > 1:
                part = part.take(inner.ordinals(own), axis=axis)
        return part.reshape(-1)
    return array.reshape(-1).take(symmetry.ordinals(extents))


def _packed_pairs(matrix: Array, block: Copies, own: Extents) -> Array:
    """Return the lower triangle of the matrix of pairs of canonical elements of two blocks."""
    shift = 0 if block.strict else 1
    packed = new_memory((math.comb(block.block.count(own) + shift, 2),), matrix.dtype)
    if not len(packed):
        return packed
    # One slice or take per row: a table of all places would be larger than the elements.
    if block.block.width == 1:
        return np.concatenate([row[:count] for count, row in enumerate(matrix, shift)], out=packed)
    places = block.block.ordinals(own)
    start = 0
    for count, place in enumerate(places, shift):
        matrix[place].take(places[:count], out=packed[start : start + count], mode="clip")
        start += count
    return packed


def unpack_box(values: Array, symmetry: Symmetry, extents: Extents) -> Array:
    """Return all elements of a box from the packed ones; a copy."""
    block = closed_form(symmetry)
    if isinstance(block, Copies) and block.copies == 2:
        own = extents[: block.block.width]
        found = _square(values, block, block.block.count(own))
        if block.block.width > 1:
            found = _expanded_pairs(found, _table(block.block, own), block.block.ordinals(own))
    elif isinstance(block, Row):
        parts = block.parts(extents)
        found = values.reshape([inner.count(own) for inner, own in parts])
        for axis in reversed(range(len(parts))):
            inner, own = parts[axis]
            if inner.width > 1:
                found = _expanded(found, _table(inner, own), axis)
        if np.may_share_memory(found, values):
            found = found.copy()
    else:
        found = _scattered(values, symmetry, extents)
    _count(found.nbytes)
    return found.reshape(extents)


def square_of(values: Array, block: Copies, extents: Extents) -> Array:
    """Return the matrix of all pairs of packed elements of two equal blocks; a copy."""
    found = _square(values, block, block.block.count(extents))
    _count(found.nbytes)
    return found


def _table(block: Block, extents: Extents) -> Folded:
    return block.fold(columns_of(np.arange(math.prod(extents)), extents), extents)


def _expanded(found: Array, places: Folded, axis: int) -> Array:
    """Return packed elements along an axis at all places of their block."""
    if not found.shape[axis]:
        return np.zeros((*found.shape[:axis], len(places.offsets), *found.shape[axis + 1 :]), found.dtype)
    result = found.take(places.offsets, axis=axis, mode="clip")
    _apply(result, places, axis)
    return result


def _expanded_pairs(square: Array, places: Folded, stored: IntArray) -> Array:
    """Return the matrix of all places of two blocks from that of the packed ones.

    Row by row: rows at canonical places first, and then their copies.
    """
    count = len(places.offsets)
    if not len(square):
        return np.zeros((count, count), square.dtype)
    result = new_memory((count, count), square.dtype)
    for row, place in zip(square, stored.tolist(), strict=True):
        row.take(places.offsets, out=result[place], mode="clip")
    copies = np.delete(np.arange(count), stored)
    for place, canonical in zip(copies.tolist(), stored[places.offsets[copies]].tolist(), strict=True):
        result[place] = result[canonical]
    _apply(result, places, 0)
    _apply(result, places, 1)
    return result


def _square(values: Array, block: Copies, count: int) -> Array:
    """Return the matrix of pairs, of which the lower triangle is packed: strip by strip, then its mirror."""
    result = new_memory((count, count), values.dtype)
    shift = 0 if block.strict else 1
    upper = np.triu(np.ones((_STRIP, _STRIP), np.bool_), shift)
    start = 0
    for first in range(0, count, _STRIP):
        stop = min(first + _STRIP, count)
        strip = result[first:stop]
        for width, row in enumerate(strip, first + shift):
            row[:width] = values[start : start + width]
            start += width
        _mirror(strip[:, :first].T, result[:first, first:stop], block)
        corner = strip[:, first:stop]
        mirrored = np.zeros(corner.shape, values.dtype)
        _mirror(corner.T.copy(), mirrored, block)
        np.copyto(corner, mirrored, where=upper[: stop - first, : stop - first])
        if block.strict:
            np.fill_diagonal(corner, 0)
    return result


def _mirror(source: Array, target: Array, block: Copies) -> None:
    """Write the elements into which an exchange of two blocks turns those of a source."""
    if block.sign < 0:
        np.negative(source, out=target)
        source = target
    if block.conjugate:
        np.conjugate(source, out=target)
    elif source is not target:
        target[...] = source


def _scattered(values: Array, symmetry: Symmetry, extents: Extents) -> Array:
    """Return the elements of a box of any symmetry: each packed one is written to all places of its orbit."""
    result = new_memory((math.prod(extents),), values.dtype)
    result[...] = 0
    stored = symmetry.ordinals(extents)
    strides = [math.prod(extents[mode + 1 :]) for mode in range(len(extents))]
    for start in range(0, len(stored), _CHUNK):
        part = slice(start, start + _CHUNK)
        columns = columns_of(stored[part], extents)
        for operation in symmetry.operations:
            own = values[part] if operation.sign > 0 else np.negative(values[part])
            places: IntArray = np.zeros(len(own), np.int64)
            for mode, stride in zip(operation.permutation, strides, strict=True):
                places += columns[mode] * stride
            result[places] = np.conjugate(own) if operation.conjugate else own
    return result
