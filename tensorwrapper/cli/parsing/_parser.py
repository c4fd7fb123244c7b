"""The parser of the command line, with ``--help`` and ``--version``."""

import argparse
import re
from collections.abc import Sequence
from functools import partial
from typing import Any, Final, NoReturn, cast, final

from tensorwrapper import __version__
from tensorwrapper.cli._exit_code import ExitCode
from tensorwrapper.cli._streams import write_text
from tensorwrapper.cli.parsing._command import Command

_PROGRAM: Final = "tensorwrapper"
_SELECTOR: Final = re.compile(r"-\d+[:,]")

_CODES: Final = """\
exit codes:
  0  success: every check passed
  1  finished, but a check failed
  2  invalid arguments
  3  an error, such as a missing file, a port in use or a full disk
  130, 143  stopped by Ctrl+C or by SIGTERM; 141 the reader of the report closed its pipe
"""


@final
class Parser(argparse.ArgumentParser):
    """An argument parser that lists its arguments and reports a failed write by an exit code."""

    def __init__(self, *given: Any, **named: Any) -> None:  # noqa: ANN401 - what argparse takes
        self.takes: list[argparse.Action] = []
        """Options and arguments in the order of their addition."""
        self.commands: dict[str, Parser] = {}
        self.mixes: bool = False
        """Whether optional positional arguments may follow options, which argparse does not support."""
        super().__init__(*given, **named)

    def add_argument(self, *given: Any, **named: Any) -> argparse.Action:  # noqa: ANN401 - as argparse
        """Add an option or an argument, as `argparse` does."""
        self.takes.append(super().add_argument(*given, **named))
        return self.takes[-1]

    def parse_known_args(  # pyright: ignore[reportIncompatibleMethodOverride] - its overloads are not repeated
        self,
        args: Any = None,  # noqa: ANN401 - as argparse
        namespace: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Return the parsed and the unknown arguments."""
        if not self.mixes:
            return super().parse_known_args(args, namespace)
        # argparse calls this method recursively.
        self.mixes = False
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self.mixes = True

    def print_help(self, file: object = None) -> None:
        """Write the help to stdout."""
        if file is None:
            self.answer(self.format_help())
        else:
            super().print_help(cast("Any", file))

    def answer(self, text: str) -> NoReturn:
        """Write a text to stdout and exit."""
        raise SystemExit(write_text(text.rstrip("\n"), self.prog) or ExitCode.OK)


@final
class _Version(argparse.Action):
    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,  # noqa: ARG002 - what argparse gives
        values: str | Sequence[Any] | None,  # noqa: ARG002
        option_string: str | None = None,  # noqa: ARG002
    ) -> NoReturn:
        cast("Parser", parser).answer(f"{_PROGRAM} {__version__}")


def _add_common_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command."""
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.add_argument("--verbose", action="store_true", default=argparse.SUPPRESS, help="log to stderr")


def make_parser(commands: Sequence[Command]) -> Parser:
    """Return the parser of a table of commands."""
    parser = Parser(
        prog=_PROGRAM,
        description="Describe, lay out and move tensors of any shape.",
        epilog=f"`{_PROGRAM} COMMAND --help` lists the arguments of a command, with examples.\n\n{_CODES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    parser.add_argument("--verbose", action="store_true", help="log to stderr")
    rows = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for command in commands:
        sub = rows.add_parser(
            command.name,
            help=command.summary,
            description=command.summary,
            epilog=_examples(command),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        parser.commands[command.name] = sub
        command.configure(sub)
        _add_common_options(sub)
        sub.mixes = any(action.nargs == "?" and not action.option_strings for action in sub.takes)
        sub.set_defaults(chosen=command)
    return parser


def parsers(commands: Sequence[Command], *, width: int | None = None) -> dict[str, Parser]:
    """Return the parsers of commands by name, with a fixed help width."""
    found = make_parser(commands).commands
    for parser in found.values():
        parser.formatter_class = partial(argparse.RawDescriptionHelpFormatter, width=width)
    return found


def readable(arguments: Sequence[str]) -> list[str]:
    """Quote values that begin with ``-``, which argparse would treat as options.

    One public key in 85 begins so, and selectors such as ``-3:``.
    """
    words: list[str] = []
    for word in arguments:
        if words and words[-1] == "--server-key":
            words[-1] = f"--server-key={word}"
        else:
            # argparse does not treat words with spaces as options, and selectors ignore spaces.
            words.append(f" {word}" if _SELECTOR.match(word) else word)
    return words


def _examples(command: Command) -> str:
    lines = ["examples:"]
    for example in command.examples:
        lines += [f"  {_PROGRAM} {example.line}", f"      {example.meaning}"]
    return "\n".join(lines)
