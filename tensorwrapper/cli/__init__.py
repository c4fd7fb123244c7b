"""The command line, ``tensorwrapper``."""

from tensorwrapper.cli._command import Command, ExitCode
from tensorwrapper.cli._main import COMMANDS, main

__all__ = ["COMMANDS", "Command", "ExitCode", "main"]
