"""ZeroMQ's monitor of the connections of a socket: open, read and close it."""

import itertools
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import zmq

from tensorwrapper.transport._context import make_socket

_HEAD: Final = struct.Struct("=HI")
_NUMBERS: Final = itertools.count()


def open_monitor(socket: "zmq.Socket[bytes]", events: int) -> "zmq.Socket[bytes]":
    """Start a monitor of a socket's events and return it; a socket has at most one."""
    place = f"inproc://tensorwrapper-monitor-{os.getpid()}-{next(_NUMBERS)}"
    monitor = make_socket(zmq.PAIR)
    try:
        monitor.linger = 0
        # The queue is unbounded, because a full one would block the ZeroMQ thread that reports events.
        monitor.rcvhwm = 0
        socket.monitor(place, events)
        monitor.connect(place)
    except BaseException:
        close_monitor(socket, monitor)
        raise
    return monitor


def close_monitor(socket: "zmq.Socket[bytes]", monitor: "zmq.Socket[bytes]") -> None:
    """Stop monitoring; call it before the socket is closed."""
    # Without a reader, the ZeroMQ thread that reports the end of a connection would wait for ever. Skip
    # closed sockets: at interpreter exit all are closed, and the exception can no longer be created.
    if not socket.closed:
        with suppress(zmq.ZMQError):
            socket.monitor(None, 0)
    monitor.close()


def events_of(monitor: "zmq.Socket[bytes]") -> Iterator[tuple[int, int, str]]:
    """Yield all pending events: event, number and address."""
    while monitor.poll(0):
        head = monitor.recv(zmq.NOBLOCK, copy=False).buffer
        if not monitor.getsockopt(zmq.RCVMORE):
            # Skip the rest of an event whose reading an exception interrupted.
            continue
        place = monitor.recv(zmq.NOBLOCK, copy=False).bytes
        event, value = _HEAD.unpack(head)
        yield event, value, place.decode(errors="replace")
