"""The command line, called in this process: what it printed, and its exit code."""

import contextlib
import io
from typing import NamedTuple

from tensorwrapper.cli import main


class Done(NamedTuple):
    """What is left of a command: named as in `subprocess.CompletedProcess`."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments):
    """Run a command as `python -m tensorwrapper` does, without the price of an interpreter."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([str(word) for word in arguments])
        except SystemExit as stop:
            code = stop.code
    return Done(code, out.getvalue(), err.getvalue())
