"""The same elements grouped anew: a shape split along a mode, a box reshaped."""

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import SupportsIndex, TypeAlias, TypeGuard, cast

import numpy as np

from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.errors import ExtentError, JaggedModeError, LayerError, OutOfBoundsError
from tensorwrapper.shape._common import ShapeCommon, to_index
from tensorwrapper.shape._keys import WHOLE, Entry, mode_of
from tensorwrapper.shape._nested import Flat, NestedCommon, flat_of
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, make_smooth
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import Array, Index

__all__ = ["is_sequence", "reshape_box", "split_shape", "start_of"]

_AnyShape: TypeAlias = Flat | NestedCommon


def split_shape(
    shape: _AnyShape, sections_or_marks: SupportsIndex | Iterable[SupportsIndex], mode: SupportsIndex
) -> list[ShapeCommon]:
    """Return the parts of a shape along a mode: so many, or those between the marks."""
    number = mode_of(mode, shape.rank)
    if is_sequence(sections_or_marks):
        marks = to_ints(sections_or_marks, "marks")
    else:
        sections = to_int(cast("SupportsIndex", sections_or_marks), "the number of sections")
        marks = _even_marks(flat_of(shape), sections, number)
    for before, after in pairwise(marks):
        if after < before:
            raise OutOfBoundsError(f"marks ascend, but {after} follows {before} in {marks} of mode {number}")
    entries: list[Entry] = [WHOLE] * shape.rank
    parts: list[ShapeCommon] = []
    for bounds in zip((None, *marks), (*marks, None), strict=True):
        entries[number] = bounds
        parts.append(shape.select(tuple(entries)))
    return parts


def is_sequence(value: SupportsIndex | Iterable[SupportsIndex]) -> TypeGuard[Iterable[SupportsIndex]]:
    """Tell whether these are several numbers; an array without axes is one, though it looks like many."""
    return isinstance(value, Iterable) and not (
        isinstance(value, np.ndarray) and not cast("Array", value).ndim
    )


def _even_marks(shape: Flat, sections: int, mode: int) -> Index:
    """Return the marks between sections whose extents differ by one at most, the longer ones first."""
    if sections < 1:
        raise ExtentError(f"mode {mode} is split into one section at least, not into {sections}")
    size, longer = divmod(shape.extent(mode), sections)
    start = start_of(shape, mode)
    return tuple([start + size * k + min(k, longer) for k in range(1, sections)])


def start_of(shape: Flat, mode: int) -> int:
    """Return the first index of a mode; one that varies raises `JaggedModeError`."""
    if isinstance(shape, SmoothCommon | Tiled):
        return shape.origin[mode]
    if not mode:
        return shape.origin_at(())
    _, origins = shape.rows.distinct_ranges(mode)
    if not len(origins):
        return shape.bounding_box()[1][mode]
    if (origins != origins[0]).any():
        raise JaggedModeError(
            f"mode {mode} has no single origin: it varies from {origins.min()} to {origins.max()}, so no "
            "marks split all of it evenly"
        )
    return int(origins[0])


def reshape_box(
    shape: _AnyShape, extents: Iterable[SupportsIndex], origin: Iterable[SupportsIndex] | None
) -> Smooth:
    """Return the box of other extents with as many elements; one extent of -1 is worked out."""
    if isinstance(shape, NestedCommon):
        raise LayerError(
            f"a reshape keeps no layers, and this shape has {shape.layers}: flatten() first, nest the result"
        )
    if not isinstance(shape, SmoothCommon):
        raise JaggedModeError(
            "only a smooth shape reshapes, and this one is jagged: its bounding box, as_smooth(), does"
        )
    wanted, size = to_ints(extents, "extents"), shape.size
    for mode, extent in enumerate(wanted):
        if extent < -1:
            raise ExtentError(f"an extent must not be negative, but is {extent} for mode {mode} of {wanted}")
    if wanted.count(-1) > 1:
        raise ExtentError(f"one extent may be left open by -1, not {wanted.count(-1)} as in {wanted}")
    known = math.prod([n for n in wanted if n != -1])
    if -1 not in wanted and known != size:
        raise ExtentError(f"a shape of {size} elements does not reshape to {wanted}, which has {known}")
    if -1 in wanted:
        if not known or size % known:
            raise ExtentError(
                f"{size} elements do not tell the extent left open in {wanted}: the others make {known}"
            )
        wanted = tuple([size // known if n == -1 else n for n in wanted])
    start = (0,) * len(wanted) if origin is None else to_index(origin, len(wanted), "an origin")
    return make_smooth(wanted, start)
