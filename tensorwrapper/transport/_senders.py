"""Identify the sender of a message: by identity, host, connection, number or key."""

from collections.abc import Sequence
from typing import Any, cast

import zmq

from tensorwrapper.transport._kinds import Kind


def peer_of(kind: Kind, frames: Sequence[zmq.Frame]) -> bytes:
    """Return the sender of a message: the identity of a ROUTER's peer, otherwise the host if known."""
    if kind.addressed:
        return frames[0].bytes
    try:
        return str(frames[-1].get("Peer-Address")).encode()
    except zmq.ZMQError:
        return b""


def descriptor_of(frame: zmq.Frame) -> int | None:
    """Return the file descriptor of a message's connection; None if there is none."""
    try:
        return int(cast("Any", frame.get(zmq.SRCFD)))
    except (zmq.ZMQError, AttributeError, ValueError):
        return None


def routing_of(frame: zmq.Frame) -> bytes:
    """Return the number by which a SERVER knows the sender of a message."""
    return int(frame.routing_id).to_bytes(4, "big")


def signer_of(frame: zmq.Frame) -> str:
    """Return the authenticated public key of a message's sender; "" if there is none."""
    try:
        return str(frame.get("User-Id"))
    except zmq.ZMQError:
        return ""
