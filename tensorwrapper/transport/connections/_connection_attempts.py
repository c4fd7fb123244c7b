"""`ConnectionAttempts`: the outcome of each connection that a socket requested, and its error."""

import errno
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, final

import zmq

from tensorwrapper.errors import (
    PeerAbsentError,
    TransportAuthenticationError,
    TransportError,
    TransportHandshakeError,
)
from tensorwrapper.transport.connections._monitors import close_monitor, events_of, open_monitor

_State = Literal["asked", "absent", "connected", "silent", "foreign", "refused", "live", "lost"]

_EVENTS: Final = (
    zmq.EVENT_CONNECTED
    | zmq.EVENT_CONNECT_RETRIED
    | zmq.EVENT_DISCONNECTED
    | zmq.EVENT_HANDSHAKE_SUCCEEDED
    | zmq.EVENT_HANDSHAKE_FAILED_AUTH
    | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL
    | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL
)

_STRIKES: Final = 3
"""Consecutive failed handshakes before a connection fails. A restarting server interrupts only one."""

_SOON: Final = 0.2
"""Seconds after the end of a connection within which ZeroMQ reports the next one."""

_SILENCE: Final = -1
"""Code of a handshake that timed out."""

_AFTER: Final[Mapping[int, _State]] = {
    zmq.EVENT_HANDSHAKE_SUCCEEDED: "live",
    # ZeroMQ does not retry.
    zmq.EVENT_HANDSHAKE_FAILED_AUTH: "refused",
    zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL: "foreign",
    zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL: "foreign",
    _SILENCE: "silent",
}
"""States after an event, whatever the state before."""

_AFTER_STATE: Final[Mapping[tuple[_State, int], _State]] = {
    # An accepted connection does not prove that the peer is alive: a frozen process also accepts.
    ("asked", zmq.EVENT_CONNECTED): "connected",
    ("absent", zmq.EVENT_CONNECTED): "connected",
    ("asked", zmq.EVENT_CONNECT_RETRIED): "absent",
    ("live", zmq.EVENT_DISCONNECTED): "lost",
    # The peer is ZeroMQ and rejects this kind of socket.
    ("connected", zmq.EVENT_DISCONNECTED): "foreign",
}
"""States after an event that depend on the state before. Without an entry the state stays the same."""


@final
class ConnectionAttempts:
    """State of one socket's connections, from the events of ZeroMQ's monitor.

    It must exist before the socket connects. Events are queued until `read`.
    """

    __slots__ = ("_is_encrypted", "_states", "_strikes", "_went", "monitor")

    def __init__(self, socket: "zmq.Socket[bytes]", *, is_encrypted: bool) -> None:
        self._is_encrypted = is_encrypted
        self._states: dict[str, _State] = {}
        self._strikes: dict[str, int] = {}
        self._went: dict[str, float] = {}
        """Time at which the connection to an address ended, if no event followed."""
        self.monitor: zmq.Socket[bytes] = open_monitor(socket, _EVENTS)

    def expect(self, address: str) -> None:
        """Monitor an address that the socket is about to connect to."""
        self._states[address] = "asked"

    def close(self, socket: "zmq.Socket[bytes]") -> None:
        """Stop monitoring; call it before the socket is closed."""
        close_monitor(socket, self.monitor)

    def read(self) -> None:
        """Read all pending events."""
        for event, value, place in events_of(self.monitor):
            self._note(event, value, place)

    def _note(self, event: int, value: int, place: str) -> None:
        state = self._states.get(place)
        if state is None:
            # Skip events of the monitor's own socket.
            return
        # ZeroMQ reports a reconnection at once. After a malformed or oversized message it does not reconnect.
        self._went.pop(place, None)
        if event == zmq.EVENT_DISCONNECTED and state == "live":
            self._went[place] = time.monotonic()
        if event == zmq.EVENT_HANDSHAKE_SUCCEEDED:
            self._strikes.pop(place, None)
        elif event == zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL:
            if value == errno.EAGAIN:
                event = _SILENCE
            else:
                self._strikes[place] = self._strikes.get(place, 0) + 1
        elif event == zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL:
            # ZeroMQ retries only if it reports a retry.
            self._strikes[place] = _STRIKES
        after: _State | None = _AFTER.get(event) or _AFTER_STATE.get((state, event))
        self._states[place] = after or state

    def is_broken(self, addresses: Iterable[str]) -> bool:
        """Return True if ZeroMQ closed all connections and reconnects to no address."""
        now = time.monotonic()
        places = list(addresses)
        return bool(places) and all(now - self._went.get(place, now) > _SOON for place in places)

    def hopeless(self, addresses: Iterable[str]) -> TransportError | None:
        """Return why no peer can ever connect; None while one may still connect."""
        for place in addresses:
            if self._states.get(place) != "refused" and self._strikes.get(place, 0) < _STRIKES:
                return None
        return self.absent(addresses, "")

    def absent(self, addresses: Iterable[str], waited: str) -> TransportError | None:
        """Return why no peer is connected after a wait; None if one is, or if this socket listens."""
        found: TransportError | None = None
        if not self._states.keys() >= set(addresses):
            return None
        for place, state in self._states.items():
            if state == "live":
                return None
            if found is None or state == "refused":
                found = self._error(place, state, waited)
        return found

    def _error(self, place: str, state: _State, waited: str) -> TransportError | None:
        reason = _REASONS.get((state, self._is_encrypted)) or _REASONS.get((state, None))
        if reason is None:
            return None
        kind, number, text = reason
        error = kind(number, text.format(place, waited))
        error.peer = place.encode()
        return error


_REASONS: Final[Mapping[tuple[_State, bool | None], tuple[type[TransportError], int, str]]] = {
    ("refused", None): (
        TransportAuthenticationError,
        errno.EACCES,
        "the peer at {0} does not let this key in; once it is listed, open another socket",
    ),
    ("foreign", True): (
        TransportAuthenticationError,
        errno.EACCES,
        (
            "the listener at {0} breaks the handshake off{1}: it has another key than the "
            "expected one, is not encrypted, or cannot check its list of keys"
        ),
    ),
    ("foreign", False): (
        TransportHandshakeError,
        errno.EPROTO,
        (
            "the listener at {0} breaks the handshake off{1}: it wants keys (security=), is a socket of "
            "a kind that does not go with this one, or is not ZeroMQ"
        ),
    ),
    ("silent", None): (
        TransportHandshakeError,
        errno.EPROTO,
        "the listener at {0} says nothing{1}: it hangs, or is not ZeroMQ",
    ),
    ("lost", None): (
        PeerAbsentError,
        errno.ECONNRESET,
        "the peer at {0} went away, and no peer came back{1}",
    ),
    ("absent", None): (PeerAbsentError, errno.ECONNREFUSED, "no peer listens at {0}{1}"),
}
"""Errors of a state: for sockets with keys, without, or for both."""


def wait_for(
    socket: "zmq.Socket[bytes]", flags: int, fences: ConnectionAttempts | None, milliseconds: int
) -> Sequence[tuple[object, int]]:
    """Wait until a socket is ready or its monitor has events; return the ready ones."""
    if fences is None:
        ready = socket.poll(milliseconds, flags)
        return [(socket, ready)] if ready else []
    return zmq.zmq_poll([(socket, flags), (fences.monitor, zmq.POLLIN)], milliseconds)
