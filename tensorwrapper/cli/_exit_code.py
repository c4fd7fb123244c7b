"""Exit codes of the command line."""

from enum import IntEnum
from typing import final

__all__ = ["ExitCode"]


@final
class ExitCode(IntEnum):
    """Exit codes, the same for all commands."""

    OK = 0
    """Everything held."""
    CHECK_FAILED = 1
    """The command ran to its end, and something that it checked does not hold."""
    USAGE = 2
    """The arguments make no sense; argparse says how."""
    CANNOT_RUN = 3
    """The command could not do its work: a port in use, a damaged file, a process that died, a full disk."""
    INTERRUPTED = 130
    """Stopped from the keyboard."""
    NO_READER = 141
    """Whoever read the report went away before its end, as ``head`` does; nothing is said."""
    TERMINATED = 143
    """Ended by SIGTERM, after everything was put away."""
