"""``tensorwrapper keys``: two new keys, in a file that nobody else may read."""

import argparse
from pathlib import Path

from tensorwrapper.cli._command import Command
from tensorwrapper.cli._report import Report
from tensorwrapper.transport import KeyPair

__all__ = ["KEYS"]


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="the file to write; it must not be there yet")


def _run(options: argparse.Namespace) -> Report:
    keys = KeyPair.make()
    keys.save(options.file)
    return Report(
        "keys",
        (),
        {"file": str(options.file), "public key": keys.public},
        ("Give the public key to those who shall know this side by it; keep the file.",),
        (),
    )


KEYS = Command("keys", "Make two keys for encrypted sockets, and show the public one.", _configure, _run)
