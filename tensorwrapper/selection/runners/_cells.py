"""What writes elements that are computed cell by cell: of positions, and of the elements of others there."""

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arguments import surely_fits
from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import convert_elements, write_elements
from tensorwrapper.errors import DTypeError, ExtentMismatchError, SizeOverflowError
from tensorwrapper.layout import Layout
from tensorwrapper.selection.runners._blocks import Window, cut, inside, shift_window, window_extents
from tensorwrapper.selection.runners._leaves import Runner, places_in, points_through
from tensorwrapper.selection.transforms._transform import Transform, take_apart
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["CastRunner", "CellRunner", "ChoosingRunner", "ExtremeRunner", "ValuesAt", "fitting"]

ValuesAt: TypeAlias = "Callable[[Sequence[IntArray], Sequence[Array]], Array]"
"""Returns elements at positions, one array per mode, of the elements that others have there."""


def fitting(found: Array, dtype: "np.dtype[Any]", around: Sequence[Array], name: str) -> Array:
    """Return what `values` of a node of this name gave, over all places; raise if it is not what was said.

    `around` are the places, and what operands have there: one without modes may be asked for many times.
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


@final
@frozen(eq=False)
class CellRunner(Runner):
    """Elements that a function computes, at some places of its box, block by block."""

    values: ValuesAt
    element: "np.dtype[Any]"
    layout: Layout
    box: Extents
    """The extents of the box whose places the layout addresses."""
    transform: Transform | None
    runners: tuple[Runner, ...]
    """What has the elements that the function is given, over the box of the layout."""

    @classmethod
    def of(
        cls,
        values: ValuesAt,
        element: "np.dtype[Any]",
        layout: Layout,
        box: Extents,
        runners: tuple[Runner, ...] = (),
    ) -> "CellRunner":
        """Return what writes the elements at the places of a layout."""
        apart = take_apart(layout, box) if layout.shape.size else None
        return cls(values, element, layout, box, apart, runners)

    @property
    def extents(self) -> Extents:
        return self.layout.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.element

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        for block in cut(out.shape):
            own = shift_window(window, block)
            places = places_in(self.layout, self.transform, own, self.box)
            values = self.values(places, [runner.part(own) for runner in self.runners])
            write_elements(inside(out, block), np.broadcast_to(values, window_extents(own)))

    def points(self, places: tuple[IntArray, ...]) -> Array:
        there = points_through(self.layout, places, self.box)
        found = self.values(there, [runner.points(places) for runner in self.runners])
        return np.asarray(np.broadcast_to(found, places[0].shape if places else ()), self.dtype)


def _chosen(mask: Array, x: Array, y: Array) -> Array:
    return np.where(cast("npt.NDArray[np.bool_]", mask), x, y)


@final
@frozen(eq=False)
class ChoosingRunner(Runner):
    """Elements of one of two operands, as a third one says, block by block."""

    runners: tuple[Runner, ...]
    """What has the mask, and both operands."""

    @property
    def extents(self) -> Extents:
        return self.runners[0].extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.runners[1].dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        for block in cut(out.shape):
            own = shift_window(window, block)
            try:
                mask, x, y = [runner.part(own) for runner in self.runners]
            except SizeOverflowError:
                rank, size = len(own), math.prod(window_extents(own))
                grid = np.unravel_index(np.arange(size), window_extents(own)) if rank else ()
                found = self.points(tuple([w.start + one for w, one in zip(own, grid, strict=True)]))
                write_elements(inside(out, block), found.reshape(window_extents(own)))
            else:
                write_elements(inside(out, block), _chosen(mask, x, y))

    def points(self, places: tuple[IntArray, ...]) -> Array:
        mask, *choices = self.runners
        marks = np.asarray(mask.points(places)).astype(np.bool_, copy=False)
        try:
            x, y = [runner.points(places) for runner in choices]
        except SizeOverflowError:
            # What does not fit may be an element that is not chosen, and so is not cast.
            found: Array = np.empty(marks.shape, self.dtype)
            for runner, chosen in zip(choices, (marks, ~marks), strict=True):
                if chosen.any():
                    found[chosen] = runner.points(tuple([own[chosen] for own in places]))
            return found
        result: Array = np.empty(x.shape, self.dtype)
        write_elements(result, _chosen(marks, x, y))
        return result


@final
@frozen(eq=False)
class ExtremeRunner(Runner):
    """The least or the greatest of the operands, block by block."""

    better: "np.ufunc"
    """Which of two it is: ``np.minimum`` or ``np.maximum``."""
    runners: tuple[Runner, ...]

    @property
    def extents(self) -> Extents:
        return self.runners[0].extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.runners[0].dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        better = self.better
        first, second, *rest = self.runners
        for block in cut(out.shape):
            own, target = shift_window(window, block), inside(out, block)
            better(first.part(own), second.part(own), out=target, casting="unsafe")
            for runner in rest:
                better(target, runner.part(own), out=target, casting="unsafe")

    def points(self, places: tuple[IntArray, ...]) -> Array:
        first, *rest = [runner.points(places) for runner in self.runners]
        for other in rest:
            first = self.better(first, other).astype(self.dtype, copy=False)
        return first


@final
@frozen(eq=False)
class CastRunner(Runner):
    """The elements of another runner as ones of another type; checked, unless that is unsafe."""

    runner: Runner
    _dtype: "np.dtype[Any]"
    _unsafe: bool = False

    @property
    def extents(self) -> Extents:
        return self.runner.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self._dtype

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:
        free = self._unsafe or surely_fits(self.runner.dtype, self._dtype)
        free = free and self._dtype.kind != "T"  # Of text a null may not fit.
        if free and self.runner.memory is not None and out.dtype == self._dtype:
            with np.errstate(all="ignore"):
                self.runner.fill(window, out, threads)
            return
        for block in cut(out.shape):
            write_elements(inside(out, block), self.part(shift_window(window, block)))

    def part(self, window: Window) -> Array:
        return self._converted(self.runner.part(window))

    def points(self, places: tuple[IntArray, ...]) -> Array:
        return self._converted(self.runner.points(places))

    def _converted(self, found: Array) -> Array:
        with np.errstate(all="ignore"):
            return convert_elements(found, self._dtype, checked=not self._unsafe)
