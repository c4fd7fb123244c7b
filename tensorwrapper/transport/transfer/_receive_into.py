"""Receive one message, and write its elements into existing memory."""

from collections.abc import Callable
from typing import Final

import zmq

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport._endpoint import Endpoint, failed

_MOST: Final = 8
"""Limit on the frames of a transfer message, with its envelope."""


def take_message(
    endpoint: Endpoint, place: Callable[[list[zmq.Frame]], memoryview | None]
) -> tuple[list[zmq.Frame], int | None] | None:
    """Receive a message, one frame of it into memory; return the other frames, and the length of that frame.

    `place` is called before each frame with the previous frames. If it returns memory, the frame is written
    there. ZeroMQ silently truncates a longer frame, so the caller must compare the length. Return None if
    there is no message.

    Raises
    ------
    RemoteProtocolError
        If the message has too many frames; it was dropped. Exceptions of `place` also propagate.
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
        # ZeroMQ delivers only complete messages, so this can only occur before the first frame.
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
