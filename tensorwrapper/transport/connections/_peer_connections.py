"""`PeerConnections`: the connections that peers made to where a socket listens, by their descriptors."""

from typing import TYPE_CHECKING, Final, final

import zmq

from tensorwrapper.transport.connections._monitors import close_monitor, events_of, open_monitor

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["PeerConnections"]

_EVENTS: Final = zmq.EVENT_ACCEPTED | zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED


@final
class PeerConnections:
    """What ZeroMQ tells of who came and went. It must be there before the socket listens."""

    __slots__ = ("_there", "monitor")

    def __init__(self, socket: "zmq.Socket[bytes]") -> None:
        self._there: dict[int, None] = {}
        self.monitor: zmq.Socket[bytes] = open_monitor(socket, _EVENTS)

    def __iter__(self) -> "Iterator[int]":
        return iter(self._there)

    def read(self) -> None:
        """Take in all that was told."""
        for event, descriptor, _ in events_of(self.monitor):
            # Who comes after another with the same descriptor is the last.
            self._there.pop(descriptor, None)
            if event == zmq.EVENT_ACCEPTED:
                self._there[descriptor] = None

    def close(self, socket: "zmq.Socket[bytes]") -> None:
        """Hear nothing more. It comes before the socket is closed."""
        close_monitor(socket, self.monitor)
