"""Write elements of a view by their number in row-major order, where no layout of a source has them."""

from typing import Any, TypeAlias

import numpy as np

from tensorwrapper._boxes import boxes_of_run
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import assign_indexed, write_elements
from tensorwrapper.layout import AxisMap, Layout, Stride
from tensorwrapper.layout.lowlevel import over_box, wrap_layout
from tensorwrapper.selection.runners._blocks import (
    BLOCK,
    cut,
    full_window,
    is_dense,
    is_scratch,
    window_extents,
)
from tensorwrapper.selection.runners._leaves import Runner, leaf_of
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["write_by_number"]


_Goal: TypeAlias = "list[slice | IntArray]"
"""Positions of a part in each mode of the result."""


def write_by_number(runner: Runner, layout: Layout, out: Array) -> None:
    """Write elements of a runner, which a layout addresses by their number in row-major order.

    Runs of them are written or kept as they come. Windows with scattered numbers are halved until their
    numbers are dense; windows that need little of a run are read point by point.
    """
    if out.size:
        base, axes = layout.implementation.mode_maps("a selection")
        _fill(runner, base, axes, out, [slice(None)] * out.ndim)


def _fill(runner: Runner, base: int, axes: tuple[AxisMap, ...], out: Array, goal: _Goal) -> None:
    ends = [axis.bounds() for axis in axes]
    least, greatest = base + sum([a for a, _ in ends]), base + sum([b for _, b in ends])
    extents = tuple([axis.extent for axis in axes])
    layout = wrap_layout(over_box(extents, (0,) * len(extents), base, axes))
    span, size = greatest + 1 - least, layout.shape.size
    if layout.implementation.is_contiguous and _run_into(runner, least, out, goal):
        return
    dense = is_dense(span, size)
    if dense and is_scratch(span * runner.dtype.itemsize):
        run: Any = np.empty(span, runner.dtype)
        _write_run(runner, least, run)
        shifted = wrap_layout(over_box(extents, (0,) * len(extents), base - least, axes))
        _put(out, goal, leaf_of(shifted, Dense(run)), extents)
    elif size <= BLOCK and not dense:
        places = np.unravel_index(layout.to_numpy().reshape(-1), runner.extents)
        _write(out, goal, runner.points(places).reshape(extents))
    else:
        _halve(runner, base, axes, out, goal)


def _run_into(runner: Runner, start: int, out: Array, goal: _Goal) -> bool:
    """Write numbers that follow one another straight into a result without gaps; tell whether it is."""
    if any(not isinstance(own, slice) for own in goal):
        return False
    part = out[(*goal, ...)]
    if not part.flags.c_contiguous:
        return False
    _write_run(runner, start, part.reshape(-1))
    return True


def _write_run(runner: Runner, start: int, flat: Array) -> None:
    for window, done in boxes_of_run(runner.extents, start, start + len(flat)):
        extents = window_extents(window)
        count = int(np.prod(extents, dtype=np.int64))
        runner.fill(window, flat[done : done + count].reshape(extents))


def _halve(runner: Runner, base: int, axes: tuple[AxisMap, ...], out: Array, goal: _Goal) -> None:
    reach = [high - low for low, high in [axis.bounds() for axis in axes]]
    mode = max(range(len(axes)), key=lambda m: (reach[m], axes[m].extent))
    axis, own = axes[mode], goal[mode]
    half = axis.extent // 2
    if isinstance(axis, Stride):
        parts = [(0, half), (half, axis.extent)]
        pieces = [(*axis.take(a, 1, b - a), _part(own, slice(a, b))) for a, b in parts]
    else:
        order = _ascending(axis.offsets())
        pieces = [(*axis.gather(few), _part(own, few)) for few in (order[:half], order[half:])]
    for more, few, places in pieces:
        there = [*goal[:mode], places, *goal[mode + 1 :]]
        _fill(runner, base + more, (*axes[:mode], few, *axes[mode + 1 :]), out, there)


def _ascending(offsets: IntArray) -> IntArray:
    """Return an order of offsets in which they ascend; halves of sorted ones are."""
    if (offsets[1:] >= offsets[:-1]).all():
        return np.arange(len(offsets))
    return np.argsort(offsets, kind="stable")


def _part(own: slice | IntArray, chosen: slice | IntArray) -> slice | IntArray:
    if not isinstance(own, slice):
        return own[chosen]
    start = own.start or 0
    if isinstance(chosen, slice):
        return slice(start + chosen.start, start + chosen.stop)
    return chosen + start


def _put(out: Array, goal: _Goal, leaf: Runner, extents: Extents) -> None:
    if all(isinstance(own, slice) for own in goal):
        leaf.fill(full_window(extents), out[(*goal, ...)])
        return
    for block in cut(extents):
        pairs = zip(goal, block, strict=True)
        _write(out, [_part(own, b) for own, b in pairs], leaf.part(block))


def _write(out: Array, goal: _Goal, values: Array) -> None:
    if all(isinstance(own, slice) for own in goal):
        write_elements(out[(*goal, ...)], values)
        return
    places: list[IntArray] = []
    for extent, own in zip(out.shape, goal, strict=True):
        if isinstance(own, slice):
            places.append(np.arange(*own.indices(extent), dtype=np.int64))
        else:
            places.append(own)
    assign_indexed(out, np.ix_(*places), values)
