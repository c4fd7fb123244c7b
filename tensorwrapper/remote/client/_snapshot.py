"""`Snapshot`: the tensors of a server at one moment."""

from collections.abc import Iterator, Mapping
from typing import final

from tensorwrapper._value_class import Closing
from tensorwrapper.errors import ConversionError, RemoteProtocolError, TransportError
from tensorwrapper.remote.client._connection import Connections
from tensorwrapper.remote.client._lookup import found_names, found_tensor, has_tensor
from tensorwrapper.remote.client._records import RemoteRecords, found_records
from tensorwrapper.remote.client._tensor import RemoteTensor
from tensorwrapper.remote.protocol._events import AskPin, Pinned


@final
class Snapshot(Closing, Mapping[str, RemoteTensor]):
    """The tensors of a server at the time of `Remote.snapshot`.

    The server keeps the snapshot until it is closed, or for a minute after its last use. After that, looking
    up a tensor, or reading a replaced one, raises `VersionChangedError`.
    """

    __slots__ = ("_connections", "_pin")

    def __init__(self, connections: Connections) -> None:
        answer = connections.here().ask(AskPin())
        if not isinstance(answer, Pinned):
            raise RemoteProtocolError("schema", "the server sent another answer than a snapshot")
        self._connections, self._pin = connections, answer.pin

    @property
    def closed(self) -> bool:
        """True if the snapshot was released."""
        return not self._pin

    def _alive(self) -> str:
        if not self._pin:
            raise ConversionError("the snapshot is closed")
        return self._pin

    def __getitem__(self, name: str) -> RemoteTensor:
        return found_tensor(self._connections, name, self._alive())

    def __iter__(self) -> Iterator[str]:
        return found_names(self._connections, self._alive())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return has_tensor(self._connections, name, self._alive())

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def records(self, name: str) -> RemoteRecords:
        """Return the records that were served under a name, as `Remote.records` does."""
        return found_records(self._connections, name, self._alive())

    def close(self) -> None:
        """Release the snapshot on the server. Closing twice is harmless."""
        pin, self._pin = self._pin, ""
        if pin and not self._connections.closed:
            try:
                self._connections.here().ask(AskPin(pin))
            except TransportError:
                # The server drops the snapshot by itself.
                return

    def __repr__(self) -> str:
        return f"<Snapshot of {self._connections.address}{', closed' if self.closed else ''}>"
