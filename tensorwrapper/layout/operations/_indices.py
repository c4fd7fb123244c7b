"""Conversion of offsets to indices, for layouts of every kind."""

import numpy.typing as npt

from tensorwrapper.layout.boxes._common import LayoutCommon, check_int64, to_offset_array
from tensorwrapper.layout.boxes._separable import indices_at as indices_by_digits
from tensorwrapper.typing import IntArray


def indices_at(layout: LayoutCommon, offsets: npt.ArrayLike) -> IntArray:
    """Return the first index whose element has each offset: an (..., rank) array."""
    if layout.has_mode_maps:
        return indices_by_digits(layout, offsets)
    check_int64(layout, 0)
    given = to_offset_array(offsets)
    return layout.indices_at(given.reshape(-1)).reshape(*given.shape, layout.shape.rank)
