"""`Connection`: requests of one thread, and their answers."""

import itertools
import logging
import os
import random
import threading
import time
import warnings
from typing import Final, NoReturn, final

from tensorwrapper.errors import (
    LeakedResourceWarning,
    RemoteProtocolError,
    TransportAuthenticationError,
    TransportClosedError,
    TransportError,
    TransportForkError,
    TransportHandshakeError,
    TransportTimeoutError,
    TransportTornError,
)
from tensorwrapper.remote.client._bandwidth import Link
from tensorwrapper.remote.client._cache import Cache
from tensorwrapper.remote.client._pending_request import (
    Pending,
    Prepared,
    Timeouts,
    is_unsafe,
    raise_refusal,
    unknown_outcome,
)
from tensorwrapper.remote.protocol._answers import AnswerReader
from tensorwrapper.remote.protocol._events import (
    Answer,
    AskWrite,
    Cancel,
    Hello,
    Ping,
    Pong,
    Refused,
    Request,
    Welcome,
)
from tensorwrapper.remote.protocol._frames import labelled, plain_limit
from tensorwrapper.remote.protocol._limits import PROTOCOL
from tensorwrapper.remote.protocol._requests import prepare_request, send_request
from tensorwrapper.remote.protocol._state_table import RequestState
from tensorwrapper.transport import Counters, CurveClient, Socket
from tensorwrapper.wire import Limits

_PING: Final = 0.5
"""Seconds of silence after which the client checks that the server is alive."""
_AGAIN: Final = 2.0
"""Seconds after which a request is repeated, if the server is alive and has not answered."""
_STALLED: Final = 3.0
"""Seconds after which a connection that accepts no bytes is replaced; lost messages are sent again."""
_BACK: Final = 0.05
_LONGEST: Final = 2.0
_LOOK: Final = 0.05
"""Seconds between two checks of timeouts, even while answers keep arriving."""
_LET_GO: Final = 1.0
"""Seconds for a thread to release a socket that another thread closes; it polls every tenth."""
_LIMITS: Final = Limits(
    label_bytes=2**23,
    label_items=2**14,
    depth=16,
    digits=20,
    parts=4 * 256 + 1,  # of 256 fields, each with a table of rows, and of strings
    total_bytes=2**26 + 2**16,
    received_bytes=2**26 + 2**16,
)
"""Limits on any answer. Answers with numbers never exceed 2 MiB; a shape or texts have at most 64 MiB. For a
larger frame ZeroMQ closes the connection."""
_WAITING: Final = frozenset[RequestState](("queued", "waiting"))
_log = logging.getLogger(__name__)


@final
class Connection:
    """One socket of one thread, with its pending requests."""

    __slots__ = (
        "_client",
        "_closing",
        "_compress",
        "_last_check",
        "_last_message",
        "_moved",
        "_numbers",
        "_patience",
        "_pending",
        "_pinged",
        "_reader",
        "_socket",
        "_using",
        "address",
        "cache",
        "link",
        "welcome",
    )

    def __init__(
        self,
        address: str,
        security: CurveClient | None,
        patience: Timeouts,
        cache: Cache,
        link: Link | None = None,
        *,
        compress: bool | None = None,
    ) -> None:
        self.address: str = address
        self.cache: Cache = cache
        self.link: Link = Link(address) if link is None else link
        self._compress = compress
        self._patience = patience
        self._client = os.urandom(16).hex()
        # Numbers are never reused, and other clients cannot guess them.
        self._numbers = itertools.count(int.from_bytes(os.urandom(8), "big") >> 2)
        self._pending: dict[int, Pending] = {}
        self._reader = AnswerReader(_LIMITS)
        self._using = threading.RLock()
        self._closing = False
        self._socket = Socket(
            "DEALER", timeout=patience.timeout, security=security, limits=_LIMITS, stalled=_STALLED
        )
        self._last_message = self._moved = self._pinged = self._last_check = time.monotonic()
        try:
            self._socket.connect(address)
            self.welcome: Welcome = self._hello()
        except BaseException:
            self._socket.close()
            raise

    def _hello(self) -> Welcome:
        hello = Hello(self._client, PROTOCOL, PROTOCOL)
        pending = self.start(hello)
        while pending.answer is None:
            self.pump(0.1)
        self.link.note_round_trip(time.monotonic() - pending.sent)
        answer = pending.answer
        if isinstance(answer, Refused):
            raise_refusal(answer, hello)
        if not isinstance(answer, Welcome):
            raise RemoteProtocolError("schema", f"{self.address} sent another answer than hello")
        if answer.version != PROTOCOL:
            raise RemoteProtocolError(
                "unsupported",
                f"{self.address} has version {answer.version} of the protocol, not {PROTOCOL}",
            )
        return answer

    @property
    def counters(self) -> Counters:
        """Traffic over it."""
        return self._socket.counters

    def piece_bytes(self, total: int = 2**63, *, narrowing: int = 1) -> int:
        """Return the bytes of elements to request in one answer, by the measured speed of the link.

        `total` is the size of the read: it may be one answer where many would be smaller. A server that casts
        to a smaller type counts `narrowing` times as many, for the elements before the cast.
        """
        return min(self.welcome.answer_bytes // narrowing, self.link.piece_of(total))

    def packing(self) -> str | None:
        """Return the compression of further answers, or None."""
        wanted = self.link.packs if self._compress is None else self._compress
        return "zlib" if wanted and "zlib" in self.welcome.capabilities else None

    @property
    def client(self) -> str:
        """Identity of this client at the server."""
        return self._client

    @property
    def is_encrypted(self) -> bool:
        """True if frames are encrypted, and so longer."""
        return self._socket.is_encrypted

    def start(self, request: Request, said: Prepared | None = None) -> Pending:
        """Send a request, possibly encoded already; return its pending answer."""
        # Encode first: a request that cannot be encoded must not be recorded, as it would be sent again and
        # again.
        written = prepare_request(request) if said is None else said
        pending = Pending(next(self._numbers), request, written)
        self._pending[pending.number] = pending
        try:
            self._send(pending)
        except BaseException:
            self._pending.pop(pending.number, None)
            raise
        return pending

    def ask(self, request: Request, said: Prepared | None = None) -> Answer:
        """Send a request, possibly encoded already, and return the answer.

        Raises
        ------
        TransportTimeoutError
            If the server is silent for too long.
        RequestRefusedError, TensorNameError, VersionChangedError, OutOfBoundsError
            If the server refuses the request.
        """
        pending = self.start(request, said)
        try:
            while pending.answer is None and pending.failed is None:
                self.pump(0.1)
        except BaseException:
            self.forget(pending)
            raise
        answer = pending.answer
        if answer is None:
            raise pending.failed or AssertionError(f"{request!r} has no answer, and has not failed")
        if isinstance(answer, Refused):
            raise_refusal(answer, request)
        return answer

    def forget(self, pending: Pending) -> None:
        """Cancel a request on the server, if the message can be sent now."""
        if self._pending.pop(pending.number, None) is None or self.closed:
            return
        pending.take("cancelled")
        try:
            with self._using:
                self._socket.send(send_request(next(self._numbers), Cancel(pending.number)), timeout=0)
        except (TransportTimeoutError, TransportClosedError, TransportTornError):
            _log.debug("%s could not be told of a cancelled request", self.address)

    def pump(self, seconds: float) -> None:
        """Process an answer; wait for one at most `seconds`."""
        with self._using:
            self._check_open()
            try:
                if self._socket.poll(self._pause(seconds)):
                    self._receive()
                    # Check timeouts even if the server sends messages all the time.
                    if self._last_message - self._last_check < _LOOK:
                        return
            except TransportHandshakeError as error:
                if self._is_fatal(error):
                    raise
                time.sleep(min(self._pause(seconds), _BACK))
            except TransportError as error:
                self._check_closed(error)
                raise
            self._check_timers()

    def _check_open(self) -> None:
        """Raise if another thread closes the client; the socket stays open until this thread releases it."""
        if self._closing:
            raise TransportClosedError(
                f"the client of {self.address} was closed while a thread of it was reading"
            )

    def _check_closed(self, error: TransportError) -> None:
        """Raise `TransportClosedError` if an error occurred because another thread closed the client."""
        if self.closed and not isinstance(error, TransportTimeoutError):
            raise TransportClosedError(
                f"the client of {self.address} was closed while a thread of it was reading"
            ) from error

    def _is_fatal(self, error: TransportHandshakeError) -> bool:
        """Return True if no peer will ever connect, unless a server was connected before and may return.

        A server that is killed or starting interrupts handshakes. A received welcome shows that it was
        connected before.
        """
        return isinstance(error, TransportAuthenticationError) or not hasattr(self, "welcome")

    def _pause(self, seconds: float) -> float:
        waiting = [
            own.wait_until for own in self._pending.values() if own.state in _WAITING and own.wait_until
        ]
        return max(min(seconds, min(waiting) - time.monotonic()), 0.001) if waiting else seconds

    def _send(self, pending: Pending) -> None:
        frames = labelled(pending.number, *(pending.said or prepare_request(pending.request)))
        try:
            # A new connection takes a moment; restoring a lost connection may take any time.
            most = self._patience.timeout
            with self._using:
                self._check_open()
                self._socket.send(frames, timeout=min(most, 0.1) if pending.tries else most)
        except (TransportTimeoutError, TransportHandshakeError) as error:
            if isinstance(error, TransportHandshakeError) and self._is_fatal(error):
                raise
            pending.tries += 1
            if self._left(pending)[0] <= 0:
                self._give_up(pending, "took no request")
            return
        except TransportError as error:
            self._check_closed(error)
            raise
        pending.tries += 1
        pending.sent = time.monotonic()
        pending.take("sent")

    def _receive(self) -> None:
        try:
            number, answer = self._reader.read(self._socket.receive_frames(timeout=0)[1])
        except RemoteProtocolError as error:
            raise RemoteProtocolError(error.reason, plain_limit(str(error.args[1]))) from error
        self._last_message = time.monotonic()
        pending = self._pending.get(number)
        if isinstance(answer, Pong) and (pending is None or isinstance(pending.request, Ping)):
            self._pending.pop(number, None)
            self._resend(answer.server)
            return
        if pending is None:
            # The request was cancelled, or the answer arrived twice.
            return
        if isinstance(answer, Refused) and answer.reason == "replayed":
            # The server is still working on the request.
            return
        if (
            isinstance(answer, Refused)
            and answer.reason in {"busy", "draining"}
            and self._left(pending)[0] > 0
        ):
            back = min(_BACK * 2 ** min(pending.tries, 10), _LONGEST)
            pending.wait_until = time.monotonic() + back * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
            pending.take("busy")
            return
        self._moved = self._last_message
        pending.answer = answer
        pending.take("refused" if isinstance(answer, Refused) else "answered")
        del self._pending[number]

    def _resend(self, server: str) -> None:
        """Send requests that a restarted server does not know, and messages that may have been lost."""
        welcome: Welcome | None = getattr(self, "welcome", None)
        anew = welcome is not None and server != welcome.server
        if anew and welcome is not None:
            _log.warning("the server at %s has started anew", self.address)
            self.welcome = Welcome(
                server, welcome.version, welcome.capabilities, welcome.answer_bytes, welcome.in_flight
            )
        now = time.monotonic()
        for pending in list(self._pending.values()):
            if anew and is_unsafe(pending):
                del self._pending[pending.number]
                pending.failed = unknown_outcome(self.address, "it has started anew")
                continue
            if not isinstance(pending.request, Ping) and (anew or now - pending.sent > _AGAIN):
                pending.take("lost")
                self._send(pending)

    def _check_timers(self) -> None:
        """Do timed work: repeat unanswered requests, check that the server is alive, give up."""
        now = self._last_check = time.monotonic()
        if self._socket.is_broken:
            self._break()
        for pending in list(self._pending.values()):
            left, what = self._left(pending)
            if left <= 0:
                self._give_up(pending, "is there, and answers nothing" if what else "does not answer", what)
            if pending.state in _WAITING and now >= pending.wait_until:
                self._send(pending)
        if self._pending and now - max(self._last_message, self._pinged) > _PING:
            self._pinged = now
            for number in [key for key, own in self._pending.items() if isinstance(own.request, Ping)]:
                del self._pending[number]
            ping = Pending(next(self._numbers), Ping())
            ping.tries = 1
            self._pending[ping.number] = ping
            self._send(ping)

    def _left(self, pending: Pending) -> tuple[float, str]:
        return self._patience.left(pending, self._last_message, self._moved)

    def _break(self) -> NoReturn:
        """Raise the error for invalid answers, and close the connection."""
        pending, self._pending = self._pending, {}
        self.close()
        writes = [own for own in pending.values() if own.sent and isinstance(own.request, AskWrite)]
        if writes:
            raise unknown_outcome(self.address, "the message received then is not an answer")
        what = f"a frame of over {_LIMITS.total_bytes} bytes, or a malformed frame"
        raise RemoteProtocolError("limit", f"{self.address} sent {what}; the connection was closed")

    def _give_up(self, pending: Pending, why: str, what: str = "") -> NoReturn:
        self._pending.pop(pending.number, None)
        pending.take("late")
        if pending.sent and isinstance(pending.request, AskWrite):
            raise unknown_outcome(self.address, why)
        seconds = time.monotonic() - max(pending.begun, self._moved if what else 0.0)
        more = (
            f"; {what}=... lets it take longer"
            if what
            else "; either no server listens there, it does not know this key, or the network is slow"
        )
        raise TransportTimeoutError(f"{self.address} {why} for {seconds:.1f} s{more}")

    @property
    def closed(self) -> bool:
        """True after `close`, or if the server ended the connection."""
        return self._closing or self._socket.closed

    def close(self) -> None:
        """Close the socket once its thread has released it. Closing twice is harmless.

        ZeroMQ may hang in a call for a socket that another thread closes.
        """
        self._closing = True
        mine = self._using.acquire(timeout=_LET_GO)
        try:
            self._socket.close()
        finally:
            if mine:
                self._using.release()


@final
class Connections:
    """The connections of a client, one per thread, created on first use."""

    __slots__ = ("_closed", "_compress", "_lock", "_make", "_open", "_process", "address")

    def __init__(
        self,
        address: str,
        security: CurveClient | None,
        patience: Timeouts,
        cache_bytes: int = 0,
        *,
        compress: bool | None = None,
    ) -> None:
        self.address: str = address
        self._make = (address, security, patience.check(), Cache(cache_bytes), Link(address))
        self._compress = compress
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, Connection] = {}
        self._closed = False
        self._process = os.getpid()

    @property
    def closed(self) -> bool:
        """True if it was closed."""
        return self._closed

    @property
    def has_keys(self) -> bool:
        """True if it authenticates with a key."""
        return self._make[1] is not None

    @property
    def opening(self) -> tuple[str, Timeouts, int, bool | None]:
        """The address, timeouts, cache size, and compression."""
        return self.address, self._make[2], self._make[3].limit, self._compress

    @property
    def is_leaked(self) -> bool:
        """True if it is still open, in the process that opened it."""
        return not self._closed and self._process == os.getpid()

    def here(self) -> Connection:
        """Return the connection of this thread.

        Raises
        ------
        TransportClosedError
            If the client is closed.
        TransportForkError
            If this process was forked from the one that connected.
        """
        if self._process != os.getpid():
            raise TransportForkError(
                f"the client of {self.address} was connected before a fork; connect again in this process"
            )
        if self._closed:
            raise self._is_closed()
        thread = threading.current_thread()
        found = self._open.get(thread)
        if found is None or found.closed:
            found = Connection(*self._make, compress=self._compress)
            with self._lock:
                gone = [self._open.pop(own) for own in list(self._open) if not own.is_alive()]
                # Another thread may have closed the client meanwhile.
                if self._closed:
                    gone.append(found)
                else:
                    self._open[thread] = found
            for connection in gone:
                connection.close()
            if found.closed:
                raise self._is_closed()
        return found

    def server_now(self) -> str:
        """Return the id of the server process at the address, over a separate connection.

        Raises
        ------
        TransportTimeoutError
            If no server of tensors answers in time.
        """
        connection = Connection(*self._make)
        try:
            return connection.welcome.server
        finally:
            connection.close()

    def _is_closed(self) -> TransportClosedError:
        return TransportClosedError(f"the client of {self.address} is closed")

    def counters(self) -> list[Counters]:
        """Return the traffic of each open connection."""
        with self._lock:
            return [own.counters for own in self._open.values()]

    def close(self) -> None:
        """Close all connections; closing twice is harmless."""
        if self._process != os.getpid():
            self._closed = True
            return
        with self._lock:
            self._closed = True
            found = list(self._open.values())
            self._open.clear()
        for connection in found:
            connection.close()

    def __del__(self) -> None:
        # The last object that could read was deleted: the client, its tensors, or their views.
        if getattr(self, "_process", None) is not None and self.is_leaked:
            self.close()
            warnings.warn(f"the client of {self.address} was not closed", LeakedResourceWarning, stacklevel=2)
