"""`Remote` and `connect`: the tensors of a server as a mapping."""

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, SupportsIndex, final

import attrs
import numpy as np

from tensorwrapper._integers import to_count
from tensorwrapper._value_class import Closing
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._lookup import found_names, found_tensor, has_tensor
from tensorwrapper.remote.client._pending_request import IDLE, Timeouts
from tensorwrapper.remote.client._pushdown import pushed, reduced
from tensorwrapper.remote.client._records import RemoteRecords, found_records
from tensorwrapper.remote.client._shared_connections import Opening, opened, opening_of
from tensorwrapper.remote.client._snapshot import Snapshot
from tensorwrapper.remote.client._tensor import RemoteTensor, summary_of
from tensorwrapper.remote.protocol._events import (
    AskHealth,
    AskStats,
    Facts,
    ReducedOver,
    Stats,
)
from tensorwrapper.selection import View, as_view
from tensorwrapper.tensor import Tensor
from tensorwrapper.transport import Counters, CurveClient

if TYPE_CHECKING:
    from tensorwrapper.selection import ViewLike

_SHOWN: Final = 20


@final
class Remote(Closing, Mapping[str, RemoteTensor]):
    """The tensors of a server by name, created by `connect`. A lookup requests only a description.

    Any thread may use it, over one connection per thread. Close it once no thread uses it. Its tensors and
    their views keep the connections open: ``connect(address)["x"]`` stays readable.

    It pickles, as do its tensors and their views; in another process they connect on first read. A client
    with keys cannot be pickled, because pickled data must not contain a secret key.
    """

    __slots__ = ("__weakref__", "_connections", "_looked_up")

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._looked_up: dict[str, Facts] = {}  # of the first few tensors, for displays without a request

    @property
    def address(self) -> str:
        """The address of the server."""
        return self._connections.address

    @property
    def closed(self) -> bool:
        """True if `close` was called."""
        return self._connections.closed

    @property
    def counters(self) -> Counters:
        """Traffic over the open connections: requests, answers, and keep-alive messages."""
        found = Counters()
        for own in self._connections.counters():
            sums = {field: getattr(found, field) + count for field, count in attrs.asdict(own).items()}
            found = Counters(**sums)
        return found

    def __getitem__(self, name: str) -> RemoteTensor:
        found = found_tensor(self._connections, name)
        if len(self._looked_up) < _SHOWN or name in self._looked_up:
            self._looked_up[name] = found._facts  # not the tensor, which may keep the lengths of its rows
        return found

    def __iter__(self) -> Iterator[str]:
        return found_names(self._connections)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return has_tensor(self._connections, name)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def records(self, name: str) -> RemoteRecords:
        """Return the records served under a name; requests only their description.

        Raises
        ------
        TensorNameError
            If there are no such records.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> e = tw.records({"x": [1, 2, 3], "y": [[1.5], [2.5], [3.5]]})
        >>> with tw.serve({"ev": e}) as server, tw.connect(server.address) as remote:
        ...     list(remote), remote.records("ev")[[2, 0]].to_dict()
        (['ev.x', 'ev.y'], {'x': [3, 1], 'y': [[3.5], [1.5]]})
        """
        return found_records(self._connections, name)

    def pushed(self, view: "ViewLike") -> View[Any]:
        """Return a view that the server computes if this transfers less; otherwise the view itself.

        Selecting from one tensor transfers only the needed elements in any case. Views that combine elements,
        as `where`, `minimum` and casts do, transfer less if the server of all sources computes them. The
        server uses the versions of the tensors here. A view is returned unchanged if it has other sources,
        calls a function, or has dtypes of `ml_dtypes`.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> x, y = np.arange(1000.0), np.ones(1000)
        >>> with tw.serve({"x": x, "y": y}) as server, tw.connect(server.address) as remote:
        ...     least = tw.selection.minimum(remote["x"].view(), remote["y"].view())
        ...     there = remote.pushed(least)
        ...     least.plan().bytes_received, there.plan().bytes_received, there.compute()[1:].tolist()[0]
        (16000, 8000, 1.0)
        """
        return pushed(self._connections, as_view(view))

    def reduce(
        self,
        ufunc: np.ufunc | Callable[..., object],
        view: "ViewLike",
        over: ReducedOver,
        *,
        initial: object = None,
    ) -> Tensor[Any]:
        """Return a reduction of rows, tiles or a mode, computed at the server if it can be described to it.

        Otherwise the elements are read and reduced here. This is so for views that call a function, for
        dtypes of `ml_dtypes`, for a complex or time `initial`, and for sources on other servers or other than
        whole dense tensors. Results equal those of a tensor in memory.

        Parameters
        ----------
        ufunc
            NumPy's ``add``, ``multiply``, ``minimum``, ``maximum``, ``fmin``, ``fmax``, ``logical_and``,
            ``logical_or``, ``logical_xor``, ``bitwise_and``, ``bitwise_or`` or ``bitwise_xor``; or its
            ``count_nonzero``, which counts.
        view
            A tensor of this server, or a view of such tensors.
        over
            ``"rows"`` reduces each row to one number, ``"tiles"`` each tile or cell. An integer reduces that
            mode, for rows only the last one; negative modes count from the last.
        initial
            A number, or a time, included in every reduction; required where one is empty and the ufunc has no
            identity.

        Raises
        ------
        ConversionError
            If `initial` does not fit the dtype, or a mode of a sparse tensor is reduced.
        DTypeError
            If the ufunc does not support the dtype, or the elements are strings.
        JaggedModeError
            If a mode of rows is not the last one.
        OutOfBoundsError
            If there is no such mode.
        RequestRefusedError
            If the result is too large for one answer, or the view for a request.

        Examples
        --------
        >>> import numpy as np
        >>> import tensorwrapper as tw
        >>> rows = tw.jagged([[1, 2], [], [3, 4, 5]])
        >>> with tw.serve({"rows": rows}) as server, tw.connect(server.address) as remote:
        ...     remote.reduce(np.add, remote["rows"], "rows").tolist()
        [3, 0, 12]
        """
        return reduced(self._connections, ufunc, as_view(view), over, initial)

    def snapshot(self) -> Snapshot:
        """Return all served tensors at their current versions, readable even after they are replaced.

        Nothing is copied. The server keeps the snapshot until it is closed, or for a minute after its last
        use. Reading tensors that were edited in place, or changed files, raises `VersionChangedError`.

        Examples
        --------
        >>> import tensorwrapper as tw
        >>> with tw.serve({"x": [1, 2]}) as server, tw.connect(server.address) as remote:
        ...     with remote.snapshot() as then:
        ...         server.replace("x", [3, 4])
        ...         then["x"].tolist(), remote["x"].tolist()
        ([1, 2], [3, 4])
        """
        return Snapshot(self._connections)

    def health(self) -> dict[str, int]:
        """Return the state of the server: requests under way and waiting, threads.

        Raises
        ------
        TransportTimeoutError
            If the server does not answer.
        """
        answer = self._connections.here().ask(AskHealth())
        if not isinstance(answer, Stats):
            raise RemoteProtocolError("schema", "the server sent another answer than health")
        return dict(answer.counts)

    def stats(self) -> dict[str, int]:
        """Return the server's counters of this thread's connection; an answer shows that the server is alive.

        Raises
        ------
        TransportTimeoutError
            If the server does not answer.
        """
        answer = self._connections.here().ask(AskStats())
        if not isinstance(answer, Stats):
            raise RemoteProtocolError("schema", "the server sent another answer than counters")
        return dict(answer.counts)

    def __reduce__(self) -> "tuple[Callable[..., Remote], tuple[Opening]]":
        return _opened, (opening_of(self, self._connections),)

    def close(self) -> None:
        """Close all connections; closing twice is harmless. No thread may be reading."""
        self._connections.close()

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the address, and tensors that were looked up. Sends no request."""
        from tensorwrapper._displays import Fold, html_block, html_table  # noqa: PLC0415 - few are shown

        known = self._looked_up.copy()
        rows = [(name, *summary_of(RemoteTensor(self._connections, facts))) for name, facts in known.items()]
        table = html_table([("name", "shape", "dtype", "bytes"), *rows])
        facts = [("tensors", "list(remote) requests their names")]
        return html_block(repr(self), facts, folds=[Fold("looked up", table, opened=True)] if rows else [])

    def __repr__(self) -> str:
        return f"<Remote {self.address}{', closed' if self.closed else ''}>"


def _opened(opening: Opening) -> Remote:
    """Return a client from its pickled state."""
    return Remote(opened(opening))


def connect(
    address: str,
    *,
    security: CurveClient | None = None,
    timeout: float = 10.0,
    deadline: float | None = None,
    idle: float | None = IDLE,
    cache_bytes: SupportsIndex = 0,
    compress: bool | None = None,
) -> Remote:
    """Return the tensors of a server as a mapping of lazy tensors.

    Requests that are lost with a connection or by a restart of the server are sent again, because reads are
    harmless. If the tensor changed meanwhile, this raises `VersionChangedError`.

    Parameters
    ----------
    address
        Address of the server.
    security
        Keys of this client, and the required public key of the server.
    timeout
        Seconds without any message from the server after which a request fails.
    deadline
        Total time limit of a request in seconds; unlimited by default.
    idle
        Seconds that a live server may answer no request of this client, for example because it is busy; None
        for no limit. An answer to one request restarts the time of the others.
    cache_bytes
        Size of the answer cache in bytes. Cached elements are not requested twice, although a plan counts
        them. 0 disables the cache.
    compress
        Whether to compress numbers where this helps. By default this happens only over a link that is slower
        than compression, as measured by reads, never on the same machine. A plan counts uncompressed bytes.

    Raises
    ------
    TransportTimeoutError
        If no tensor server answers in time.
    TransportError
        If the address is not valid.
    ConversionError
        If a time limit is invalid.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> with tw.serve({"x": [[1, 2], [3, 4]]}) as server, connect(server.address) as remote:
    ...     list(remote), remote["x"][1].compute().tolist()
    (['x'], [3, 4])
    """
    count = to_count(cache_bytes, "cache_bytes")
    patience = Timeouts(timeout, deadline, idle)
    connections = Connections(address, security, patience, count, compress=compress)
    try:
        connections.here()
    except BaseException:
        connections.close()
        raise
    return Remote(connections)
