"""One message from a socket, whose elements are written where they belong."""

from collections.abc import Callable
from typing import Final

import zmq

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport._endpoint import Endpoint, failed

__all__ = ["take_message"]

_MOST: Final = 8
"""Frames of a message of a transfer, with its envelope."""


def take_message(
    endpoint: Endpoint, place: Callable[[list[zmq.Frame]], memoryview | None]
) -> tuple[list[zmq.Frame], int | None] | None:
    """Receive the next message, one frame of it into memory; return the other frames, and that one's length.

    `place` is called with the frames so far before each frame; if it returns memory, the frame is written
    there. ZeroMQ silently truncates a longer frame, so compare the length. None if there is no message.

    Raises
    ------
    RemoteProtocolError
        If it has too many frames; it was dropped. Exceptions of `place` are raised, too.
    """
    socket = endpoint.open()
    frames: list[zmq.Frame] = []
    lengths: list[int] = []
    written: int | None = None
    whole = False
    try:
        while not whole:
            memory = place(frames) if frames and written is None else None
            if len(lengths) == _MOST:
                raise RemoteProtocolError("frame", f"a message of a transfer has more than {_MOST} frames")
            if memory is None:
                frame = socket.recv(zmq.NOBLOCK, copy=False)
                frames.append(frame)
                lengths.append(len(frame))
                whole = not frame.more
            else:
                written = socket.recv_into(memory, flags=zmq.NOBLOCK)
                lengths.append(written)
                whole = not socket.getsockopt(zmq.RCVMORE)
    except zmq.Again:
        # ZeroMQ hands a message over when all of it is there: this is before the first frame.
        whole = not frames
        if whole:
            return None
        raise
    except zmq.ZMQError as error:
        raise failed("receiving failed", error) from error
    finally:
        if not whole:
            endpoint._drop_rest(socket)
    endpoint.count(endpoint.received, lengths[endpoint.kind.addressed :])
    return frames, written
