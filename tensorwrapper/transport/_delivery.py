"""`Delivery`: when the memory of a sent message may change again."""

import math
import os
from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import Final, final

import zmq

from tensorwrapper._value_class import Shown
from tensorwrapper.errors import TransportError, TransportForkError, TransportTimeoutError

__all__ = ["COPIED", "Delivery", "check_process", "to_milliseconds"]


COPIED: Final = zmq.MessageTracker()
"""Tracker of frames that ZeroMQ has copied."""


@final
class Delivery(Shown):
    """Progress of a sent message: `done` once ZeroMQ no longer reads the memory of any of its frames.

    Then the kernel has the bytes; the peer may not have read them yet. Until then the sent tensors must
    not change.
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
            If that takes longer than `timeout` seconds.
        TransportForkError
            In a process that was forked since: it cannot see messages sent by its parent.
        """
        check_process(self._process, "a delivery")
        with suppress(zmq.NotDone):
            self._tracker.wait(to_milliseconds(timeout, "timeout") / 1000)
        # With many frames, the tracker can run out of time although every frame is done.
        self._check(timeout)

    def _check(self, timeout: float) -> None:
        """Raise if the time was up before the memory may change."""
        check_process(self._process, "a delivery")
        if not self.done:
            raise TransportTimeoutError(f"frames are still being sent after {timeout} s")


def check_process(process: int, what: str) -> None:
    """Raise TransportForkError in a process that was forked from the one that something belongs to."""
    if process != os.getpid():
        raise TransportForkError(
            f"{what} belongs to process {process}, from which this one was forked; open another socket here"
        )


def to_milliseconds(seconds: object, what: str) -> int:
    """Return a time that is given in seconds as ZeroMQ wants it.

    Raises
    ------
    TransportError
        If it is not a number, or negative.
    """
    # A float first: asking for any number takes longer than all the rest.
    number = seconds if type(seconds) is float else float(seconds) if isinstance(seconds, Real) else math.nan
    if not number >= 0:
        raise TransportError(f"{what} is a number of seconds from 0 up, not {seconds!r}")
    return int(min(number * 1000, 2**31 - 1))
