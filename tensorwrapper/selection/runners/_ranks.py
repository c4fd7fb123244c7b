"""Write elements that are a function of their rank in a box, such as random numbers."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from tensorwrapper.buffer.lowlevel import write_elements
from tensorwrapper.layout import Layout
from tensorwrapper.selection.runners._blocks import cut, inside
from tensorwrapper.typing import Array, Extents, IntArray

__all__ = ["NumbersOf", "write_ranks"]

NumbersOf: TypeAlias = "Callable[[IntArray | range, Array | None], Array]"
"""Function that returns the elements of ranks, in a given array or in a new one; a range has step 1."""


def _is_run(strides: tuple[int, ...], extents: Extents) -> bool:
    """Return whether offsets with these strides ascend by one, in row-major order."""
    step = 1
    for stride, extent in zip(reversed(strides), reversed(extents), strict=True):
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def write_ranks(numbers: NumbersOf, layout: Layout, out: Array, dtype: "np.dtype[Any]") -> None:
    """Write elements that a function makes of ranks, which are the offsets of a layout, block by block."""
    for block in cut(out.shape):
        target = inside(out, block)
        # The layout of a block that is all of it is known.
        part = layout if target.shape == layout.shape.extents else layout[(*block, ...)]
        plain = target.dtype == dtype and target.flags.c_contiguous
        box = part.implementation.strided_box()
        if plain and box is not None and _is_run(box[2], target.shape):
            numbers(range(box[3], box[3] + target.size), target.reshape(-1))
        elif plain:
            numbers(part.to_numpy(), target)
        else:
            write_elements(target, numbers(part.to_numpy(), None))
