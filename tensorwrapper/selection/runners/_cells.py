"""Write elements computed cell by cell from positions and the elements of operands, block by block."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import surely_fits
from tensorwrapper._boxes import boxes_of_run
from tensorwrapper.buffer import Dense
from tensorwrapper.buffer.lowlevel import assign_indexed, convert_elements, write_elements
from tensorwrapper.errors import DTypeError, ExtentMismatchError, SizeOverflowError
from tensorwrapper.layout import AxisMap, Layout, Stride
from tensorwrapper.selection.runners._leaves import (
    BLOCK,
    Runner,
    cut,
    full_window,
    inside,
    is_dense,
    is_scratch,
    leaf_of,
    places_in,
    window_extents,
)
from tensorwrapper.selection.transforms._transform import of_maps, take_apart
from tensorwrapper.typing import Array, Extents, IntArray

ValuesAt: TypeAlias = "Callable[[Sequence[IntArray], Sequence[Array]], Array]"
"""Returns elements at positions, one array per mode, of the elements that others have there."""


def fitting(found: Array, dtype: "np.dtype[Any]", around: Sequence[Array], name: str) -> Array:
    """Return the result of `values` of a node of this name; raise if its type or size is wrong.

    `around` are the places, and the elements of operands there: one without modes may broadcast.
    """
    if found.dtype != dtype:
        raise DTypeError(f"`values` of {name!r} gave {found.dtype}, and its dtype is {dtype}")
    if {own.shape for own in around} == {found.shape}:
        return found
    extents = np.broadcast_shapes(*[np.shape(own) for own in around])
    try:
        return np.broadcast_to(found, extents)
    except ValueError as error:
        raise ExtentMismatchError(
            f"`values` of {name!r} gave an array of extents {found.shape} for places of extents {extents}"
        ) from error


def write_cells(
    values: ValuesAt, layout: Layout, extents: Extents, given: Sequence[Runner], out: Array
) -> None:
    """Write the elements of a function at places of a box with these extents; operands follow the layout."""
    apart = take_apart(layout, extents) if layout.shape.size else None
    for block in cut(out.shape):
        places = places_in(layout, apart, block, extents)
        found = values(places, [runner.part(block) for runner in given])
        write_elements(inside(out, block), np.broadcast_to(found, window_extents(block)))


def _chosen(mask: Array, x: Array, y: Array) -> Array:
    return np.where(cast("npt.NDArray[np.bool_]", mask), x, y)


def write_chosen(given: Sequence[Runner], out: Array) -> None:
    """Write elements of the second operand where the first is true, else of the third."""
    for block in cut(out.shape):
        try:
            mask, x, y = [runner.part(block) for runner in given]
        except SizeOverflowError:
            extents = window_extents(block)
            grid = np.unravel_index(np.arange(math.prod(extents)), extents) if block else ()
            places = tuple([own.start + one for own, one in zip(block, grid, strict=True)])
            write_elements(inside(out, block), _chosen_points(given, places).reshape(extents))
        else:
            write_elements(inside(out, block), _chosen(mask, x, y))


def _chosen_points(given: Sequence[Runner], places: tuple[IntArray, ...]) -> Array:
    """Return chosen elements; a cast of an element outside the choice may fail, so it is not read."""
    mask, *choices = given
    marks = np.asarray(mask.points(places)).astype(np.bool_, copy=False)
    found: Array = np.empty(marks.shape, choices[0].dtype)
    for runner, chosen in zip(choices, (marks, ~marks), strict=True):
        if chosen.any():
            found[chosen] = runner.points(tuple([own[chosen] for own in places]))
    return found


def write_extremes(better: np.ufunc, given: Sequence[Runner], out: Array) -> None:
    """Write the extremes of two operands or more; `better` is ``np.minimum`` or ``np.maximum``."""
    first, second, *rest = given
    for block in cut(out.shape):
        target = inside(out, block)
        better(first.part(block), second.part(block), out=target, casting="unsafe")
        for runner in rest:
            better(target, runner.part(block), out=target, casting="unsafe")


def write_cast(runner: Runner, dtype: "np.dtype[Any]", out: Array, threads: int, *, unsafe: bool) -> None:
    """Write the elements of an operand as ones of another type; checked, unless that is unsafe."""
    free = unsafe or surely_fits(runner.dtype, dtype)
    free = free and dtype.kind != "T"  # Text may have nulls that do not fit.
    with np.errstate(all="ignore"):
        if free and runner.memory is not None and out.dtype == dtype:
            runner.fill(full_window(out.shape), out, threads)
            return
        for block in cut(out.shape):
            found = convert_elements(runner.part(block), dtype, checked=not unsafe)
            write_elements(inside(out, block), found)


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
    layout = of_maps(base, axes)
    least, greatest = layout.bounds()
    extents: Extents = layout.shape.extents
    span, size = greatest + 1 - least, layout.shape.size
    if layout.implementation.is_contiguous and _run_into(runner, least, out, goal):
        return
    dense = is_dense(span, size)
    if dense and is_scratch(span * runner.dtype.itemsize):
        run: Any = np.empty(span, runner.dtype)
        _write_run(runner, least, run)
        _put(out, goal, leaf_of(of_maps(base - least, axes), Dense(run)), extents)
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
