"""`PeerConnections`: file descriptors of the connections from peers to a listening socket."""

from typing import TYPE_CHECKING, Final, final

import zmq

from tensorwrapper.transport.connections._monitors import close_monitor, events_of, open_monitor

if TYPE_CHECKING:
    from collections.abc import Iterator

_EVENTS: Final = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED


@final
class PeerConnections:
    """Connections from peers, from the events of ZeroMQ's monitor. Create it before the socket listens."""

    __slots__ = ("_there", "monitor")

    def __init__(self, socket: "zmq.Socket[bytes]") -> None:
        self._there: dict[int, None] = {}
        self.monitor: zmq.Socket[bytes] = open_monitor(socket, _EVENTS)

    def __iter__(self) -> "Iterator[int]":
        return iter(self._there)

    def read(self) -> None:
        """Read all pending events."""
        for event, descriptor, _ in events_of(self.monitor):
            # A descriptor may be reused; move its new connection to the end.
            self._there.pop(descriptor, None)
            if event == zmq.EVENT_ACCEPTED:
                self._there[descriptor] = None

    def close(self, socket: "zmq.Socket[bytes]") -> None:
        """Stop monitoring; call it before the socket is closed."""
        close_monitor(socket, self.monitor)
