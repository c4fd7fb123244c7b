"""Peers that speak ZMTP themselves, as nobody does who uses ZeroMQ: they read nothing, or send anything."""

import socket
import struct

__all__ = ["GREETING", "RawPeer", "frames_of"]

GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00NULL" + bytes(16) + bytes(32)


def frames_of(frames):
    """Return a message as ZMTP writes it."""
    found = b""
    for number, frame in enumerate(map(bytes, frames), 1):
        more = number < len(frames)
        short = len(frame) < 256
        head = struct.pack(">BB" if short else ">BQ", more | (0 if short else 2), len(frame))
        found += head + frame
    return found


def _property(key, value):
    return bytes([len(key)]) + key + struct.pack(">I", len(value)) + value


class RawPeer:
    """A DEALER of a few lines; `room` bytes at most wait at its end."""

    def __init__(self, address, room=4096, *, greets=True):
        host, _, port = address.removeprefix("tcp://").rpartition(":")
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        self.socket.settimeout(30)
        self.socket.connect((host, int(port)))
        if not greets:
            return
        self.socket.sendall(GREETING)
        self.socket.recv(64, socket.MSG_WAITALL)
        ready = b"\5READY" + _property(b"Socket-Type", b"DEALER") + _property(b"Identity", b"")
        self.socket.sendall(bytes([4, len(ready)]) + ready)
        # What is sent before the other side has said that it is ready breaks the connection off.
        _, length = self.socket.recv(2, socket.MSG_WAITALL)
        self.socket.recv(length, socket.MSG_WAITALL)

    def send(self, frames):
        """Send a message with the empty frame of a DEALER before it."""
        self.socket.sendall(frames_of([b"", *frames]))

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
