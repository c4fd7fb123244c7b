# ruff: noqa: T201 - it prints a table
"""What this library was asked to be as fast as, beside its peers: ``python -m tests.benchmarks.compare``.

Each row is one piece of work: our time, the peer's, their ratio, the aim, and whether it was met. All times
are of the processor, ours and the peer's in turns in one process, the least of many rounds. A limit, where a
row has one, is the least that the work can take here: a formula of NumPy or of C, timed in the same run.
``--only P9,P14,G`` takes rows by the beginning of their names, ``--seconds`` is what a row may take,
``--markdown`` writes the table of the documentation. ``--growth`` fits how the time of each family grows,
``--memory`` measures peaks at 1 GiB (or as many MiB as it is given), each in a process of its own.
``--scaled`` stretches aims in seconds by how much longer Python and NumPy take than where they were set.
``--answers`` counts which results of the algebra are right, of so many drawn layouts for each operation.
"""

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace

from tests.benchmarks.compare import (
    algebra,
    block_sparse,
    cold,
    columns,
    conditions,
    contractions,
    draws,
    fetched,
    files,
    growth,
    guarded,
    jagged,
    memory,
    messages,
    nulls,
    patterns,
    records,
    rows_of_text,
    shapes,
    small_files,
    symmetric,
    tensors,
    views,
    within,
)
from tests.benchmarks.compare.measure import Row, Seen, pace, seen

FAMILIES = (
    guarded,
    tensors,
    views,
    jagged,
    within,
    nulls,
    symmetric,
    records,
    rows_of_text,
    draws,
    messages,
    shapes,
    patterns,
    block_sparse,
    conditions,
    contractions,
    files,
    small_files,
    columns,
    fetched,
    cold,
    algebra,
)


def rows(only: tuple[str, ...]) -> Iterator[Row]:
    """Yield the rows whose names begin as one of `only` does; what others need is not made."""
    for family in FAMILIES:
        for name, make in family.ROWS.items():
            names = [part.strip() for part in name.split(",")]
            if not only or any(_asked(own, only) for own in names):
                yield from (row for row in make() if not only or _asked(row.name, only))


def _asked(name: str, only: tuple[str, ...]) -> bool:
    return any(name == word or (not word[-1].isdigit() and name.startswith(word)) for word in only)


def main() -> None:
    """Print the rows that were asked for, and what could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.compare", description=__doc__)
    parser.add_argument("--only", default="", help="names of rows, with commas: P9,P14, or G for all guarded")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long a row may take at least")
    parser.add_argument("--markdown", action="store_true", help="write a table of Markdown")
    parser.add_argument("--scaled", action="store_true", help="stretch aims in seconds to this machine")
    parser.add_argument("--growth", action="store_true", help="fit how the time of each family grows")
    parser.add_argument("--memory", type=int, nargs="?", const=1024, metavar="MIB", help="peaks of memory")
    parser.add_argument(
        "--answers", type=int, nargs="?", const=3000, metavar="LAYOUTS", help="right, wrong, refused"
    )
    given = parser.parse_args()
    only = tuple(word.strip() for word in given.only.split(",") if word.strip())
    if given.growth:
        growth.main(only)
    elif given.answers:
        algebra.answers(given.answers)
    elif given.memory:
        memory.main(given.memory, only)
    else:
        table(only, given.seconds, markdown=given.markdown, scaled=given.scaled)


def table(only: tuple[str, ...], seconds: float, *, markdown: bool, scaled: bool) -> None:
    """Print a line for each row as soon as it is known, and at the end how many aims were met."""
    line = "| {} | {} | {} | {} | {} | {} | {} |" if markdown else "{:<4} {:<58} {:>9} {:>26} {:>7} {:>9}  {}"
    print(line.format("row", "work", "ours", "peer", "ratio", "aim", "verdict"))
    if markdown:
        print("| --- | --- | --- | --- | --- | --- | --- |")
    all_seen: list[Seen] = []
    unmeasured: list[str] = []
    paces: list[float] = []
    for asked in rows(only):
        if scaled and asked.aim is not None:
            paces.append(pace())
            row = replace(asked, aim=asked.aim * paces[-1])
        else:
            row = asked
        found = seen(row, seconds)
        if isinstance(found, str):
            unmeasured.append(f"{row.name} {row.work}: {found}")
            continue
        if row.missing:
            unmeasured.append(f"{row.name} {row.work}: the peer, {row.missing}, is not installed")
        all_seen.append(found)
        print(line.format(*found.fields()), flush=True)
    met, aims = sum(found.met for found in all_seen), sum(found.has_aim for found in all_seen)
    print(f"\n{met} of {aims} aims met. Not measured: {len(unmeasured)}.", file=sys.stderr)
    if paces:
        range_of = f"{min(paces):.2f} to {max(paces):.2f}"
        print(f"Aims in seconds are stretched by {range_of}, as what was run beside them.", file=sys.stderr)
    for text in unmeasured:
        print(f"  {text}", file=sys.stderr)


if __name__ == "__main__":
    main()
