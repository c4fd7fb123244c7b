"""The shared budget of bytes under way in a process, and memory for gathered chunks."""

import threading
from collections import deque
from typing import Final, final

import zmq

__all__ = ["PROCESS", "Budget", "ChunkPool", "Reservation"]


@final
class Budget:
    """Bytes that may be in use at a time, by all threads together."""

    __slots__ = ("_lock", "left")

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self.left = most
        """Number of free bytes."""

    def move(self, nbytes: int) -> bool:
        """Take bytes, or give them back where they are negative; return False if so many are not left."""
        with self._lock:
            if nbytes > self.left:
                return False
            self.left -= nbytes
            return True


@final
class Reservation:
    """Share of one transfer in a budget, returned when the object is collected."""

    __slots__ = ("_budget", "nbytes")

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.nbytes = 0

    def grow(self, nbytes: int) -> bool:
        """Take more bytes, and tell whether there were so many."""
        if not self._budget.move(nbytes):
            return False
        self.nbytes += nbytes
        return True

    def release(self) -> None:
        """Give all back."""
        self._budget.move(-self.nbytes)
        self.nbytes = 0

    def __del__(self) -> None:
        self.release()


PROCESS: Final = Budget(2**26)
"""Bytes under way in all transfers of this process: chunks that were granted or gathered."""

_MOST: Final = 2**24
"""Bytes that one socket may have gathered."""


@final
class ChunkPool:
    """Memory of one chunk each: free, or read by ZeroMQ. 16 MiB at most, within the limit of the process."""

    __slots__ = ("_chunk", "_free", "_hold", "_used", "gathered")

    def __init__(self, chunk: int) -> None:
        self._chunk = chunk
        self._hold = Reservation(PROCESS)
        self._free: list[memoryview] = []
        self.gathered: tuple[str, int, int] | None = None
        """Run in the next memory: it was gathered, and there was no room to send it."""
        self._used: deque[tuple[memoryview, zmq.MessageTracker]] = deque()

    def get(self) -> memoryview | None:
        """Return memory that is not being read, or None if there is none now. `used` returns it."""
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
        """Record the tracker that reads memory, or None if its message was not sent."""
        if tracker is None:
            # Only one is free at a time, and it still has the gathered elements.
            self._free.append(memory)
        else:
            self._used.append((memory, tracker))
            self.gathered = None

    def close(self) -> None:
        """Release the memory; parts that ZeroMQ still reads are freed when it is done."""
        self._free.clear()
        self._used.clear()
        self._hold.release()
