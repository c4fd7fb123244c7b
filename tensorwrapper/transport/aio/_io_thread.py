"""`IoThread`: a thread that serves a socket while its owner computes, and pauses while the owner waits."""

import atexit
import os
import selectors
import socket as sockets
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.util import Finalize
from types import TracebackType
from typing import Final, final

from tensorwrapper.transport._delivery import check_process
from tensorwrapper.transport._endpoint import Endpoint

_PAUSE: Final = 0.01
"""Seconds of idleness of the owner before the thread takes over, as a hand-over costs as much as a
message."""

_BATCHES: Final = 64
"""Rounds of work before the thread lets the owner in."""

_drivers: "weakref.WeakSet[IoThread]" = weakref.WeakSet()


@final
class IoThread:
    """Shares a socket between its owner, within ``with``, and a thread that calls `work` when data arrives.

    `work` handles pending messages, and returns True if there may be more. The owner receives its exceptions.
    """

    __slots__ = (
        "__weakref__",
        "_endpoint",
        "_error",
        "_is_idle",
        "_lock",
        "_process",
        "_stopped",
        "_thread",
        "_used",
        "_wake",
        "_work",
    )

    def __init__(self, endpoint: Endpoint, work: Callable[[], bool]) -> None:
        self._endpoint, self._process = endpoint, os.getpid()
        # A weak reference keeps an unclosed owner collectable, and ends the thread with it.
        self._work = weakref.WeakMethod(work)
        self._lock = threading.RLock()
        alarm, self._wake = sockets.socketpair()
        alarm.setblocking(False)
        self._wake.setblocking(False)
        self._error: BaseException | None = None
        self._stopped = self._is_idle = False
        self._used = time.monotonic()
        endpoint.before_close = self.stop
        if not _drivers:
            atexit.register(_stop_all)
            Finalize(None, _stop_all, exitpriority=1)
        _drivers.add(self)
        self._thread = threading.Thread(
            target=_run, args=[weakref.ref(self), alarm], name="tensorwrapper-driver", daemon=True
        )
        self._thread.start()

    def __enter__(self) -> None:
        check_process(self._process, "what runs in the background of a socket")
        self._lock.acquire()
        self._endpoint.adopt()
        error, self._error = self._error, None
        if error is not None:
            self._lock.release()
            try:
                raise error
            finally:
                # Its traceback would make a reference cycle.
                del error

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._used = time.monotonic()
        if self._is_idle:
            # The owner consumed the event of messages that arrived meanwhile, so the thread must check again.
            self._is_idle = False
            self._notify()
        self._lock.release()

    def stop(self) -> None:
        """End the thread and leave the socket to the caller. Stopping twice is harmless."""
        if self._process != os.getpid():
            return
        with self._lock:
            if self._stopped:
                return
            self._stopped = True
            self._notify()
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._wake.close()
        self._endpoint.before_close = None
        self._endpoint.adopt()

    def _notify(self) -> None:
        with suppress(OSError):
            self._wake.send(b"!")

    def turn(self) -> int | None:
        """Do a round of the thread's work; return the descriptor to wait on, or None to try again.

        Raises
        ------
        StopIteration
            If the thread should end.
        """
        with self._lock:
            work = self._work()
            if self._stopped or self._error is not None or work is None:
                raise StopIteration
            if time.monotonic() - self._used < _PAUSE:
                return None
            try:
                self._endpoint.adopt()
                for _ in range(_BATCHES):
                    if not work():
                        break
                else:
                    return None
                self._is_idle = True
                return self._endpoint.fileno()
            except BaseException as error:
                # The owner raises this error later.
                self._error = error
                raise StopIteration from error


def _run(found: "weakref.ref[IoThread]", alarm: sockets.socket) -> None:
    with alarm:
        _go_on(found, alarm)


def _go_on(found: "weakref.ref[IoThread]", alarm: sockets.socket) -> None:
    while True:
        driver = found()
        if driver is None:
            return
        try:
            number = driver.turn()
        except StopIteration:
            return
        # Keep no reference to the owner while the thread sleeps.
        del driver
        if number is None:
            time.sleep(_PAUSE)
        else:
            with selectors.DefaultSelector() as waiting, suppress(OSError):
                waiting.register(number, selectors.EVENT_READ)
                waiting.register(alarm, selectors.EVENT_READ)
                waiting.select()
                with suppress(BlockingIOError):
                    alarm.recv(4096)


def _stop_all() -> None:
    for driver in list(_drivers):
        driver.stop()
