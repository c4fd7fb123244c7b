"""``tensorwrapper inspect``: which tensors a file or a server has, without their elements."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from tensorwrapper import store
from tensorwrapper.cli._command import Command
from tensorwrapper.cli._report import Check, Figure, Report
from tensorwrapper.cli._security import add_client_options, client_security
from tensorwrapper.cli._sizes import size_of
from tensorwrapper.errors import DataFileError
from tensorwrapper.remote import connect
from tensorwrapper.store import Entry

__all__ = ["INSPECT"]

_WIDEST = 48
"""Characters of a column; more of a name or a shape is not shown to people."""


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file", metavar="FILE", help="a file of any kind that convert knows, or the address of a server"
    )
    add_client_options(parser)


def _run(options: argparse.Namespace) -> Report:
    if "://" in options.file:
        return _served(options)
    path = Path(options.file)
    entries: list[Entry] = []
    with store.open(path) as file:
        lost = [*file.losses]
        for name in file:
            try:
                entries.append(file.describe(name))
            except DataFileError as error:
                lost.append(f"the tensor {name!r} cannot be read: {error}")
        try:
            metadata = file.metadata
        except DataFileError as error:
            metadata = {}
            lost.append(f"what is said of the file cannot be read: {error}")
    figures: dict[str, Figure] = {
        "tensors": len(entries),
        "elements": sum([entry.size for entry in entries]),
        "bytes": size_of(path),
    }
    if metadata:
        figures["metadata"] = cast("Figure", metadata)
    checks = [Check("all that was begun is there", "nothing lost", text, ok=False) for text in lost]
    rows = tuple([_row(entry) for entry in entries])
    return Report("inspect", tuple(checks), figures, _table(entries), rows)


def _served(options: argparse.Namespace) -> Report:
    """Return what a server has: as much as it says without sending elements or lengths of rows."""
    security = client_security(options)
    with connect(options.file, security=security, timeout=options.timeout) as remote:
        tensors = [remote[name] for name in remote]
    rows: list[dict[str, Figure]] = [
        {
            "name": own.name,
            "kind": own.kind,
            "rank": own.rank,
            "dtype": str(own.dtype),
            "elements": own.size,
            "bytes": own.nbytes,
        }
        for own in tensors
    ]
    lines = [
        f"{_short(own.name)}: {own.kind} of rank {own.rank}, {own.size} elements {own.dtype}"
        for own in tensors
    ]
    return Report("inspect", (), {"tensors": len(tensors)}, tuple(lines), tuple(rows))


def _row(entry: Entry) -> dict[str, Figure]:
    return {
        "name": entry.name,
        "shape": str(entry.shape),
        "dtype": entry.dtype,
        "packing": entry.packing,
        "elements": entry.size,
        "bytes": entry.nbytes,
        "pieces": entry.pieces,
        "start": entry.start,
    }


def _table(entries: Sequence[Entry]) -> tuple[str, ...]:
    rows = [("name", "shape", "dtype", "packing", "bytes")]
    rows += [
        (_short(e.name), _short(str(e.shape)), e.dtype, e.packing, f"{e.nbytes:_}".replace("_", " "))
        for e in entries
    ]
    widths = [max(len(row[k]) for row in rows) for k in range(5)]
    return tuple(
        [
            "  ".join([text.ljust(n) for text, n in zip(row[:4], widths, strict=False)])
            + "  "
            + row[4].rjust(widths[4])
            for row in rows
        ]
    )


def _short(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


INSPECT = Command(
    "inspect", "List the tensors of a file, or of a server: names, shapes, packings, sizes.", _configure, _run
)
