"""``tensorwrapper keys``: a new key pair, in a file with access for its owner alone."""

import argparse

from tensorwrapper.cli._report import Report
from tensorwrapper.transport import KeyPair

__all__ = ["run"]


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    keys = KeyPair.make()
    keys.save(options.file)
    return Report(
        "keys",
        (),
        {"file": str(options.file), "public key": keys.public},
        ("Give the public key to those who shall know this side by it; keep the file.",),
        (),
    )
