"""Reads in a separate thread, while other sources are read and steps are written."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import final

from tensorwrapper.selection.sources._source import ReadHandle

__all__ = ["BackgroundRead", "hurry"]

_PAUSE = 0.05  # seconds
_SHORT = 0.001


def hurry(handle: ReadHandle) -> None:
    """Let a read look at least each millisecond whether it is to go on, if it can."""
    found = getattr(handle, "hurry", None)
    if callable(found):
        found()


@final
class BackgroundRead:
    """A read that a thread starts, and follows until all has arrived."""

    __slots__ = ("_news", "_pause", "_start", "_stop", "_thread")

    def __init__(self, start: Callable[[], ReadHandle], *, may_stop: bool = False) -> None:
        self._start = start
        self._pause = _SHORT if may_stop else _PAUSE
        self._stop = Event()
        self._news: SimpleQueue[int | BaseException | None] = SimpleQueue()
        """Number of a selection that arrived; an error, which is the last; or None at the end."""
        self._thread = Thread(target=self._run, name="tensorwrapper-read", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            handle = self._start()
            if self._pause == _SHORT:
                hurry(handle)
            for number in handle.completed():
                if self._stop.is_set():
                    with suppress(Exception):
                        handle.cancel()
                    break
                if number is not None:
                    self._news.put(number)
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            self._news.put(error)
        else:
            self._news.put(None)

    def completed(self) -> Iterator[int | None]:
        """Yield the numbers of arrived selections, in that order; None after a pause without any."""
        while True:
            try:
                news = self._news.get(timeout=self._pause)
            except Empty:
                yield None
                continue
            if news is None:
                return
            if isinstance(news, BaseException):
                try:
                    raise news
                finally:
                    # With its traceback it would be a ring, which keeps all that was read.
                    del news
            yield news

    def cancel(self) -> None:
        """Stop, and wait until the thread writes no more: the current selection is finished."""
        self._stop.set()
        self._thread.join()
