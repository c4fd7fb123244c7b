"""Exit codes of the command line."""

from enum import IntEnum
from typing import final


@final
class ExitCode(IntEnum):
    """Exit codes, the same for all commands."""

    OK = 0
    """Success; all checks passed."""
    CHECK_FAILED = 1
    """The command completed, but a check failed."""
    USAGE = 2
    """Invalid arguments, as reported by argparse."""
    CANNOT_RUN = 3
    """The command failed, for example by a port in use, a damaged file or a full disk."""
    INTERRUPTED = 130
    """Interrupted from the keyboard."""
    NO_READER = 141
    """The reader of stdout closed it early, as ``head`` does; there is no message."""
    TERMINATED = 143
    """Terminated by SIGTERM, after cleaning up."""
