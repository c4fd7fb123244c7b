"""`Endpoint`: one ZeroMQ socket that sends each message whole or not at all, and counts traffic."""

import errno
import math
import os
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final, final

import zmq

from tensorwrapper.errors import (
    PeerUnreachableError,
    TransportClosedError,
    TransportError,
    TransportThreadError,
    TransportTimeoutError,
    TransportTornError,
)
from tensorwrapper.transport._context import make_socket
from tensorwrapper.transport._counters import Counters, count_message
from tensorwrapper.transport._curve import Security, secure
from tensorwrapper.transport._delivery import check_process, to_milliseconds
from tensorwrapper.transport._kinds import Kind
from tensorwrapper.transport._senders import peer_of, routing_of, signer_of
from tensorwrapper.transport.connections._connection_attempts import ConnectionAttempts, wait_for
from tensorwrapper.transport.connections._options import set_options
from tensorwrapper.transport.connections._paths import Paths, is_taken
from tensorwrapper.transport.connections._peer_connections import PeerConnections

_PAUSE: Final = 0.002
"""Polling interval, in seconds, for free queue space of one peer of many."""

_LONGEST: Final = 2**31 - 1
"""Longest wait that ZeroMQ accepts, in milliseconds."""

_LONGEST_SECONDS: Final = 1e6
"""Time limit, in seconds, up to which no number of milliseconds is too large."""

_PATIENCE: Final = 20
"""Milliseconds that a connecting socket waits before it reads the events of its connections."""

_COPIED: Final = 65_536
"""Smallest frame, in bytes, sent without a copy. For smaller ones a copy costs less than tracking memory."""

_NOW: Final = int(zmq.NOBLOCK)
_MORE: Final = int(zmq.SNDMORE)
_IN: Final = int(zmq.POLLIN)
_EVENTS: Final = int(zmq.EVENTS)
"""Plain integers, because combining enumeration members takes microseconds."""


@final
class Endpoint:
    """A ZeroMQ socket, owned by one thread of one process, that keeps messages separate.

    `parts` and `nbytes` limit the frames and bytes of a message; a message over either limit is dropped
    whole.
    """

    __slots__ = (
        "_fences",
        "_forget",
        "_linger",
        "_paths",
        "_peers",
        "_process",
        "_thread",
        "addresses",
        "before_close",
        "dropped",
        "is_encrypted",
        "kind",
        "last",
        "nbytes",
        "parts",
        "received",
        "sent",
        "signer",
        "socket",
        "torn",
    )

    def __init__(
        self,
        kind: Kind,
        linger: float,
        *,
        parts: int,
        nbytes: int,
        security: Security | None,
        stalled: float | None = None,
        watched: bool = False,
    ) -> None:
        self.socket: zmq.Socket[bytes] | None = None
        self.kind: Kind = kind
        self.parts: int = parts
        self.nbytes: int = nbytes
        self.torn: str = ""
        self.signer: str = ""
        self.last: zmq.Frame | None = None  # the first frame of the last received message
        self.is_encrypted: bool = security is not None
        self._forget: Callable[[], object] | None = None
        self._fences: ConnectionAttempts | None = None
        self._peers: PeerConnections | None = None
        self._paths = Paths()
        self.before_close: Callable[[], object] | None = None
        self.addresses: list[str] = []
        # Messages, frames, bytes in them, bytes on the wire.
        self.sent: list[int] = [0] * 4
        self.received: list[int] = [0] * 4
        self.dropped: int = 0
        rest = to_milliseconds(linger, "linger")
        cut = None if stalled is None else to_milliseconds(stalled, "stalled")
        self._linger = rest
        self._thread, self._process = threading.get_ident(), os.getpid()
        self.socket = socket = make_socket(kind.number)
        try:
            set_options(socket, kind, linger=rest, nbytes=nbytes, stalled=cut)
            if security is not None:
                self._forget = secure(socket, security)
            if watched:
                self._peers = PeerConnections(socket)
        except zmq.ZMQError as error:
            self.close()
            raise failed("cannot set up a socket", error) from error
        except BaseException:
            self.close()
            raise

    def __str__(self) -> str:
        places = f" at {', '.join(self.addresses)}" if self.addresses else ""
        return f"{self.kind.name} socket{places}"

    @property
    def is_leaked(self) -> bool:
        """True if it is still open in the process that opened it; a forked child leaks nothing."""
        return self.socket is not None and self._process == os.getpid()

    def open(self) -> "zmq.Socket[bytes]":
        """Return ZeroMQ's socket; raise if this process or thread may not use it."""
        # Check the process first: in a forked child the other attributes describe the parent's socket.
        if self._process != os.getpid():
            check_process(self._process, f"this {self.kind.name} socket")
        if self.torn:
            raise TransportTornError(self.torn)
        if self.socket is None:
            raise TransportClosedError(f"this {self} is closed")
        if threading.get_ident() != self._thread:
            raise TransportThreadError(
                f"this {self} belongs to the thread that opened it; open another one here"
            )
        return self.socket

    def adopt(self) -> None:
        """Move ownership of the socket to the calling thread; a lock must exclude the previous owner."""
        self._thread = threading.get_ident()

    def close(self) -> None:
        """Close the socket; closing twice is harmless."""
        if self.before_close is not None:
            self.before_close()
        socket, self.socket = self.socket, None
        fences, self._fences = self._fences, None
        guests, self._peers = self._peers, None
        self._paths.remove()
        if socket is not None:
            if fences is not None:
                fences.close(socket)
            if guests is not None:
                guests.close(socket)
            socket.close(linger=self._linger)
        if self._forget is not None:
            self._forget()

    def counters(self) -> Counters:
        """Return the traffic counters so far."""
        sent, received = self.sent, self.received
        return Counters(
            messages_sent=sent[0],
            frames_sent=sent[1],
            bytes_sent=sent[2],
            bytes_sent_on_wire=sent[3],
            messages_received=received[0],
            frames_received=received[1],
            bytes_received=received[2],
            bytes_received_on_wire=received[3],
            messages_dropped=self.dropped,
        )

    def bind(self, address: str) -> str:
        """Listen at an address, and return ZeroMQ's spelling of the address."""
        socket = self.open()
        if is_taken(address):
            raise failed(f"cannot listen at {address}", zmq.ZMQError(errno.EADDRINUSE))
        try:
            socket.bind(address)
            bound = socket.getsockopt_string(zmq.LAST_ENDPOINT)
        except zmq.ZMQError as error:
            raise failed(f"cannot listen at {address}", error) from error
        self.addresses.append(bound)
        self._paths.keep(bound)
        return bound

    def connect(self, address: str) -> None:
        """Connect to an address, and monitor the connection."""
        socket = self.open()
        if self._peers is not None:
            raise TransportError(errno.ENOTSUP, "a socket with watched=True can only listen, not connect")
        try:
            # An inproc connection has no handshake, and a missing peer may still connect.
            if not address.startswith("inproc:") and self.kind.waits:
                if self._fences is None:
                    self._fences = ConnectionAttempts(socket, is_encrypted=self.is_encrypted)
                self._fences.expect(address)
            socket.connect(address)
        except zmq.ZMQError as error:
            raise failed(f"cannot connect to {address}", error) from error
        self.addresses.append(address)

    def _wait(self, socket: "zmq.Socket[bytes]", flags: int, milliseconds: int) -> bool:
        """Return True if the socket becomes ready in time. Raise if no peer can ever connect."""
        fences = self._fences
        deadline = time.monotonic() + milliseconds / 1000
        while True:
            ready = wait_for(socket, flags, fences, milliseconds)
            if any(place is socket for place, _ in ready):
                return True
            if not ready or fences is None:
                return False
            fences.read()
            if (error := fences.hopeless(self.addresses)) is not None:
                try:
                    raise error
                finally:
                    # Its traceback would make a reference cycle.
                    del error
            milliseconds = max(math.ceil((deadline - time.monotonic()) * 1000), 0)

    def is_broken(self) -> bool:
        """Return True if ZeroMQ closed a connection of this socket and does not reconnect."""
        if self._fences is not None:
            self._fences.read()
        return self._fences is not None and self._fences.is_broken(self.addresses)

    def fileno(self) -> int:
        """Return the file descriptor of the socket."""
        socket = self.open()
        if self.kind.single:
            raise TransportError(
                errno.ENOTSUP, f"a {self.kind.name} socket has no file descriptor; use poll()"
            )
        return int(socket.getsockopt(zmq.FD))

    def descriptors(self) -> list[int]:
        """Return the file descriptors of the socket and of the monitors of its connections."""
        told = [own.monitor for own in (self._fences, self._peers) if own is not None]
        places = [self.open(), *told]
        return [int(place.getsockopt(zmq.FD)) for place in places]

    def guests(self) -> tuple[int, ...]:
        """Return the descriptors of the connections from peers, oldest first."""
        self.open()
        if self._peers is None:
            raise TransportError(
                errno.ENOTSUP, f"this {self} does not record connections; open it with watched=True"
            )
        try:
            self._peers.read()
        except zmq.ZMQError as error:
            # At interpreter exit ZeroMQ is shut down even while a thread still serves.
            raise failed(f"{self} reads its connections", error) from error
        return tuple(self._peers)

    def ready(self) -> int:
        """Return ZeroMQ's flags of the operations that are possible now."""
        return int(self.open().getsockopt(zmq.EVENTS))

    def timed_out(self, what: str, seconds: float) -> TransportError:
        """Return the error for a wait that timed out."""
        if self._fences is not None:
            self._fences.read()
            waited = f" within {seconds} s" if seconds else ""
            if (error := self._fences.absent(self.addresses, waited)) is not None:
                return error
        return TransportTimeoutError(f"{what} this {self} within {seconds} s")

    def count(self, counts: list[int], lengths: list[int]) -> None:
        """Add a message with frames of these lengths to the `sent` or `received` counts."""
        count_message(counts, lengths, hidden=self.kind.hidden, is_encrypted=self.is_encrypted)

    # Sending.

    def send(self, frames: Sequence[bytes | memoryview], seconds: float) -> list[zmq.MessageTracker]:
        """Send a message with its envelope.

        Return the trackers of frames that were not copied. A tracker tells when its frame may change.
        """
        socket = self.open()
        if not self.kind.sends:
            raise TransportError(errno.ENOTSUP, f"a {self.kind.name} socket receives and does not send")
        deadline = time.monotonic() + _checked(seconds)
        trackers: list[zmq.MessageTracker] = []
        send_all = self._send_one if self.kind.single else self._send_all
        try:
            whole = send_all(socket, frames, trackers, deadline)
        except zmq.ZMQError as error:
            if error.errno == zmq.EHOSTUNREACH:
                raise _unreachable(bytes(frames[0])) from error
            if error.errno == zmq.EFSM:
                raise TransportError(error.errno, f"this {self} {_TURNS[self.kind.name]}") from error
            raise failed("sending failed", error) from error
        if not whole:
            raise self.timed_out(f"no peer took the {len(frames)} frames of a message from", seconds)
        self.count(self.sent, [*map(len, frames[1:] if self.kind.addressed else frames)])
        return trackers

    def _send_all(
        self,
        socket: "zmq.Socket[bytes]",
        frames: Sequence[bytes | memoryview],
        trackers: list[zmq.MessageTracker],
        deadline: float,
    ) -> bool:
        """Send a message, whole or not at all; return False if there was no room for it in time."""
        sent, last = 0, len(frames) - 1
        begun = False
        # A PAIR must not wait, because the next peer would receive messages meant for the previous one.
        flags = _NOW if self.kind.name == "PAIR" else 0
        try:
            while sent <= last:
                # Set this before the call: an exception may occur when ZeroMQ already has the frame.
                begun = True
                frame = frames[sent]
                how = (flags if sent else _NOW) | (_MORE if sent < last else 0)
                try:
                    tracker = _send_frame(socket, frame, how)
                except zmq.ZMQError as error:
                    # ZeroMQ keeps no part of a refused first frame.
                    begun = sent > 0
                    if begun or error.errno != zmq.EAGAIN:
                        raise
                    if not self._wait_for_room(socket, deadline):
                        return False
                else:
                    sent += 1
                    if tracker is not None:
                        trackers.append(tracker)
        except BaseException as error:
            if not begun:
                raise
            self._tear(f"after {sent} of {last + 1} frames of a message")
            if isinstance(error, zmq.ZMQError):
                raise TransportTornError(self.torn) from error
            raise
        return True

    def _send_one(
        self,
        socket: "zmq.Socket[bytes]",
        frames: Sequence[bytes | memoryview],
        trackers: list[zmq.MessageTracker],
        deadline: float,
    ) -> bool:
        """Send a message of one frame, preceded by the frame that names the peer, if any."""
        number = int.from_bytes(frames[0], "big") if self.kind.addressed else None
        while True:
            try:
                found = socket.send(frames[-1], zmq.NOBLOCK, copy=False, track=True, routing_id=number)
            except zmq.Again:
                if not self._wait_for_room(socket, deadline):
                    return False
            else:
                trackers.append(found)
                return True

    def _wait_for_room(self, socket: "zmq.Socket[bytes]", deadline: float) -> bool:
        """Wait until there may be room for a message; return False on timeout."""
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        if self.kind.addressed:
            # The socket reports room if any peer has room, which need not be this one.
            time.sleep(min(left, _PAUSE))
            # ZeroMQ forgets a disconnected peer only once no message from it is left to receive.
            socket.getsockopt(zmq.EVENTS)
        else:
            self._wait(socket, zmq.POLLOUT, min(math.ceil(left * 1000), _LONGEST))
        return True

    def _tear(self, where: str) -> None:
        """Close a socket with a partly sent message; ZeroMQ then discards that part."""
        self.torn = (
            f"this {self.kind.name} socket was interrupted {where}; it is closed, so that no part of "
            "a message arrives: open another one"
        )
        self.close()

    # Receiving.

    def poll(self, seconds: float) -> bool:
        """Return True if a message arrives in time."""
        socket, milliseconds = self.open(), to_milliseconds(seconds, "timeout")
        try:
            if not milliseconds and self._fences is None:
                return bool(int(socket.getsockopt(_EVENTS)) & _IN)
            return self._wait(socket, _IN, milliseconds)
        except zmq.ZMQError as error:
            raise failed("waiting failed", error) from error

    def receive(self, seconds: float) -> list[zmq.Frame] | bytes:
        """Return the frames of the next message, or the sender of one that is too large."""
        socket = self.open()
        if not self.kind.receives:
            raise TransportError(errno.ENOTSUP, f"a {self.kind.name} socket sends and does not receive")
        try:
            first = self._first(socket, _checked(seconds))
            if first is not None:
                return self._read_rest(socket, first)
        except zmq.ZMQError as error:
            if error.errno == zmq.EFSM:
                raise TransportError(error.errno, f"this {self} {_TURNS[self.kind.name]}") from error
            raise failed("receiving failed", error) from error
        except BaseException:
            # The exception may occur after the first frame was received and before the caller has it.
            self._drop_rest(socket)
            raise
        raise self.timed_out("no message came to", seconds)

    def _first(self, socket: "zmq.Socket[bytes]", seconds: float) -> zmq.Frame | None:
        """Return the first frame of the next message; None if none comes in time."""
        # A message that is there already needs no poll, which takes longer than the whole read.
        try:
            return socket.recv(_NOW, copy=False)
        except zmq.Again:
            pass
        fences = self._fences
        deadline = time.monotonic() + seconds
        # Polling only the socket costs half as much as polling it with its monitor. Never wait within `recv`:
        # each signal restarts its timeout.
        patience = math.ceil(seconds * 1000)
        if fences is not None and patience > _PATIENCE:
            patience = _PATIENCE
        if patience and zmq.zmq_poll([(socket, _IN)], patience):
            with suppress(zmq.Again):
                return socket.recv(_NOW, copy=False)
        while (left := math.ceil((deadline - time.monotonic()) * 1000)) > 0:
            if not self._wait(socket, _IN, left):
                return None
            # ZeroMQ may have dropped a message that it announced.
            with suppress(zmq.Again):
                return socket.recv(_NOW, copy=False)
        return None

    def _read_rest(self, socket: "zmq.Socket[bytes]", frame: zmq.Frame) -> list[zmq.Frame] | bytes:
        """Return the frames of a message that begins with `frame`, or the sender of one that is too large."""
        frames = [frame]
        lengths = [len(frame)]
        most_frames, most, total = self.parts + 4, self.nbytes, lengths[0]
        excess = total > most
        whole = not frame.more
        try:
            while not whole:
                if excess:
                    # A message may have millions of frames, so create no objects for dropped frames.
                    _drop_frames(socket)
                    whole = True
                    break
                frame = socket.recv(_NOW, copy=False)
                length = len(frame)
                total += length
                excess = len(frames) >= most_frames or total > most
                if not excess:
                    frames.append(frame)
                    lengths.append(length)
                whole = not frame.more
        finally:
            if not whole:
                self._drop_rest(socket)
        if excess:
            if self.kind.single and self.kind.addressed:
                return routing_of(frames[0])
            # The rest was read and dropped, so that the next read starts at the next message.
            return peer_of(self.kind, frames)
        if self.kind.single and self.kind.addressed:
            frames.insert(0, zmq.Frame(routing_of(frames[0])))
        self.count(self.received, lengths[1:] if self.kind.addressed and not self.kind.single else lengths)
        # The first frame is small, so little memory is kept.
        self.last = frames[0]
        self.signer = signer_of(frames[-1]) if self.is_encrypted else ""
        return frames

    def _drop_rest(self, socket: "zmq.Socket[bytes]") -> None:
        """Drop the rest of a message, which would otherwise be read as the start of the next one."""
        try:
            while socket.getsockopt(zmq.RCVMORE):
                socket.recv(zmq.NOBLOCK, copy=False)
        except zmq.ZMQError:
            return
        except BaseException:
            self._tear("within a message that it was receiving")
            raise


_TURNS: Final = {
    "REQ": "sends and receives in turn: its last message has no answer yet, or there was no request",
    "REP": "receives and sends in turn: it answers what it received last, once",
}


def _unreachable(peer: bytes) -> PeerUnreachableError:
    """Return the error for a peer that is not connected.

    Raise it without a local variable, whose traceback would make a cycle that keeps all frames.
    """
    gone = PeerUnreachableError(zmq.EHOSTUNREACH, f"the peer {peer!r} is not connected")
    gone.peer = peer
    return gone


def _drop_frames(socket: "zmq.Socket[bytes]") -> None:
    """Drop the remaining frames of a message."""
    receive = socket.recv
    while receive(_NOW, copy=False).more:
        pass


def _send_frame(
    socket: "zmq.Socket[bytes]", frame: bytes | memoryview, flags: int
) -> zmq.MessageTracker | None:
    """Pass a frame to ZeroMQ; return a tracker of its memory unless it was copied."""
    if len(frame) < _COPIED:
        socket.send(frame, flags)
        return None
    return socket.send(frame, flags, copy=False, track=True)


def _checked(seconds: float) -> float:
    """Return a time limit that ZeroMQ accepts."""
    # Most are plain, and a message of a few numbers waits for little else.
    if type(seconds) is float and 0 <= seconds <= _LONGEST_SECONDS:
        return seconds
    return to_milliseconds(seconds, "timeout") / 1000


def failed(what: str, error: zmq.ZMQError) -> TransportError:
    """Return the error for a failed operation of ZeroMQ."""
    number = error.errno or 0
    if number in (zmq.ETERM, zmq.ENOTSOCK):
        return TransportClosedError(number, f"{what}: ZeroMQ is shut down in this process")
    return TransportError(number, f"{what}: {zmq.strerror(number)}")
