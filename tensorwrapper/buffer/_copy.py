"""The one place where element data is copied, so that copies can be counted.

No other module of the package copies elements; a test reads the sources for it.
"""

import math
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import EllipsisType
from typing import TypeVar, final

import numpy as np
import numpy.typing as npt

from tensorwrapper.typing import Array, IntArray

__all__ = [
    "CopyCount",
    "assign_elements",
    "copy_elements",
    "count_copies",
    "join_elements",
    "scatter_elements",
    "take_elements",
]

_S = TypeVar("_S", bound=np.generic)


@final
class CopyCount:
    """How many bytes of elements were copied while it was counting, and in how many copies."""

    __slots__ = ("copies", "nbytes")

    def __init__(self) -> None:
        self.nbytes: int = 0
        self.copies: int = 0

    def __repr__(self) -> str:
        return f"CopyCount(nbytes={self.nbytes}, copies={self.copies})"


_counting: ContextVar[tuple[CopyCount, ...]] = ContextVar("_counting", default=())


@contextmanager
def count_copies() -> Generator[CopyCount]:
    """Count the bytes of elements that the library copies in this block (and this thread or task).

    What NumPy copies on a user's own behalf, and what ZeroMQ and the kernel copy, is not counted.

    Examples
    --------
    >>> import numpy as np
    >>> import tensorwrapper as tw
    >>> t = tw.as_tensor(np.arange(6.0).reshape(2, 3))
    >>> with count_copies() as count:
    ...     _ = t[:, 1:]
    ...     _ = t[:, 1:].copy()
    >>> count.nbytes
    32
    """
    count = CopyCount()
    token = _counting.set((*_counting.get(), count))
    try:
        yield count
    finally:
        _counting.reset(token)


def _count(nbytes: int) -> None:
    for count in _counting.get():
        count.nbytes += nbytes
        count.copies += 1


def copy_elements(array: npt.NDArray[_S], dtype: np.dtype[_S] | None = None) -> npt.NDArray[_S]:
    """Return the elements in memory of their own, without gaps, last mode fastest."""
    result = np.array(array, dtype=dtype, order="C", copy=True)
    _count(result.nbytes)
    return result


def take_elements(flat: npt.NDArray[_S], places: Iterator[IntArray], size: int) -> npt.NDArray[_S]:
    """Return ``flat[places]`` for places that come in batches and number `size` in all."""
    result = np.empty(size, dtype=flat.dtype)
    start = 0
    for batch in places:
        np.take(flat, batch, out=result[start : start + len(batch)], mode="clip")
        start += len(batch)
    _count(result.nbytes)
    return result


def join_elements(arrays: Sequence[Array], dtype: np.dtype[np.generic]) -> Array:
    """Return the elements of all arrays, each in row-major order, one after the other."""
    result = np.empty(sum(math.prod(a.shape) for a in arrays), dtype=dtype)
    start = 0
    for array in arrays:
        part = result[start : start + array.size]
        part.reshape(array.shape)[...] = array
        start += array.size
    _count(result.nbytes)
    return result


def scatter_elements(flat: npt.NDArray[_S], places: tuple[IntArray, ...], target: npt.NDArray[_S]) -> None:
    """Write the elements of `flat` to these places of `target`."""
    # The ellipsis makes a view of a target of rank 0, whose only place is ().
    key: tuple[IntArray | EllipsisType, ...] = (*places, ...)
    target[key] = flat
    _count(flat.nbytes)


def assign_elements(target: npt.NDArray[_S], value: npt.ArrayLike) -> None:
    """Write `value`, broadcast and cast as NumPy does, into `target`; memory that overlaps is read first."""
    target[...] = value
    _count(target.nbytes)
