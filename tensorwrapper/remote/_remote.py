"""`Remote` and `connect`: the tensors of a server as a mapping."""

import warnings
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Final, cast, final

import attrs

from tensorwrapper.errors import (
    ConversionError,
    LeakedResourceWarning,
    RemoteProtocolError,
    TensorNameError,
)
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._events import AskFacts, AskNames, AskStats, FactsOf, Names, Stats
from tensorwrapper.transport import Counters, CurveClient

__all__ = ["Remote", "connect"]

_NAMES: Final = 1000


@final
class Remote(Mapping[str, RemoteTensor]):
    """The tensors of a server, by name; made by `connect`. Looking one up asks what it is, and reads nothing.

    Any thread may use it; each has a connection of its own. Close it when none does any more.
    """

    __slots__ = ("__weakref__", "_connections")

    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    @property
    def address(self) -> str:
        """The address of the server."""
        return self._connections.address

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._connections.closed

    @property
    def counters(self) -> Counters:
        """What went over the connections that are open, requests and answers; signs of life count, too."""
        found = Counters()
        for own in self._connections.counters():
            sums = {field: getattr(found, field) + count for field, count in attrs.asdict(own).items()}
            found = Counters(**sums)
        return found

    def __getitem__(self, name: str) -> RemoteTensor:
        if not isinstance(cast("object", name), str):
            raise ConversionError(f"tensors are looked up by name, not by {name!r}")
        answer = self._connections.here().ask(AskFacts((name,)))
        if not isinstance(answer, FactsOf) or [own.name for own in answer.facts] != [name]:
            raise RemoteProtocolError("schema", f"the server tells of another tensor than {name!r}")
        return RemoteTensor(self._connections, answer.facts[0])

    def __iter__(self) -> Iterator[str]:
        after, more = "", True
        while more:
            answer = self._connections.here().ask(AskNames(after, _NAMES))
            if not isinstance(answer, Names) or (answer.more and not answer.names):
                raise RemoteProtocolError("schema", "names are answered by something else")
            if list(answer.names) != sorted(set(answer.names)) or (answer.names and answer.names[0] <= after):
                # Else a server could keep us asking for ever.
                raise RemoteProtocolError("schema", "the names of a server do not ascend")
            yield from answer.names
            more = answer.more
            after = answer.names[-1] if answer.names else after

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        try:
            self[cast("str", name)]
        except (TensorNameError, ConversionError):
            return False
        return True

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def stats(self) -> dict[str, int]:
        """Return what the server counted of the connection of this thread; it answers if it is well.

        Raises
        ------
        TransportTimeoutError
            If it does not answer.
        """
        answer = self._connections.here().ask(AskStats())
        if not isinstance(answer, Stats):
            raise RemoteProtocolError("schema", "counters are answered by something else")
        return dict(answer.counts)

    def close(self) -> None:
        """Close all connections; closing twice is harmless. No thread may be reading."""
        self._connections.close()

    def __enter__(self) -> "Remote":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        connections: Connections | None = getattr(self, "_connections", None)
        if connections is not None and connections.is_leaked:
            connections.close()
            warnings.warn(f"the client of {self.address} was not closed", LeakedResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        return f"<Remote {self.address}{', closed' if self.closed else ''}>"


def connect(
    address: str,
    *,
    security: CurveClient | None = None,
    timeout: float = 10.0,
    deadline: float | None = None,
) -> Remote:
    """Return the tensors of a server as a mapping of lazy tensors.

    Requests that are lost with a connection, or because the server started anew, are sent again: reading
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

    Raises
    ------
    TransportTimeoutError
        If no server of tensors answers in time.
    TransportError
        If the address is not valid.

    Examples
    --------
    >>> import tensorwrapper as tw
    >>> with tw.serve({"x": [[1, 2], [3, 4]]}) as server, connect(server.address) as remote:
    ...     list(remote), remote["x"][1].compute().tolist()
    (['x'], [3, 4])
    """
    connections = Connections(address, security, timeout, deadline)
    try:
        connections.here()
    except BaseException:
        connections.close()
        raise
    return Remote(connections)
