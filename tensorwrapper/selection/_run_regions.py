"""Regions that a view is cut into, so that it can be had part by part."""

from collections.abc import Iterator
from itertools import product
from typing import Any

from tensorwrapper.layout._strided import Strided
from tensorwrapper.selection._expression import Expression
from tensorwrapper.selection._nodes import Reading
from tensorwrapper.shape import Shape
from tensorwrapper.shape._shape import wrap
from tensorwrapper.shape._smooth import make_smooth
from tensorwrapper.typing import Extents

__all__ = ["region_extents", "regions"]

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
    held = view.layout._held
    if not isinstance(view.node, Reading) or not isinstance(held, Strided):
        return None
    moving = [mode for mode, step in enumerate(held.strides) if step]
    return min(moving, key=lambda mode: abs(held.strides[mode]), default=None)


def regions(shape: Shape[Any], steps: Extents) -> Iterator[Shape[tuple[int, ...]]]:
    """Return an iterator over the regions of a box in row-major order; the last ones may be smaller."""
    extents, origin = shape.extents, shape.origin
    for corner in product(*[range(0, n, step) for n, step in zip(extents, steps, strict=True)]):
        own = tuple([min(step, n - at) for at, step, n in zip(corner, steps, extents, strict=True)])
        start = tuple([at + first for at, first in zip(corner, origin, strict=True)])
        yield wrap(make_smooth(own, start))
