"""Arrow arrays as elements and a shape: lists in lists are jagged modes."""

from typing import Any, TypeGuard

import numpy as np

from tensorwrapper.buffer import ArrowArrayLike, ArrowStreamLike, StringData, strings_from_arrow
from tensorwrapper.buffer.lowlevel import arrays_from_arrow
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array, IntArray

__all__ = ["is_arrow", "read_arrow"]


def is_arrow(value: object) -> "TypeGuard[ArrowArrayLike | ArrowStreamLike]":
    """Tell whether this hands out Arrow arrays, one or several."""
    return isinstance(value, ArrowArrayLike) or hasattr(value, "__arrow_c_stream__")


def read_arrow(value: ArrowArrayLike | ArrowStreamLike) -> tuple[Array | StringData, Shape[Any]] | None:
    """Return elements and shape of an Arrow array, or the strings of several in a row; None for a table.

    Raises
    ------
    ConversionError
        If there are nulls, except among strings; if several arrays are not of strings.
    DTypeError
        If tensors have no such elements.
    """
    if not isinstance(value, ArrowArrayLike):
        strings = strings_from_arrow(value)
        return strings, Shape(len(strings))
    values = arrays_from_arrow(value)
    if values is None:
        return None
    count, levels = values.count, values.levels
    if not any(isinstance(level, np.ndarray) for level in levels):
        return values.elements, Shape.smooth([count, *(int(level) for level in levels)])
    offsets: list[IntArray] = []
    for level in levels:
        # Lists of one length among others have offsets all the same.
        offsets.append(
            level if isinstance(level, np.ndarray) else np.arange(count + 1, dtype=np.int64) * level
        )
        count = int(offsets[-1][-1])
    return values.elements, Shape.from_offsets(*offsets, validate=False, copy=False)
