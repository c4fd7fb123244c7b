"""The operation that takes an index to the greatest one of its orbit.

Only the order of the numbers within an index decides, so an index becomes the ranks of its numbers: integers
below the number of modes, whatever the extents. Few different rows of ranks remain of many indices, and only
these meet the operations.
"""

from typing import NamedTuple, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._value_class import frozen
from tensorwrapper.shape.symmetry._operations import table_of
from tensorwrapper.typing import IntArray

_CHUNK = 1 << 20  # keys at a time


@final
@frozen(eq=False)
class Canonical:
    """The greatest index of each orbit, and how the element there becomes the one at the given index."""

    indices: IntArray
    """One row for each given index."""

    signs: npt.NDArray[np.int8]
    """1 or -1; 0 where the symmetry forces the element to be zero."""

    conjugate: npt.NDArray[np.bool_]
    """True where the element is the conjugate."""


class Oriented(NamedTuple):
    """The first operation that makes each row of ranks greatest, and whether the element is zero."""

    operations: IntArray
    zero: "npt.NDArray[np.bool_]"


def ranks_of(indices: IntArray) -> "npt.NDArray[np.int8]":
    """Return how many numbers of its index each number exceeds; O(n * rank**2).

    Examples
    --------
    >>> ranks_of(np.array([[7, -1, 7], [3, 4, 5]])).tolist()
    [[1, 0, 1], [0, 1, 2]]
    """
    columns = indices.T
    ranks = np.zeros(columns.shape, np.int8)
    for k, left in enumerate(columns):
        for j, right in enumerate(columns[:k]):
            ranks[k] += left > right
            ranks[j] += right > left
    return ranks.T


def orient(codes: tuple[bytes, ...], ranks: "npt.NDArray[np.int8]") -> Oriented:
    """Return the operations that make rows of ranks greatest; O(different rows * operations)."""
    rank = ranks.shape[1]
    permutations, signs, conjugate = table_of(codes, rank)
    weights = np.array([max(rank, 1) ** place for place in range(rank - 1, -1, -1)], np.int64)
    keys: IntArray = ranks @ weights
    different, where = np.unique(keys, return_inverse=True)
    digits: IntArray = different[:, None] // weights % max(rank, 1)
    # Operation p puts the number of mode p(k) at k, where it counts weights[k].
    counted = np.empty((rank, len(codes)), np.int64)
    np.put_along_axis(
        counted, permutations.T.astype(np.int64), np.broadcast_to(weights[:, None], counted.shape), 0
    )
    negative = (signs < 0) & ~conjugate
    chosen, zero = np.empty(len(different), np.int64), np.empty(len(different), np.bool_)
    step = max(_CHUNK // len(codes), 1)
    for start in range(0, len(different), step):
        part = slice(start, start + step)
        images: IntArray = digits[part] @ counted
        chosen[part] = images.argmax(axis=1)
        zero[part] = (images[:, negative] == different[part, None]).any(axis=1)
    return Oriented(chosen[where], zero[where])


def canonical_indices(codes: tuple[bytes, ...], indices: IntArray) -> Canonical:
    """Return the greatest index of each orbit; the cost is that of `orient`."""
    rank = indices.shape[1]
    permutations, signs, conjugate = table_of(codes, rank)
    operations, zero = orient(codes, ranks_of(indices))
    greatest = np.take_along_axis(indices, permutations[operations].astype(np.int64), axis=1)
    return Canonical(greatest, np.where(zero, np.int8(0), signs[operations]), conjugate[operations])
