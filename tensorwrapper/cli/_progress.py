"""Progress on stderr for terminals: a bar with tqdm, otherwise plain lines."""

import contextlib
import sys
from types import TracebackType
from typing import TYPE_CHECKING, TextIO, final

if TYPE_CHECKING:
    from tqdm import tqdm


def _bar(total: int, stream: TextIO) -> "tqdm | None":
    try:
        import tqdm  # noqa: PLC0415 - an extra, and loaded for a terminal only
    except ImportError:
        return None
    layout = "{bar:20} {n_fmt}/{total_fmt} {desc}"
    return tqdm.tqdm(total=total, file=stream, leave=False, bar_format=layout)


@final
class Progress:
    """Progress on stderr: the number and the name of the current step."""

    __slots__ = ("_bar", "_done", "_percent", "_stream", "_total", "_what")

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        stream = sys.stderr if stream is None else stream
        # Progress is for terminals: stderr may be closed, a file or a pipe.
        self._stream = stream if stream is not None and stream.isatty() else None
        self._total = total
        self._done = 0
        self._what = ""
        self._percent = 0
        self._bar = None if self._stream is None else _bar(total, self._stream)

    @property
    def is_shown(self) -> bool:
        """True if progress is shown."""
        return self._bar is not None

    def step(self, what: str) -> None:
        """Start the next step."""
        self._what = what
        self._percent = 0
        if self._bar is not None:
            if self._done:
                self._bar.update()
            self._bar.set_description_str(what)
        elif self._stream is not None:
            # A failure to show progress must not stop the work.
            with contextlib.suppress(OSError, ValueError):
                print(f"[{self._done + 1}/{self._total}] {what}", file=self._stream, flush=True)
        self._done += 1

    def share(self, done: int, total: int) -> None:
        """Show the completed share of this step in per cent; without a bar do nothing."""
        percent = 100 * done // total if total else 0
        if self._bar is not None and percent != self._percent:
            self._percent = percent
            self._bar.set_description_str(f"{self._what}, {percent} %")

    def close(self) -> None:
        """Remove the bar; closing twice is harmless."""
        bar, self._bar = self._bar, None
        if bar is not None:
            bar.close()

    def __enter__(self) -> "Progress":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
