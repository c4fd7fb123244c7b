"""Evenly spaced positions of a mode, if they are few, such as any two: they select like a slice."""

from typing import Any

import numpy as np

from tensorwrapper._integers import MAX_INT64

_FEW = 32
"""More positions are cheaper to look at as an array."""


def even_positions(item: object, extent: int) -> tuple[int, int, int] | None:
    """Return start, step and count of positions in a list or array, counted from the end if negative.

    None if they are not evenly spaced, not few, empty, or invalid: the general way raises the error.

    Examples
    --------
    >>> import numpy as np
    >>> even_positions([4, 2, -6], 6), even_positions([0, 2, 3], 6), even_positions([True, False], 2)
    ((4, -2, 3), None, None)
    >>> even_positions([2, 0], 6), even_positions(np.array([-1]), 6), even_positions([6, 0], 6)
    ((2, -2, 2), (5, 0, 1), None)
    """
    positions: Any = item
    given: object = item
    if type(given) is np.ndarray:
        if positions.size > _FEW or positions.dtype.kind not in "iu":
            return None
        given = positions = positions.tolist()
    # An array without modes is a number by now.
    kind: type[object] = type(given)
    if kind is not list or not 0 < len(positions) <= _FEW or extent > MAX_INT64:
        return None
    start, step = -1, 0
    following: int | None = None
    for position in positions:
        # Exact types: a bool is part of a mask, and a list a further mode.
        if type(position) is not int:
            return None
        place = position if position >= 0 else position + extent
        if not 0 <= place < extent:
            return None
        if start < 0:
            start = place
        elif following is None:
            step = place - start
            following = place + step
        elif place == following:
            following += step
        else:
            return None
    return start, step, len(positions)
