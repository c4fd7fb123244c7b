"""The command line: one table of commands, one way to run them."""

import argparse
import contextlib
import logging
import re
import signal
import sys
import threading
from collections.abc import Generator, Sequence
from typing import Final

from tensorwrapper import __version__
from tensorwrapper.cli._command import Command, ExitCode
from tensorwrapper.cli._convert import CONVERT
from tensorwrapper.cli._demo import DEMO
from tensorwrapper.cli._get import GET
from tensorwrapper.cli._inspect import INSPECT
from tensorwrapper.cli._keys import KEYS
from tensorwrapper.cli._report import failure_to_json
from tensorwrapper.cli._serve import SERVE
from tensorwrapper.cli._streams import complain, prepare_streams, write_report
from tensorwrapper.cli._verify import VERIFY
from tensorwrapper.cli.transfer._recv import RECV
from tensorwrapper.cli.transfer._send import SEND
from tensorwrapper.errors import TensorWrapperError

__all__ = ["COMMANDS", "main"]

COMMANDS: tuple[Command, ...] = (DEMO, INSPECT, CONVERT, VERIFY, KEYS, SERVE, GET, SEND, RECV)
"""All commands. A new one is a row here and a module of its own."""

_SELECTOR: Final = re.compile(r"-\d+[:,]")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tensorwrapper", description="Describe, lay out and move tensors of any shape."
    )
    parser.add_argument("--version", action="version", version=f"tensorwrapper {__version__}")
    parser.add_argument("--verbose", action="store_true", help="log what happens to stderr")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in COMMANDS:
        sub = commands.add_parser(command.name, help=command.summary, description=command.summary)
        sub.add_argument("--json", action="store_true", help="print the report as JSON")
        command.configure(sub)
        sub.set_defaults(chosen=command)
    return parser


def readable(arguments: Sequence[str]) -> list[str]:
    """Return the words so that argparse takes no value that begins with ``-`` for an option.

    One public key in 85 does, and so do selectors such as ``-3:``.
    """
    words: list[str] = []
    for word in arguments:
        if words and words[-1] == "--server-key":
            words[-1] = f"--server-key={word}"
        else:
            # A word with a space is no option to argparse, and no selector to whom a space matters.
            words.append(f" {word}" if _SELECTOR.match(word) else word)
    return words


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments
        The words after the program's name; those of this process if not given.
    """
    prepare_streams()
    options = _parser().parse_args(readable(sys.argv[1:] if arguments is None else arguments))
    if options.verbose:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    command: Command = options.chosen
    try:
        with _ending_on_sigterm():
            report = command.run(options)
    except _Terminated:
        complain("terminated")
        return ExitCode.TERMINATED
    except KeyboardInterrupt:
        complain("interrupted")
        return ExitCode.INTERRUPTED
    except (TensorWrapperError, OSError, MemoryError) as error:
        reason = str(error) or "there is not enough memory"
        complain(f"tensorwrapper {command.name}: {reason}")
        if options.json:
            write_report(failure_to_json(command.name, reason), command.name)
        return ExitCode.CANNOT_RUN
    failed = write_report(report.to_json() if options.json else report.to_text(), command.name)
    if failed is not None:
        return failed
    return ExitCode.OK if report.ok else ExitCode.CHECK_FAILED


class _Terminated(BaseException):
    """The process was asked to end: like KeyboardInterrupt nothing but this module catches it."""


@contextlib.contextmanager
def _ending_on_sigterm() -> Generator[None, None, None]:
    """Let SIGTERM leave every block in order, so that files and processes that were begun do not stay."""
    if threading.current_thread() is not threading.main_thread():
        # Only there signals are handled.
        yield
        return

    def end(_number: int, _frame: object) -> None:
        raise _Terminated

    old = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, old)
