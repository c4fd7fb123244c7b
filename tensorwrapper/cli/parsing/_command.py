"""Commands of the command line: their names, arguments, examples and functions."""

import argparse
import importlib
from collections.abc import Callable
from typing import cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.cli._report import Report

__all__ = ["Command", "Example"]


@final
@frozen
class Example:
    """A line that the help of a command shows."""

    line: str
    """What is typed, from the name of the command on."""
    meaning: str


@final
@frozen
class Command:
    """One row of the table of commands.

    Every command gets ``--json`` and ``--verbose``. A `TensorWrapperError` becomes exit code 3 and one line
    on stderr. With ``--json``, an object with the error goes to stdout.
    """

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    """Adds its arguments."""
    examples: tuple[Example, ...]
    home: str
    """The module that does the work, in a function ``run``; it is loaded when the command is run."""

    def run(self, options: argparse.Namespace) -> Report:
        """Do the work."""
        work = cast("Callable[[argparse.Namespace], Report]", importlib.import_module(self.home).run)
        return work(options)
