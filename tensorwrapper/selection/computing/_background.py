"""Reads that go on in a thread of their own while others are read, and steps are written."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import final

from tensorwrapper.selection.sources._source import ReadHandle

__all__ = ["Background"]

_PAUSE = 0.05  # seconds


@final
class Background:
    """A read that a thread starts, and follows until all has arrived."""

    __slots__ = ("_news", "_start", "_stop", "_thread")

    def __init__(self, start: Callable[[], ReadHandle]) -> None:
        self._start = start
        self._stop = Event()
        self._news: SimpleQueue[int | BaseException | None] = SimpleQueue()
        """What arrived; an error, which is the last; or None at the end."""
        self._thread = Thread(target=self._run, name="tensorwrapper-read", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            handle = self._start()
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
        """Return what arrived, in the order in which it did; None after a pause in which nothing came."""
        while True:
            try:
                news = self._news.get(timeout=_PAUSE)
            except Empty:
                yield None
                continue
            if news is None:
                return
            if isinstance(news, BaseException):
                raise news
            yield news

    def cancel(self) -> None:
        """Stop, and wait until nobody writes any more: a selection that is being read is finished."""
        self._stop.set()
        self._thread.join()
