"""Axis maps of layouts, and the one form in which layouts that select the same are equal."""

from typing import Any

import numpy as np

from tensorwrapper.layout import Layout
from tensorwrapper.layout.lowlevel import (
    AxisMap,
    Based,
    Hierarchical,
    Separable,
    Stride,
    Strided,
    Table,
    new_strided,
    wrap_layout,
)
from tensorwrapper.typing import Extents, Index

__all__ = ["box_of", "canonical", "maps_of"]


def maps_of(layout: Layout[Any]) -> tuple[int, tuple[AxisMap, ...]] | None:
    """Return base and axis maps of a layout; None if it keeps tiles together, and so has no rule per mode."""
    known = layout.implementation
    return known.mode_maps("a selection") if isinstance(known, Strided | Separable | Hierarchical) else None


def box_of(layout: Layout[Any]) -> tuple[Extents, Index]:
    """Return extents and origin of the indices of a layout, which are a box."""
    known = layout.implementation
    if isinstance(known, Strided):
        return known.extents, known.origin
    shape = layout.shape
    return shape.extents, shape.origin


def canonical(layout: Layout[Any]) -> Layout[Any]:
    """Return a layout in which modes of one position have stride 0, and tables have the least number 0.

    So that layouts that select the same are equal.
    """
    implementation = layout.implementation
    if isinstance(implementation, Strided):
        extents, strides = implementation.extents, implementation.strides
        if 1 not in extents:
            return layout
        steps = tuple([step if n > 1 else 0 for n, step in zip(extents, strides, strict=True)])
        if steps != strides:
            return wrap_layout(new_strided(extents, implementation.origin, steps, implementation.offset))
    if isinstance(implementation, Separable):
        parts = [_from_zero(axis) for axis in implementation.axes]
        base = implementation.base + sum([more for more, _ in parts])
        return wrap_layout(Separable(implementation.shape, base, tuple([axis for _, axis in parts])))
    return layout


def _from_zero(axis: AxisMap) -> Based:
    if isinstance(axis, Table):
        least = int(axis.values.min())
        return (least, Table(axis.values - np.int64(least))) if least else (0, axis)
    return (0, Stride(1, 0)) if axis.extent == 1 else (0, axis)
