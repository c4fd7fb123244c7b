"""Work within rows that have nulls: compute on the valid elements, and put the results in their places.

Nulls are last in every order, have a null for a rank or a running sum, and count as one distinct value.
"""

from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import different
from tensorwrapper.buffer import Dense, Nullable
from tensorwrapper.buffer.lowlevel import fit_number, packed_layout
from tensorwrapper.shape import Shape
from tensorwrapper.tensor._tensor_base import TensorBase
from tensorwrapper.tensor.rows._nulls import over_valid, sides_of
from tensorwrapper.tensor.rows._row_facts import row_splits
from tensorwrapper.typing import Array, IntArray

_AT_ONCE: Final = 2**18
"""Elements of which the places are known at once."""


def places_among_all(tensor: TensorBase[Any], found: IntArray, rows: IntArray, inner: IntArray) -> IntArray:
    """Return where elements are in their rows, of which it is known where they are among the valid ones.

    `found` are places in rows of valid elements, which begin at `inner`; `rows` has the number of each row.
    """
    places = np.flatnonzero(tensor.buffer.valid_of(tensor.layout.implementation))
    return cast("IntArray", places[inner[rows] + found] - row_splits(tensor.shape)[rows])


def _taken(splits: IntArray, inner: IntArray) -> IntArray:
    """Return the places of valid elements in front of the nulls of their row."""
    rows = np.repeat(np.arange(len(splits) - 1), np.diff(inner))
    return cast("IntArray", (splits[:-1] - inner[:-1])[rows] + np.arange(len(rows)))


def argsort(tensor: TensorBase[Any], kept: Any, *, descending: bool) -> IntArray:  # noqa: ANN401 - rows of a rank
    """Return the positions that sort each row, nulls last; `kept` are the rows without them."""
    splits, inner = row_splits(tensor.shape), row_splits(kept.shape)
    found = kept.rows().argsort(descending=descending).elements()
    valid = tensor.buffer.valid_of(tensor.layout.implementation)
    order = np.empty(len(valid), np.int64)
    # Some rows at a time: the places of all would take several times the memory of the result.
    marks = np.searchsorted(splits, np.arange(0, len(valid), _AT_ONCE))
    ends_of_runs: list[int] = different(np.append(marks, len(splits) - 1)).tolist()
    for first, last in pairwise(ends_of_runs):
        low, high = splits[first], splits[last]
        own, ends = valid[low:high], inner[first : last + 1] - inner[first]
        starts = splits[first:last] - low
        places = np.flatnonzero(own)
        rows = np.repeat(np.arange(last - first), np.diff(ends))
        taken = (starts - ends[:-1])[rows] + np.arange(len(rows))
        part = order[low:high]
        part[taken] = places[ends[rows] + found[inner[first] : inner[last]]] - starts[rows]
        is_free = np.ones(len(part), np.bool_)
        is_free[taken] = False
        nulls = np.flatnonzero(~own)
        part[is_free] = nulls - starts[np.searchsorted(splits[first : last + 1] - low, nulls, "right") - 1]
    return order


def sort(tensor: TensorBase[Any], kept: Any, *, descending: bool) -> TensorBase[Any]:  # noqa: ANN401 - rows of a rank
    """Return the elements of each row in order, nulls last; `kept` are the rows without them."""
    valid = np.zeros(tensor.shape.size, np.bool_)
    valid[_taken(row_splits(tensor.shape), row_splits(kept.shape))] = True
    (made,) = over_valid([kept.rows().sort(descending=descending)], valid, tensor.shape, tensor)
    return made


def first_positions(shape: Shape[Any], order: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Return the first `count` positions of each row, and how many each row has."""
    splits = row_splits(shape)
    lengths = np.diff(splits)
    kept = np.arange(len(order)) - np.repeat(splits[:-1], lengths) < count
    return order[kept], np.minimum(lengths, count)


def at_valid(tensor: TensorBase[Any], result: TensorBase[Any]) -> TensorBase[Any]:
    """Return one number for each valid element where that is, and nulls where there are nulls."""
    (made,) = over_valid([result], tensor.buffer.valid_of(tensor.layout.implementation), tensor.shape, tensor)
    return made


def differences(tensor: TensorBase[Any]) -> TensorBase[Any]:
    """Return the difference of each element of a row and the one before; a null where one of them is."""
    plain, valid = sides_of(tensor)
    flat = plain.buffer.own_elements_of(plain.layout.implementation)
    flat[~valid] = np.zeros((), flat.dtype)
    rows: Any = tensor._make(packed_layout(tensor.shape), Dense(cast("Any", flat)))
    found = rows.rows().diff()
    is_first = np.zeros(len(flat) + 1, np.bool_)
    is_first[row_splits(tensor.shape)] = True
    both = valid.copy()
    both[1:] &= valid[:-1]
    both = both[~is_first[:-1]]
    return tensor._make(
        packed_layout(found.shape), Nullable(Dense(found.elements()), Dense(cast("Any", both)))
    )


def beside_empty(
    found: TensorBase[Any], filled: "npt.NDArray[np.bool_]", empty: object, shape: Shape[Any]
) -> TensorBase[Any]:
    """Return elements of rows that have some, nulls among them, and the results of rows without any."""
    (made,) = over_valid([found], filled, shape, found)
    sides = made.buffer.sides
    if sides is not None and empty is not None and empty is not ... and not filled.all():
        values, valid = (side.read_run(0, side.size) for side in sides)
        values[~filled] = fit_number(empty, values.dtype, "empty")
        valid[~filled] = True
    return made


def _nulls_of(tensor: TensorBase[Any]) -> IntArray:
    """Return how many nulls each row has."""
    nulls = np.cumsum(~tensor.buffer.valid_of(tensor.layout.implementation))
    return np.diff(np.concatenate([[0], nulls])[row_splits(tensor.shape)])


def with_null_last(
    tensor: TensorBase[Any], distinct: TensorBase[Any]
) -> "tuple[IntArray, npt.NDArray[np.bool_]]":
    """Return the number of distinct elements of each row, nulls included, and True for each valid one."""
    found = _nulls_of(tensor) > 0
    counts = np.diff(row_splits(distinct.shape)) + found
    valid = np.ones(int(counts.sum()), np.bool_)
    valid[np.cumsum(counts)[found] - 1] = False
    return counts, valid


def with_null_counts(tensor: TensorBase[Any], counts: Array, valid: "npt.NDArray[np.bool_]") -> Array:
    """Return how often each distinct element is there, nulls among them."""
    nulls = _nulls_of(tensor)
    every = np.empty(len(valid), np.int64)
    every[valid] = counts
    every[~valid] = nulls[nulls > 0]
    return every
