"""Messages over ZeroMQ sockets: the one place that imports ``zmq``."""

from tensorwrapper.transport._counters import Counters
from tensorwrapper.transport._delivery import Delivery
from tensorwrapper.transport._kinds import SocketKind
from tensorwrapper.transport._socket import Socket

__all__ = ["Counters", "Delivery", "Socket", "SocketKind"]
