"""`Line`: system information on the connection to one client: progress and disconnection."""

import os
import select
import socket as sockets
import stat
import struct
import sys
from typing import Final, Self, final

_ACKNOWLEDGED: Final = 120
"""Offset of the acknowledged bytes in Linux's information on a connection."""
_INFO: Final = 128
_CLOSED: Final[int | None] = getattr(select, "POLLRDHUP", None)
"""Event of a connection closed by the peer; some systems do not have it."""
_CHANGE: Final = 2**16
"""Bytes assumed per change of the queue."""


@final
class Line:
    """A socket descriptor owned by ZeroMQ, identified by inode because numbers are reused."""

    __slots__ = ("_changes", "_descriptor", "_inode", "_waiting")

    def __init__(self, descriptor: int, inode: int) -> None:
        self._descriptor, self._inode = descriptor, inode
        # For a Unix socket: the bytes in its queue, and how often that number has changed.
        self._waiting, self._changes = -1, 0

    @classmethod
    def of(cls, descriptor: int | None) -> Self | None:
        """Return the connection of a message, if the system supports it."""
        if descriptor is None:
            return None
        try:
            found = os.fstat(descriptor)
        except OSError:
            return None
        return cls(descriptor, found.st_ino) if stat.S_ISSOCK(found.st_mode) else None

    def _open(self) -> sockets.socket | None:
        """Return the socket under a duplicated descriptor; None if it is closed."""
        try:
            own = os.dup(self._descriptor)
        except OSError:
            return None
        try:
            if os.fstat(own).st_ino == self._inode:
                return sockets.socket(fileno=own)
        except OSError:
            pass
        os.close(own)
        return None

    @property
    def place(self) -> tuple[int, int]:
        """Identity among all connections of the same time."""
        return self._descriptor, self._inode

    @property
    def is_gone(self) -> bool:
        """True if the client is known to have disconnected, so that answers would be lost."""
        try:
            if os.fstat(self._descriptor).st_ino != self._inode:
                return True
        except OSError:
            return True
        if _CLOSED is None:
            return False
        # A descriptor that was closed or reused means that the client has disconnected.
        seen = select.poll()
        seen.register(self._descriptor, _CLOSED)
        return any(what & (_CLOSED | select.POLLHUP | select.POLLERR) for _, what in seen.poll(0))

    def taken(self) -> int | None:
        """Return how many bytes the client's system has acknowledged so far; None if unknown."""
        if sys.platform != "linux":
            return None
        found = self._open()
        if found is None:
            return None
        with found:
            try:
                if found.family == sockets.AF_UNIX:
                    return self._changed(found)
                told = found.getsockopt(sockets.IPPROTO_TCP, sockets.TCP_INFO, _INFO)
            except OSError:
                return None
        if len(told) < _INFO:
            return None
        return int(struct.unpack_from("=Q", told, _ACKNOWLEDGED)[0])

    def _changed(self, found: sockets.socket) -> int:
        """Return a number that grows with queue changes, as Unix sockets do not count acknowledged bytes."""
        # These modules exist on Unix only.
        import fcntl  # noqa: PLC0415
        import termios  # noqa: PLC0415

        waiting = struct.unpack("=i", fcntl.ioctl(found, termios.TIOCOUTQ, bytes(4)))[0]
        if waiting != self._waiting:
            self._waiting = waiting
            self._changes += 1
        return self._changes * _CHANGE

    def cut(self) -> bool:
        """End the connection; return whether there was one. ZeroMQ then frees its queued messages."""
        found = self._open()
        if found is None:
            return False
        with found:
            try:
                found.shutdown(sockets.SHUT_RDWR)
            except OSError:
                return False
        return True
