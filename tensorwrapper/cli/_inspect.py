"""``tensorwrapper inspect``: list the tensors of a file or a server, without elements."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from tensorwrapper import store
from tensorwrapper._displays import text_table
from tensorwrapper._error_text import counted, type_text
from tensorwrapper.cli._report import Check, Figure, Report
from tensorwrapper.cli._security import client_security
from tensorwrapper.cli._sizes import size_of
from tensorwrapper.cli._values import first_of, plain, served
from tensorwrapper.errors import DataFileError, TensorNameError, VersionChangedError
from tensorwrapper.remote import RemoteTensor, connect
from tensorwrapper.store import Entry, SourceState
from tensorwrapper.tensor import Tensor

_WIDEST = 48
"""Column width in characters; longer names and shapes are shortened."""


def run(options: argparse.Namespace) -> Report:
    """Run the command and return its report."""
    if "://" in options.file:
        return _served(options)
    path = Path(options.file)
    if options.name is None:
        return _listed(path, options.follow)
    return _shown(path, options.name, options.follow)


def _listed(path: Path, follow: str | None) -> Report:
    """Return a report of the contents of a file."""
    entries: list[Entry] = []
    states: list[tuple[str, SourceState]] = []
    with store.open(path, follow=follow) as file:
        lost = [str(loss) for loss in file.losses if loss.code == "damage"]
        # Parts that are not tensors do not count as damage.
        others: dict[str, Figure] = {loss.name: str(loss) for loss in file.losses if loss.code != "damage"}
        for name in file:
            try:
                entries.append(file.describe(name))
            except (DataFileError, VersionChangedError) as error:
                lost.append(f"the tensor {name!r} cannot be read: {error}")
            states += _states(file, name)
        try:
            metadata = file.metadata
        except DataFileError as error:
            metadata = {}
            lost.append(f"cannot read the metadata of the file: {error}")
    figures: dict[str, Figure] = {
        "tensors": len(entries),
        "elements": sum([entry.size for entry in entries]),
        "bytes": size_of(path),
    }
    if metadata:
        figures["metadata"] = cast("Figure", metadata)
    if others:
        figures["not read as tensors"] = others
    checks = [Check("all that was begun is there", "nothing lost", text, ok=False) for text in lost]
    rows = tuple([_row(entry) for entry in entries])
    sources = [
        {"view": name, "source": own.path, "members": own.members, "state": own.state} for name, own in states
    ]
    if sources:
        figures["sources"] = cast("Figure", sources)
    return Report("inspect", tuple(checks), figures, (*_table(entries), *_sources(states)), rows)


def _states(file: "store.TensFile | store.ArrayFile", name: str) -> list[tuple[str, SourceState]]:
    """Return the files that a stored view reads; empty for a tensor or a damaged view."""
    if not isinstance(file, store.TensFile):
        return []
    try:
        return [(name, own) for own in file.check_sources(name)]
    except DataFileError:
        return []


def _sources(states: Sequence[tuple[str, SourceState]]) -> tuple[str, ...]:
    """Return a line for each file that a view reads."""
    if not states:
        return ()
    rows = [("view", "source", "state", "tensors")]
    rows += [
        (_short(name), _short(own.path or "this file"), own.state, _grouped(own.members))
        for name, own in states
    ]
    return ("", *tuple(text_table(rows)))


def _shown(path: Path, name: str, follow: str | None) -> Report:
    """Return a report of one tensor and its first values, or of records and their fields."""
    with store.open(path, follow=follow) as file:
        fields = file.record_fields.get(name) if isinstance(file, store.TensFile) else None
        if fields is not None:
            entries = [file.describe(f"{name}.{own}") for own in fields]
            sums: dict[str, Figure] = {
                "tensors": len(entries),
                "elements": sum([own.size for own in entries]),
                "bytes": sum([own.nbytes for own in entries]),
            }
            return Report("inspect", (), sums, _table(entries), tuple(map(_row, entries)))
        if name not in file:
            raise TensorNameError(f"{path} has no tensor {name!r}; inspect lists those it has")
        entry, first = file.describe(name), first_of(file[name])
        figures = _row(entry)
        if metadata := file.tensor_metadata(name):
            figures["metadata"] = cast("Figure", metadata)
        return _with_values(figures, first)


def _with_values(figures: dict[str, Figure], first: Tensor[Any]) -> Report:
    if first.shape.size == figures["elements"]:
        title = "all values:"
    else:
        title = f"the first {first.shape.size} of {figures['elements']} values:"
    lines = (title, *str(first).splitlines())
    return Report("inspect", (), figures, lines, value=plain(first.tolist()))


def _served(options: argparse.Namespace) -> Report:
    """Return a report of a server's tensors, without requesting elements or row lengths."""
    security = client_security(options)
    with connect(options.file, security=security, timeout=options.timeout) as remote:
        if options.name is not None:
            tensor = served(remote, options.name)
            return _with_values(_remote_row(tensor), first_of(tensor))
        tensors = [remote[name] for name in remote]
    rows = [_remote_row(own) for own in tensors]
    lines = text_table(
        [
            ("name", "shape", "dtype", "bytes"),
            *[
                (_short(own.name), _short(_shape_of(own)), type_text(own.dtype), _grouped(own.nbytes))
                for own in tensors
            ],
        ]
    )
    return Report("inspect", (), {"tensors": len(tensors)}, tuple(lines), tuple(rows))


def _shape_of(tensor: RemoteTensor) -> str:
    """Return the shape of a box; for other tensors what is known without requesting row lengths."""
    if tensor.kind == "smooth":
        return str(tensor.shape)
    return f"{tensor.kind}, rank {tensor.rank}, {counted(tensor.size, 'element')}"


def _remote_row(tensor: RemoteTensor) -> dict[str, Figure]:
    return {
        "name": tensor.name,
        "kind": tensor.kind,
        "rank": tensor.rank,
        "shape": _shape_of(tensor),
        "extents": list(tensor.shape.extents) if tensor.kind == "smooth" else None,
        "dtype": type_text(tensor.dtype),
        "elements": tensor.size,
        "bytes": tensor.nbytes,
    }


def _row(entry: Entry) -> dict[str, Figure]:
    return {
        "name": entry.name,
        "kind": entry.shape.kind,
        "rank": entry.shape.rank,
        "shape": str(entry.shape),
        "extents": list(entry.shape.extents) if entry.shape.kind == "smooth" else None,
        "dtype": entry.dtype,
        "packing": entry.packing,
        "elements": entry.size,
        "bytes": entry.nbytes,
        "pieces": entry.pieces,
        "start": entry.start,
    }


def _table(entries: Sequence[Entry]) -> tuple[str, ...]:
    rows = [("name", "shape", "dtype", "packing", "bytes")]
    rows += [(_short(e.name), _short(str(e.shape)), e.dtype, e.packing, _grouped(e.nbytes)) for e in entries]
    return tuple(text_table(rows))


def _grouped(count: int) -> str:
    return f"{count:_}".replace("_", " ")


def _short(text: str) -> str:
    if not text.isprintable():
        text = repr(text)[1:-1]  # control characters move the cursor
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."
