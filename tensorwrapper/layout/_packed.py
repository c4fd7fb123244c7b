"""Contiguous layouts: the elements of any shape one after the other, in row-major order.

For a jagged shape this is row after row; for a tiled shape it is tile after tile.
"""

from typing import Any

from tensorwrapper.errors import LayoutError
from tensorwrapper.layout._blocked import Packed
from tensorwrapper.layout._strided import Strided, row_major
from tensorwrapper.shape import Shape

__all__ = ["Packed", "contiguous"]


def contiguous(shape: Shape[Any], offset: int) -> Strided | Packed:
    """Return the layout of `shape` without gaps, in row-major order."""
    if shape.kind == "nested":
        raise LayoutError(f"lay out the flatten() of the nested shape {shape}; Layout(shape) has its layers")
    return row_major(shape, offset) if shape.kind == "smooth" else Packed(shape, offset)
