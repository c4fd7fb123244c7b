"""The command line: one table of commands, one way to run them."""

import argparse
import logging
import sys
from collections.abc import Sequence

from tensorwrapper import __version__
from tensorwrapper.cli._command import Command, ExitCode
from tensorwrapper.cli._convert import CONVERT
from tensorwrapper.cli._demo import DEMO
from tensorwrapper.cli._inspect import INSPECT
from tensorwrapper.cli._report import failure_to_json
from tensorwrapper.cli._verify import VERIFY
from tensorwrapper.errors import TensorWrapperError

__all__ = ["COMMANDS", "main"]

COMMANDS: tuple[Command, ...] = (DEMO, INSPECT, CONVERT, VERIFY)
"""All commands. A new one is a row here and a module of its own."""


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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code.

    Parameters
    ----------
    arguments
        The words after the program's name; those of this process if not given.
    """
    options = _parser().parse_args(arguments)
    if options.verbose:
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr)
    command: Command = options.chosen
    try:
        report = command.run(options)
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED
    except TensorWrapperError as error:
        print(f"tensorwrapper {command.name}: {error}", file=sys.stderr)
        if options.json:
            print(failure_to_json(command.name, str(error)))
        return ExitCode.CANNOT_RUN
    print(report.to_json() if options.json else report.to_text())
    return ExitCode.OK if report.ok else ExitCode.CHECK_FAILED
