"""A shape in a few words, for the first line of a display."""

from typing import Any, Final

from tensorwrapper.drawing import count_text
from tensorwrapper.errors import JaggedModeError
from tensorwrapper.shape._shape_base import ShapeBase, names_of
from tensorwrapper.shape.boxes._smooth import SmoothCommon
from tensorwrapper.shape.kinds._jagged import Jagged, JaggedCommon, JaggedView

_DEEP: Final = 4  # rank of rows up to which there are words for them


def shape_words(shape: ShapeBase[Any]) -> str:
    """Return the extents of a plain box, numbers of rows and their lengths, or the text of any other shape.

    O(1), except for the first call on rows of varying lengths: O(rows).

    Examples
    --------
    >>> from tensorwrapper import Shape
    >>> for shape in Shape(20, 30), Shape(), Shape.jagged([3, 0, 2]), Shape.jagged([[2, 1], [1]]):
    ...     print(shape_words(shape))
    20 x 30
    scalar
    3 rows of 0 to 3
    2 rows of 1 to 2 rows of 1 to 2
    """
    own = shape.implementation
    if names_of(shape) is None:
        if isinstance(own, SmoothCommon) and not any(own.origin):
            if own.rank == 1:
                return f"{count_text(own.size)} element{'s' * (own.size != 1)}"
            return " x ".join(map(count_text, own.extents)) or "scalar"
        if isinstance(own, JaggedCommon) and _has_words(own):
            outer = [_rows_text(*own.extent_bounds(mode)) for mode in range(own.rank - 1)]
            return " of ".join([*outer, _range_text(*own.extent_bounds(own.rank - 1))])
    from tensorwrapper.shape.pictures._draw import short_text  # noqa: PLC0415 - few are shown

    return short_text(str(shape))


def _rows_text(least: int, most: int) -> str:
    return f"{_range_text(least, most)} row{'s' * (most != 1 or least != most)}"


def _range_text(least: int, most: int) -> str:
    return f"{count_text(least)} to {count_text(most)}" if least < most else count_text(most)


def _has_words(rows: JaggedCommon) -> bool:
    if rows.rank > 2 and (rows.rank > _DEEP or not isinstance(rows, (Jagged, JaggedView))):
        return False
    try:
        return not any(rows.origin)
    except JaggedModeError:  # starts that differ
        return False
