"""Symmetric buffers of elements that are stored in another way, after a check."""

from typing import Any

import numpy as np

from tensorwrapper.buffer._common import BufferCommon
from tensorwrapper.buffer.symmetric._checks import check_packed, check_tolerance, pack_checked, repack_checked
from tensorwrapper.buffer.symmetric._symmetric import Symmetric, symmetry_for
from tensorwrapper.errors import ConversionError, RankError
from tensorwrapper.layout import LayoutCommon
from tensorwrapper.shape import Shape, Symmetry, SymmetryLike, as_symmetry
from tensorwrapper.shape.lowlevel import check_exchanged
from tensorwrapper.typing import Array, Extents, IntArray


def check_symmetric_box(symmetry: Symmetry, shape: Shape[Any]) -> Extents:
    """Return the extents of a box, which are equal where a symmetry exchanges modes, as are the origins.

    Raises
    ------
    ConversionError
        If the shape is not a box.
    RankError
        If the symmetry has another rank.
    ExtentMismatchError
        If exchanged modes differ.
    """
    flat = shape.flatten()
    if not flat.is_box:
        raise ConversionError(f"a symmetry exchanges modes of a box, not of a shape {shape!r}")
    if flat.rank != symmetry.rank:
        raise RankError(f"a symmetry of rank {symmetry.rank} does not fit a tensor of rank {flat.rank}")
    check_exchanged(symmetry, flat.extents, "extents")
    check_exchanged(symmetry, flat.origin, "origins")
    extents: Extents = flat.extents
    return extents


def packed_buffer(
    buffer: BufferCommon[Any], layout: LayoutCommon, symmetry: SymmetryLike, tolerance: float
) -> Symmetric[Any]:
    """Return the elements that a layout reaches as a symmetric buffer, which stores each orbit once.

    Raises
    ------
    SymmetryError
        If elements differ by more than the tolerance, or that is negative or NaN.
    ConversionError, ExtentMismatchError, RankError
        If the shape is not a box that fits the symmetry, or the elements may be nulls.
    DTypeError
        If elements of their type cannot have the symmetry.
    """
    wanted = symmetry_for(as_symmetry(symmetry), buffer.dtype)
    extents = check_symmetric_box(wanted, layout.shape)
    check_tolerance(tolerance)
    if buffer.fill_value is not None:
        return _of_sparse(buffer, layout.without_layers(), wanted, extents, tolerance)
    if buffer.symmetry_of(layout) is not None:
        own = buffer.pack(layout, own=False)
        if isinstance(own, Symmetric):
            values = repack_checked(own.values, own.symmetry, wanted, extents, tolerance)
            return Symmetric(values, wanted, extents)
    array = buffer.memory_of(layout)
    elements = buffer.elements_of(layout) if array is None else array
    return Symmetric(pack_checked(elements.reshape(extents), wanted, tolerance), wanted, extents)


def _of_sparse(
    buffer: BufferCommon[Any], layout: LayoutCommon, symmetry: Symmetry, extents: Extents, tolerance: float
) -> Symmetric[Any]:
    """Return a symmetric buffer of elements of which few are stored; some at a time are compared."""

    def at(ordinals: IntArray) -> Array:
        return buffer.read(layout.offsets_of(layout.shape.indices_at(ordinals)))

    def read(columns: tuple[IntArray, ...]) -> Array:
        if not columns:
            return at(np.zeros(1, np.int64)).reshape(())
        places: IntArray = np.zeros((), np.int64)
        for column, extent in zip(columns, extents, strict=True):
            places = places * extent + column
        return at(places.reshape(-1)).reshape(places.shape)

    values = at(symmetry.ordinals(extents))
    known = buffer.symmetry_of(layout)
    if known is None or not symmetry <= known:
        check_packed(read, values, symmetry, extents, tolerance)
    return Symmetric(values, symmetry, extents)
