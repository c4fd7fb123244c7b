"""What ZeroMQ tells of the connections of a socket: asked for, read, and asked for no more."""

import itertools
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from typing import Final

import zmq

from tensorwrapper.transport._context import make_socket

__all__ = ["close_monitor", "events_of", "open_monitor"]

_HEAD: Final = struct.Struct("=HI")
_NUMBERS: Final = itertools.count()


def open_monitor(socket: "zmq.Socket[bytes]", events: int) -> "zmq.Socket[bytes]":
    """Return where it is told of events of a socket, from now on; a socket has one such place."""
    place = f"inproc://tensorwrapper-monitor-{os.getpid()}-{next(_NUMBERS)}"
    monitor = make_socket(zmq.PAIR)
    try:
        monitor.linger = 0
        # Unbounded, as the thread of ZeroMQ that tells would stand still where there is no room.
        monitor.rcvhwm = 0
        socket.monitor(place, events)
        monitor.connect(place)
    except BaseException:
        close_monitor(socket, monitor)
        raise
    return monitor


def close_monitor(socket: "zmq.Socket[bytes]", monitor: "zmq.Socket[bytes]") -> None:
    """Hear nothing more. It comes before the socket is closed."""
    # A thread of ZeroMQ that told of the end of a connection to nobody would wait for ever. One that is
    # closed, as all are when the interpreter ends, is not asked: its error could not be made any more.
    if not socket.closed:
        with suppress(zmq.ZMQError):
            socket.monitor(None, 0)
    monitor.close()


def events_of(monitor: "zmq.Socket[bytes]") -> Iterator[tuple[int, int, str]]:
    """Give all that was told: the event, its number, and the address."""
    while monitor.poll(0):
        head = monitor.recv(zmq.NOBLOCK, copy=False).buffer
        if not monitor.getsockopt(zmq.RCVMORE):
            # The rest of one that an exception interrupted.
            continue
        place = monitor.recv(zmq.NOBLOCK, copy=False).bytes
        event, value = _HEAD.unpack(head)
        yield event, value, place.decode(errors="replace")
