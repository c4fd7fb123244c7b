"""Limits on memory that a sender's numbers make a reader allocate, summed over a message."""

import threading
from typing import final

from tensorwrapper.wire._protocol_errors import refuse_over


@final
class AllocationLimit:
    """The bytes that were claimed of one message; shared by threads."""

    __slots__ = ("_lock", "most", "total")

    most: int
    """`Limits.decompressed_bytes` of the reader."""
    total: int
    """Number of bytes claimed so far."""

    def __init__(self, most: int) -> None:
        self._lock = threading.Lock()
        self.most = most
        self.total = 0

    def add(self, nbytes: int, what: object) -> None:
        """Count bytes; raise, and count none, if all of them are over the limit."""
        with self._lock:
            if self.total + nbytes > self.most:
                refuse_over(
                    "decompressed_bytes",
                    f"{what} takes {nbytes} bytes unpacked, its message {self.total} already; "
                    f"{self.most} are allowed",
                )
            self.total += nbytes


@final
class Claim:
    """Share of one buffer in the claims of its message, taken when its elements are made.

    Reading it again takes no more: the largest read counts, once for every description in the label that
    shares the buffer.
    """

    __slots__ = ("_claims", "_taken", "_what", "sharers")

    sharers: int
    """Number of descriptions of the same elements."""

    def __init__(self, claims: AllocationLimit, what: str) -> None:
        self._claims = claims
        self._what = what
        self._taken = 0
        self.sharers = 1

    def take(self, nbytes: int) -> None:
        """Raise `RemoteProtocolError` if one read of so many bytes is over the limit.

        Two threads that read at once may count common elements twice.
        """
        wanted = nbytes * self.sharers
        if wanted > self._taken:
            self._claims.add(wanted - self._taken, self._what)
            self._taken = wanted
