"""The protocol of Dask's collections, as all collections of this package have it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self, cast

from tensorwrapper.interop.dask._dask_api import culled, persist_all, run_threads
from tensorwrapper.interop.dask._serialize import introduce


class Collected(ABC):
    """Abstract: `graph`, `name`, `_keys`, `__dask_postcompute__` and `__dask_postpersist__`."""

    __slots__ = ()

    graph: Any
    name: str

    __dask_optimize__: ClassVar[Callable[..., object]] = staticmethod(culled)
    __dask_scheduler__: ClassVar[Callable[..., object]] = staticmethod(run_threads)

    @abstractmethod
    def _keys(self) -> list[tuple[int, tuple[str, int]]]:
        """Return the number and the key of each part that has a task."""

    def persist(self, **options: object) -> Self:
        """Return the same collection with its parts in memory: on the workers, if there is a cluster."""
        introduce(options.get("scheduler"))
        return cast("Self", persist_all(self, options))

    def __dask_graph__(self) -> object:
        # Computing always calls this first, so register here.
        introduce()
        return self.graph

    def __dask_keys__(self) -> list[tuple[str, int]]:
        return [key for _, key in self._keys()]

    def __dask_layers__(self) -> tuple[str]:
        return (self.name,)

    def __dask_tokenize__(self) -> str:
        return self.name
