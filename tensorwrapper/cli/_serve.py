"""``tensorwrapper serve``: serve tensors of files until a signal stops the command."""

import argparse
import contextlib
import errno
import json
import os
import signal
import threading
from collections.abc import Generator, Iterable
from typing import Final

from tensorwrapper.cli._report import Check, Report
from tensorwrapper.cli._security import server_security
from tensorwrapper.cli._streams import say
from tensorwrapper.errors import (
    ConversionError,
    DataFileExistsError,
    DataFileNotFoundError,
    DataFilePermissionError,
    TensorNameError,
)
from tensorwrapper.remote import Server, serve
from tensorwrapper.store import save

_GLANCE: Final = 1.0
"""Seconds between checks that the server is still running."""


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    security, allow = server_security(options)
    if options.save is not None:
        if not options.writable:
            raise ConversionError("--save writes changed tensors, so it requires --writable")
        if not options.force and os.path.lexists(options.save):
            raise DataFileExistsError(
                errno.EEXIST, f"{options.save} already exists; use --force to replace it"
            )
        _check_folder(options.save)
    # A signal while files are being opened also ends the command.
    with (
        _told_to_end() as end,
        serve(
            options.paths,
            options.address,
            security=security,
            allow=allow,
            writable=options.writable,
            threads=options.threads,
        ) as server,
    ):
        names, address = server.names, server.address
        saved = {} if options.save is None else _names_in_a_file(names)
        key = {} if security is None else {"public key": security.keys.public}
        if options.json:
            lost_parts = {"losses": list(map(str, server.losses))} if server.losses else {}
            told = {"tensors": names, **lost_parts, **key}
            ready = {"command": "serve", "ready": True, "address": address, **told}
            say(json.dumps(ready, ensure_ascii=False))
        else:
            what = "1 tensor is" if len(names) == 1 else f"{len(names)} tensors are"
            say(", ".join([f"{what} served at {address}", *[f"{k} {key[k]}" for k in key]]))
            for part in server.losses:
                say(part)
        while not end.wait(_GLANCE) and not server.closed:
            pass
        stats = server.stats()
        lost = _check(server)
    if options.save is not None:
        save(options.save, {saved[name]: own for name, own in server.tensors.items()})
    what = "1 tensor was" if len(names) == 1 else f"{len(names)} tensors were"
    return Report("serve", lost, dict(stats), (f"{what} served at {address}",))


def _check_folder(path: str) -> None:
    """Raise if the output file cannot be created, before clients write for hours."""
    folder = os.path.dirname(os.path.abspath(path))  # noqa: PTH100, PTH120 - as it is given
    if not os.path.isdir(folder):  # noqa: PTH112
        raise DataFileNotFoundError(errno.ENOENT, f"cannot save to {path}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise DataFilePermissionError(errno.EACCES, f"cannot save to {path}: {folder} is not writable")


def _names_in_a_file(names: Iterable[str]) -> dict[str, str]:
    """Return the names of the saved tensors; names in a file are not paths."""
    found: dict[str, str] = {}
    for name in names:
        own = name.replace("/", ".")
        if own in found:
            raise TensorNameError(
                f"{found[own]!r} and {name!r} would both be saved as {own!r}; rename a file, "
                f"or serve them one by one"
            )
        found[own] = name
    return {name: own for own, name in found.items()}


def _check(server: Server) -> tuple[Check, ...]:
    """Return the error that stopped the server, or None after a signal."""
    if not server.closed:
        return ()
    return (Check("requests are answered until the end", "answered", "the server ended", ok=False),)


@contextlib.contextmanager
def _told_to_end() -> Generator[threading.Event, None, None]:
    """Yield an event that the first SIGTERM or Ctrl-C sets; the second one ends the process at once."""
    end = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        # Only the main thread handles signals. In other threads the end of the process stops the server.
        yield end
        return
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    # A background process must keep ignoring Ctrl+C of the foreground.
    before = {number: own for number, own in handlers.items() if own is not signal.SIG_IGN}

    def set_end(_number: int, _frame: object) -> None:
        for number, handler in before.items():
            signal.signal(number, handler)
        end.set()

    for number in before:
        signal.signal(number, set_end)
    try:
        yield end
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
