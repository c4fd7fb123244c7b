"""Commands of the command line: their names, arguments, examples and functions."""

import argparse
import importlib
from collections.abc import Callable
from typing import cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.cli._report import Report


@final
@frozen
class Example:
    """An example in the help of a command."""

    line: str
    """The command line, without the program name."""
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
    """Function that adds its arguments."""
    examples: tuple[Example, ...]
    home: str
    """Module with the function ``run``, imported when the command runs."""

    def run(self, options: argparse.Namespace) -> Report:
        """Run the command."""
        work = cast("Callable[[argparse.Namespace], Report]", importlib.import_module(self.home).run)
        return work(options)
