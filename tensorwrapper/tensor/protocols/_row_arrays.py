"""Arrays as the rows of one jagged tensor, joined all at once."""

from operator import attrgetter
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import join_elements
from tensorwrapper.shape import Shape
from tensorwrapper.typing import Array

_rank_of, _dtype_of = attrgetter("ndim"), attrgetter("dtype")


def join_rows(rows: list[object]) -> tuple[Array, Shape[Any]] | None:
    """Return the elements of arrays of one rank and type, and their shape; None if they are anything else.

    O(arrays) beside the one copy of the elements.
    """
    if set(map(type, rows)) != {np.ndarray}:
        return None
    arrays = cast("list[Array]", rows)
    rank, dtype = arrays[0].ndim, arrays[0].dtype
    if not rank or dtype.kind not in "biufc" or set(map(_rank_of, arrays)) != {rank}:
        return None
    # Most types are one object, which is compared much faster than types are.
    if set(map(id, map(_dtype_of, arrays))) != {id(dtype)} and set(map(_dtype_of, arrays)) != {dtype}:
        return None
    if rank == 1:
        lengths = np.fromiter(map(len, arrays), dtype=np.int64, count=len(arrays))
        return join_elements(arrays, dtype), Shape.jagged(lengths)
    extents = np.array([a.shape for a in arrays], dtype=np.int64)
    return join_elements(arrays, dtype), Shape.from_cells((len(arrays),), extents)
