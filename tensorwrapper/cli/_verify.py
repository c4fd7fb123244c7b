"""``tensorwrapper verify``: every checksum of a file, and its index against its records."""

import argparse
from pathlib import Path

from tensorwrapper.cli._command import Command
from tensorwrapper.cli._report import Check, Report
from tensorwrapper.store import verify

__all__ = ["VERIFY"]


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE", help="a .tens file")


def _run(options: argparse.Namespace) -> Report:
    found = verify(options.file)
    problems = f"{len(found.problems)} problems" if found.problems else "no problems"
    return Report(
        "verify",
        (Check("all records, their checksums and the index", "no problems", problems, found.ok),),
        {
            "tensors": found.tensors,
            "records": found.records,
            "bytes": found.nbytes,
            "index": "at the end" if found.indexed else "none: the file is scanned when it is opened",
        },
        (str(options.file), *found.problems),
        tuple([{"problem": problem} for problem in found.problems]),
    )


VERIFY = Command(
    "verify", "Read all of a .tens file, and compare checksums, index and records.", _configure, _run
)
