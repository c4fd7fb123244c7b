"""Axis maps of layouts, and the one form in which layouts that select the same are equal."""

from typing import Any, TypeAlias

import numpy as np

from tensorwrapper.layout import AxisMap, Layout, Stride, Table
from tensorwrapper.layout.lowlevel import new_strided, over_box, wrap_layout
from tensorwrapper.typing import Extents, Index

__all__ = ["Spaced", "box_of", "canonical", "maps_of", "moved", "spaced"]

Spaced: TypeAlias = "tuple[int, int, int]"
"""Evenly spaced positions of a mode: the first, the step to the next, and how many."""


def maps_of(layout: Layout[Any]) -> tuple[int, tuple[AxisMap, ...]] | None:
    """Return base and axis maps of a layout; None if it keeps tiles together, and so has no rule per mode."""
    implementation = layout.implementation
    return implementation.mode_maps("a selection") if implementation.has_mode_maps else None


def box_of(layout: Layout[Any]) -> tuple[Extents, Index]:
    """Return extents and origin of the indices of a layout, which are a box."""
    box = layout.implementation.strided_box()
    if box is not None:
        return box[0], box[1]
    shape = layout.shape
    return shape.extents, shape.origin


def spaced(layout: Layout[Any], extents: Extents) -> list[Spaced] | None:
    """Return the positions of each mode of a box that a slice of it selects; None of other selections.

    The layout has elements, and addresses the places of the box in row-major order: a slice has a mode for
    each, and a step in each. O(rank); this is the short way of `take_apart`.
    """
    box = layout.implementation.strided_box()
    if box is None or len(box[0]) != len(extents):
        return None
    counts, _, strides, place = box
    found: list[Spaced] = []
    unit = 1
    for mode in range(len(extents) - 1, -1, -1):
        extent, count = extents[mode], counts[mode]
        first = place // unit % extent
        step, rest = divmod(strides[mode], unit) if count > 1 else (1, 0)
        # Positions that stay in their mode name their place in one way only.
        if rest or not step or not 0 <= first + step * (count - 1) < extent:
            return None
        found.append((first, step, count))
        unit *= extent
    return found[::-1]


def moved(layout: Layout[Any], origin: Index, by: int) -> Layout[Any]:
    """Return a layout with a rule per mode at another origin, whose places are counted from `by` on."""
    implementation = layout.implementation
    box = implementation.strided_box()
    if box is not None:
        extents, _, strides, offset = box
        return wrap_layout(new_strided(extents, origin, strides, offset - by))
    base, axes = implementation.mode_maps("a selection")
    return wrap_layout(over_box(layout.shape.extents, origin, base - by, axes))


def canonical(layout: Layout[Any]) -> Layout[Any]:
    """Return a layout in which modes of one position have stride 0, and tables have the least number 0.

    So that layouts that select the same are equal.
    """
    implementation = layout.implementation
    box = implementation.strided_box()
    if box is not None:
        extents, origin, strides, offset = box
        if 1 not in extents:
            return layout
        steps = tuple([step if n > 1 else 0 for n, step in zip(extents, strides, strict=True)])
        return layout if steps == strides else wrap_layout(new_strided(extents, origin, steps, offset))
    if not implementation.has_mode_maps:
        return layout
    base, axes = implementation.mode_maps("a selection")
    parts = [_from_zero(axis) for axis in axes]
    shape = layout.shape
    base += sum([more for more, _ in parts])
    return wrap_layout(over_box(shape.extents, shape.origin, base, tuple([axis for _, axis in parts])))


def _from_zero(axis: AxisMap) -> tuple[int, AxisMap]:
    if isinstance(axis, Table):
        least = int(axis.values.min())
        return (least, Table(axis.values - np.int64(least))) if least else (0, axis)
    return (0, Stride(1, 0)) if axis.extent == 1 else (0, axis)
