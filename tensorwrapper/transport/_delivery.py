"""`Delivery`: tells when the memory of a sent message may change again."""

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import Final, final

import zmq

from tensorwrapper._value_class import Shown
from tensorwrapper.errors import TransportError, TransportForkError, TransportTimeoutError

COPIED: Final = zmq.MessageTracker()
"""Tracker of frames that ZeroMQ has copied."""


@final
class Delivery(Shown):
    """Progress of a sent message: `done` once ZeroMQ no longer reads the memory of any of its frames.

    The sent tensors must not change before. Once it is done, the kernel has the bytes; the peer may not have
    read them yet.
    """

    __slots__ = ("_process", "_tracker")

    def __init__(self, trackers: Sequence[zmq.MessageTracker]) -> None:
        # Every frame counts: the tracker that pyzmq returns for a multipart message knows only the last.
        self._tracker = zmq.MessageTracker(*trackers) if trackers else COPIED
        self._process = os.getpid()

    @property
    def done(self) -> bool:
        """True if the memory may change again."""
        return bool(self._tracker.done)

    def wait(self, timeout: float) -> None:
        """Wait until the memory may change again.

        Raises
        ------
        TransportTimeoutError
            If ZeroMQ needs longer than `timeout` seconds.
        TransportForkError
            In a forked child process, which cannot see messages sent by its parent.
        """
        check_process(self._process, "a delivery")
        with suppress(zmq.NotDone):
            self._tracker.wait(to_milliseconds(timeout, "timeout") / 1000)
        # With many frames, the tracker can time out although every frame is done.
        self._check(timeout)

    def _check(self, timeout: float) -> None:
        """Raise if the wait timed out."""
        check_process(self._process, "a delivery")
        if not self.done:
            raise TransportTimeoutError(f"frames are still being sent after {timeout} s")


def check_process(process: int, what: str) -> None:
    """Raise TransportForkError in a fork of the process that owns an object."""
    if process != os.getpid():
        raise TransportForkError(
            f"{what} belongs to process {process}, from which this one was forked; open another socket here"
        )


def to_milliseconds(seconds: object, what: str) -> int:
    """Return seconds as the milliseconds that ZeroMQ expects.

    Raises
    ------
    TransportError
        If it is not a number, or negative.
    """
    # Check float first, because the check for any number is slow.
    number = seconds if type(seconds) is float else float(seconds) if isinstance(seconds, Real) else math.nan
    if not number >= 0:
        raise TransportError(f"{what} must be a number of seconds, at least 0, not {seconds!r}")
    return int(min(number * 1000, 2**31 - 1))
