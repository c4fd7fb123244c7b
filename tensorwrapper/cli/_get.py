"""``tensorwrapper get``: a selection of a tensor at a server, printed or written to a file."""

import argparse
import errno
import math
import os
from pathlib import Path
from typing import Any, Final, cast

from tensorwrapper.cli._command import Command
from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Figure, Report, Value
from tensorwrapper.cli._security import add_client_options, client_security
from tensorwrapper.cli._sizes import size_of
from tensorwrapper.errors import ConversionError, DataFileExistsError
from tensorwrapper.remote import RemoteTensor, connect
from tensorwrapper.selection import NewMode, Selector, View
from tensorwrapper.store import save

__all__ = ["GET"]

_PRINTED: Final = 100_000
"""Elements that are printed; more are for a file."""


def _configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("address", metavar="ADDRESS", help="where the server listens, as it says")
    parser.add_argument("name", metavar="NAME", help="the tensor; inspect ADDRESS lists them")
    # None of these may be missing: argparse takes what may for missing if an option stands before it.
    parser.add_argument(
        "selector",
        metavar="SELECTOR",
        help="what stands between brackets: '5:7, ::500', '-1', '+, 3'; '...' is all of it",
    )
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="write to this file, of any kind that convert knows"
    )
    parser.add_argument("--force", action="store_true", help="replace FILE if it is there")
    parser.add_argument("--plan", action="store_true", help="say what would travel, and read nothing")
    add_client_options(parser)


def _run(options: argparse.Namespace) -> Report:
    selector = Selector.parse(options.selector)
    if options.out is not None and not options.force and os.path.lexists(options.out):
        raise DataFileExistsError(errno.EEXIST, f"{options.out} is there already; --force replaces it")
    security = client_security(options)
    with Progress(1 if options.plan else 2 if options.out is None else 3) as progress:
        progress.step(f"connecting to {options.address}")
        with connect(options.address, security=security, timeout=options.timeout) as remote:
            tensor = remote[options.name]
            part = _selected(tensor, selector)
            figures: dict[str, Figure] = {
                "tensor": tensor.name,
                "selector": str(selector),
                "shape": str(part.shape),
                "dtype": str(part.dtype),
                "elements": part.shape.size,
                "bytes of the whole": tensor.nbytes,
                "bytes of elements to be received": part.plan().bytes_received,
            }
            if options.plan:
                return Report("get", (), figures)
            if options.out is None and part.shape.size > _PRINTED:
                raise ConversionError(
                    f"{part.shape.size} elements are more than the {_PRINTED} that are printed: --out FILE "
                    "writes them to a file"
                )
            progress.step(f"reading {part.shape.size} elements")
            found = part.compute(progress=progress.share)
            # What was asked before the elements counts as well: the shape, and the lengths of rows.
            figures["bytes received"] = remote.counters.bytes_received_on_wire
        if options.out is None:
            elements = _plain(found.tolist())
            return Report("get", (), figures, (str(found),), value=elements)
        progress.step(f"writing {options.out}")
        save(options.out, {tensor.name.rpartition("/")[2]: found})
        figures["bytes of the file"] = size_of(options.out)
        return Report("get", (), figures, (f"{tensor.name} -> {options.out}",))


def _selected(tensor: RemoteTensor, selector: Selector) -> View[Any]:
    # By key only the rows that are selected are asked for their lengths.
    if any(isinstance(atom, NewMode) and atom.extent > 1 for atom in selector.atoms):
        return selector.apply(tensor.view())
    return tensor[selector.to_key()]


def _plain(value: object) -> Value:
    """Return elements as JSON has them: numbers that it lacks, dates and spans of time as texts."""
    if isinstance(value, list):
        return [_plain(own) for own in cast("list[object]", value)]
    if isinstance(value, complex):
        return [_plain(value.real), _plain(value.imag)]
    if isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


GET = Command("get", "Read a selection of a tensor from where it is served.", _configure, _run)
