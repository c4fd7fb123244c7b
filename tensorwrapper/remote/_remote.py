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

__all__ = ["Remote", "connect"]

_SHOWN: Final = 20


@final
class Remote(Closing, Mapping[str, RemoteTensor]):
    """The tensors of a server, by name; made by `connect`. Looking up a tensor requests its description only.

    Any thread may use it, over one connection per thread. Close it when no thread uses it any more. Its
    tensors and their views keep the connections open: ``connect(address)["x"]`` stays readable.

    It pickles, as do its tensors and views of them: in another process they connect when they are read. A
    client with keys does not pickle, since pickled data must not contain a secret key.
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
        """Return the records that are served under a name; only their description is read.

        Raises
        ------
        TensorNameError
            If there are none.

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
        """Return a view that the server computes, if less travels then; else the view as it is.

        Selecting from one tensor transfers only the needed elements in any case. Views that combine elements,
        as `where`, `minimum` and casts do, move less if they are computed where all of their sources are. It
        is all at the versions that the tensors have here; a view that is partly made of something else, calls
        a function, or has elements of types of `ml_dtypes`, is returned as it is.

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

        Otherwise the elements are read, and reduced here: for a view that calls a function, for elements of
        types of `ml_dtypes`, for an `initial` that is complex or a time, and for sources that are not all at
        this server or are not whole dense tensors. Each result equals that of a tensor in memory.

        Parameters
        ----------
        ufunc
            NumPy's ``add``, ``multiply``, ``minimum``, ``maximum``, ``fmin``, ``fmax``, ``logical_and``,
            ``logical_or``, ``logical_xor``, ``bitwise_and``, ``bitwise_or`` or ``bitwise_xor``; or its
            ``count_nonzero``, which counts.
        view
            A tensor of this server, or a view of such tensors.
        over
            ``"rows"``: each row becomes one number; ``"tiles"``: each tile or cell; or the mode, a number,
            whose positions become one, of rows the last; negative ones count from the last.
        initial
            A number, or a time, that takes part in every reduction; needed where one is empty and the ufunc
            has no identity.

        Raises
        ------
        ConversionError
            If `initial` is not a number that the elements can be, or a mode of a sparse tensor is reduced.
        DTypeError
            If NumPy reduces no elements of that type by the ufunc, or they are strings.
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
        """Return all served tensors at their current versions; they stay readable when they are replaced.

        Nothing is copied, here or there. The server keeps the snapshot until it is closed, or for a minute
        after its last use. It does not keep tensors that are edited in place, or files that change: reading
        these raises `VersionChangedError`.

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
        """Return how the server is, if it is well enough to say: requests under way and waiting, threads.

        Raises
        ------
        TransportTimeoutError
            If it does not answer.
        """
        answer = self._connections.here().ask(AskHealth())
        if not isinstance(answer, Stats):
            raise RemoteProtocolError("schema", "health is answered by something else")
        return dict(answer.counts)

    def stats(self) -> dict[str, int]:
        """Return the server's counters of the connection of this thread; an answer shows that it is alive.

        Raises
        ------
        TransportTimeoutError
            If it does not answer.
        """
        answer = self._connections.here().ask(AskStats())
        if not isinstance(answer, Stats):
            raise RemoteProtocolError("schema", "counters are answered by something else")
        return dict(answer.counts)

    def __reduce__(self) -> "tuple[Callable[..., Remote], tuple[Opening]]":
        return _opened, (opening_of(self, self._connections),)

    def close(self) -> None:
        """Close all connections; closing twice is harmless. No thread may be reading."""
        self._connections.close()

    def _repr_html_(self) -> str:
        """Return HTML for notebooks: the address, and tensors that were looked up; nothing is requested."""
        from tensorwrapper._displays import Fold, html_block, html_table  # noqa: PLC0415 - few are shown

        known = self._looked_up.copy()
        rows = [(name, *summary_of(RemoteTensor(self._connections, facts))) for name, facts in known.items()]
        table = html_table([("name", "shape", "dtype", "bytes"), *rows])
        facts = [("tensors", "list(remote) requests their names")]
        return html_block(repr(self), facts, folds=[Fold("looked up", table, opened=True)] if rows else [])

    def __repr__(self) -> str:
        return f"<Remote {self.address}{', closed' if self.closed else ''}>"


def _opened(opening: Opening) -> Remote:
    """Return a client that came from another process."""
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

    Requests that are lost with a connection, or because the server restarted, are sent again: reading
    twice does no harm. A tensor that is not the same after that raises `VersionChangedError`.

    Parameters
    ----------
    address
        Where the server listens.
    security
        Our keys, and the key that the server must have.
    timeout
        After how many seconds in which nothing is heard of the server a request is given up.
    deadline
        How many seconds a request may take in any case; any time if not given.
    idle
        For how many seconds the server may be there and answer none of our requests, as one that always is
        busy; for ever if it is None. An answer to one of them restarts the time of the others.
    cache_bytes
        Bytes of answers to cache: elements of a version are not requested twice, although a plan counts
        them. 0 disables the cache.
    compress
        Whether numbers come packed where that makes less of them. If not given they do over a link that is
        slower than packing, as measured by reads; never on this machine. A plan counts unpacked bytes.

    Raises
    ------
    TransportTimeoutError
        If no server of tensors answers in time.
    TransportError
        If the address is not valid.
    ConversionError
        If a time is none.

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
