"""`BufferPool`: reusable memory for answers until they are sent."""

import mmap
import threading
from collections.abc import Iterable
from typing import Any, Final, cast, final

import numpy as np

from tensorwrapper.typing import Array

_SMALL: Final = 2**16
"""Smaller answers are copied by ZeroMQ, and need no slab."""
_PAGE_BITS: Final = 12
_KEPT: Final = 2**23
"""Size limit of free slabs in bytes."""


@final
class BufferPool:
    """Slabs of memory for answers, reused so that no more exist than answers at one time.

    A slab is at most a quarter larger than its answer. A few MiB more are kept: answers of alternating sizes
    would need fresh pages each time.

    The system allocator returns blocks of a few MiB late or never, and does not share freed memory between
    threads, so it would use twice the size of the answers. Fresh pages cost twenty times as much as writing
    them. Any thread may use the pool.
    """

    __slots__ = ("_free", "_lock", "nbytes")

    def __init__(self) -> None:
        self._free: list[_Slab] = []
        self._lock = threading.Lock()
        self.nbytes: int = 0
        """Bytes of free slabs."""

    def take(self, count: int, dtype: "np.dtype[Any]") -> Array:
        """Return an uninitialized contiguous array of `count` elements."""
        nbytes = count * dtype.itemsize
        if nbytes < _SMALL or dtype.hasobject or dtype.kind == "T":
            return np.empty(count, dtype)
        slab = self._slab(_rounded(nbytes))
        return np.frombuffer(slab, np.uint8, nbytes).view(dtype)

    def _slab(self, size: int) -> "_Slab":
        with self._lock:
            fits = [
                (len(own), -k) for k, own in enumerate(self._free) if size <= len(own) <= size + size // 4
            ]
            if fits:
                length, place = min(fits)
                self.nbytes -= length
                return self._free.pop(-place)
            # Others make room for it.
            left = size
            while self._free and left > 0 and self.nbytes > _KEPT:
                left -= len(self._free[0])
                self._drop()
        return _Slab(-1, size)

    def give(self, frames: Iterable[memoryview]) -> None:
        """Return the slabs of frames that are no longer read; other frames are ignored."""
        for frame in frames:
            slab = _slab_of(frame)
            if slab is not None:
                with self._lock:
                    self._free.append(slab)
                    self.nbytes += len(slab)

    def shrink(self) -> None:
        """Return half of the free slabs to the system; all of them after several calls."""
        with self._lock:
            for _ in range((len(self._free) + 1) // 2):
                self._drop()

    def _drop(self) -> None:
        # Arrays may still use the slab, which closes with the last of them.
        self.nbytes -= len(self._free.pop(0))


@final
class _Slab(mmap.mmap):
    """Pages that return to the system as soon as nothing refers to them."""


def _rounded(nbytes: int) -> int:
    """Return a rounded size, at most a quarter larger."""
    step = 1 << max((nbytes - 1).bit_length() - 3, _PAGE_BITS)
    return -(-nbytes // step) * step


def _slab_of(frame: memoryview) -> _Slab | None:
    found: object = frame
    while isinstance(found, memoryview | np.ndarray):
        found = found.obj if isinstance(found, memoryview) else cast("object", found.base)
    return found if isinstance(found, _Slab) else None
