"""Options of ZeroMQ set on each socket before it connects or listens."""

from typing import Final

import zmq

from tensorwrapper.transport._kinds import Kind

_HIGH_WATER: Final = 16
"""Length of the queue at each end. It is small because ZeroMQ counts messages, not bytes."""

_WITHIN: Final = 1000
"""Timeout in milliseconds for frames after the first. These need no room in the queue."""

_ALIVE: Final = 3
"""Seconds of silence of a host before its connection is closed."""

_HANDSHAKE: Final = 2000
"""Time limit of the handshake in milliseconds."""

_AGAIN: Final = 50
"""Milliseconds before the first retry of a connection."""


def set_options(
    socket: "zmq.Socket[bytes]", kind: Kind, *, linger: int, nbytes: int, stalled: int | None = None
) -> None:
    """Limit the queues and timeouts of a socket, in milliseconds, and its frames to `nbytes`."""
    socket.linger = linger
    socket.sndtimeo = _WITHIN
    # Queue nothing for a peer that may never connect: `send` itself waits and reports a timeout. A kind that
    # only receives skips this option, with which messages that have arrived would be lost when their sender
    # closes.
    socket.immediate = kind.sends
    socket.sndhwm = socket.rcvhwm = _HIGH_WATER
    # ZeroMQ checks this limit per frame before it allocates memory. Whole messages are checked on arrival.
    socket.maxmsgsize = min(nbytes, 2**62)
    # Let the operating system detect cut links and vanished hosts, and release their unsent messages.
    # Heartbeats of ZeroMQ treat a slow receiver as dead. They even abort the process if a peer with a full
    # queue disconnects.
    socket.tcp_keepalive, socket.tcp_keepalive_cnt = 1, _ALIVE
    socket.tcp_keepalive_idle = socket.tcp_keepalive_intvl = 1
    if stalled is not None:
        # This limit also affects slow receivers, whose TCP window may be closed for that long.
        socket.setsockopt(zmq.TCP_MAXRT, stalled)
    socket.handshake_ivl, socket.connect_timeout = _HANDSHAKE, _HANDSHAKE
    socket.reconnect_ivl, socket.reconnect_ivl_max = _AGAIN, _HANDSHAKE
    if kind.name == "ROUTER":
        # Without this option a message to a disconnected peer is silently dropped.
        socket.router_mandatory = True
