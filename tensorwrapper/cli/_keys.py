"""``tensorwrapper keys``: write a new key pair to a file that only its owner can read."""

import argparse

from tensorwrapper.cli._report import Report
from tensorwrapper.transport import KeyPair


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
