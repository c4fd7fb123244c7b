"""Options of ZeroMQ set on each socket before it connects or listens."""

from typing import Final

import zmq

from tensorwrapper.transport._kinds import Kind

__all__ = ["set_options"]

_HIGH_WATER: Final = 16
"""Messages that wait at either end: tensors are large, and ZeroMQ counts messages, not bytes."""

_WITHIN: Final = 1000
"""Milliseconds for frames after the first: they never wait for room, which is counted in messages."""

_ALIVE: Final = 3
"""Seconds for which a host may be silent before a connection to it is given up."""

_HANDSHAKE: Final = 2000
"""Milliseconds in which a peer must complete the handshake."""

_AGAIN: Final = 50
"""Milliseconds before a connection is retried, the first time."""


def set_options(
    socket: "zmq.Socket[bytes]", kind: Kind, *, linger: int, nbytes: int, stalled: int | None = None
) -> None:
    """Limit the queues and the waiting times of a socket, in milliseconds; a frame has `nbytes` at most."""
    socket.linger = linger
    socket.sndtimeo = _WITHIN
    # Nothing waits for a peer that may never come: `send` waits, as long as it may, and tells. Where
    # nothing is sent it would only lose messages that have arrived, when their sender closes.
    socket.immediate = kind.sends
    socket.sndhwm = socket.rcvhwm = _HIGH_WATER
    # Per frame, and checked by ZeroMQ before it allocates; a whole message is checked on arrival.
    socket.maxmsgsize = min(nbytes, 2**62)
    # A cut link, or a vanished host, is noticed, and its unsent messages are released: by
    # the system, and not by heartbeats. With these ZeroMQ aborts the process when a peer goes away of
    # which as many messages wait as may, and takes one that is slow to receive for dead.
    socket.tcp_keepalive, socket.tcp_keepalive_cnt = 1, _ALIVE
    socket.tcp_keepalive_idle = socket.tcp_keepalive_intvl = 1
    if stalled is not None:
        # This also hits slow receivers, whose TCP window may be closed for so long.
        socket.setsockopt(zmq.TCP_MAXRT, stalled)
    socket.handshake_ivl, socket.connect_timeout = _HANDSHAKE, _HANDSHAKE
    socket.reconnect_ivl, socket.reconnect_ivl_max = _AGAIN, _HANDSHAKE
    if kind.name == "ROUTER":
        # Without it a message to a peer that is gone is dropped without a word.
        socket.router_mandatory = True
