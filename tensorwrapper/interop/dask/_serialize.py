"""Serialise tensors, views and shapes between Dask workers, with read-only buffers outside the pickle.

Pickles of protocol 5 do the same without Dask. But memory that `distributed` unpickles by itself is writable,
or is copied to be writable: elements that other tasks read, too, could change under them.
"""

import pickle
from collections.abc import Sequence
from typing import Any, Final, final
from weakref import WeakSet

from tensorwrapper.fields import Records
from tensorwrapper.interop.dask._dask_api import client_of, pickled, register_plugin, register_types
from tensorwrapper.selection import View
from tensorwrapper.shape import Shape, Tiling
from tensorwrapper.tensor import Tensor
from tensorwrapper.typing import DaskClient

_TYPES: Final = (Tensor, View, Records, Shape, Tiling)
_KNOWN: Final[WeakSet[Any]] = WeakSet()
"""Clients whose workers have registered types of this library."""


def register_dask(client: DaskClient | None = None) -> None:
    """Let `distributed` move tensors, views and shapes without a copy; received ones are read-only. O(1).

    A `DaskTensor` that is computed, persisted or reshared while there is a client does so by itself, once for
    each client; only asynchronous clients, and tensors in collections of your own, need this call.

    Parameters
    ----------
    client
        All workers of its cluster, now and later, learn it; if not given, this process alone does.

    Raises
    ------
    ModuleNotFoundError
        If ``distributed`` is not installed.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> from distributed.protocol import deserialize, serialize
    >>> tw.interop.register_dask()
    >>> header, frames = serialize(tw.jagged([[1, 2], [3]]))
    >>> header["serializer"], deserialize(header, frames).tolist()
    ('dask', [[1, 2], [3]])
    """
    register_types(_TYPES, _dumps, _loads)
    if client is not None:
        register_plugin(client, _Registered(), "tensorwrapper")


def introduce(scheduler: object = None) -> None:
    """Register types with the workers of the given or current client, if not done yet."""
    client = client_of(scheduler)
    if client is None or client.asynchronous or client in _KNOWN:
        return
    register_dask(client)
    _KNOWN.add(client)


@final
class _Registered:
    """Plugin that calls `register_dask` in each worker when it starts."""

    __slots__ = ()

    def setup(self, worker: object) -> None:  # noqa: ARG002 - given by position
        register_dask()


def _dumps(value: object) -> tuple[dict[str, Any], list[memoryview]]:
    buffers: list[pickle.PickleBuffer] = []
    return {"pickle": pickled(value, buffers.append)}, [buffer.raw() for buffer in buffers]


def _loads(header: dict[str, Any], frames: Sequence[Any]) -> object:
    # Peers of the cluster are trusted, as everywhere in Dask.
    return pickle.loads(header["pickle"], buffers=[memoryview(own).toreadonly() for own in frames])  # noqa: S301
