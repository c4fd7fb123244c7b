"""`AsyncRemote` and `connect_async`: the tensors of a server, for asyncio."""

import asyncio
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, SupportsIndex, final

import numpy as np

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import Shown
from tensorwrapper.errors import ExtentError
from tensorwrapper.remote._remote import Remote
from tensorwrapper.remote.aio._records import AsyncRemoteRecords
from tensorwrapper.remote.aio._snapshot import AsyncSnapshot
from tensorwrapper.remote.aio._tensor import AsyncRemoteTensor, AsyncView
from tensorwrapper.remote.aio._worker_threads import Threads
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._pending_request import IDLE, Timeouts
from tensorwrapper.remote.client._shared_connections import Opening, opened, opening_of
from tensorwrapper.remote.protocol._events import ReducedOver
from tensorwrapper.selection import View, as_view
from tensorwrapper.tensor import Tensor
from tensorwrapper.transport import Counters, CurveClient

if TYPE_CHECKING:
    from tensorwrapper.selection import Progress, Target, ViewLike


@final
class AsyncRemote(Shown):
    """The tensors of a server for asyncio, created by `connect_async`.

    Any number of tasks may read at a time, each request over one of a few connections. A cancelled task
    returns at once, and the client asks the server to drop the answer. Requests of other tasks, and the
    connections, continue. Tensors, their parts and snapshots keep the client open.

    It pickles as a `Remote` does, and connects as a new client in the other process. Its tensors and their
    parts cannot be pickled, as they use threads of this process. Their views, from `view`, can.

    Examples
    --------
    >>> import asyncio
    >>> import tensorwrapper as tw
    >>> async def read(address):
    ...     async with connect_async(address) as remote:
    ...         x = await remote.tensor("x")
    ...         first, last = await asyncio.gather(x[0].tolist(), x[-1, ::2].tolist())
    ...         return await remote.names(), first, last
    >>> with tw.serve({"x": [[1, 2, 3], [4, 5, 6]]}) as server:
    ...     asyncio.run(read(server.address))
    (['x'], [1, 2, 3], [4, 6])
    """

    __slots__ = ("__weakref__", "_connections", "_remote", "_threads")

    def __init__(self, connections: Connections, concurrency: int) -> None:
        self._connections = connections
        self._remote = Remote(connections)
        self._threads = Threads(connections.address, concurrency)

    # Members without requests.

    @property
    def address(self) -> str:
        """The address of the server."""
        return self._remote.address

    @property
    def closed(self) -> bool:
        """True if `close` was called."""
        return self._threads.closed

    @property
    def counters(self) -> Counters:
        """Traffic over the open connections; see `Remote.counters`."""
        return self._remote.counters

    # Members with requests.

    async def names(self) -> list[str]:
        """Return the names of all tensors, in order."""
        return await self._threads.run(partial(list[str], self._remote))

    async def tensor(self, name: str) -> "AsyncRemoteTensor":
        """Look up a tensor.

        Raises
        ------
        TensorNameError
            If there is no tensor of this name.
        """
        return AsyncRemoteTensor(
            self._threads, await self._threads.run(partial(self._remote.__getitem__, name))
        )

    async def records(self, name: str) -> AsyncRemoteRecords:
        """Look up records, as `Remote.records` does.

        Raises
        ------
        TensorNameError
            If there are no records with this name.
        """
        return AsyncRemoteRecords(self._threads, await self._threads.run(partial(self._remote.records, name)))

    async def snapshot(self) -> AsyncSnapshot:
        """Return all served tensors at their current versions, as `Remote.snapshot` does."""
        return AsyncSnapshot(self._threads, await self._threads.run(self._remote.snapshot))

    async def pushed(self, view: "ViewLike") -> View[Any]:
        """Return a view that the server computes if this transfers less, as `Remote.pushed` does."""
        return await self._threads.run(partial(self._remote.pushed, view))

    async def reduce(
        self,
        ufunc: np.ufunc | Callable[..., object],
        view: "ViewLike",
        over: ReducedOver,
        *,
        initial: object = None,
    ) -> Tensor[Any]:
        """Return the reduction of rows, tiles or a mode at the server, as `Remote.reduce` does."""
        return await self._threads.run(partial(self._remote.reduce, ufunc, view, over, initial=initial))

    async def health(self) -> dict[str, int]:
        """Return the state of the server: requests under way and waiting, threads."""
        return await self._threads.run(self._remote.health)

    async def stats(self) -> dict[str, int]:
        """Return the server's counters of one connection; an answer shows that the server is alive."""
        return await self._threads.run(self._remote.stats)

    async def compute(
        self,
        view: "ViewLike | AsyncView | AsyncRemoteTensor",
        out: "Target | None" = None,
        *,
        progress: "Progress | None" = None,
    ) -> Tensor[Any]:
        """Return the elements of a view, whatever its sources, as `View.compute` does.

        Parameters
        ----------
        view
            The view; for a tensor of a server or a part of it, this is the same as its own `compute`.
        out
            Target of the elements. A cancelled task returns once no thread writes to `out`, after about a
            twentieth of a second; without `out` it returns at once.
        progress
            Function called in the event loop with the bytes received so far, and the total.
        """
        if isinstance(view, AsyncView | AsyncRemoteTensor):
            return await view.compute(out, progress=progress)
        return await self._threads.compute(partial(as_view, view), out, progress)

    async def close(self) -> None:
        """Cancel requests under way, and close all connections; closing twice is harmless."""
        self._threads.close()
        await asyncio.get_running_loop().run_in_executor(None, self._end)

    def _end(self) -> None:
        self._threads.join()
        self._remote.close()

    async def __aenter__(self) -> "AsyncRemote":
        try:
            await self._threads.run(self._remote.stats)
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __reduce__(self) -> "tuple[Callable[..., AsyncRemote], tuple[Opening, int]]":
        return _opened, (opening_of(self, self._connections), self._threads.count)

    def __repr__(self) -> str:
        return f"<AsyncRemote {self.address}{', closed' if self.closed else ''}>"


def _opened(opening: Opening, concurrency: int) -> AsyncRemote:
    """Return a client from its pickled state."""
    return AsyncRemote(opened(opening), concurrency)


def connect_async(
    address: str,
    *,
    security: CurveClient | None = None,
    timeout: float = 10.0,
    deadline: float | None = None,
    idle: float | None = IDLE,
    cache_bytes: SupportsIndex = 0,
    compress: bool | None = None,
    concurrency: SupportsIndex = 4,
) -> AsyncRemote:
    """Return the tensors of a server for asyncio. ``async with`` or the first request connects.

    Parameters
    ----------
    address, security, timeout, deadline, idle, cache_bytes, compress
        As in `connect`.
    concurrency
        Number of concurrent requests, each with a thread and a connection. Further requests wait.

    Raises
    ------
    TransportTimeoutError
        If no server of tensors answers in time.
    TransportError
        If the address is invalid.
    """
    count = to_count(concurrency, "concurrency")
    if not count:
        raise ExtentError("concurrency must be at least 1")
    kept = to_count(cache_bytes, "cache_bytes")
    patience = Timeouts(timeout, deadline, idle)
    return AsyncRemote(Connections(address, security, patience, kept, compress=compress), count)
