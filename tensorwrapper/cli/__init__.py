"""The command line, ``tensorwrapper``."""

from tensorwrapper.cli._exit_code import ExitCode
from tensorwrapper.cli._main import main
from tensorwrapper.cli.parsing._command import Command
from tensorwrapper.cli.parsing._commands import COMMANDS

__all__ = ["COMMANDS", "Command", "ExitCode", "main"]
