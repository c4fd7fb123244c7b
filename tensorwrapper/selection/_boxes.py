"""Boxes of indices between two corners: made, cut into blocks, multiplied, and one inside another."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, SupportsIndex, TypeAlias

from tensorwrapper._integers import to_int, to_ints
from tensorwrapper.errors import ExtentError, JaggedModeError, RankError
from tensorwrapper.shape import Shape, ShapeLike
from tensorwrapper.shape._common import to_index
from tensorwrapper.shape._keys import mode_of
from tensorwrapper.shape._shape import unnamed_shape
from tensorwrapper.typing import Index

__all__ = ["Box", "as_box", "box_between", "box_product", "box_text", "contains_box", "cut_box", "stop_of"]

Box: TypeAlias = Shape[tuple[int, ...]]
"""A smooth shape of any rank."""


def as_box(shape: ShapeLike, what: str) -> Box:
    """Return a smooth shape, without names, of what is given; ``what`` says in the error what it is."""
    box: Shape[Any] = unnamed_shape(shape)
    if box.kind != "smooth":
        raise JaggedModeError(f"{what} must be a box, not {box.kind}: as_smooth() gives the bounding box")
    return box


def stop_of(box: Box) -> Index:
    """Return the index after the last of every mode."""
    return tuple([start + extent for start, extent in zip(box.origin, box.extents, strict=True)])


def box_text(box: Box) -> str:
    """Return the bounds of a box as errors write them.

    Examples
    --------
    >>> box_text(Shape(2, 3, origin=(-1, 0))), box_text(Shape())
    ('[-1:1, 0:3]', '[]')
    """
    return f"[{', '.join([f'{a}:{b}' for a, b in zip(box.origin, stop_of(box), strict=True)])}]"


def box_between(start: Iterable[SupportsIndex], stop: Iterable[SupportsIndex]) -> Box:
    """Return the box of the indices from `start` up to, not including, `stop`, mode by mode.

    Raises
    ------
    RankError
        If the corners have different numbers of modes.
    ExtentError
        If an entry of `stop` is less than that of `start`.

    Examples
    --------
    >>> from tensorwrapper.selection import box_between
    >>> box_between((-1, 2), (3, 2))
    Shape(4, 0, origin=(-1, 2))
    """
    first = to_ints(start, "a start")
    last = to_index(stop, len(first), "a stop")
    for mode, (a, b) in enumerate(zip(first, last, strict=True)):
        if b < a:
            raise ExtentError(
                f"start {first} must be <= stop {last} in every mode, but mode {mode} has {a} > {b}"
            )
    return Shape.smooth([b - a for a, b in zip(first, last, strict=True)], origin=first)


def cut_box(
    box: ShapeLike, mode: SupportsIndex, sizes: SupportsIndex | Sequence[SupportsIndex]
) -> tuple[Box, ...]:
    """Return a box in blocks along one mode.

    Parameters
    ----------
    box
        A smooth shape.
    mode
        The mode to cut, counted from the last if negative.
    sizes
        The extent of every block but the last, which may be shorter; or the extent of each.

    Raises
    ------
    ExtentError
        If a size is not positive, or the sizes do not add up to the extent.

    Examples
    --------
    >>> from tensorwrapper.selection import cut_box
    >>> [block.extents for block in cut_box((2, 11), 1, 3)]
    [(2, 3), (2, 3), (2, 3), (2, 2)]
    >>> cut_box((2, 3), -1, [2, 1])
    (Shape(2, 2), Shape(2, 1, origin=(0, 2)))
    """
    whole = as_box(box, "what is cut")
    number = mode_of(mode, whole.rank)
    marks = _marks(whole.extents[number], number, sizes)
    extents, origin = whole.extents, whole.origin
    blocks: list[Box] = []
    for a, b in pairwise(marks):
        lies = (*origin[:number], origin[number] + a, *origin[number + 1 :])
        blocks.append(Shape.smooth((*extents[:number], b - a, *extents[number + 1 :]), origin=lies))
    return tuple(blocks)


def _marks(extent: int, mode: int, sizes: SupportsIndex | Sequence[SupportsIndex]) -> list[int]:
    """Return where blocks along a mode begin, and (last) the extent."""
    if not isinstance(sizes, Sequence):
        chunk = to_int(sizes, "a block size")
        if chunk <= 0:
            raise ExtentError(f"a block size must be > 0, but is {chunk} for mode {mode}")
        return [*range(0, extent, chunk), extent] if extent else [0, 0]
    parts = to_ints(sizes, "block sizes")
    if any(part <= 0 for part in parts):
        raise ExtentError(f"block sizes must be > 0, but are {parts} for mode {mode}")
    if sum(parts) != extent:
        raise ExtentError(
            f"block sizes {parts} add up to {sum(parts)}, but mode {mode} has the extent {extent}"
        )
    marks = [0]
    for part in parts:
        marks.append(marks[-1] + part)
    return marks


def box_product(*boxes: ShapeLike) -> Box:
    """Return the box with the modes of all boxes, one box after the other; of none the scalar shape.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.selection import box_product
    >>> box_product(Shape(3, origin=(2,)), (10, 4))
    Shape(3, 10, 4, origin=(2, 0, 0))
    """
    factors = [as_box(box, f"factor {k}") for k, box in enumerate(boxes)]
    origin = [start for box in factors for start in box.origin]
    return Shape.smooth([extent for box in factors for extent in box.extents], origin=origin)


def contains_box(outer: ShapeLike, inner: ShapeLike) -> bool:
    """Tell whether a box lies inside another, corner for corner: an empty one has a place, too.

    Raises
    ------
    RankError
        If the ranks differ.

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> from tensorwrapper.selection import contains_box
    >>> contains_box((2, 3), Shape(0, 0, origin=(2, 3))), contains_box((2, 3), Shape(0, 0, origin=(-1, 0)))
    (True, False)
    """
    a, b = as_box(outer, "the outer box"), as_box(inner, "the inner box")
    if a.rank != b.rank:
        raise RankError(f"the inner box has rank {b.rank}, and the outer box rank {a.rank}")
    starts = zip(a.origin, b.origin, strict=True)
    return all(x <= y for x, y in starts) and all(y <= x for x, y in zip(stop_of(a), stop_of(b), strict=True))
