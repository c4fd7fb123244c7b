"""Take rows of a tensor by number, in any order and with repeats."""

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import ConversionError, OutOfBoundsError
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import IntArray

if TYPE_CHECKING:
    from tensorwrapper.selection import View


def to_rows(indices: npt.ArrayLike) -> IntArray:
    """Return row numbers as an array.

    Raises
    ------
    ConversionError
        If they are not a 1-d array of integers.
    """
    found = np.asarray(indices)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size):
        raise ConversionError(
            f"row numbers must be a 1-d array of integers, not {found.dtype} of {found.shape}"
        )
    return found.astype(np.int64)


def rows_in_bounds(rows: IntArray, count: int) -> IntArray:
    """Return row numbers with negative ones counted from the end.

    Raises
    ------
    OutOfBoundsError
        If there is no such row.
    """
    if len(rows) and (int(rows.min()) < -count or int(rows.max()) >= count):
        raise OutOfBoundsError(f"rows {rows.min()} to {rows.max()} were requested, but there are {count}")
    found: IntArray = np.where(rows < 0, rows + count, rows)
    return found


def take_rows(tensor: "Tensor[Any] | View[Any]", rows: IntArray) -> Tensor[Any]:
    """Return rows of an open tensor."""
    found = tensor[rows_in_bounds(rows, len(tensor))]
    return found if isinstance(found, Tensor) else found.compute()
