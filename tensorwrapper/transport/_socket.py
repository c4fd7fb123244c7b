"""`Socket`: messages over ZeroMQ, with time limits everywhere and no copies of large frames.

PUSH/PULL and PAIR carry the frames of a message as they are. DEALER puts an empty frame before them, as
REQ would, and ROUTER the peer's identity before that. CLIENT and SERVER carry one frame and are refused
where the build of ZeroMQ cannot run them.
"""

import errno
import math
import os
import re
import threading
import time
import warnings
from collections.abc import Sequence
from types import TracebackType
from typing import Final, final

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
    TransportTornError,
)
from tensorwrapper.transport._context import SocketKind, check_descriptors, check_kind, make_socket
from tensorwrapper.transport._delivery import Delivery, check_process, to_milliseconds
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message, decode
from tensorwrapper.wire.lowlevel import frame_views

__all__ = ["Socket"]

_HIGH_WATER = 16
"""Messages that wait at either end: tensors are large, and ZeroMQ counts messages, not bytes."""

_WITHIN: Final = 1000
"""Milliseconds for frames after the first: they never wait for room, which is counted in messages."""

_PAUSE: Final = 0.002
"""Seconds between two looks for room at one peer of many."""

_LONGEST: Final = 2**31 - 1
"""Milliseconds that ZeroMQ can wait at most."""

_PORT: Final = re.compile(r"\*|[0-9]{1,5}")


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
        What to take from peers at most. ZeroMQ gathers a message before it hands it over and bounds each of
        its frames, by ``total_bytes``, and not their number: a peer that never ends a message fills memory
        that nothing here can count. Only peers that are let in should reach a socket (an ``ipc`` path that
        others cannot open, a network of one's own, CURVE), and what talks to strangers is a process of its
        own with a limit on its memory.
    linger
        How many seconds what is under way may go on being sent once the socket is closed. A process waits
        for that at its end, unless it leaves by ``os._exit`` or a signal: then `Delivery.wait` first.

    Raises
    ------
    UnsupportedSocketError
        For CLIENT and SERVER where using one would abort the process.
    TransportError
        If there are no file descriptors left for it.

    Notes
    -----
    A message arrives as a whole or not at all. If Ctrl-C or another exception interrupts `send` between two
    frames, the socket closes and ZeroMQ discards the frames that it has: nothing that is sent later could be
    told from the rest of that message. Every later call raises `TransportTornError`. Messages that were sent
    before go on to the peers, for `linger` seconds. (ZeroMQ drops what lies at a PAIR, DEALER or ROUTER that
    called `connect`, and was not received there yet, when the other side closes.) An exception while `send`
    waits for room leaves the socket as it was, as does one in `receive`, except that a message which was
    being taken over is lost.

    Examples
    --------
    >>> from tensorwrapper import wire
    >>> with Socket("PULL") as sink, Socket("PUSH") as source:
    ...     source.connect(sink.bind("tcp://127.0.0.1:*"))
    ...     delivery = source.send(wire.encode([[1, 2, 3]]))
    ...     sink.receive().tensors[0].tolist()
    [1, 2, 3]
    """

    __slots__ = (
        "__weakref__",
        "_kind",
        "_limits",
        "_linger",
        "_process",
        "_socket",
        "_thread",
        "_timeout",
        "_torn",
    )

    def __init__(
        self,
        kind: SocketKind,
        *,
        timeout: float = 10.0,
        limits: Limits = DEFAULT_LIMITS,
        linger: float = 1.0,
    ) -> None:
        self._socket: zmq.Socket[bytes] | None = None
        number, rest = check_kind(kind), to_milliseconds(linger, "linger")
        to_milliseconds(timeout, "timeout")
        self._kind: SocketKind = kind
        self._timeout = timeout
        self._limits = limits
        self._linger = linger
        self._torn = ""
        self._thread = threading.get_ident()
        self._process = os.getpid()
        socket = make_socket(number)
        self._socket = socket
        try:
            socket.linger = rest
            socket.sndtimeo = _WITHIN
            # Nothing waits for a peer that may never come: `send` waits, as long as it may, and tells. Where
            # nothing is sent it would only lose messages that have arrived, when their sender closes.
            socket.immediate = kind != "PULL"
            socket.sndhwm = socket.rcvhwm = _HIGH_WATER
            # Per frame, and checked by ZeroMQ before it allocates; a whole message is checked on arrival.
            socket.maxmsgsize = min(limits.total_bytes, limits.received_bytes, 2**62)
            if kind == "ROUTER":
                # Without it a message to a peer that is gone is dropped without a word.
                socket.router_mandatory = True
        except zmq.ZMQError as error:
            self.close()
            raise _failed("no socket can be set up", error) from error

    @property
    def kind(self) -> SocketKind:
        """The kind of the socket."""
        return self._kind

    @property
    def closed(self) -> bool:
        """Whether `close` was called, or a send was interrupted within a message."""
        return self._socket is None

    def _open(self) -> "zmq.Socket[bytes]":
        socket = self._socket
        # First: what belongs to a child of fork is nothing of what it says of itself.
        check_process(self._process, f"this {self._kind} socket")
        if self._torn:
            raise TransportTornError(self._torn)
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
        _check_address(address, "listen at")
        try:
            socket.bind(address)
            return socket.getsockopt_string(zmq.LAST_ENDPOINT)
        except zmq.ZMQError as error:
            raise _failed(f"cannot listen at {address}", error) from error

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
        _check_address(address, "connect to")
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
        TransportTornError
            If an earlier message was left unfinished, or this one is.
        LocalProtocolError
            If there are no two header frames.
        ConversionError
            If `message` is one array or text and not frames, or `peer` is not bytes.
        """
        socket = self._open()
        frames = message.to_frames() if isinstance(message, Message) else message
        # A memoryview locks its exporter: a bytearray that is cleared or a map that is closed while ZeroMQ
        # reads it raises instead of crashing the process.
        views = frame_views(frames)
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
        seconds = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + to_milliseconds(seconds, "timeout") / 1000
        trackers: list[zmq.MessageTracker] = []
        try:
            if self._send_all(socket, [*envelope, *views], trackers, deadline):
                return Delivery(trackers)
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                raise PeerUnreachableError(error.errno, f"the peer {peer!r} is not connected") from error
            raise _failed("sending failed", error) from error
        raise TransportTimeoutError(
            f"no peer took the {len(views)} frames of a message from this {self._kind} socket within "
            f"{seconds} s"
        )

    def _send_all(
        self,
        socket: "zmq.Socket[bytes]",
        frames: Sequence[bytes | memoryview],
        trackers: list[zmq.MessageTracker],
        deadline: float,
    ) -> bool:
        """Send a message, whole or not at all; return False if there was no room for it in time."""
        begun = False
        try:
            while not trackers:
                # Before the call, not after it: an exception may strike when ZeroMQ has the frame already.
                begun = True
                try:
                    trackers.append(_hand_over(socket, frames[0], zmq.SNDMORE | zmq.NOBLOCK))
                except zmq.ZMQError as error:
                    # Of a frame that is refused nothing is kept.
                    begun = False
                    if error.errno != zmq.EAGAIN:
                        raise
                    if not self._wait_for_room(socket, deadline):
                        return False
            # A PAIR must not wait: the next peer would get what the last one did not.
            flags = zmq.NOBLOCK if self._kind == "PAIR" else 0
            for frame in frames[1:-1]:
                trackers += [_hand_over(socket, frame, flags | zmq.SNDMORE)]
            trackers.append(_hand_over(socket, frames[-1], flags))
        except BaseException as error:
            if not begun:
                raise
            self._tear(f"after {len(trackers)} of {len(frames)} frames of a message")
            if isinstance(error, zmq.ZMQError):
                raise TransportTornError(self._torn) from error
            raise
        return True

    def _wait_for_room(self, socket: "zmq.Socket[bytes]", deadline: float) -> bool:
        """Wait until a message may be taken, or a moment longer; return False when the time is up."""
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        if self._kind == "ROUTER":
            # It says that it has room when any peer has, which need not be this one.
            time.sleep(min(left, _PAUSE))
        else:
            socket.poll(min(math.ceil(left * 1000), _LONGEST), zmq.POLLOUT)
        return True

    def _tear(self, where: str) -> None:
        """Close a socket that holds a part of a message: ZeroMQ then discards it."""
        self._torn = (
            f"this {self._kind} socket was interrupted {where}; it is closed, so that no part of "
            "a message arrives: open another one"
        )
        self.close()

    def receive(self, *, timeout: float | None = None) -> Message:
        """Return the next message; its tensors are read-only views of the received frames.

        Raises
        ------
        TransportTimeoutError
            If none comes in time.
        RemoteProtocolError
            If what comes is not a well-formed message, or exceeds the limits; ``peer`` says who sent it to a
            ROUTER.
        TransportClosedError
            If the socket is closed, or ZeroMQ is shut down.
        """
        return self.receive_from(timeout=timeout)[1]

    def receive_from(self, *, timeout: float | None = None) -> tuple[bytes, Message]:
        """Return the next message and who sent it: what a ROUTER answers to. Empty for other sockets."""
        frames = self._receive_frames(self._timeout if timeout is None else timeout)
        peer = frames.pop(0).bytes if self._kind == "ROUTER" else b""
        try:
            if self._kind in ("ROUTER", "DEALER"):
                _drop_delimiter(frames)
            return peer, decode([frame.buffer for frame in frames], limits=self._limits)
        except RemoteProtocolError as error:
            error.peer = peer
            raise

    def _receive_frames(self, timeout: float) -> list[zmq.Frame]:
        socket = self._open()
        deadline = time.monotonic() + (milliseconds := to_milliseconds(timeout, "timeout")) / 1000
        try:
            while socket.poll(milliseconds):
                try:
                    return self._take_frames(socket)
                except zmq.Again:
                    # ZeroMQ may have dropped a message that it announced.
                    milliseconds = max(math.ceil((deadline - time.monotonic()) * 1000), 0)
        except zmq.ZMQError as error:
            raise _failed("receiving failed", error) from error
        raise TransportTimeoutError(f"no message came to this {self._kind} socket within {timeout} s")

    def _take_frames(self, socket: "zmq.Socket[bytes]") -> list[zmq.Frame]:
        limits = self._limits
        frames: list[zmq.Frame] = []
        total = 0
        excess = whole = False
        try:
            while not whole:
                frame = socket.recv(zmq.NOBLOCK, copy=False)
                total += len(frame)
                excess = (
                    excess
                    or len(frames) >= limits.parts + 4
                    or total > min(limits.total_bytes, limits.received_bytes)
                )
                if not excess or not frames:
                    frames.append(frame)
                whole = not frame.more
        finally:
            if not whole:
                self._drop_rest(socket)
        if excess:
            # The rest was read and dropped, so that the next message starts where it should.
            error = RemoteProtocolError(
                "limit",
                f"a message has over {limits.parts} parts or too many bytes; "
                "limits=Limits(parts=..., received_bytes=...) raises that",
            )
            error.peer = frames[0].bytes if self._kind == "ROUTER" else b""
            raise error
        return frames

    def _drop_rest(self, socket: "zmq.Socket[bytes]") -> None:
        """Drop what is left of a message, so that nobody takes it for the beginning of the next."""
        try:
            while socket.getsockopt(zmq.RCVMORE):
                socket.recv(zmq.NOBLOCK, copy=False)
        except zmq.ZMQError:
            return
        except BaseException:
            self._tear("within a message that it was receiving")
            raise

    def close(self) -> None:
        """Close the socket; closing twice is harmless."""
        socket = self._socket
        if socket is not None:
            self._socket = None
            socket.close(linger=to_milliseconds(self._linger, "linger"))

    def __enter__(self) -> "Socket":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        # Closed first: pyzmq warns of an open socket as well, and one warning is enough. A child of fork has
        # leaked nothing: the socket is its parent's.
        leaked = getattr(self, "_socket", None) is not None and self._process == os.getpid()
        if leaked:
            self.close()
            warnings.warn(f"a {self._kind} socket was not closed", LeakedResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        return f"Socket({self._kind!r}{', closed' if self.closed else ''})"


def _hand_over(socket: "zmq.Socket[bytes]", frame: bytes | memoryview, flags: int) -> zmq.MessageTracker:
    return socket.send(frame, flags, copy=False, track=True)


def _drop_delimiter(frames: list[zmq.Frame]) -> None:
    if not frames or len(frames[0].buffer):
        raise RemoteProtocolError("frame", "the empty frame before a message is missing")
    frames.pop(0)


def _failed(what: str, error: zmq.ZMQError) -> TransportError:
    number = error.errno or 0
    if number in (zmq.ETERM, zmq.ENOTSOCK):
        return TransportClosedError(number, f"{what}: ZeroMQ is shut down in this process")
    return TransportError(number, f"{what}: {zmq.strerror(number)}")


def _identity(peer: object) -> bytes:
    if not isinstance(peer, bytes):
        raise ConversionError(f"peer must be bytes, as `receive_from` returns them, not {peer!r}")
    return peer


def _check_address(address: object, what: str) -> None:
    """Raise for what is no text, and for a port that does not exist: ZeroMQ would use another in silence."""
    if not isinstance(address, str):
        raise ConversionError(f"an address must be text, such as 'tcp://127.0.0.1:*', not {address!r}")
    check_descriptors()
    if not address.startswith("tcp://"):
        return
    for end in address[6:].split(";"):
        port = end.rpartition(":")[2]
        if ":" in end and (_PORT.fullmatch(port) is None or (port != "*" and int(port) > 65_535)):
            raise TransportError(
                errno.EINVAL, f"cannot {what} {address}: {port!r} is no port; ports end at 65535, * is any"
            )
