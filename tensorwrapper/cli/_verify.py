"""``tensorwrapper verify``: verify every checksum of a file, and its index against its records."""

import argparse

from tensorwrapper._error_text import counted
from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Check, Report
from tensorwrapper.store import verify


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    with Progress(1) as progress:
        progress.step(f"reading {options.file}")
        found = verify(options.file, deep=options.deep, follow=options.follow, progress=progress.share)
    problems = counted(len(found.problems), "problem") if found.problems else "no problems"
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
