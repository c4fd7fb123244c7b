"""What is called of Dask, which is loaded by the first call: its functions have few types."""

import importlib
import pickle
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tensorwrapper.typing import Array

if TYPE_CHECKING:
    import dask.array as da

__all__ = ["array_over", "chunk_bytes", "layer_of", "name_of", "pickled", "register_plugin", "register_types"]


def _load(name: str) -> Any:  # noqa: ANN401 - a module
    return importlib.import_module(name)


def name_of(prefix: str, *parts: object) -> str:
    """Return the name of what is made of these parts: equal for equal ones, in every process."""
    return f"{prefix}-{_load('dask.base').tokenize(*parts)}"


def chunk_bytes() -> int:
    """Return how many bytes a chunk is to have, as Dask is configured."""
    return int(_load("dask.utils").parse_bytes(_load("dask").config.get("array.chunk-size")))


def layer_of(name: str, tasks: Mapping[Any, object], dependencies: Sequence[Any] = ()) -> Any:  # noqa: ANN401 - a graph
    """Return the graph of some tasks over the collections that they need."""
    return _load("dask.highlevelgraph").HighLevelGraph.from_collections(
        name, tasks, dependencies=list(dependencies)
    )


def array_over(
    graph: object, name: str, chunks: tuple[tuple[int, ...], ...], dtype: "np.dtype[Any]"
) -> "da.Array":
    """Return the array of Dask whose chunks are tasks of a graph."""
    meta: Array = np.empty((0,) * len(chunks), dtype=dtype)
    return cast("da.Array", _load("dask.array").Array(graph, name, chunks, dtype=dtype, meta=meta))


def register_types(types: Sequence[type], dumps: Callable[..., object], loads: Callable[..., object]) -> None:
    """Let `distributed` serialise some types in this process by a function each way."""
    register = _load("distributed.protocol").register_serialization
    for kind in types:
        register(kind, dumps, loads)


def register_plugin(client: object, setup: object, name: str) -> None:
    """Let every worker of a cluster, now and later, run the ``setup`` of an object once."""
    plugin: Any = _load("distributed").WorkerPlugin()
    plugin.setup = cast("Any", setup).setup
    plugin.name = name
    cast("Any", client).register_plugin(plugin, name=name)


def pickled(value: object, callback: Callable[[pickle.PickleBuffer], object]) -> bytes:
    """Return a pickle of a value, also of functions of a session; its buffers are given to a function."""
    dumps = _load("distributed.protocol.pickle").dumps
    return cast("bytes", dumps(value, buffer_callback=callback, protocol=5))
