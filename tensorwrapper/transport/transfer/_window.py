"""`Window`: sizes chunks to keep a link busy without delaying other messages."""

from typing import Final, final

_LEAST: Final = 2**14
"""Minimum size of a chunk in bytes."""

_PAGE: Final = 2**12

_WAIT: Final = 0.01
"""Seconds that a small message may wait behind chunks under way."""


@final
class Window:
    """Measures the rate of a link at the taker, and sizes chunks so that those under way take 10 ms.

    At 100 Mbit/s that is 128 KiB; with 8 MiB a cancellation would wait for 0.7 seconds. The round-trip time
    is added, so that distant ends do not wait for credit. The window starts small and grows as measured. If
    both ends are on one machine, chunks have the maximum size.

    Parameters
    ----------
    credit
        Chunks that may be under way.
    chunk
        Maximum size of a chunk in bytes.
    is_local
        Whether both ends are on one machine.
    """

    __slots__ = ("_asked", "_came", "_credit", "_least", "_most", "_since", "chunk")

    def __init__(self, credit: int, chunk: int, *, is_local: bool) -> None:
        self._credit, self._most = credit, chunk
        self.chunk = chunk if is_local else min(chunk, 4 * _LEAST)
        """Current chunk size in bytes."""
        self._came, self._since = 0, -1.0 if is_local else 0.0
        # Time of the last grant, and the shortest delay from a grant to its first chunk.
        self._asked: float | None = None
        self._least: float | None = None

    def granted(self, now: float, outstanding: int) -> None:
        """Record a grant while `outstanding` chunks are still under way."""
        if self._asked is None and not outstanding:
            self._asked = now

    def arrived(self, now: float, nbytes: int) -> None:
        """Record the arrival of a chunk, which may change `chunk`."""
        if self._since < 0:
            return
        if self._asked is not None:
            # The chunks of a window follow one another from here on.
            waited = now - self._asked
            self._least = waited if self._least is None else min(self._least, waited)
            self._asked = None
        if not self._since:
            self._came, self._since = 0, now
            return
        self._came += nbytes
        seconds = now - self._since
        if self._came < self._credit * self.chunk // 2 or seconds <= 0:
            return
        wanted = self._came / seconds * (_WAIT + (self._least or 0.0)) / self._credit
        # At most double the size, because a burst from a buffer is no reliable measurement.
        bounded = min(wanted, 2 * self.chunk, self._most)
        self.chunk = min(max(int(bounded) // _PAGE * _PAGE, _LEAST), max(self._most, 1))
        self._came, self._since = 0, now
