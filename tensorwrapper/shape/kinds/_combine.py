"""Shapes out of shapes: joined along a mode, stacked along a new one."""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from typing import SupportsIndex, TypeAlias, TypeGuard, cast

import numpy as np

from tensorwrapper._error_text import brief
from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.errors import (
    ExtentError,
    ExtentMismatchError,
    JaggedModeError,
    LayerError,
    OutOfBoundsError,
    RankError,
)
from tensorwrapper.shape.boxes._common import ShapeCommon, to_index
from tensorwrapper.shape.boxes._keys import WHOLE, Entry, mode_of
from tensorwrapper.shape.boxes._smooth import Smooth, SmoothCommon, make_smooth
from tensorwrapper.shape.kinds._jagged import Jagged
from tensorwrapper.shape.kinds._join import check_same_extents, join_rows, mismatch, rows_of, stack_rows
from tensorwrapper.shape.kinds._nested import Flat, NestedCommon, flat_of, make_nested
from tensorwrapper.shape.kinds._tiled import Tiled
from tensorwrapper.shape.rows._columns import check_int64
from tensorwrapper.shape.rows._partition_operations import joined
from tensorwrapper.typing import Array, Index

_AnyShape: TypeAlias = Flat | NestedCommon


def split_shape(
    shape: _AnyShape, sections_or_marks: SupportsIndex | Iterable[SupportsIndex], mode: SupportsIndex
) -> list[ShapeCommon]:
    """Return the parts of a shape along a mode: a number of equal parts, or the parts between marks."""
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
        raise ExtentError(
            f"a shape of {size} elements does not reshape to {brief(wanted)}, which has {brief(known)}"
        )
    if -1 in wanted:
        if not known or size % known:
            raise ExtentError(
                f"{size} elements do not tell the extent left open in {wanted}: the others make {known}"
            )
        wanted = tuple([size // known if n == -1 else n for n in wanted])
    start = (0,) * len(wanted) if origin is None else to_index(origin, len(wanted), "an origin")
    return make_smooth(wanted, start)


def concat_shapes(shapes: Sequence[_AnyShape], mode: int) -> _AnyShape:
    """Return the shape with the indices of one along a mode, then those of the next."""
    first, rank = _first_of(shapes, "concat")
    number = mode_of(mode, rank)
    layers = _layers_of(first)
    for k, shape in enumerate(shapes):
        if (shape.has_layers or layers is not None) and _layers_of(shape) != layers:
            raise LayerError(
                f"shape {k} is {shape.kind} with the layers {shape.layers}, but shape 0 is {first.kind} with "
                f"{first.layers}: flatten() them, and nest the result"
            )
    if len(shapes) == 1:
        return first
    flat = _concat_flat([*map(flat_of, shapes)], number)
    return flat if layers is None else make_nested(flat, layers)


def _first_of(shapes: Sequence[_AnyShape], what: str) -> tuple[_AnyShape, int]:
    """Return the first shape, and the rank of all."""
    if not shapes:
        raise RankError(f"{what} needs one shape at least, which tells the rank")
    rank = shapes[0].rank
    for k, shape in enumerate(shapes[1:], 1):
        if shape.rank != rank:
            raise RankError(
                f"{what} needs one rank, but shape {k} has rank {shape.rank} and shape 0 rank {rank}"
            )
    return shapes[0], rank


def _layers_of(shape: _AnyShape) -> tuple[int, ...] | None:
    return shape.layers if shape.has_layers else None


def _concat_flat(flats: Sequence[Flat], mode: int) -> Flat:
    boxes = [flat for flat in flats if flat.is_box]
    if len(boxes) == len(flats):
        return _concat_boxes(cast("Sequence[SmoothCommon]", boxes), mode)
    if set(map(type, flats)) == {Tiled}:
        tiled = _concat_tiled(cast("Sequence[Tiled]", flats), mode)
        if tiled is not None:
            return tiled
    return Jagged(join_rows([*map(rows_of, flats)], mode))


def _concat_boxes(boxes: Sequence[SmoothCommon], mode: int) -> Smooth:
    first = boxes[0]
    for k, box in enumerate(boxes):
        _check_same("extent", first.extents, box.extents, k, skipped=mode)
        _check_same("origin", first.origin, box.origin, k, skipped=mode)
    extent = sum(box.extents[mode] for box in boxes)
    return make_smooth((*first.extents[:mode], extent, *first.extents[mode + 1 :]), first.origin)


def _check_same(what: str, mine: Index, theirs: Index, k: int, *, skipped: int | None = None) -> None:
    for mode, (x, y) in enumerate(zip(mine, theirs, strict=True)):
        if mode != skipped and x != y:
            raise mismatch(what, mode, (), k, y, x)


def _concat_tiled(tilings: Sequence[Tiled], mode: int) -> Tiled | None:
    """Return the joined tiling, if they differ in nothing but the tiles of this mode; O(tiles of it)."""
    first = tilings[0]
    if mode >= first.outer_rank:
        return None
    for other in tilings[1:]:
        for m, (mine, theirs) in enumerate(zip(first.partitions, other.partitions, strict=True)):
            if m != mode and not (first.origin[m] == other.origin[m] and mine.is_congruent(theirs)):
                return None
    tiles = joined([tiling.partitions[mode] for tiling in tilings])
    check_int64(mode, first.origin[mode], tiles.count)
    partitions = (*first.partitions[:mode], tiles, *first.partitions[mode + 1 :])
    return Tiled(partitions, first.grid.origin)


def stack_shapes(shapes: Sequence[_AnyShape], mode: int) -> _AnyShape:
    """Return the shape with a new mode that numbers the given shapes, which must be congruent.

    The new mode belongs to the layer of the mode after it; at the end, to the last layer.
    """
    first, rank = _first_of(shapes, "stack")
    number = mode_of(mode, rank + 1)
    layers = _layers_of(first)
    for k, shape in enumerate(shapes):
        if _layers_of(shape) != layers:
            raise LayerError(
                f"shape {k} has the layers {_layers_of(shape)}, but shape 0 has {layers}: stack() needs the "
                "same in all, or flatten() drops them"
            )
        if not first.is_congruent(shape):
            raise _incongruent(flat_of(first), flat_of(shape), k)
    stacked = _stacked(flat_of(first), number, len(shapes))
    if not layers:
        return stacked
    *before, last = layers
    ends = accumulate(before)
    own = next((layer for layer, end in enumerate(ends) if number < end), len(before))
    counts = [*before, last]
    counts[own] += 1
    return make_nested(stacked, counts)


def _stacked(flat: Flat, number: int, count: int) -> Flat:
    if not isinstance(flat, SmoothCommon):
        return Jagged(stack_rows(flat.rows, number, count))
    extents, origin = flat.extents, flat.origin
    return make_smooth((*extents[:number], count, *extents[number:]), (*origin[:number], 0, *origin[number:]))


def _incongruent(first: Flat, shape: Flat, k: int) -> ExtentMismatchError:
    """Return the error that says where shape `k` first differs from shape 0."""
    what = f"shape {k} is {shape.kind}, but shape 0 is {first.kind}"
    try:
        if isinstance(first, SmoothCommon) and isinstance(shape, SmoothCommon):
            _check_same("extent", first.extents, shape.extents, k)
        elif first.kind == shape.kind:
            check_same_extents(rows_of(first), rows_of(shape), k)
    except ExtentMismatchError as error:
        what = str(error)
    return ExtentMismatchError(
        f"stack needs congruent shapes, but {what}; Shape.jagged(children) makes one shape of different ones"
    )
