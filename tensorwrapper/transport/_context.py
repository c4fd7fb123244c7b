"""The ZeroMQ context that all sockets of a process share, and what this build of ZeroMQ can do."""

import os
import threading
from typing import Literal, get_args

import zmq

from tensorwrapper.errors import UnsupportedSocketError

__all__ = ["SocketKind", "check_kind", "shared_context"]

SocketKind = Literal["PUSH", "PULL", "DEALER", "ROUTER", "PAIR", "CLIENT", "SERVER"]
"""The kinds of socket; CLIENT and SERVER need a ZeroMQ that is built with its draft API."""

_DRAFT = ("CLIENT", "SERVER")

_ZERO_COPY_RECV = 10
"""Context option ``ZMQ_ZERO_COPY_RECV``, which pyzmq has no name for."""

_lock = threading.Lock()
_contexts: dict[int, "zmq.Context[zmq.Socket[bytes]]"] = {}


def shared_context() -> "zmq.Context[zmq.Socket[bytes]]":
    """Return the context of this process, made on first use.

    Received frames are not carved out of a shared batch: each has memory of its own, aligned to 8 bytes, so
    that arrays over them need no copy. It costs no measurable time.
    """
    process = os.getpid()
    with _lock:
        context = _contexts.get(process)
        if context is None or context.closed:
            context = zmq.Context()
            context.set(_ZERO_COPY_RECV, 0)
            _contexts[process] = context
        return context


def check_kind(kind: SocketKind) -> int:
    """Return ZeroMQ's number for a kind of socket.

    Raises
    ------
    UnsupportedSocketError
        If there is no such kind, or this build of ZeroMQ would abort the process when one is used.
    """
    if kind not in get_args(SocketKind):
        # Not whatever ZeroMQ knows: other kinds lose messages silently, and using a draft one may abort.
        known = ", ".join([name for name in get_args(SocketKind) if name not in _DRAFT])
        raise UnsupportedSocketError(f"there is no socket of kind {kind!r}; {known} are known")
    if kind in _DRAFT:
        if not zmq.has("draft"):
            raise UnsupportedSocketError(
                f"{kind} sockets need a ZeroMQ with its draft API; with this one ({zmq.zmq_version()}) using "
                "one aborts the process. DEALER and ROUTER do the same work"
            )
        raise UnsupportedSocketError(
            f"{kind} sockets are not carried yet; DEALER and ROUTER do the same work"
        )
    return int(zmq.SocketType[kind])
