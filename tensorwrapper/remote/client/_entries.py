"""What a sparse tensor at a server stores, brought here."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorwrapper.buffer.lowlevel import make_sparse, rises
from tensorwrapper.errors import RemoteProtocolError, RequestRefusedError, VersionChangedError
from tensorwrapper.layout import Layout
from tensorwrapper.remote.asking._pieces import halves_of
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._source import RemoteSource
from tensorwrapper.remote.protocol._events import AskEntries, Entries, Facts
from tensorwrapper.selection import Source, Wanted, as_view
from tensorwrapper.tensor import Tensor
from tensorwrapper.tensor.lowlevel import make_tensor
from tensorwrapper.typing import Array, ArrayKey, IntArray

__all__ = ["read_entries", "wanted_of"]


def read_entries(
    connections: Connections, facts: Facts, source: RemoteSource, selections: Sequence[Wanted]
) -> Tensor[Any]:
    """Return a sparse tensor of the shape of a source that has what that stores within selections."""
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
    fill = _fill_of(facts, source)
    return make_tensor(
        Layout(source.shape) if source.layout is None else source.layout,
        make_sparse(places, np.concatenate(values)[first], facts.size, fill).as_readonly(),
    )


def wanted_of(source: Source, key: ArrayKey) -> tuple[Wanted, ...]:
    """Return what a view of a source that a key selects would read of it."""
    plan = as_view(source)[key].plan()
    return tuple([own for read in plan.reads for own in read.selections])


def _checked(answer: Entries, facts: Facts, source: RemoteSource, wanted: Wanted) -> tuple[IntArray, Array]:
    numbers, itemsize = answer.numbers, source.dtype.itemsize
    if answer.values.nbytes != len(numbers) * itemsize or answer.counts.tolist() != [len(numbers)]:
        raise RemoteProtocolError("size", f"{len(numbers)} entries come with {answer.values.nbytes} bytes")
    if len(numbers) > wanted.size or not rises(numbers) or (len(numbers) and numbers[-1] >= facts.size):
        raise RemoteProtocolError("size", f"entries of {facts.name!r} do not ascend, or lie beyond its end")
    return numbers, np.frombuffer(answer.values, source.dtype.newbyteorder("<")).astype(source.dtype)


def _fill_of(facts: Facts, source: RemoteSource) -> Array:
    try:
        raw = bytes.fromhex(facts.fill or "")
        return np.frombuffer(raw, source.dtype.newbyteorder("<")).astype(source.dtype).reshape(())
    except ValueError as error:
        raise RemoteProtocolError("size", f"the fill of {facts.name!r} is no element: {error}") from error
