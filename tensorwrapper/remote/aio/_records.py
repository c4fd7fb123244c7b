"""`AsyncRemoteRecords` and `AsyncRecordRows`: records on a server and their rows, for asyncio."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn, cast, final, overload

from tensorwrapper._value_class import Shown
from tensorwrapper.remote.aio._tensor import AsyncRemoteTensor
from tensorwrapper.remote.aio._worker_threads import Threads
from tensorwrapper.remote.client._records import RemoteRecords
from tensorwrapper.shape import Shape
from tensorwrapper.typing import ArrayKey

if TYPE_CHECKING:
    from tensorwrapper.fields import Records


@final
class AsyncRecordRows(Shown):
    """Rows of records on a server, which one request reads when they are awaited."""

    __slots__ = ("_make", "_threads")

    def __init__(self, threads: Threads, make: "Callable[[], Records]") -> None:
        self._threads, self._make = threads, make

    async def view(self) -> "Records":
        """Return the rows as records. If the fields exceed a MiB in total, they are views.

        Raises
        ------
        OutOfBoundsError, TooManyIndicesError
            If there are no such rows.
        VersionChangedError
            If the records have changed since they were looked up.
        """
        return await self._threads.run(self._make)

    async def compute(self) -> "Records":
        """Return the rows with all elements; see `view` for the errors."""
        make = self._make
        return await self._threads.run(lambda: make().compute())

    async def to_dict(self) -> dict[str, Any]:
        """Return the elements of each field in nested lists, by name."""
        make = self._make
        return await self._threads.run(lambda: make().to_dict())

    def __reduce__(self) -> NoReturn:
        self._threads.refuse_pickling(self)

    def __repr__(self) -> str:
        return f"<AsyncRecordRows of {self._threads.address}>"


@final
class AsyncRemoteRecords(Shown):
    """A `RemoteRecords` for asyncio, created by `AsyncRemote.records`.

    Examples
    --------
    >>> import asyncio
    >>> import tensorwrapper as tw
    >>> async def read(address):
    ...     async with tw.connect_async(address) as remote:
    ...         events = await remote.records("ev")
    ...         return events.names, await events[1:].to_dict(), await events["t"][0].tolist()
    >>> e = tw.records({"t": tw.jagged([[5, 1, 7], [], [2, 9]]), "run": [10, 20, 30]})
    >>> with tw.serve({"ev": e}) as server:
    ...     asyncio.run(read(server.address))
    (('t', 'run'), {'t': [[], [2, 9]], 'run': [20, 30]}, [5, 1, 7])
    """

    __slots__ = ("_records", "_threads")

    def __init__(self, threads: Threads, records: RemoteRecords) -> None:
        self._threads, self._records = threads, records

    @property
    def name(self) -> str:
        """The name under which the records are served."""
        return self._records.name

    @property
    def version(self) -> str:
        """The version of all fields."""
        return self._records.version

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields, in order."""
        return self._records.names

    @property
    def rank(self) -> int:
        """The number of modes that the fields share."""
        return self._records.rank

    @property
    def nbytes(self) -> int:
        """The number of bytes of the elements of all fields."""
        return self._records.nbytes

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, key: str) -> AsyncRemoteTensor: ...
    @overload
    def __getitem__(self, key: list[str]) -> "AsyncRemoteRecords": ...
    @overload
    def __getitem__(self, key: ArrayKey) -> AsyncRecordRows: ...
    def __getitem__(
        self, key: "str | list[str] | ArrayKey"
    ) -> "AsyncRemoteTensor | AsyncRemoteRecords | AsyncRecordRows":
        """Return a field, several fields, or rows of all fields. Requests are sent on await.

        Raises
        ------
        TensorNameError
            If there is no such field, or a name comes twice.
        """
        records, threads = self._records, self._threads
        if isinstance(key, str):
            return AsyncRemoteTensor(threads, records[key])
        if type(key) is list and key and isinstance(cast("object", key[0]), str):
            return AsyncRemoteRecords(threads, records[cast("list[str]", key)])
        return AsyncRecordRows(threads, lambda: records[cast("ArrayKey", key)])

    async def shape(self) -> Shape[Any]:
        """Return the shape that the fields share."""
        return await self._threads.run(lambda: self._records.shape)

    async def view(self) -> "Records":
        """Return records of views of all fields, for selections and functions of views."""
        return await self._threads.run(self._records.view)

    async def compute(self) -> "Records":
        """Return all elements of all fields."""
        return await self._threads.run(self._records.compute)

    async def to_dict(self) -> dict[str, Any]:
        """Return the elements of each field in nested lists, by name."""
        return await self._threads.run(partial(self._records.to_dict))

    def __reduce__(self) -> NoReturn:
        self._threads.refuse_pickling(self)

    def __repr__(self) -> str:
        return f"<Async{repr(self._records)[1:]}"
