"""The sender of a message as ZeroMQ reports it: for answers, for errors, and by key."""

from collections.abc import Sequence
from typing import Any, cast

import zmq

from tensorwrapper.transport._kinds import Kind

__all__ = ["descriptor_of", "peer_of", "routing_of", "signer_of"]


def peer_of(kind: Kind, frames: Sequence[zmq.Frame]) -> bytes:
    """Return the sender of a message: a ROUTER's identity of the peer, else the host if ZeroMQ knows it."""
    if kind.addressed:
        return frames[0].bytes
    try:
        return str(frames[-1].get("Peer-Address")).encode()
    except zmq.ZMQError:
        return b""


def descriptor_of(frame: zmq.Frame) -> int | None:
    """Return the descriptor of the connection that a message came over; None if there is none."""
    try:
        return int(cast("Any", frame.get(zmq.SRCFD)))
    except (zmq.ZMQError, AttributeError, ValueError):
        return None


def routing_of(frame: zmq.Frame) -> bytes:
    """Return a SERVER's number of the sender of a message."""
    return int(frame.routing_id).to_bytes(4, "big")


def signer_of(frame: zmq.Frame) -> str:
    """Return the public key that the sender of a message has proved; "" if there is none."""
    try:
        return str(frame.get("User-Id"))
    except zmq.ZMQError:
        return ""
