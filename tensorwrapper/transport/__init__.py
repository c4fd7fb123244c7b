"""Messages over ZeroMQ sockets: the one place that imports ``zmq``."""

from tensorwrapper.transport._context import SocketKind
from tensorwrapper.transport._socket import Delivery, Socket

__all__ = ["Delivery", "Socket", "SocketKind"]
