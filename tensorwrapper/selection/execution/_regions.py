"""Regions of a view of bounded volume, in the order of its memory."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tensorwrapper.selection.expressions._expression import Expression
from tensorwrapper.shape import Shape
from tensorwrapper.shape.lowlevel import OperandShapes, make_smooth, names_of, wrap
from tensorwrapper.typing import Extents, Index

__all__ = ["region_extents", "regions", "row_regions"]

_RUN = 1 << 6  # elements of the fastest mode of a source that a region has at least


def region_extents(view: Expression, most: int) -> Extents:
    """Return the extents of regions of at most so many elements.

    They have all positions of the last modes, as many as fit. Where the memory of a source runs along
    another mode, they have some run of that first: single elements would load a line of memory each.
    """
    extents = view.shape.extents
    steps = [1] * len(extents)
    left = most
    fastest = _fastest(view)
    if fastest is not None:
        steps[fastest] = min(extents[fastest], _RUN, left)
        left //= steps[fastest]
    for mode in reversed(range(len(extents))):
        more = min(extents[mode], left * steps[mode])
        left = left * steps[mode] // more
        steps[mode] = more
    return tuple(steps)


def _fastest(view: Expression) -> int | None:
    strides = view.layout.implementation.mode_strides
    if view.node.source is None or strides is None:
        return None
    moving = [mode for mode, step in enumerate(strides) if step]
    return min(moving, key=lambda mode: abs(strides[mode]), default=None)


def regions(shape: Shape[Any], steps: Extents) -> Iterator[Shape]:
    """Return an iterator over the regions of a box in row-major order; the last ones may be smaller."""
    extents, origin, names = shape.extents, shape.origin, names_of(shape)
    for corner in product(*[range(0, n, step) for n, step in zip(extents, steps, strict=True)]):
        own = tuple([min(step, n - at) for at, step, n in zip(corner, steps, extents, strict=True)])
        start = tuple([at + first for at, first in zip(corner, origin, strict=True)])
        yield wrap(make_smooth(own, start), names)


def row_regions(shape: Shape[Any], most: int, before: Index = ()) -> Iterator[Shape]:
    """Return an iterator over the regions of rows in row-major order, none of more than so many elements.

    They have as many rows as fit; a row that alone has more elements is cut inside, and so on downwards.
    `before` are the indices of the rows inside one another of which the regions are.
    """
    part = shape.chip(before) if before else shape
    splits, first = OperandShapes.splits_under(part, 1), part.origin_at(())
    count, low = len(splits) - 1, 0
    leading = tuple([slice(k, k + 1) for k in before])
    while low < count:
        high = int(splits.searchsorted(splits.item(low) + most, "right")) - 1
        if high > low:
            yield shape[(*leading, slice(first + low, first + high))]
        else:
            yield from row_regions(shape, most, (*before, first + low))
        low = max(high, low + 1)
