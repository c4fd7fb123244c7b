"""Standard streams that may be closed, full, limited to ASCII, or without a reader."""

import contextlib
import os
import sys
from typing import TextIO

from tensorwrapper.cli._exit_code import ExitCode


def prepare_streams() -> None:
    """Open closed standard descriptors, and let both output streams write any character.

    Otherwise the next opened file would get a standard descriptor, and messages for stderr would be written
    into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for stream in (sys.stdout, sys.stderr):
        # Replacement streams need not have this method.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def complain(text: str) -> None:
    """Write a line to stderr, if there is one."""
    if sys.stderr is None:
        # stderr was closed, and `print` would use stdout.
        return
    with contextlib.suppress(OSError, ValueError):
        print(text, file=sys.stderr, flush=True)


def say(text: str) -> None:
    """Write a line to stdout before the report. A failed write does not stop the work."""
    if sys.stdout is None:
        return
    try:
        print(text, flush=True)
    except (OSError, ValueError):
        _give_up_stdout()


def has_colours(stream: TextIO | None) -> bool:
    """Return True if a stream supports colours: on a terminal, unless ``NO_COLOR`` is set."""
    if stream is None or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    # Older Windows consoles show the escape codes.
    return stream.isatty() and (sys.platform != "win32" or "WT_SESSION" in os.environ)


def write_text(text: str, who: str) -> ExitCode | None:
    """Write to stdout; return an exit code if that fails."""
    if sys.stdout is None:
        complain(f"{who}: the answer cannot be written: stdout is closed")
        return ExitCode.CANNOT_RUN
    try:
        print(text, flush=True)
    except BrokenPipeError:
        _give_up_stdout()
        return ExitCode.NO_READER
    except (OSError, ValueError) as error:
        _give_up_stdout()
        complain(f"{who}: the answer cannot be written: {getattr(error, 'strerror', None) or error}")
        return ExitCode.CANNOT_RUN
    return None


def _give_up_stdout() -> None:
    """Discard the buffer of stdout, which the interpreter would otherwise try to write again."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
