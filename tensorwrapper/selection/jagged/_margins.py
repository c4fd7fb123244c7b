"""Cells with a constant around each of them."""

from collections.abc import Sequence

from tensorwrapper.selection.expressions._expression import Expression, at_zero, whole
from tensorwrapper.selection.expressions._generators import Filling
from tensorwrapper.selection.jagged._rows import joined_rows, put_together_rows
from tensorwrapper.selection.transforms._layouts import box
from tensorwrapper.shape import Shape
from tensorwrapper.tensor.lowlevel import padded_lines

__all__ = ["with_margins"]


def with_margins(view: Expression, widths: Sequence[tuple[int, int]], value: object) -> Expression:
    """Return cells with a constant before and after each, mode by mode, as the whole of a node from zero on.

    Parameters
    ----------
    view
        Rows, cells or tiles.
    widths
        Number of positions of each mode; 0 for modes that lead to cells.
    value
        The constant, of the type of the elements.
    """
    found = at_zero(view)
    for mode, (before, after) in enumerate(widths):
        parts = [found]
        if before:
            parts.insert(0, _side(found, mode, before, value))
        if after:
            parts.append(_side(found, mode, after, value))
        if before or after:
            found = joined_rows(mode, parts)
    return found


def _side(view: Expression, mode: int, count: int, value: object) -> Expression:
    """Return so many positions of a mode under each prefix that leads to it."""
    shape = view.shape
    lines, _, _ = padded_lines(shape.flatten(), mode, count, clip=True)
    lines = lines.as_jagged()
    if shape.has_layers:
        lines = Shape.nested(lines, layers=shape.layers)
    return put_together_rows("spread", [whole(Filling(box(()), value, view.dtype))], lines)
