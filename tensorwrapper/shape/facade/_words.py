"""A shape in a few words, for the first line of a display."""

from typing import Any

from tensorwrapper.drawing import count_text
from tensorwrapper.shape._shape_base import ShapeBase, names_of
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import JaggedCommon
from tensorwrapper.shape.pictures._draw import short_text

__all__ = ["shape_words"]


def shape_words(shape: ShapeBase[Any]) -> str:
    """Return the extents of a plain box, numbers of rows and their lengths, or the text of any other shape.

    O(1), but for the first call on rows of varying lengths: O(rows).

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> for shape in Shape(20, 30), Shape(), Shape.jagged([3, 0, 2]), Shape.jagged([[2, 1], [1]]):
    ...     print(shape_words(shape))
    20 x 30
    scalar
    3 rows of 0 to 3
    (2, 2|1, 2|1|1)
    """
    own = shape.implementation
    if names_of(shape) is None:
        if isinstance(own, SmoothCommon) and not any(own.origin):
            if own.rank == 1:
                return f"{count_text(own.size)} element{'s' * (own.size != 1)}"
            return " x ".join(map(count_text, own.extents)) or "scalar"
        if isinstance(own, JaggedCommon) and own.rank == 2 and not own.origin_at(()):
            rows, (least, most) = own.extent_at(()), own.extent_bounds(1)
            lengths = f"{least} to {most}" if least < most else str(most)
            return f"{count_text(rows)} row{'s' * (rows != 1)} of {lengths}"
    return short_text(str(shape))
