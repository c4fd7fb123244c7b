"""`AsyncSnapshot`: the tensors of a server at one moment, for asyncio."""

from functools import partial
from types import TracebackType
from typing import NoReturn, final

from tensorwrapper._value_class import Shown
from tensorwrapper.remote.aio._records import AsyncRemoteRecords
from tensorwrapper.remote.aio._tensor import AsyncRemoteTensor
from tensorwrapper.remote.aio._worker_threads import Threads
from tensorwrapper.remote.client._snapshot import Snapshot


@final
class AsyncSnapshot(Shown):
    """The tensors of a server at one moment, created by `AsyncRemote.snapshot`; see `Snapshot`."""

    __slots__ = ("_snapshot", "_threads")

    def __init__(self, threads: Threads, snapshot: Snapshot) -> None:
        self._threads, self._snapshot = threads, snapshot

    @property
    def closed(self) -> bool:
        """True if the snapshot was released."""
        return self._snapshot.closed

    async def names(self) -> list[str]:
        """Return the names of all tensors, in order."""
        return await self._threads.run(partial(list[str], self._snapshot))

    async def tensor(self, name: str) -> AsyncRemoteTensor:
        """Look up a tensor.

        Raises
        ------
        TensorNameError
            If there was no tensor of this name.
        """
        found = await self._threads.run(partial(self._snapshot.__getitem__, name))
        return AsyncRemoteTensor(self._threads, found)

    async def records(self, name: str) -> AsyncRemoteRecords:
        """Look up records, as `Snapshot.records` does."""
        found = await self._threads.run(partial(self._snapshot.records, name))
        return AsyncRemoteRecords(self._threads, found)

    async def close(self) -> None:
        """Release the snapshot on the server. Closing twice is harmless."""
        await self._threads.run(self._snapshot.close)

    async def __aenter__(self) -> "AsyncSnapshot":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __reduce__(self) -> NoReturn:
        self._threads.refuse_pickling(self)

    def __repr__(self) -> str:
        return f"<AsyncSnapshot {self._snapshot!r}>"
