"""What writes elements that are a function of their rank in a box, such as random numbers."""

from collections.abc import Callable
from typing import Any, TypeAlias, final

import numpy as np

from tensorwrapper._value_class import frozen
from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.runners._blocks import Window, cut, inside, shift_window
from tensorwrapper.selection.runners._leaves import Runner
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["NumbersOf", "RankRunner"]

NumbersOf: TypeAlias = "Callable[[IntArray | range, Array | None], Array]"
"""Returns the elements of ranks, in an array that is given or in one of its own; a range has step 1."""


def _is_run(strides: tuple[int, ...], extents: Extents) -> bool:
    """Return whether offsets with these strides ascend by one, in row-major order."""
    step = 1
    for stride, extent in zip(reversed(strides), reversed(extents), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


@final
@frozen(eq=False)
class RankRunner(Runner):
    """Elements that a function makes of ranks, which are the offsets of a layout, block by block."""

    numbers: NumbersOf
    element: "np.dtype[Any]"
    layout: Layout

    @property
    def extents(self) -> Extents:
        return self.layout.shape.extents

    @property
    def dtype(self) -> "np.dtype[Any]":
        return self.element

    def fill(self, window: Window, out: Array, threads: int = 1) -> None:  # noqa: ARG002
        layout, element = self.layout, self.element
        for block in cut(out.shape):
            target = inside(out, block)
            # Of a block that is all of it the layout is known.
            own = shift_window(window, block)
            part = layout if target.shape == layout.shape.extents else layout[(*own, ...)]
            plain = target.dtype == element and target.flags.c_contiguous
            box = part.implementation.strided_box()
            if plain and box is not None and _is_run(box[2], target.shape):
                self.numbers(range(box[3], box[3] + target.size), target.reshape(-1))
            elif plain:
                self.numbers(part.to_numpy(), target)
            else:
                write_elements(target, self.numbers(part.to_numpy(), None))

    def points(self, places: tuple[IntArray, ...]) -> Array:
        origin = self.layout.shape.origin
        rows = np.stack([own + start for own, start in zip(places, origin, strict=True)], axis=-1)
        return self.numbers(self.layout.offsets_of(rows), None)
