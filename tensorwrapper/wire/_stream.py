"""Messages in a stream of bytes: a length before each, because a single frame does not say where it ends.

The length is an unsigned 64-bit integer, least significant byte first; as many bytes of `encode_frames`
follow. Nothing here reads or writes: bytes come in as they arrive, and messages go out.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import final

from tensorwrapper._value_class import Shown
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire._decode import decode
from tensorwrapper.wire._limits import DEFAULT_LIMITS, Limits
from tensorwrapper.wire._message import Message
from tensorwrapper.wire._protocol_errors import Refusal, refuse, refuse_over
from tensorwrapper.wire.frames._buffers import byte_views
from tensorwrapper.wire.frames._single_frame import frame_pieces

_LENGTH = 8
_LEAST = 1 + 8 + 1 + 24
"""Bytes of a message whose label is empty, without any part."""
_PREFIX = 8
_EMPTY = memoryview(b"")


def stream_pieces(frames: Sequence[BufferLike]) -> list[bytes | memoryview]:
    r"""Return the bytes of one message in a stream: its length, then the pieces of its single frame.

    For ``writelines`` and the like; the frames are not copied. `StreamReader` reads them.

    Raises
    ------
    LocalProtocolError
        ``limit`` if a frame has 4 GiB or more, which the encoding cannot say.
    ConversionError
        If `frames` are not several buffers.

    Examples
    --------
    >>> b"".join(stream_pieces([b"ab", b""]))
    b'\x04\x00\x00\x00\x00\x00\x00\x00\x02ab\x00'
    """
    pieces = frame_pieces(frames)
    return [sum(map(len, pieces)).to_bytes(_LENGTH, "little"), *pieces]


@final
class StreamReader(Shown):
    """Takes a stream of bytes in pieces of any size, and gives the messages in it.

    Each part of a message is assembled in separate memory as its bytes arrive. So elements are copied once
    and are aligned, and memory is not allocated before the bytes arrive.

    Parameters
    ----------
    limits
        Limits for each message.
    strict, allow_longdouble
        As `decode` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from tensorwrapper.wire import encode
    >>> stream = b"".join(stream_pieces(encode([np.arange(3)], seqno=1))) * 2
    >>> reader = StreamReader()
    >>> reader.feed(stream[:150])
    >>> [message.seqno for message in reader], reader.pending
    ([1], 17)
    >>> reader.feed(stream[150:])
    >>> [message.tensors[0].tolist() for message in reader.messages()], reader.pending
    ([[0, 1, 2]], 0)
    """

    __slots__ = (
        "_allow_longdouble",
        "_failed",
        "_frames",
        "_head",
        "_left",
        "_limits",
        "_part",
        "_pending",
        "_ready",
        "_strict",
        "_want",
    )

    def __init__(
        self, *, limits: Limits = DEFAULT_LIMITS, strict: bool = False, allow_longdouble: bool = False
    ) -> None:
        self._limits = limits
        self._strict = strict
        self._allow_longdouble = allow_longdouble
        self._ready: deque[list[memoryview]] = deque()
        self._failed: Refusal | None = None
        self._pending = 0
        # State of parsing: a partial length or size, the frames of a message, and its unfinished last frame.
        self._head = bytearray()
        self._left: int | None = None  # bytes to come of the message, None before its length is known
        self._frames: list[memoryview] = []
        self._want: int | None = None  # bytes to come of the frame, None before its size is known
        self._part = bytearray()

    def __repr__(self) -> str:
        return f"StreamReader({len(self._ready)} messages to be taken, {self._pending} bytes of another)"

    @property
    def pending(self) -> int:
        """The bytes that came of a message that is not complete."""
        return self._pending

    def feed(self, data: BufferLike) -> None:
        """Take the next bytes of the stream; `messages` raises their errors, after earlier messages.

        Raises
        ------
        ConversionError
            If `data` is not contiguous memory.
        """
        (view,) = byte_views([data], "data")
        try:
            while len(view) and self._failed is None:
                if self._left is None:
                    view = self._take_length(view)
                elif self._want is None:
                    view = self._take_size(view)
                else:
                    view = self._take_bytes(view)
        except RemoteProtocolError as error:
            # From here on, the boundaries of messages are unknown, so all further bytes are ignored.
            self._failed = Refusal(error.reason, error.args[1])
            self._frames, self._part = [], bytearray()

    def __iter__(self) -> Iterator[Message]:
        """Return an iterator as `messages` does: over the messages that are complete by now."""
        return self.messages()

    def messages(self) -> Iterator[Message]:
        """Return the messages that are complete, each of them once.

        Raises
        ------
        RemoteProtocolError
            At a message that `decode` refuses; the next call goes on after it. At the place where the bytes
            are not stream of messages; every later call raises there again.
        """
        while self._ready:
            yield decode(
                self._ready.popleft(),
                limits=self._limits,
                strict=self._strict,
                allow_longdouble=self._allow_longdouble,
            )
        if self._failed is not None:
            raise self._failed.error()

    def finish(self) -> None:
        """Say that the stream has ended.

        Raises
        ------
        RemoteProtocolError
            ``frame`` if it ended within a message; else the errors of `messages`.
        """
        if self._failed is not None:
            raise self._failed.error()
        if self._pending:
            refuse("frame", f"the stream ends {self._pending} bytes into a message")

    def _fill_head(self, view: memoryview, nbytes: int) -> memoryview:
        taken = view[: nbytes - len(self._head)]
        self._head += taken
        self._pending += len(taken)
        return view[len(taken) :]

    def _take_length(self, view: memoryview) -> memoryview:
        rest = self._fill_head(view, _LENGTH)
        if len(self._head) == _LENGTH:
            length = int.from_bytes(self._head, "little")
            self._head.clear()
            if length < _LEAST:
                refuse("frame", f"a message in a stream has {length} bytes; {_LEAST} are the least")
            most = min(self._limits.total_bytes, self._limits.received_bytes)
            if length > most:
                name = "total_bytes" if most == self._limits.total_bytes else "received_bytes"
                refuse_over(name, f"{length} bytes are over the {most} allowed")
            self._left = length
        return rest

    def _take_size(self, view: memoryview) -> memoryview:
        needed = 5 if (self._head or view)[0] == 255 else 1
        rest = self._fill_head(view, needed)
        if len(self._head) == needed:
            size = self._head[0] if needed == 1 else int.from_bytes(self._head[1:], "big")
            self._head.clear()
            self._begin_frame(size, (self._left or 0) - needed)
        return rest

    def _begin_frame(self, size: int, left: int) -> None:
        number = len(self._frames)
        if size > left:
            refuse("frame", f"frame {number} is cut off: it needs {size} bytes, {max(left, 0)} are left")
        if number == self._limits.parts + 2:
            refuse_over("parts", f"there are over {self._limits.parts} parts, as many as are allowed")
        if number == 0 and size > self._limits.label_bytes + _PREFIX:
            refuse_over("label_bytes", f"the label has {size - _PREFIX} bytes")
        self._left, self._want = left, size
        if not size:
            self._end_frame(_EMPTY)

    def _take_bytes(self, view: memoryview) -> memoryview:
        want = self._want or 0
        taken = view[:want]
        self._part += taken
        self._pending += len(taken)
        self._want = want - len(taken)
        self._left = (self._left or 0) - len(taken)
        if not self._want:
            part, self._part = self._part, bytearray()
            self._end_frame(memoryview(part))
        return view[len(taken) :]

    def _end_frame(self, frame: memoryview) -> None:
        self._frames.append(frame)
        self._want = None
        if not self._left:
            self._ready.append(self._frames)
            self._frames, self._left, self._pending = [], None, 0
