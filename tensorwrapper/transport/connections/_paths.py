"""`Paths`: the socket files of ``ipc`` addresses, which ZeroMQ does not remove."""

import os
import socket as sockets
from contextlib import suppress
from pathlib import Path
from typing import final


def is_taken(address: str) -> bool:
    """Return True if a process listens at an address's file, which ZeroMQ would silently replace."""
    if not address.startswith("ipc://") or address[6:7] in ("@", "*") or not hasattr(sockets, "AF_UNIX"):
        return False
    with sockets.socket(sockets.AF_UNIX) as probe:
        probe.setblocking(False)
        try:
            probe.connect(address[6:])
        except BlockingIOError:
            # The listener's queue is full.
            return True
        except OSError:
            return False
        return True


@final
class Paths:
    """Files of one socket, removed on close by the process that created them."""

    __slots__ = ("_files", "_process")

    def __init__(self) -> None:
        self._process = os.getpid()
        self._files: list[tuple[Path, tuple[int, int]]] = []

    def keep(self, address: str) -> None:
        """Record the file of an address, if any."""
        if address.startswith("ipc://") and not address.startswith("ipc://@"):
            path = Path(address[6:])
            with suppress(OSError):
                self._files.append((path, _identity(path)))

    def remove(self) -> None:
        """Remove the files, except those that another process has replaced meanwhile."""
        files, self._files = self._files, []
        for path, identity in files if self._process == os.getpid() else ():
            with suppress(OSError):
                if _identity(path) == identity:
                    path.unlink()


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino
