"""Functions of Dask, which is imported on first use."""

import contextlib
import importlib
import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast, final

import numpy as np

from tensorwrapper.typing import Array, DaskArray


def _load(name: str) -> Any:  # noqa: ANN401 - a module
    return importlib.import_module(name)


def name_of(prefix: str, *parts: object) -> str:
    """Return a deterministic name for a result of these parts."""
    return f"{prefix}-{_load('dask.base').tokenize(*parts)}"


def chunk_bytes() -> int:
    """Return Dask's configured chunk size in bytes."""
    return int(_load("dask.utils").parse_bytes(_load("dask").config.get("array.chunk-size")))


def array_over(
    graph: object,
    name: str,
    chunks: tuple[tuple[int, ...], ...],
    dtype: "np.dtype[Any]",
    *,
    masked: bool = False,
) -> "DaskArray":
    """Return the Dask array whose chunks are tasks of a graph."""
    meta: Array = np.empty((0,) * len(chunks), dtype=dtype)
    if masked:
        meta = np.ma.masked_array(meta)
    found = _load("dask.array").Array(graph, name, chunks, dtype=dtype, meta=meta)
    if masked and not chunks:
        # Dask loses that of a single element.
        found._meta = np.ma.masked_array(np.zeros((), dtype), mask=True)
    return cast("DaskArray", found)


def register_types(types: Sequence[type], dumps: Callable[..., object], loads: Callable[..., object]) -> None:
    """Register functions by which `distributed` serialises types in this process."""
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
    """Return a pickle of a value, also of interactive functions; `callback` receives its buffers."""
    dumps = _load("distributed.protocol.pickle").dumps
    return cast("bytes", dumps(value, buffer_callback=callback, protocol=5))


def layer_of(
    name: str,
    tasks: Mapping[Any, object],
    dependencies: Sequence[Any] = (),
    where: Mapping[Any, Sequence[str]] | None = None,
) -> Any:  # noqa: ANN401 - a graph
    """Return the graph of some tasks over the collections, or graphs and names of layers, that they need.

    `where` has the preferred workers of tasks; others may run them if these are gone.
    """
    known: dict[Any, Sequence[str]] = dict(where or {})
    annotations: dict[str, Any] | None = None
    if any(key in known for key in tasks):

        def workers(key: object) -> list[str]:
            return list(known.get(key, ()))

        annotations = {"workers": workers, "allow_other_workers": True}
    graphs = _load("dask.highlevelgraph")
    layers: dict[str, Any] = {name: graphs.MaterializedLayer(dict(tasks), annotations=annotations)}
    needs: dict[str, set[str]] = {name: set()}
    for own in dependencies:
        is_collection = hasattr(own, "__dask_layers__")
        graph, names = (own.__dask_graph__(), own.__dask_layers__()) if is_collection else own
        layers.update(graph.layers)
        needs.update(graph.dependencies)
        needs[name] |= set(names)
    return graphs.HighLevelGraph(layers, needs)


def current_client() -> Any:  # noqa: ANN401 - a client, or None
    """Return the client of a cluster that this process uses; None if there is none."""
    module: Any = sys.modules.get("distributed")
    if module is None:
        return None
    with contextlib.suppress(ValueError):
        return module.default_client()
    return None


def client_of(scheduler: object) -> Any:  # noqa: ANN401 - a client, or None
    """Return the client given as the scheduler, or else the current client of this process."""
    if scheduler is None:
        return current_client()
    return scheduler if hasattr(scheduler, "who_has") else None


def places_of(client: Any, keys: Sequence[Any]) -> dict[Any, list[str]]:  # noqa: ANN401 - a client
    """Return the workers that have the results of tasks; tasks without results are left out."""
    found: Mapping[Any, Sequence[str]] = client.sync(client.scheduler.who_has, keys=list(keys))
    return {key: sorted(workers) for key, workers in found.items() if workers}


@final
class _Tasks:
    """A collection of Dask: the results of some tasks, in order."""

    __slots__ = ("graph", "keys")

    def __init__(self, graph: object, keys: list[Any]) -> None:
        self.graph = graph
        self.keys = keys

    def __dask_graph__(self) -> object:
        return self.graph

    def __dask_keys__(self) -> list[Any]:
        return self.keys

    def __dask_layers__(self) -> tuple[str]:
        return (self.keys[0][0],)

    def __dask_tokenize__(self) -> list[Any]:
        return self.keys

    def __dask_postpersist__(self) -> "tuple[Callable[..., _Tasks], tuple[list[Any]]]":
        return _Tasks, (self.keys,)

    def __dask_postcompute__(self) -> tuple[Callable[..., list[Any]], tuple[()]]:
        return list, ()

    @staticmethod
    def __dask_optimize__(graph: Any, keys: Sequence[Any], **_: object) -> Any:  # noqa: ANN401 - a graph
        return culled(graph, keys)

    @staticmethod
    def __dask_scheduler__(graph: object, keys: object, **options: object) -> object:
        return run_threads(graph, keys, **options)


def compute_tasks(graph: object, keys: list[Any], scheduler: object) -> list[Any]:
    """Return the results of some tasks; by default use Dask's configured scheduler."""
    if not keys:
        return []
    options = {} if scheduler is None else {"scheduler": scheduler}
    # Do not compute, which would gather the results on one worker.
    kept = _load("dask").persist(_Tasks(graph, keys), **options)[0].graph
    client = client_of(scheduler)
    found: list[Any] = [kept[key] for key in keys]
    return found if client is None else cast("list[Any]", client.gather(found))


def compute_all(collection: object, options: Mapping[str, object]) -> object:
    """Return the computed value of a collection in this process."""
    return _load("dask").compute(collection, **options)[0]


def persist_all(collection: object, options: Mapping[str, object]) -> object:
    """Return a collection whose tasks have completed, or run on a cluster."""
    return _load("dask").persist(collection, **options)[0]


def persist_as_is(collection: object) -> object:
    """Persist a collection without optimization: Dask forgets assigned workers when it fuses tasks."""
    return _load("dask").persist(collection, optimize_graph=False)[0]


def culled(graph: Any, keys: Sequence[Any], **_: object) -> Any:  # noqa: ANN401 - a graph
    """Return the part of a graph that some keys need."""
    return graph.cull(set(_load("dask.core").flatten([keys])))


def run_threads(graph: object, keys: object, **options: object) -> object:
    """Run a graph in threads of this process, the default of a collection."""
    return _load("dask.threaded").get(graph, keys, **options)
