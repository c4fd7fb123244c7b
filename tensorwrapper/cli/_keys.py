"""``tensorwrapper keys``: two new keys, in a file that nobody else may read."""

import argparse

from tensorwrapper.cli._report import Report
from tensorwrapper.transport import KeyPair

__all__ = ["run"]


def run(options: argparse.Namespace) -> Report:
    """Do what is asked."""
    keys = KeyPair.make()
    keys.save(options.file)
    return Report(
        "keys",
        (),
        {"file": str(options.file), "public key": keys.public},
        ("Give the public key to those who shall know this side by it; keep the file.",),
        (),
    )
