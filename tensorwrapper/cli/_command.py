"""What a command of the command line is made of."""

import argparse
from collections.abc import Callable
from enum import IntEnum
from typing import final

from tensorwrapper._value_class import frozen
from tensorwrapper.cli._report import Report

__all__ = ["Command", "ExitCode"]


@final
class ExitCode(IntEnum):
    """What a command tells the shell."""

    OK = 0
    """Everything held."""
    CHECK_FAILED = 1
    """The command ran to its end, and something that it checked does not hold."""
    USAGE = 2
    """The arguments make no sense; argparse says how."""
    CANNOT_RUN = 3
    """The command could not do its work: a port in use, a damaged file, a process that died."""
    INTERRUPTED = 130
    """Stopped from the keyboard."""
    NO_READER = 141
    """Whoever read the report went away before its end, as ``head`` does; nothing is said."""
    TERMINATED = 143
    """Ended by SIGTERM, after everything was put away."""


@final
@frozen
class Command:
    """One row of the table of commands.

    Every command gets ``--json``; what goes wrong is raised as a `TensorWrapperError` and becomes exit
    code 3 with one line on stderr, and with ``--json`` an object with the error on stdout.
    """

    name: str
    summary: str
    configure: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], Report]
