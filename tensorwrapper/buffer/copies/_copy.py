"""All copies of element data, so that they can be counted.

``_run_copy.py`` has copies by a plan, and ``_strided_copy.py`` strided copies at the speed of memory, for
both modules. No other module of the package copies elements; a test reads the sources for it.
"""

from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import EllipsisType
from typing import Any, TypeVar, cast, final

import numpy as np
import numpy.typing as npt

from tensorwrapper._arrays import CACHED
from tensorwrapper._compiled import copy_runs
from tensorwrapper._memory import new_memory
from tensorwrapper._value_class import Shown
from tensorwrapper.buffer.copies._strided_copy import copy_strided
from tensorwrapper.typing import Array, IntArray

_S = TypeVar("_S", bound=np.generic)

_INTEGERS = {int}
_FEW = 16  # arrays that are copied one by one


@final
class CopyCount(Shown):
    """Number of copies, and of bytes of elements copied, while it was counting."""

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

    Copies by NumPy for its callers, and by ZeroMQ and the kernel, are not counted.

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
    """Return the elements in new memory, without gaps, last mode fastest."""
    if array.size <= CACHED or array.flags.c_contiguous:
        result = np.array(array, dtype=dtype, order="C", copy=True)
    else:
        result = new_memory(array.shape, array.dtype if dtype is None else dtype)
        copy_strided(result, array)
    _count(result.nbytes)
    return result


def take_elements(flat: npt.NDArray[_S], places: Iterator[IntArray], size: int) -> npt.NDArray[_S]:
    """Return ``flat[places]`` for places that come in batches and number `size` in all."""
    result = new_memory((size,), flat.dtype)
    start = 0
    for batch in places:
        np.take(flat, batch, out=result[start : start + len(batch)], mode="clip")
        start += len(batch)
    _count(result.nbytes)
    return result


def take_runs(
    flat: npt.NDArray[_S], starts: IntArray, splits: IntArray, places: Iterator[IntArray]
) -> npt.NDArray[_S]:
    """Return runs of elements one after the other, each from its start on; `splits` say from 0 on how long.

    `places` has the places of the same elements, in batches, for where nothing is compiled.
    """
    result = new_memory((splits.item(-1),), flat.dtype)
    if not copy_runs(flat, result, starts, splits[:-1], splits[1:]):
        return take_elements(flat, places, len(result))
    _count(result.nbytes)
    return result


def put_runs(
    target: npt.NDArray[_S],
    starts: IntArray,
    flat: npt.NDArray[_S],
    splits: IntArray,
    places: Iterator[IntArray],
) -> None:
    """Write runs of `flat`, which `splits` cut, into `target`, each from its start on.

    `places` are as for `take_runs`. The arrays share no memory.
    """
    if not copy_runs(flat, target, splits[:-1], starts, starts + (splits[1:] - splits[:-1])):
        begin = splits.item(0)
        for batch in places:
            target[batch] = flat[begin : begin + len(batch)]
            begin += len(batch)
    _count((splits.item(-1) - splits.item(0)) * flat.itemsize)


def take_windows(windows: npt.NDArray[_S], places: IntArray) -> npt.NDArray[_S]:
    """Return ``windows[places]`` of an array that may overlap itself, of which no copy is made."""
    result: npt.NDArray[_S] = np.ascontiguousarray(windows[places])
    _count(result.nbytes)
    return result


def take_together(
    arrays: Sequence[npt.NDArray[_S]], places: Iterator[IntArray], size: int
) -> list[npt.NDArray[_S]]:
    """Return the results of `take_elements` of several flat arrays, for the same places."""
    results = [new_memory((size,), flat.dtype) for flat in arrays]
    start = 0
    for batch in places:
        stop = start + len(batch)
        for flat, result in zip(arrays, results, strict=True):
            flat.take(batch, out=result[start:stop], mode="clip")
        start = stop
    _count(sum([result.nbytes for result in results]))
    return results


def join_elements(arrays: Sequence[Array], dtype: np.dtype[np.generic]) -> Array:
    """Return the elements of arrays of one rank, each in row-major order, one after the other."""
    flat = len(arrays) > _FEW and arrays[0].ndim == 1
    if flat or (len(arrays) > _FEW and all(a.flags.c_contiguous for a in arrays)):
        # NumPy joins many arrays in a tenth of the time; with one mode each they may have gaps.
        parts = arrays if flat else [a.reshape(-1) for a in arrays]
        result: Array = np.concatenate(parts, dtype=dtype, casting="unsafe")
        _count(result.nbytes)
        return result
    result = new_memory((sum([a.size for a in arrays]),), dtype)
    start = 0
    for array in arrays:
        part = result[start : start + array.size]
        copy_strided(part.reshape(array.shape), array)
        start += array.size
    _count(result.nbytes)
    return result


def join_into(target: Array, arrays: Sequence[Array], mode: int) -> None:
    """Write arrays one after the other along a mode of `target`, with which they share no memory."""
    np.concatenate(arrays, axis=mode, out=target, casting="unsafe")
    _count(target.nbytes)


def take_along(target: Array, source: Array, positions: IntArray, mode: int) -> None:
    """Write positions of a mode of `source`, which all exist, into `target`, which has no gaps."""
    # The method, as the function takes four times as long for few elements.
    source.take(positions, mode, target, "clip")
    _count(target.nbytes)


def write_elements(target: Array, source: Array, *, threads: int = 1) -> None:
    """Write `source` into `target`, of the same extents and without memory in common; cast as NumPy does."""
    copy_strided(target, source, threads=threads)
    _count(target.nbytes)


def scatter_elements(flat: npt.NDArray[_S], places: tuple[IntArray, ...], target: npt.NDArray[_S]) -> None:
    """Write the elements of `flat` to these places of `target`."""
    # The ellipsis makes a view of a target of rank 0, whose only place is ().
    key: tuple[IntArray | EllipsisType, ...] = (*places, ...)
    target[key] = flat
    _count(flat.nbytes)


def assign_elements(target: npt.NDArray[_S], value: npt.ArrayLike) -> None:
    """Write `value`, broadcast and cast as NumPy does, into `target`; memory that overlaps is read first."""
    given = cast("Array", value) if isinstance(value, np.ndarray) else None
    if given is not None and np.may_share_memory(target, given):
        # NumPy reads elements that it has just written where strides of one sign differ: x[0:8:2] = x[0:4].
        value = given if given.strides == target.strides else copy_elements(given)
    array = cast("Array", value) if target.size > CACHED and isinstance(value, np.ndarray) else None
    if array is None or array.shape != target.shape or np.may_share_memory(target, array):
        target[...] = value
    else:
        copy_strided(target, array)
    _count(target.nbytes)


def write_number(target: Array, key: object, value: float) -> bool:
    """Write a number of Python at an index of plain integers, if it fits as it is; tell whether it was.

    All errors, and values that need checks, are left to the general method.
    """
    items = cast("tuple[object, ...]", key) if type(key) is tuple else (key,)
    if len(items) != target.ndim or not _INTEGERS.issuperset(map(type, items)):
        return False
    # Types of ml_dtypes have letters of NumPy's types, but not their kinds.
    if target.dtype.char != "d" and not (type(value) is int and target.dtype.kind in "iu"):
        return False
    if type(value) is int and not -(2**63) <= value < 2**64:
        return False
    try:
        target[cast("Any", key)] = value
    except (IndexError, OverflowError, ValueError):
        return False
    _count(target.itemsize)
    return True


def index_elements(array: npt.NDArray[_S], key: tuple[object, ...]) -> npt.NDArray[_S]:
    """Return the result of NumPy's indexing with arrays: elements in new memory."""
    result: npt.NDArray[_S] = array[cast("Any", key)]
    if type(result) is not np.ndarray:  # one element
        result = np.asarray(result)
    elif result.base is not None and np.may_share_memory(result, array):
        return copy_elements(result)
    _count(result.nbytes)
    return result


def assign_indexed(target: npt.NDArray[_S], key: tuple[object, ...], values: Array) -> None:
    """Write values where NumPy's indexing with arrays selects elements; overlapping memory is read first."""
    target[cast("Any", key)] = values
    _count(values.nbytes)
