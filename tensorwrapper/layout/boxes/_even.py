"""Few positions of a mode that are evenly spaced, such as any two: they select as a slice does."""

from typing import cast

import numpy as np

from tensorwrapper._integers import MAX_INT64
from tensorwrapper.typing import Array

__all__ = ["even_positions"]

_FEW = 32
"""More positions are cheaper to look at as an array."""


def even_positions(item: object, extent: int) -> tuple[int, int, int] | None:
    """Return start, step and count of positions in a list or array, counted from the end if negative.

    None if they are not evenly spaced, not few, none, or wrong: then the general way says what is wrong.

    Examples
    --------
    >>> even_positions([4, 2, -6], 6), even_positions([0, 2, 3], 6), even_positions([True, False], 2)
    ((4, -2, 3), None, None)
    >>> even_positions([2, 0], 6), even_positions(np.array([-1]), 6), even_positions([6, 0], 6)
    ((2, -2, 2), (5, 0, 1), None)
    """
    if type(item) is np.ndarray:
        array = cast("Array", item)
        if array.ndim != 1 or array.dtype.kind not in "iu" or array.size > _FEW:
            return None
        positions: list[object] = array.tolist()
    elif type(item) is list:
        positions = cast("list[object]", item)
    else:
        return None
    count = len(positions)
    if not 0 < count <= _FEW or extent > MAX_INT64:
        return None
    start = step = before = 0
    for number, position in enumerate(positions):
        # Exact types: a bool is part of a mask.
        if type(position) is not int or not -extent <= position < extent:
            return None
        place = position if position >= 0 else position + extent
        if number == 0:
            start = place
        elif number == 1:
            step = place - start
        elif place - before != step:
            return None
        before = place
    return start, step, count
