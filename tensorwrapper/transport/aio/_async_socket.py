"""`AsyncSocket`: a `Socket` for asyncio, whose waits do not block the loop."""

import asyncio
import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Final, TypeVar, final

import zmq

from tensorwrapper._value_class import Shown
from tensorwrapper.errors import TransportTimeoutError, UnsupportedSocketError
from tensorwrapper.transport._counters import Counters
from tensorwrapper.transport._curve import Security
from tensorwrapper.transport._delivery import Delivery, to_milliseconds
from tensorwrapper.transport._kinds import SocketKind, check_kind
from tensorwrapper.transport._socket import Socket
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire import DEFAULT_LIMITS, Limits, Message

_T = TypeVar("_T")

_PAUSE: Final = 0.002
"""Polling interval, in seconds, for queue space of one peer of many; first interval for a delivery."""

_LONGEST_PAUSE: Final = 0.02


@final
class AsyncSocket(Shown):
    """A `Socket` for asyncio, with the parameters of `Socket`.

    It belongs to the thread that opened it. Any number of tasks of that thread may send and receive at a
    time. Cancelling a task loses no message: the next receiver gets the awaited message, and a message that
    waited for room is not sent. The notes of `Socket` apply as well.

    Examples
    --------
    >>> import asyncio
    >>> from tensorwrapper import wire
    >>> async def talk():
    ...     async with AsyncSocket("PULL") as sink, AsyncSocket("PUSH") as source:
    ...         source.connect(sink.bind("tcp://127.0.0.1:*"))
    ...         received = asyncio.create_task(sink.receive())
    ...         delivery = await source.send(wire.encode([[1, 2, 3]]))
    ...         return (await received).tensors[0].tolist()
    >>> asyncio.run(talk())
    [1, 2, 3]
    """

    __slots__ = ("__weakref__", "_loop", "_socket", "_timeout", "_waiting", "_watched")

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
        self._waiting: dict[asyncio.Future[None], int] = {}
        self._watched: list[int] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        if check_kind(kind).single:
            raise UnsupportedSocketError(
                f"a {kind} socket has no file descriptor that a loop could watch; DEALER and ROUTER have"
            )
        self._socket = Socket(
            kind,
            timeout=timeout,
            limits=limits,
            linger=linger,
            security=security,
            stalled=stalled,
            watched=watched,
        )
        self._timeout = timeout

    # Members that do not wait.

    @property
    def kind(self) -> SocketKind:
        """The kind of the socket."""
        return self._socket.kind

    @property
    def closed(self) -> bool:
        """True if `close` was called, or an exception interrupted a send within a message."""
        return self._socket.closed

    @property
    def addresses(self) -> tuple[str, ...]:
        """Addresses at which it listens and to which it is connected."""
        return self._socket.addresses

    @property
    def is_encrypted(self) -> bool:
        """True if messages are encrypted."""
        return self._socket.is_encrypted

    @property
    def counters(self) -> Counters:
        """Totals so far, counted by this library: messages, frames, bytes, and bytes on the wire."""
        return self._socket.counters

    @property
    def is_broken(self) -> bool:
        """True if ZeroMQ closed an established connection; see `Socket.is_broken`."""
        return self._socket.is_broken

    @property
    def sender(self) -> int | None:
        """The file descriptor of the last message's connection; see `Socket.sender`."""
        return self._socket.sender

    @property
    def guests(self) -> tuple[int, ...]:
        """File descriptors of the connections from peers; see `Socket.guests`."""
        return self._socket.guests

    def bind(self, address: str) -> str:
        """Listen at an address, as `Socket.bind` does."""
        bound = self._socket.bind(address)
        self._wake_ready()
        return bound

    def connect(self, address: str) -> None:
        """Connect to an address, as `Socket.connect` does."""
        self._socket.connect(address)
        self._wake_ready()

    def subscribe(self, topic: bytes | str = b"") -> None:
        """Let a SUB receive messages that begin with these bytes, as `Socket.subscribe` does."""
        self._socket.subscribe(topic)
        self._wake_ready()

    def unsubscribe(self, topic: bytes | str = b"") -> None:
        """Cancel one subscription to a topic."""
        self._socket.unsubscribe(topic)
        self._wake_ready()

    def fileno(self) -> int:
        """Return the file descriptor for event loops, as `Socket.fileno` does."""
        return self._socket.fileno()

    def filenos(self) -> list[int]:
        """Return all file descriptors to watch for changes, as `Socket.filenos` does."""
        return self._socket.filenos()

    def close(self) -> None:
        """Close the socket; closing twice is harmless. Waiting calls raise `TransportClosedError`."""
        self._unwatch()
        self._socket.close()
        for waiter in self._waiting:
            _wake(waiter)

    # Members that wait.

    async def send(
        self,
        message: Message | Sequence[BufferLike],
        *,
        peer: bytes | None = None,
        timeout: float | None = None,
    ) -> "AsyncDelivery":
        """Send a message, or its frames, as `Socket.send` does; cancellation never splits a message.

        Raises
        ------
        TransportTimeoutError
            If no peer took the message in time. No part of the message was sent.
        PeerUnreachableError
            If the peer of a ROUTER is not connected.
        TransportTornError
            If sending an earlier message was interrupted.
        LocalProtocolError
            If the message has fewer than two header frames.
        ConversionError
            If `message` is an array or str instead of frames, or `peer` is not bytes.
        """
        frames = message.to_frames() if isinstance(message, Message) else message
        delivery = await self._until(
            lambda: self._socket.send(frames, peer=peer, timeout=0),
            zmq.POLLOUT,
            timeout,
            "no peer took a message from",
        )
        return AsyncDelivery(self, delivery)

    async def receive(self, *, timeout: float | None = None) -> Message:
        """Return the next message, as `Socket.receive` does; if cancelled, the next receiver gets it.

        Raises
        ------
        TransportTimeoutError
            If none comes in time.
        RemoteProtocolError
            If the message is malformed or exceeds the limits.
        TransportClosedError
            If the socket is closed, or ZeroMQ is shut down.
        """
        return (await self.receive_from(timeout=timeout))[1]

    async def receive_from(self, *, timeout: float | None = None) -> tuple[bytes, Message]:
        """Return the identity of the next message's sender, for a ROUTER's answer, and the message.

        The identity is empty for other sockets.
        """
        return await self._until(
            lambda: self._socket.receive_from(timeout=0), zmq.POLLIN, timeout, "no message came to"
        )

    async def receive_frames(self, *, timeout: float | None = None) -> tuple[bytes, list[memoryview]]:
        """Return the sender and the unparsed frames of the next message, as `receive_from` does."""
        return await self._until(
            lambda: self._socket.receive_frames(timeout=0), zmq.POLLIN, timeout, "no message came to"
        )

    async def receive_signed(self, *, timeout: float | None = None) -> tuple[bytes, str, list[memoryview]]:
        """Return the result of `receive_frames`, and the sender's key, as `Socket.receive_signed` does."""
        return await self._until(
            lambda: self._socket.receive_signed(timeout=0), zmq.POLLIN, timeout, "no message came to"
        )

    async def poll(self, timeout: float = 0.0) -> bool:
        """Return True if a message can be received; wait for one at most `timeout` seconds."""
        deadline = time.monotonic() + to_milliseconds(timeout, "timeout") / 1000
        while not self._socket.poll(0):
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            await self._change(zmq.POLLIN, left)
        self._wake_ready()
        return True

    async def __aenter__(self) -> "AsyncSocket":
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"AsyncSocket({self.kind!r}{', closed' if self.closed else ''})"

    # Waiting.

    async def _until(self, attempt: Callable[[], _T], flags: int, timeout: float | None, what: str) -> _T:
        """Retry until success. There is no await, and so no cancellation, between success and the return."""
        seconds = self._timeout if timeout is None else timeout
        deadline = time.monotonic() + to_milliseconds(seconds, "timeout") / 1000
        while True:
            try:
                found = attempt()
            except TransportTimeoutError as error:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise self._socket._timed_out(what, seconds) from error
            else:
                self._wake_ready()
                return found
            await self._change(flags, left)

    async def _change(self, flags: int, seconds: float) -> None:
        """Wait until the state of the socket may have changed."""
        loop = asyncio.get_running_loop()
        if flags == zmq.POLLOUT and self.kind == "ROUTER":
            # The socket reports room if any peer has room, which need not be this one.
            await asyncio.sleep(min(seconds, _PAUSE))
            return
        waiter: asyncio.Future[None] = loop.create_future()
        timer = loop.call_later(seconds, _wake, waiter)
        self._waiting[waiter] = flags
        try:
            self._watch(loop)
            # The last attempt may have consumed the event that announced a message for another task.
            self._wake_ready()
            await waiter
        finally:
            timer.cancel()
            del self._waiting[waiter]
            if not self._waiting:
                self._unwatch()

    def _watch(self, loop: asyncio.AbstractEventLoop) -> None:
        wanted = self._socket.filenos()
        if self._loop is loop and self._watched == wanted:
            return
        self._unwatch()
        self._loop = loop
        for number in wanted:
            loop.add_reader(number, self._wake_all)
            self._watched.append(number)

    def _unwatch(self) -> None:
        watched, self._watched = self._watched, []
        loop, self._loop = self._loop, None
        if loop is not None and not loop.is_closed():
            for number in watched:
                loop.remove_reader(number)

    def _wake_all(self) -> None:
        # Woken tasks retry, and wait again if nothing has changed for them.
        self._unwatch()
        for waiter in self._waiting:
            _wake(waiter)

    def _wake_ready(self) -> None:
        """Wake the tasks that can continue. ZeroMQ signals each event once, to only one call."""
        if self._waiting:
            self._read_flags()

    def _read_flags(self) -> None:
        ready = self._socket._ready()
        for waiter, flags in self._waiting.items():
            if flags & ready:
                _wake(waiter)


def _wake(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)


@final
class AsyncDelivery(Shown):
    """Progress of a message that an `AsyncSocket` sent: a `Delivery` for asyncio."""

    __slots__ = ("_delivery", "_socket")

    def __init__(self, socket: AsyncSocket, delivery: Delivery) -> None:
        self._socket, self._delivery = socket, delivery

    @property
    def done(self) -> bool:
        """True if the memory may change again."""
        return self._delivery.done

    async def wait(self, timeout: float) -> None:
        """Wait until the memory may change again.

        Raises
        ------
        TransportTimeoutError
            If ZeroMQ needs longer than `timeout` seconds.
        TransportForkError
            In a forked child process, which cannot see messages sent by its parent.
        """
        deadline = time.monotonic() + to_milliseconds(timeout, "timeout") / 1000
        pause = _PAUSE
        while not self.done and (left := deadline - time.monotonic()) > 0:
            await asyncio.sleep(min(left, pause))
            pause = min(2 * pause, _LONGEST_PAUSE)
            if not self._socket.closed:
                # ZeroMQ releases messages for a vanished peer only when the socket is polled.
                self._socket._read_flags()
        self._delivery._check(timeout)
