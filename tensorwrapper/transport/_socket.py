"""`Socket`: messages over ZeroMQ, with time limits everywhere and no copies of large frames.

PUSH/PULL and PAIR carry the frames of a message as they are. DEALER puts an empty frame before them, as
REQ would, and ROUTER the peer's identity before that. CLIENT and SERVER carry one frame and are refused
where the build of ZeroMQ cannot run them.
"""

import errno
import math
import threading
import warnings
from collections.abc import Sequence
from numbers import Real
from types import TracebackType
from typing import final

import zmq

from tensorwrapper.errors import (
    ConversionError,
    LeakedResourceWarning,
    LocalProtocolError,
    PeerUnreachableError,
    RemoteProtocolError,
    TransportClosedError,
    TransportError,
    TransportThreadError,
    TransportTimeoutError,
)
from tensorwrapper.transport._context import SocketKind, check_kind, shared_context
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message, decode
from tensorwrapper.wire.lowlevel import byte_views, check_several

__all__ = ["Delivery", "Socket"]

_HIGH_WATER = 16
"""Messages that wait at either end: tensors are large, and ZeroMQ counts messages, not bytes."""


@final
class Delivery:
    """What became of a sent message: `done` once ZeroMQ no longer reads the memory of any of its frames.

    That the kernel took the bytes is not that the peer read them. Until then the tensors that were sent
    must not change.
    """

    __slots__ = ("_tracker",)

    def __init__(self, trackers: Sequence[zmq.MessageTracker]) -> None:
        # Every frame counts: the tracker that pyzmq returns for a multipart message knows only the last.
        self._tracker = zmq.MessageTracker(*trackers)

    @property
    def done(self) -> bool:
        """Whether the memory may change again."""
        return bool(self._tracker.done)

    def wait(self, timeout: float) -> None:
        """Wait until the memory may change again.

        Raises
        ------
        TransportTimeoutError
            If that takes longer than `timeout` seconds.
        """
        try:
            self._tracker.wait(_milliseconds(timeout, "timeout") / 1000)
        except zmq.NotDone as error:
            # With many frames the tracker may run out of time on the way although all of them are done.
            if not self.done:
                raise TransportTimeoutError(f"frames are still being sent after {timeout} s") from error


@final
class Socket:
    """A ZeroMQ socket that sends and receives messages; it belongs to the thread that opened it.

    Parameters
    ----------
    kind
        PUSH, PULL, PAIR, DEALER or ROUTER.
    timeout
        How many seconds a call may wait unless it says otherwise.
    limits
        What to take from peers at most.
    linger
        How many seconds `close` may go on sending what is under way.

    Raises
    ------
    UnsupportedSocketError
        For CLIENT and SERVER where using one would abort the process.

    Examples
    --------
    >>> from tensorwrapper import wire
    >>> with Socket("PULL") as sink, Socket("PUSH") as source:
    ...     source.connect(sink.bind("tcp://127.0.0.1:*"))
    ...     delivery = source.send(wire.encode([[1, 2, 3]]))
    ...     sink.receive().tensors[0].tolist()
    [1, 2, 3]
    """

    __slots__ = ("__weakref__", "_kind", "_limits", "_linger", "_socket", "_thread", "_timeout")

    def __init__(
        self,
        kind: SocketKind,
        *,
        timeout: float = 10.0,
        limits: Limits = DEFAULT_LIMITS,
        linger: float = 1.0,
    ) -> None:
        self._socket: zmq.Socket[bytes] | None = None
        number, rest = check_kind(kind), _milliseconds(linger, "linger")
        _milliseconds(timeout, "timeout")
        self._kind: SocketKind = kind
        self._timeout = timeout
        self._limits = limits
        self._linger = linger
        self._thread = threading.get_ident()
        socket = shared_context().socket(number)
        socket.linger = rest
        # Nothing waits for a peer that may never come: `send` waits, as long as it may, and tells.
        socket.immediate = True
        socket.sndhwm = socket.rcvhwm = _HIGH_WATER
        # Per frame, and checked by ZeroMQ before it allocates; the message as a whole is checked on arrival.
        socket.maxmsgsize = min(limits.total_bytes, 2**62)
        if kind == "ROUTER":
            # Without it a message to a peer that is gone is dropped without a word.
            socket.router_mandatory = True
        self._socket = socket

    @property
    def kind(self) -> SocketKind:
        """The kind of the socket."""
        return self._kind

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._socket is None

    def _open(self) -> "zmq.Socket[bytes]":
        socket = self._socket
        if socket is None:
            raise TransportClosedError(f"this {self._kind} socket is closed")
        if threading.get_ident() != self._thread:
            raise TransportThreadError(
                f"this {self._kind} socket belongs to the thread that opened it; open another one here"
            )
        return socket

    def bind(self, address: str) -> str:
        """Listen at an address and return it with the port filled in (``tcp://127.0.0.1:*`` picks one).

        Raises
        ------
        TransportError
            If the address is in use or not valid; the text names it.
        ConversionError
            If the address is not text.
        """
        socket = self._open()
        _check_address(address)
        try:
            socket.bind(address)
        except zmq.ZMQError as error:
            raise _failed(f"cannot listen at {address}", error) from error
        return socket.getsockopt_string(zmq.LAST_ENDPOINT)

    def connect(self, address: str) -> None:
        """Connect to an address; ZeroMQ goes on trying in the background until somebody listens there.

        Until then `send` waits. Only at an ``inproc`` address messages queue for a peer that is to come.

        Raises
        ------
        TransportError
            If the address is not valid.
        ConversionError
            If the address is not text.
        """
        socket = self._open()
        _check_address(address)
        try:
            socket.connect(address)
        except zmq.ZMQError as error:
            raise _failed(f"cannot connect to {address}", error) from error

    def send(
        self,
        message: Message | Sequence[BufferLike],
        *,
        peer: bytes | None = None,
        timeout: float | None = None,
    ) -> Delivery:
        """Send a message, or the frames of one, without copying its large frames.

        Frames under 64 KiB are copied by pyzmq, which is faster for them.

        Parameters
        ----------
        message
            What to send.
        peer
            To whom: needed by ROUTER, and only there.
        timeout
            How many seconds to wait for room or for a peer, also for one that is still connecting.

        Raises
        ------
        TransportTimeoutError
            If nobody took the message in time; nothing of it was sent.
        PeerUnreachableError
            If the peer of a ROUTER is not connected.
        LocalProtocolError
            If there are no two header frames.
        ConversionError
            If `message` is one array or text and not frames, or `peer` is not bytes.
        """
        socket = self._open()
        frames = message.to_frames() if isinstance(message, Message) else message
        # A memoryview locks its exporter: a bytearray that is cleared or a map that is closed while ZeroMQ
        # reads it raises instead of crashing the process.
        check_several(frames, "the frames of a message")
        views = byte_views(frames, "frame")
        if len(views) < 2:
            # Less could not be read, and nothing at all would leave an envelope for the next message.
            raise LocalProtocolError("frame", f"a message has two header frames at least, not {len(views)}")
        if (peer is not None) != (self._kind == "ROUTER"):
            raise TransportError("a ROUTER needs the peer to send to, and other sockets do not take one")
        envelope: list[bytes] = []
        if self._kind == "ROUTER":
            envelope = [_identity(peer), b""]
        elif self._kind == "DEALER":
            envelope = [b""]
        trackers: list[zmq.MessageTracker] = []
        seconds = self._timeout if timeout is None else timeout
        socket.sndtimeo = _milliseconds(seconds, "timeout")
        try:
            for part in envelope:
                socket.send(part, zmq.SNDMORE)
            for place, view in enumerate(views):
                more = zmq.SNDMORE if place + 1 < len(views) else 0
                trackers.append(socket.send(view, more, copy=False, track=True))
        except zmq.Again as error:
            raise TransportTimeoutError(
                f"no peer took the {len(views)} frames of a message from this {self._kind} socket "
                f"within {seconds} s"
            ) from error
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                raise PeerUnreachableError(error.errno, f"the peer {peer!r} is not connected") from error
            raise _failed("sending failed", error) from error
        return Delivery(trackers)

    def receive(self, *, timeout: float | None = None) -> Message:
        """Return the next message; its tensors are read-only views of the received frames.

        Raises
        ------
        TransportTimeoutError
            If none comes in time.
        RemoteProtocolError
            If what comes is not a well-formed message, or exceeds the limits.
        """
        return self.receive_from(timeout=timeout)[1]

    def receive_from(self, *, timeout: float | None = None) -> tuple[bytes, Message]:
        """Return the next message and who sent it: what a ROUTER answers to. Empty for other sockets."""
        frames = self._receive_frames(self._timeout if timeout is None else timeout)
        peer = frames.pop(0).bytes if self._kind == "ROUTER" else b""
        if self._kind in ("ROUTER", "DEALER"):
            if not frames or len(frames[0].buffer):
                raise RemoteProtocolError("frame", "the empty frame before a message is missing")
            frames.pop(0)
        return peer, decode([frame.buffer for frame in frames], limits=self._limits)

    def _receive_frames(self, timeout: float) -> list[zmq.Frame]:
        socket, limits = self._open(), self._limits
        if not socket.poll(_milliseconds(timeout, "timeout")):
            raise TransportTimeoutError(f"no message came to this {self._kind} socket within {timeout} s")
        frames: list[zmq.Frame] = []
        total = 0
        excess = False
        while True:
            frame = socket.recv(copy=False)
            total += len(frame)
            excess = excess or len(frames) >= limits.parts + 4 or total > limits.total_bytes
            if not excess:
                frames.append(frame)
            if not frame.more:
                break
        if excess:
            # The rest was read and dropped, so that the next message starts where it should.
            raise RemoteProtocolError("limit", f"a message has over {limits.parts} parts or too many bytes")
        return frames

    def close(self) -> None:
        """Close the socket; closing twice is harmless."""
        socket = self._socket
        if socket is not None:
            self._socket = None
            socket.close(linger=_milliseconds(self._linger, "linger"))

    def __enter__(self) -> "Socket":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Closed first: pyzmq warns of an open socket as well, and one warning is enough.
        leaked = getattr(self, "_socket", None) is not None
        if leaked:
            self.close()
            warnings.warn(f"a {self._kind} socket was not closed", LeakedResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        return f"Socket({self._kind!r}{', closed' if self.closed else ''})"


def _failed(what: str, error: zmq.ZMQError) -> TransportError:
    number = error.errno or 0
    return TransportError(number, f"{what}: {zmq.strerror(number)}")


def _identity(peer: object) -> bytes:
    if not isinstance(peer, bytes):
        raise ConversionError(f"peer must be bytes, as `receive_from` returns them, not {peer!r}")
    return peer


def _check_address(address: object) -> None:
    """Raise for what is no text, and for a port that does not exist: ZeroMQ would silently use another."""
    if not isinstance(address, str):
        raise ConversionError(f"an address must be text, such as 'tcp://127.0.0.1:*', not {address!r}")
    port = address.rpartition(":")[2]
    if address.startswith("tcp://") and port.isdigit() and int(port) > 65_535:
        raise TransportError(errno.EINVAL, f"{address} has port {port}; ports end at 65535")


def _milliseconds(seconds: object, what: str) -> int:
    number = float(seconds) if isinstance(seconds, Real) else math.nan
    if not number >= 0:
        raise TransportError(f"{what} is a number of seconds from 0 up, not {seconds!r}")
    return int(min(number * 1000, 2**31 - 1))
