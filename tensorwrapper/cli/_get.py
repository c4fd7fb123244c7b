"""``tensorwrapper get``: print or save a selection of a tensor on a server."""

import argparse
import errno
import os
from typing import Any, Final

from tensorwrapper._error_text import type_text
from tensorwrapper.cli._progress import Progress
from tensorwrapper.cli._report import Figure, Report
from tensorwrapper.cli._security import client_security
from tensorwrapper.cli._sizes import size_of
from tensorwrapper.cli._values import plain, served
from tensorwrapper.errors import ConversionError, DataFileExistsError
from tensorwrapper.remote import RemoteTensor, connect
from tensorwrapper.selection import NewMode, Selector, View
from tensorwrapper.store import save

_PRINTED: Final = 100_000
"""Limit on printed elements."""


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    selector = Selector.parse(options.selector)
    if options.out is not None and not options.force and os.path.lexists(options.out):
        raise DataFileExistsError(errno.EEXIST, f"{options.out} already exists; use --force to replace it")
    security = client_security(options)
    with Progress(1 if options.plan else 2 if options.out is None else 3) as progress:
        progress.step(f"connecting to {options.address}")
        with connect(options.address, security=security, timeout=options.timeout) as remote:
            tensor = served(remote, options.name)
            part = _selected(tensor, selector)
            figures: dict[str, Figure] = {
                "tensor": tensor.name,
                "selector": str(selector),
                "shape": str(part.shape),
                "dtype": type_text(part.dtype),
                "elements": part.shape.size,
                "bytes of the whole": tensor.nbytes,
                "bytes of elements to be received": part.plan().bytes_received,
            }
            if options.plan:
                return Report("get", (), figures)
            if options.out is None and part.shape.size > _PRINTED:
                raise ConversionError(
                    f"{part.shape.size} elements exceed the limit of {_PRINTED} for printing; use --out FILE"
                )
            progress.step(f"reading {part.shape.size} elements")
            found = part.compute(progress=progress.share)
            # The shape and the row lengths were received before the elements, and also count.
            figures["bytes received"] = remote.counters.bytes_received_on_wire
        if options.out is None:
            elements = plain(found.tolist())
            return Report("get", (), figures, (str(found),), value=elements)
        progress.step(f"writing {options.out}")
        save(options.out, {tensor.name.rpartition("/")[2]: found})
        figures["bytes of the file"] = size_of(options.out)
        return Report("get", (), figures, (f"{tensor.name} -> {options.out}",))


def _selected(tensor: RemoteTensor, selector: Selector) -> View[Any]:
    # A key requests only the lengths of the selected rows.
    if any(isinstance(atom, NewMode) and atom.extent > 1 for atom in selector.atoms):
        return selector.apply(tensor.view())
    return tensor[selector.to_key()]
