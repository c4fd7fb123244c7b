"""Shapes out of shapes: joined along a mode, stacked along a new one."""

from collections.abc import Sequence
from typing import TypeAlias

from tensorwrapper.errors import ExtentMismatchError, LayerError, RankError
from tensorwrapper.shape._columns import check_int64
from tensorwrapper.shape._cuts import joined
from tensorwrapper.shape._jagged import Jagged
from tensorwrapper.shape._join import check_same_extents, join_rows, mismatch, rows_of, stack_rows
from tensorwrapper.shape._keys import mode_of
from tensorwrapper.shape._nested import Flat, NestedCommon, flat_of, make_nested
from tensorwrapper.shape._smooth import Smooth, SmoothCommon, make_smooth
from tensorwrapper.shape._tiled import Tiled
from tensorwrapper.typing import Index

__all__ = ["concat_shapes", "stack_shapes"]

_AnyShape: TypeAlias = Flat | NestedCommon


def concat_shapes(shapes: Sequence[_AnyShape], mode: int) -> _AnyShape:
    """Return the shape with the indices of one along a mode, then those of the next."""
    first = _first_of(shapes, "concat")
    number = mode_of(mode, first.rank)
    layers = _layers_of(first)
    for k, shape in enumerate(shapes):
        if _layers_of(shape) != layers:
            raise LayerError(
                f"shape {k} is {shape.kind} with the layers {shape.layers}, but shape 0 is {first.kind} with "
                f"{first.layers}: flatten() them, and nest the result"
            )
    if len(shapes) == 1:
        return first
    flat = _concat_flat([flat_of(shape) for shape in shapes], number)
    return flat if layers is None else make_nested(flat, layers)


def _first_of(shapes: Sequence[_AnyShape], what: str) -> _AnyShape:
    if not shapes:
        raise RankError(f"{what} needs one shape at least, which tells the rank")
    rank = shapes[0].rank
    for k, shape in enumerate(shapes):
        if shape.rank != rank:
            raise RankError(
                f"{what} needs one rank, but shape {k} has rank {shape.rank} and shape 0 rank {rank}"
            )
    return shapes[0]


def _layers_of(shape: _AnyShape) -> tuple[int, ...] | None:
    return shape.layers if isinstance(shape, NestedCommon) else None


def _concat_flat(flats: Sequence[Flat], mode: int) -> Flat:
    boxes = [flat for flat in flats if isinstance(flat, SmoothCommon)]
    if len(boxes) == len(flats):
        return _concat_boxes(boxes, mode)
    tilings = [flat for flat in flats if isinstance(flat, Tiled)]
    if len(tilings) == len(flats):
        tiled = _concat_tiled(tilings, mode)
        if tiled is not None:
            return tiled
    return Jagged(join_rows([rows_of(flat) for flat in flats], mode))


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
    tiles = first.partitions[mode]
    for other in tilings[1:]:
        for m, (mine, theirs) in enumerate(zip(first.partitions, other.partitions, strict=True)):
            if m != mode and not (first.origin[m] == other.origin[m] and mine.is_congruent(theirs)):
                return None
        tiles = joined(tiles, other.partitions[mode])
    check_int64(mode, first.origin[mode], tiles.count)
    partitions = (*first.partitions[:mode], tiles, *first.partitions[mode + 1 :])
    return Tiled(partitions, first.grid.origin)


def stack_shapes(shapes: Sequence[_AnyShape], mode: int) -> Flat:
    """Return the shape with a new mode that numbers the given shapes, which must be congruent."""
    first = _first_of(shapes, "stack")
    number = mode_of(mode, first.rank + 1)
    for k, shape in enumerate(shapes):
        if isinstance(shape, NestedCommon):
            raise LayerError(
                f"shape {k} has the layers {shape.layers}, and a new mode belongs to none of them: flatten() "
                "first, and nest the result"
            )
        if not first.is_congruent(shape):
            raise _incongruent(flat_of(first), shape, k)
    flat, count = flat_of(first), len(shapes)
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
