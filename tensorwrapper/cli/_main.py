"""The command line: run commands from a table."""

import contextlib
import logging
import re
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from typing import Final

from tensorwrapper.cli._exit_code import ExitCode
from tensorwrapper.cli._report import failure_to_json
from tensorwrapper.cli._streams import complain, has_colours, prepare_streams, write_text
from tensorwrapper.cli.parsing._command import Command
from tensorwrapper.cli.parsing._commands import COMMANDS
from tensorwrapper.cli.parsing._parser import make_parser, readable
from tensorwrapper.errors import TensorWrapperError

_MOMENT: Final = 0.01
"""Seconds."""
_NUMBER: Final = re.compile(r"\[Errno -?\d+\] ")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments
        The arguments after the program name; by default those of this process.
    """
    prepare_streams()
    options = make_parser(COMMANDS).parse_args(readable(sys.argv[1:] if arguments is None else arguments))
    if options.verbose:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    command: Command = options.chosen
    who = f"tensorwrapper {command.name}"
    try:
        with _ending_on_sigterm():
            report = command.run(options)
    except _Terminated:
        complain("terminated")
        return ExitCode.TERMINATED
    except KeyboardInterrupt:
        complain("interrupted")
        return ExitCode.INTERRUPTED
    except (TensorWrapperError, OSError, MemoryError, ModuleNotFoundError) as error:
        if isinstance(error, ModuleNotFoundError) and "pip install" not in str(error):
            raise  # The missing module is not an optional library.
        # Omit the error number, which does not help people; programs have the class of the error.
        reason = _NUMBER.sub("", str(error)) or "there is not enough memory"
        complain(f"{who}: {reason}")
        if options.json:
            write_text(failure_to_json(command.name, reason, type(error).__name__), who)
        return ExitCode.CANNOT_RUN
    text = report.to_json() if options.json else report.to_text(colours=has_colours(sys.stdout))
    failed = write_text(text, who)
    if failed is not None:
        return failed
    return ExitCode.OK if report.ok else ExitCode.CHECK_FAILED


class _Terminated(BaseException):
    """The process received SIGTERM. Like KeyboardInterrupt, only this module catches it."""


@contextlib.contextmanager
def _ending_on_sigterm() -> Generator[None, None, None]:
    """Convert SIGTERM to an exception, so that temporary files and child processes are cleaned up."""
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread handles signals.
        yield
        return

    def end(_number: int, _frame: object) -> None:
        raise _Terminated

    old = signal.signal(signal.SIGTERM, end)
    try:
        with _raising_what_was_lost():
            yield
    except RuntimeError as error:
        # Python 3.11 hides a signal that comes while a class is made, as when a module is loaded.
        if isinstance(error.__cause__, _Terminated | KeyboardInterrupt):
            raise error.__cause__ from None
        raise
    finally:
        signal.signal(signal.SIGTERM, old)


@contextlib.contextmanager
def _raising_what_was_lost() -> Generator[None, None, None]:
    """Raise an exception of a signal handler again that Python could only report.

    This happens while an object is deleted, such as a frame of a message: Python and pyzmq print the
    exception there and continue, so the process would go on waiting.
    """
    if sys.platform == "win32":
        yield
        return
    hook = sys.unraisablehook
    lost: list[type[BaseException]] = []

    def again(_number: int, _frame: object) -> None:
        raise lost[-1]

    def hear(unraisable: "sys.UnraisableHookArgs") -> None:
        if not issubclass(unraisable.exc_type, _Terminated | KeyboardInterrupt):
            hook(unraisable)
            return
        lost.append(unraisable.exc_type)
        # Delay it, because an exception within this call would also be lost.
        signal.setitimer(signal.ITIMER_REAL, _MOMENT)

    old = signal.signal(signal.SIGALRM, again)
    sys.unraisablehook = hear
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        signal.signal(signal.SIGALRM, old)
