"""The budget of bytes under way in a process, and memory for gathered chunks."""

import threading
from collections import deque
from typing import Final, final

import zmq


@final
class Budget:
    """Limit on the bytes in use, shared by all threads."""

    __slots__ = ("_lock", "left")

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self.left = most
        """Number of free bytes."""

    def move(self, nbytes: int) -> bool:
        """Take bytes, or return them if `nbytes` is negative; return False if too few are left."""
        with self._lock:
            if nbytes > self.left:
                return False
            self.left -= nbytes
            return True


@final
class Reservation:
    """Share of one transfer in a budget, given back when the object is garbage-collected."""

    __slots__ = ("_budget", "nbytes")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.nbytes = 0

    def grow(self, nbytes: int) -> bool:
        """Take more bytes; return False if too few are left."""
        if not self._budget.move(nbytes):
            return False
        self.nbytes += nbytes
        return True

    def release(self) -> None:
        """Give back all bytes."""
        self._budget.move(-self.nbytes)
        self.nbytes = 0

    def __del__(self) -> None:
        self.release()


PROCESS: Final = Budget(2**26)
"""Budget of this process for chunks that were granted or gathered."""

_MOST: Final = 2**24
"""Limit on the gathered bytes of one socket."""


@final
class ChunkPool:
    """Pool of chunk buffers, free or in use by ZeroMQ, of at most 16 MiB and within the process budget."""

    __slots__ = ("_chunk", "_free", "_hold", "_used", "gathered")

    def __init__(self, chunk: int) -> None:
        self._chunk = chunk
        self._hold = Reservation(PROCESS)
        self._free: list[memoryview] = []
        self.gathered: tuple[str, int, int] | None = None
        """Run in the next buffer, which was gathered but not sent for lack of room."""
        self._used: deque[tuple[memoryview, zmq.MessageTracker]] = deque()

    def get(self) -> memoryview | None:
        """Return a free buffer, or None if there is none now. Give it back with `used`."""
        if self._free:
            return self._free.pop()
        self.gathered = None
        if self._used and self._used[0][1].done:
            return self._used.popleft()[0]
        if self._hold.nbytes + self._chunk > max(_MOST, self._chunk) or not self._hold.grow(self._chunk):
            return None
        self.gathered = None
        return memoryview(bytearray(self._chunk))

    def used(self, memory: memoryview, tracker: zmq.MessageTracker | None) -> None:
        """Record the tracker of a buffer in use, or None if its message was not sent."""
        if tracker is None:
            # Only one buffer is free at a time, and it still has the gathered elements.
            self._free.append(memory)
        else:
            self._used.append((memory, tracker))
            self.gathered = None

    def close(self) -> None:
        """Release the memory. Buffers that ZeroMQ still reads are freed later."""
        self._free.clear()
        self._used.clear()
        self._hold.release()
