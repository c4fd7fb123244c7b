"""A lock that many readers share, or one writer holds."""

import threading
from typing import Final, final


@final
class SharedLock:
    """A lock that ``with lock`` holds alone, and ``with lock.reading`` together with other readers.

    A reader waits only while a writer holds it, and not for one that waits: a writer waits for all readers,
    so reading twice in one thread is safe.
    """

    __slots__ = ("_changed", "_is_held", "_readers", "reading")

    def __init__(self) -> None:
        self._changed = threading.Condition(threading.Lock())
        self._readers = 0
        self._is_held = False
        self.reading: Final = _Reading(self)
        """The side of readers."""

    def locked(self) -> bool:
        """Return True if a writer holds it, so that a reader would wait."""
        return self._is_held

    def __enter__(self) -> None:
        with self._changed:
            while self._is_held or self._readers:
                self._changed.wait()
            self._is_held = True

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_held = False
            self._changed.notify_all()

    def _begin(self) -> None:
        with self._changed:
            while self._is_held:
                self._changed.wait()
            self._readers += 1

    def _end(self) -> None:
        with self._changed:
            self._readers -= 1
            if not self._readers:
                self._changed.notify_all()


@final
class _Reading:
    __slots__ = ("_lock",)

    def __init__(self, lock: SharedLock) -> None:
        self._lock = lock

    def __enter__(self) -> None:
        self._lock._begin()

    def __exit__(self, *_: object) -> None:
        self._lock._end()
