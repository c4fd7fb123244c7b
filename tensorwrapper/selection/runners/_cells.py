"""Write elements computed cell by cell from positions and the elements of operands, block by block."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import surely_fits
from tensorwrapper.buffer.lowlevel import convert_elements, write_elements
from tensorwrapper.errors import DTypeError, ExtentMismatchError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.runners._blocks import cut, full_window, inside, window_extents
from tensorwrapper.selection.runners._leaves import Runner, places_in
from tensorwrapper.selection.transforms._transform import take_apart
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["ValuesAt", "fitting", "write_cast", "write_cells", "write_chosen", "write_extremes"]

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
