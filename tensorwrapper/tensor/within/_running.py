"""Results along rows: running sums and products, and differences of neighbours."""

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._compiled import running as running_sums
from tensorwrapper.tensor.within._groups import Columns, each_row
from tensorwrapper.typing import Array, IntArray


def accumulated(ufunc: np.ufunc, flat: Array, splits: IntArray, dtype: npt.DTypeLike | None = None) -> Array:
    """Return the running results of a ufunc, with the bits that each row alone would have. O(n)."""
    result = np.asarray(ufunc.accumulate(flat[:1], dtype=dtype)).dtype
    sums = running_sums(flat, splits, result) if ufunc is np.add else None
    if sums is not None:
        return sums

    def running(columns: Columns) -> Columns:
        found = [columns[0].astype(result, copy=False)]
        for column in columns[1:]:
            found.append(cast("Array", ufunc(found[-1], column.astype(result, copy=False), dtype=dtype)))
        return found

    return each_row(
        flat,
        splits,
        lambda rows: cast("Array", ufunc.accumulate(rows, axis=-1, dtype=dtype)),
        np.empty(len(flat), result),
        # NumPy rounds products of many complex numbers at once otherwise than one after the other.
        running if result.kind != "c" else None,
    )


def differences(flat: Array, splits: IntArray) -> tuple[Array, IntArray]:
    """Return the difference of each element of a row and the one before, and the number of these. O(n)."""
    given: Any = flat
    every = np.not_equal(flat[1:], flat[:-1]) if flat.dtype.kind == "b" else given[1:] - given[:-1]
    lengths = np.diff(splits)
    within = np.ones(max(len(flat) - 1, 0), np.bool_)
    ends = splits[1:-1]
    within[ends[(ends > 0) & (ends < len(flat))] - 1] = False
    return every[within], np.maximum(lengths - 1, 0)
