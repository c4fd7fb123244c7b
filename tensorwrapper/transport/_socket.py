"""`Socket`: messages over ZeroMQ, with time limits everywhere and no copies of large frames.

PUSH/PULL, PUB/SUB and PAIR carry the frames of a message as they are. DEALER prepends an empty frame, as REQ
does. ROUTER also prepends the peer's identity. CLIENT and SERVER join all frames into one; they raise where
the build of ZeroMQ lacks them.
"""

import errno
import warnings
from collections.abc import Sequence
from typing import Final, final

import zmq

from tensorwrapper._value_class import Closing
from tensorwrapper.errors import (
    ConversionError,
    InsecureAddressWarning,
    LeakedResourceWarning,
    LocalProtocolError,
    RemoteProtocolError,
    TransportError,
)
from tensorwrapper.transport._context import check_descriptors
from tensorwrapper.transport._counters import Counters
from tensorwrapper.transport._curve import CurveClient, CurveServer, Security
from tensorwrapper.transport._delivery import Delivery, to_milliseconds
from tensorwrapper.transport._endpoint import Endpoint
from tensorwrapper.transport._kinds import Kind, SocketKind, check_kind
from tensorwrapper.transport._senders import descriptor_of, peer_of
from tensorwrapper.transport.connections._addresses import check_address, is_local
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message, decode, decode_frames, encode_frames
from tensorwrapper.wire.lowlevel import frame_views, refuse

_NUMBER: Final = 4
"""Bytes of the number by which a SERVER knows a peer."""

_ORIGINS: Final = 1024
"""Number of senders whose sequence numbers a SUB tracks."""


@final
class Socket(Closing):
    """A ZeroMQ socket that sends and receives messages; it belongs to the thread that opened it.

    Parameters
    ----------
    kind
        PUSH, PULL, PUB, SUB, REQ, REP, PAIR, DEALER or ROUTER. With a ZeroMQ built with the draft API also
        CLIENT or SERVER, which copy each message into one frame. A PUB drops messages without a subscriber,
        or if its queue is full. REQ and REP send and receive in turn.
    timeout
        Default time limit of a call, in seconds.
    limits
        Limits on messages from peers. ZeroMQ gathers a whole message before it delivers it. It limits the
        size of each frame, by ``total_bytes``, but not the number of frames: a peer that never ends a
        message fills memory that this library cannot count. So let only trusted peers reach a socket (a
        private ``ipc`` path, a private network, CURVE), and serve untrusted peers from a separate process
        with a memory limit.
    linger
        Seconds for which unsent messages may still be sent once the socket is closed. A process waits for
        them at its end, unless it exits by ``os._exit`` or a signal: call `Delivery.wait` before that.
    security
        A `CurveServer`, which admits listed clients, or a `CurveClient`. Without it, every client that
        reaches the address is admitted, can read the traffic, and can impersonate another.
    stalled
        Seconds without progress after which the connection to a peer is cut. Messages under way are then
        lost, so the caller must request missing ones again. By default a peer may take any time. The
        operating system enforces this limit, for ``tcp`` and where supported.
    watched
        Whether to record the connections of peers, which `guests` returns. Such a socket cannot connect.

    Raises
    ------
    UnsupportedSocketError
        For CLIENT and SERVER where using one would abort the process.
    TransportError
        If too few file descriptors are free.

    Notes
    -----
    A message arrives as a whole or not at all. If Ctrl-C or another exception interrupts `send` between two
    frames, the socket closes and ZeroMQ discards the frames that it has, as later messages could not be
    separated from them. Every later call raises `TransportTornError`. Messages that were sent
    before go on to the peers, for `linger` seconds. (When the other side closes, a PAIR, DEALER, ROUTER or
    CLIENT that called `connect` loses messages that it had not received yet.) An exception while `send`
    waits for room leaves the socket as it was. So does one in `receive`, except that a message being read
    at that moment is lost.

    Examples
    --------
    >>> from tensorwrapper import wire
    >>> with Socket("PULL") as sink, Socket("PUSH") as source:
    ...     source.connect(sink.bind("tcp://127.0.0.1:*"))
    ...     delivery = source.send(wire.encode([[1, 2, 3]]))
    ...     sink.receive().tensors[0].tolist()
    [1, 2, 3]
    """

    __slots__ = ("__weakref__", "_endpoint", "_limits", "_numbers", "_security", "_timeout")

    def __init__(
        self,
        kind: SocketKind,
        *,
        timeout: float = 10.0,
        limits: Limits = DEFAULT_LIMITS,
        linger: float = 1.0,
        security: Security | None = None,
        stalled: float | None = None,
        watched: bool = False,
    ) -> None:
        found = check_kind(kind)
        to_milliseconds(timeout, "timeout")
        self._timeout, self._limits = timeout, limits
        self._security = security
        self._numbers: dict[int, int] = {}
        most = min(limits.total_bytes, limits.received_bytes)
        self._endpoint = Endpoint(
            found,
            linger,
            parts=limits.parts,
            nbytes=most,
            security=security,
            stalled=stalled,
            watched=watched,
        )

    @property
    def kind(self) -> SocketKind:
        """The kind of the socket."""
        return self._endpoint.kind.name

    @property
    def closed(self) -> bool:
        """True if `close` was called, or an exception interrupted a send within a message."""
        return self._endpoint.socket is None

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses at which it listens and to which it is connected."""
        return tuple(self._endpoint.addresses)

    @property
    def is_encrypted(self) -> bool:
        """True if messages are encrypted."""
        return self._endpoint.is_encrypted

    @property
    def counters(self) -> Counters:
        """Totals so far, counted by this library: messages, frames, bytes, and bytes on the wire."""
        return self._endpoint.counters()

    @property
    def is_broken(self) -> bool:
        """True if ZeroMQ closed an established connection and does not reconnect.

        ZeroMQ does so when a frame is malformed or exceeds ``limits``; it delivers no part of that message.
        This property becomes True a fifth of a second later; open another socket then. If the peer closed the
        connection, ZeroMQ reconnects.
        """
        return self._endpoint.is_broken()

    @property
    def sender(self) -> int | None:
        """The file descriptor of the connection of a ROUTER's last received message.

        ZeroMQ owns the descriptor: only inspect it, and only while the peer is connected. None where the
        platform or transport has none.
        """
        last = self._endpoint.last
        return descriptor_of(last) if last is not None and self._endpoint.kind.addressed else None

    @property
    def guests(self) -> tuple[int, ...]:
        """File descriptors of the connections from peers, oldest first.

        Requires ``watched=True``. ZeroMQ owns the descriptors, as for `sender`. Some of these peers may not
        have sent a message yet.

        Raises
        ------
        TransportError
            If the socket was opened without ``watched=True``.
        """
        return self._endpoint.guests()

    def bind(self, address: str) -> str:
        """Listen at an address and return it with the port (``tcp://127.0.0.1:*`` picks one).

        Raises
        ------
        TransportError
            If the address is in use or invalid.
        ConversionError
            If the address is not text.
        """
        self._endpoint.open()
        check_address(address, "listen at")
        check_descriptors()
        if isinstance(self._security, CurveClient):
            raise TransportError(errno.EINVAL, "a CurveClient cannot listen; use a CurveServer")
        bound = self._endpoint.bind(address)
        if not self._endpoint.is_encrypted and not is_local(bound):
            warnings.warn(
                f"any client that reaches {bound} is admitted, can read the traffic and can claim to be "
                "another; security=CurveServer(...) admits listed clients only",
                InsecureAddressWarning,
                stacklevel=2,
            )
        return bound

    def connect(self, address: str) -> None:
        """Connect to an address; ZeroMQ retries in the background until a peer listens there.

        Until then `send` waits. Only an ``inproc`` address queues messages before the peer listens.

        Raises
        ------
        TransportError
            If the address is invalid.
        ConversionError
            If the address is not text.
        """
        self._endpoint.open()
        check_address(address, "connect to")
        check_descriptors()
        if isinstance(self._security, CurveServer):
            raise TransportError(errno.EINVAL, "a CurveServer cannot connect; use a CurveClient")
        self._endpoint.connect(address)

    def subscribe(self, topic: bytes | str = b"") -> None:
        """Subscribe a SUB to messages that begin with these bytes, by default to all. Without it none arrive.

        A message begins with ``ZIO``, its level, its form in four characters, and its label. So the topic
        ``ZIO4TENS`` selects one form, and ``ZIO`` all messages.

        Raises
        ------
        TransportError
            If it is not a SUB.
        """
        self._set_topic(zmq.SUBSCRIBE, topic)

    def unsubscribe(self, topic: bytes | str = b"") -> None:
        """Cancel one subscription to a topic.

        Raises
        ------
        TransportError
            If it is not a SUB.
        """
        self._set_topic(zmq.UNSUBSCRIBE, topic)

    def _set_topic(self, option: int, topic: object) -> None:
        socket = self._endpoint.open()
        if self.kind != "SUB":
            raise TransportError(errno.ENOTSUP, f"only a SUB socket has topics, not a {self.kind}")
        if not isinstance(topic, bytes | str):
            raise ConversionError(f"a topic must be bytes or str, not {topic!r}")
        socket.setsockopt(option, topic.encode() if isinstance(topic, str) else topic)

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
            The message, or its frames.
        peer
            The receiving peer: required by ROUTER, and only there.
        timeout
            Seconds to wait for room, or for a peer to connect.

        Raises
        ------
        TransportTimeoutError
            If no peer took the message in time. No part of the message was sent.
        PeerUnreachableError
            If the peer of a ROUTER is not connected.
        TransportTornError
            If sending this message or an earlier one was interrupted.
        LocalProtocolError
            If the message has fewer than two header frames.
        ConversionError
            If `message` is an array or str instead of frames, or `peer` is not bytes.
        """
        endpoint = self._endpoint
        if endpoint.socket is None:
            # The reason comes before complaints about the message.
            endpoint.open()
        frames = message.to_frames() if isinstance(message, Message) else message
        # A memoryview locks its exporter. Clearing a bytearray or closing a map while ZeroMQ reads it then
        # raises instead of crashing the process.
        views = frame_views(frames)
        if len(views) < 2:
            # A shorter message could not be read. An empty one would leave its envelope before the next
            # message.
            raise LocalProtocolError("frame", f"a message has at least two header frames, not {len(views)}")
        kind = endpoint.kind
        if (peer is not None) != kind.addressed:
            raise TransportError(
                "peer= is required for a ROUTER or SERVER, and not allowed for other sockets"
            )
        whole: list[bytes | memoryview] = [_identity(peer, kind)] if peer is not None else []
        if kind.delimiter:
            whole.append(b"")
        whole += [memoryview(encode_frames(views))] if kind.single else views
        return Delivery(endpoint.send(whole, self._timeout if timeout is None else timeout))

    def receive(self, *, timeout: float | None = None) -> Message:
        """Return the next message; its tensors are read-only views of the received frames.

        Raises
        ------
        TransportTimeoutError
            If none comes in time.
        RemoteProtocolError
            If the message is malformed or exceeds the limits; ``peer`` of the error is its sender, on a
            ROUTER.
        TransportClosedError
            If the socket is closed, or ZeroMQ is shut down.
        """
        return self.receive_from(timeout=timeout)[1]

    def receive_from(self, *, timeout: float | None = None) -> tuple[bytes, Message]:
        """Return the identity of the next message's sender, for a ROUTER's answer, and the message.

        The identity is empty for other sockets.
        """
        peer, views, frames = self._next(timeout)
        try:
            message = decode(views, limits=self._limits)
        except RemoteProtocolError as error:
            error.peer = peer_of(self._endpoint.kind, frames)
            raise
        if self._endpoint.kind.name == "SUB":
            self._follow(message)
        return peer, message

    def receive_frames(self, *, timeout: float | None = None) -> tuple[bytes, list[memoryview]]:
        """Return the sender and the unparsed frames of the next message, as `receive_from` does.

        Raises
        ------
        TransportTimeoutError
            If none comes in time.
        RemoteProtocolError
            If it has too many parts or bytes, or does not begin as a message to this kind of socket does.
        TransportClosedError
            If the socket is closed, or ZeroMQ is shut down.
        """
        return self._next(timeout)[:2]

    def receive_signed(self, *, timeout: float | None = None) -> tuple[bytes, str, list[memoryview]]:
        """Return the result of `receive_frames`, with the authenticated public key of the sender in between.

        The key is empty unless a `CurveServer` admitted the sender.

        Raises
        ------
        TransportTimeoutError, RemoteProtocolError, TransportClosedError
            As `receive_frames`.
        """
        found = self._next(timeout)
        return found[0], self._endpoint.signer, found[1]

    def _next(self, timeout: float | None) -> tuple[bytes, list[memoryview], list[zmq.Frame]]:
        """Return the sender of the next message, its frames, and its frames with the envelope."""
        kind = self._endpoint.kind
        frames = self._endpoint.receive(self._timeout if timeout is None else timeout)
        try:
            if isinstance(frames, bytes):
                refuse(
                    "limit",
                    f"a message has over {self._limits.parts} parts or too many bytes; "
                    "limits=Limits(parts=..., received_bytes=...) can raise it",
                )
            begin = 1 if kind.addressed else 0
            peer = frames[0].bytes if begin else b""
            if kind.delimiter:
                if len(frames) == begin or len(frames[begin]):
                    refuse("frame", "the empty frame before a message is missing")
                begin += 1
            if kind.single:
                return peer, decode_frames(frames[begin].buffer, limits=self._limits), frames
        except RemoteProtocolError as error:
            error.peer = frames if isinstance(frames, bytes) else peer_of(kind, frames)
            raise
        return peer, [frame.buffer for frame in (frames[begin:] if begin else frames)], frames

    def _follow(self, message: Message) -> None:
        """Count the messages that a SUB missed, from gaps in the sequence numbers of an origin."""
        last = self._numbers.get(message.origin)
        if last is not None and message.seqno > last + 1:
            self._endpoint.dropped += message.seqno - last - 1
        if last is not None or len(self._numbers) < _ORIGINS:
            self._numbers[message.origin] = message.seqno

    def poll(self, timeout: float = 0.0) -> bool:
        """Return True if a message can be received; wait for one at most `timeout` seconds.

        Raises
        ------
        TransportClosedError
            If the socket is closed, or ZeroMQ is shut down.
        """
        return self._endpoint.poll(timeout)

    def _ready(self) -> int:
        """Return ZeroMQ's flags for whether it can send and receive now."""
        return self._endpoint.ready()

    def _timed_out(self, what: str, seconds: float) -> TransportError:
        return self._endpoint.timed_out(what, seconds)

    def filenos(self) -> list[int]:
        """Return all file descriptors to watch for changes, including that of `fileno`.

        The second descriptor, if any, belongs to the monitor of its connections.
        """
        return self._endpoint.descriptors()

    def fileno(self) -> int:
        """Return a file descriptor for selectors.

        The descriptor only signals a change. Call `poll` after it became readable and after every call of
        this socket; otherwise the next change may be missed.
        """
        return self._endpoint.fileno()

    def close(self) -> None:
        """Close the socket; closing twice is harmless."""
        self._endpoint.close()

    def __del__(self) -> None:
        # Close first, because pyzmq would also warn about an open socket.
        endpoint: Endpoint | None = getattr(self, "_endpoint", None)
        if endpoint is not None and endpoint.is_leaked:
            endpoint.close()
            warnings.warn(f"a {self.kind} socket was not closed", LeakedResourceWarning, stacklevel=2)

    def __repr__(self) -> str:
        return f"Socket({self.kind!r}{', closed' if self.closed else ''})"


def _identity(peer: object, kind: Kind) -> bytes:
    if not isinstance(peer, bytes):
        raise ConversionError(f"peer must be bytes, as `receive_from` returns them, not {peer!r}")
    if kind.single and len(peer) != _NUMBER:
        raise ConversionError(f"a SERVER identifies peers by {_NUMBER} bytes, not {peer!r}")
    return peer
