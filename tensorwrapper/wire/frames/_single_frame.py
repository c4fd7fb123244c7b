"""Messages in a single frame: the encoding of ZeroMQ RFC 50, which CZMQ calls ``zmsg_encode``.

Each frame is written as its size and its bytes, one after the other, without a count and without an end mark.
A size up to 254 is one byte; a larger one is the byte 255 and four bytes, most significant first.
"""

from collections.abc import Sequence

from tensorwrapper.errors import LocalProtocolError
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._protocol_errors import refuse, refuse_over
from tensorwrapper.wire.frames._buffers import byte_views, frame_views

LONG = 255
"""Sizes from here on take five bytes; the byte itself announces them."""

_HIGHEST = 2**32 - 1


def frame_pieces(frames: Sequence[BufferLike]) -> list[bytes | memoryview]:
    r"""Return the pieces that `encode_frames` joins: sizes of frames, and their bytes, without a copy.

    For ``writelines`` and the like, so that large frames need not be copied into one buffer.

    Raises
    ------
    LocalProtocolError
        ``limit`` if a frame has 4 GiB or more, which the encoding cannot say.
    ConversionError
        If `frames` are not several buffers.

    Examples
    --------
    >>> [bytes(piece) for piece in frame_pieces([b"ab", b""])]
    [b'\x02', b'ab', b'\x00', b'']
    """
    return sized_frames(frame_views(frames))


def sized_frames(frames: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
    """Return the result of `frame_pieces` for frames that are bytes or views."""
    pieces: list[bytes | memoryview] = []
    for number, frame in enumerate(frames):
        size = len(frame)
        if size > _HIGHEST:
            raise LocalProtocolError(
                "limit", f"frame {number} has {size} bytes; in a single frame, {_HIGHEST} are possible"
            )
        pieces += (bytes((size,)) if size < LONG else b"\xff%b" % size.to_bytes(4, "big"), frame)
    return pieces


def encode_frames(frames: Sequence[BufferLike]) -> bytes:
    r"""Return all frames of a message as one, for CLIENT and SERVER sockets, byte streams and files.

    Every frame is copied; `frame_pieces` gives the same bytes without copies.

    Raises
    ------
    LocalProtocolError
        ``limit`` if a frame has 4 GiB or more, which the encoding cannot say.
    ConversionError
        If `frames` are not several buffers.

    Examples
    --------
    >>> encode_frames([b"ab", b"", b"c"])
    b'\x02ab\x00\x01c'
    """
    return b"".join(frame_pieces(frames))


def decode_frames(buffer: BufferLike, *, limits: Limits = DEFAULT_LIMITS) -> list[memoryview]:
    r"""Return the frames in a foreign single frame, as views of it.

    An empty buffer has no frames. `decode` accepts the result.

    Raises
    ------
    RemoteProtocolError
        ``frame`` if a size goes beyond the end, ``limit`` if there are too many frames or bytes.
    ConversionError
        If `buffer` is not contiguous memory.

    Examples
    --------
    >>> [bytes(frame) for frame in decode_frames(b"\x02ab\x00\x01c")]
    [b'ab', b'', b'c']
    """
    (view,) = byte_views([buffer], "buffer")
    end = view.nbytes
    if end > limits.total_bytes:
        refuse_over("total_bytes", f"{end} bytes are over the {limits.total_bytes} allowed")
    frames: list[memoryview] = []
    place, most = 0, limits.parts + 2
    while place < end:
        size = view[place]
        place += 1
        if size == LONG:
            # A size that is cut off reads as too small a number; the position past the end shows it.
            size = int.from_bytes(view[place : place + 4], "big")
            place += 4
        if size > end - place:
            refuse(
                "frame",
                f"frame {len(frames)} is cut off: it needs {size} bytes, {max(end - place, 0)} are there",
            )
        if len(frames) == most:
            refuse_over("parts", f"there are over {limits.parts} parts, as many as are allowed")
        frames.append(view[place : place + size])
        place += size
    return frames
