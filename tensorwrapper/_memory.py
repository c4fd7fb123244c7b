"""Size of the memory, and errors for allocations that would exceed it."""

import math
import os
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager, suppress
from functools import cache
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from tensorwrapper.errors import OutOfMemoryError, SizeOverflowError

_S = TypeVar("_S", bound=np.generic)

_LEAST: Final = 2**28
_MOST: Final = 2**36


@cache
def memory_share() -> int:
    """Return a quarter of the memory that a process may have: of the machine's, or of its control group's."""
    found: list[int] = []
    with suppress(OSError, ValueError, AttributeError):
        found.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError), open("/sys/fs/cgroup/memory.max", encoding="ascii") as group:
        found.append(int(group.read()))
    return min(max(min(found, default=4 * _LEAST) // 4, _LEAST), _MOST)


@contextmanager
def memory_for(count: int, what: str = "indices") -> Generator[None]:
    """Raise `SizeOverflowError` where so many numbers, one by one, are more than memory holds.

    A request for more than all of it, at 8 bytes a number, is not even tried: a few untrusted numbers may
    describe any number of others, and a system that overcommits memory kills a process that uses it.
    """
    error = SizeOverflowError(f"{count} {what}, one by one, are more than memory holds")
    if 8 * count > 4 * memory_share():
        raise error
    try:
        yield
    except MemoryError as cause:
        raise error from cause


def new_memory(extents: Iterable[int], dtype: "np.dtype[_S]") -> "npt.NDArray[_S]":
    """Return an array of elements that say nothing yet.

    Raises
    ------
    OutOfMemoryError
        If there is not so much memory.
    """
    return _allocated(np.empty, tuple(extents), dtype)


def _allocated(
    allocate: Callable[[tuple[int, ...], "np.dtype[_S]"], "npt.NDArray[_S]"],
    extents: tuple[int, ...],
    dtype: "np.dtype[_S]",
) -> "npt.NDArray[_S]":
    try:
        return allocate(extents, dtype)
    except (MemoryError, ValueError) as error:  # NumPy has no arrays beyond its address space
        raise too_large(extents, dtype) from error


def filled_memory(extents: Iterable[int], value: npt.ArrayLike, dtype: "np.dtype[_S]") -> "npt.NDArray[_S]":
    """Return an array of elements that are all one value; raises as `new_memory` does."""
    filled = np.asarray(value, dtype)
    if not filled.ndim and filled.dtype.kind in "biufcmM" and not filled.reshape(1).view(np.uint8).any():
        # The system clears memory on first use.
        return _allocated(np.zeros, tuple(extents), dtype)
    result = new_memory(extents, dtype)
    result[...] = value
    return result


def too_large(extents: Iterable[int], dtype: "np.dtype[Any]") -> OutOfMemoryError:
    """Return the error that elements of these extents do not fit into memory."""
    shown = tuple(extents)
    nbytes = math.prod(shown) * dtype.itemsize
    return OutOfMemoryError(
        f"elements of {dtype} in extents {shown} are {nbytes} bytes, more than memory holds: a slice, or the "
        "blocks() of a view, need less"
    )
