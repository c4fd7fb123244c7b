"""`Window`: the bytes under way that keep a link busy without delaying other messages."""

from typing import Final, final

__all__ = ["Window"]

_LEAST: Final = 2**14
"""Bytes of the smallest chunk."""

_PAGE: Final = 2**12

_WAIT: Final = 0.01
"""Seconds that something small may wait behind chunks that are under way."""


@final
class Window:
    """Measures at a taker how fast chunks come, and sizes chunks so that those under way take 10 ms.

    At 100 Mbit/s that is 128 KiB, where 8 MiB would make a cancellation wait for 0.7 seconds. The time that a
    message takes there and back is added, so that distant ends do not wait for credit. It starts small and
    grows as fast as the link shows that it carries more; where both ends are on one machine there is no link,
    and chunks are as large as they may be.

    Parameters
    ----------
    credit
        Chunks that may be under way.
    chunk
        Bytes of a chunk at most.
    is_local
        Whether both ends are on one machine.
    """

    __slots__ = ("_asked", "_came", "_credit", "_least", "_most", "_since", "chunk")

    def __init__(self, credit: int, chunk: int, *, is_local: bool) -> None:
        self._credit, self._most = credit, chunk
        self.chunk = chunk if is_local else min(chunk, 4 * _LEAST)
        """Bytes that a chunk should have."""
        self._came, self._since = 0, -1.0 if is_local else 0.0
        # When credit was last granted, and the shortest time from there to the first chunk that used it.
        self._asked: float | None = None
        self._least: float | None = None

    def granted(self, now: float, outstanding: int) -> None:
        """Note that credit goes out when so many chunks are still under way."""
        if self._asked is None and not outstanding:
            self._asked = now

    def arrived(self, now: float, nbytes: int) -> None:
        """Note that a chunk came; `chunk` may change."""
        if self._since < 0:
            return
        if self._asked is not None:
            # From here on the chunks of a window follow one another.
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
        # Twice as much at once, no more: one burst out of a buffer says little.
        bounded = min(wanted, 2 * self.chunk, self._most)
        self.chunk = min(max(int(bounded) // _PAGE * _PAGE, _LEAST), max(self._most, 1))
        self._came, self._since = 0, now
