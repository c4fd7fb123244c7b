"""Recognise foreign values by their methods, without importing their libraries."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import TypeGuard

    from tensorwrapper.buffer import ArrowArrayLike, ArrowStreamLike


def is_arrow(value: object) -> "TypeGuard[ArrowArrayLike | ArrowStreamLike]":
    """Return True if this hands out Arrow arrays, one or several."""
    return hasattr(value, "__arrow_c_array__") or hasattr(value, "__arrow_c_stream__")


def is_sparse_array(value: object) -> bool:
    """Return True if this is a sparse array of SciPy or of pydata/sparse."""
    if isinstance(value, np.ndarray):
        return False
    names = ("coords", "data", "fill_value", "shape")
    return hasattr(value, "tocoo") or hasattr(value, "to_coo") or all(hasattr(value, name) for name in names)
