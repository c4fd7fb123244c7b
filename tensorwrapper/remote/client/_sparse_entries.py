"""Read the stored entries of a sparse tensor on a server."""

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from tensorwrapper.buffer.lowlevel import make_sparse, rises
from tensorwrapper.errors import RemoteProtocolError, RequestRefusedError, VersionChangedError
from tensorwrapper.layout import Layout
from tensorwrapper.remote.batching._request_sizes import halves_of
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._rows import RowsSource
from tensorwrapper.remote.client._source import RemoteSource, elements_of
from tensorwrapper.remote.protocol._elements import fill_of
from tensorwrapper.remote.protocol._events import AskEntries, Entries, Facts
from tensorwrapper.selection import Runs, Source, Wanted, as_view
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, ArrayKey, IntArray


def read_entries(
    connections: Connections, facts: Facts, source: RemoteSource, selections: Sequence[Wanted]
) -> Tensor[Any]:
    """Return a sparse tensor of the shape of a source, with its stored entries within selections."""
    places, values = _stored(connections, facts, source, selections)
    layout = Layout(source.shape) if source.layout is None else source.layout
    return _sparse_tensor(layout, places, values, fill_of_source(facts, source))


def read_entries_of_rows(connections: Connections, facts: Facts, rows: RowsSource) -> Tensor[Any]:
    """Return some rows of a sparse tensor with rows. O(runs + entries log runs)."""
    source, sizes = cast("RemoteSource", rows.whole), np.diff(rows.splits)
    places, values = _stored(connections, facts, source, (Runs(rows.starts, sizes),))
    # An empty run has the same start as the next run, which has the entry.
    run = np.searchsorted(rows.starts, places, "right") - 1
    here = places - rows.starts[run] + rows.splits[run]
    return _sparse_tensor(Layout(rows.shape), here, values, fill_of_source(facts, source))


def _sparse_tensor(layout: Layout[Any], places: IntArray, values: Array, fill: Array) -> Tensor[Any]:
    return make_tensor(layout, make_sparse(places, values, layout.shape.size, fill).as_readonly())


def _stored(
    connections: Connections, facts: Facts, source: RemoteSource, selections: Sequence[Wanted]
) -> tuple[IntArray, Array]:
    """Return the row-major numbers of the entries stored within selections, once each, and the elements."""
    numbers: list[IntArray] = [np.empty(0, np.int64)]
    values: list[Array] = [np.empty(0, source.dtype)]
    todo = [own for own in selections if own.size]
    while todo:
        wanted = todo.pop()
        try:
            answer = connections.here().ask(
                AskEntries(facts.name, facts.version, (wanted,), source.layout is not None)
            )
        except RequestRefusedError as error:
            if error.reason != "limit" or wanted.size < 2:
                raise
            todo += halves_of(wanted)
            continue
        if not isinstance(answer, Entries) or answer.version != facts.version:
            raise VersionChangedError(
                f"the entries of {facts.name!r} are not those of version {facts.version!r}"
            )
        own, found = _checked(answer, facts, source, wanted)
        numbers.append(own)
        values.append(found)
    # Selections may share elements.
    places, first = np.unique(np.concatenate(numbers), return_index=True)
    return places, np.concatenate(values)[first]


def wanted_of(source: Source, key: ArrayKey) -> tuple[Wanted, ...]:
    """Return the selections that a view of a source by this key would read."""
    plan = as_view(source)[key].plan()
    return tuple([own for read in plan.reads for own in read.selections])


def _checked(answer: Entries, facts: Facts, source: RemoteSource, wanted: Wanted) -> tuple[IntArray, Array]:
    numbers = answer.numbers
    if answer.counts.tolist() != [len(numbers)]:
        raise RemoteProtocolError("size", f"{len(numbers)} entries were received, not the announced number")
    if len(numbers) > wanted.size or not rises(numbers) or (len(numbers) and numbers[-1] >= facts.size):
        raise RemoteProtocolError("size", f"entries of {facts.name!r} do not ascend, or exceed its size")
    return numbers, elements_of((answer.values,), source.dtype, len(numbers)).astype(source.dtype)


def fill_of_source(facts: Facts, source: RemoteSource) -> Array:
    try:
        raw = bytes.fromhex(facts.fill or "")
    except ValueError as error:
        raise RemoteProtocolError("size", f"the fill of {facts.name!r} is not an element: {error}") from error
    return fill_of(raw, source.dtype)
