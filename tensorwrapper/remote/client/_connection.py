"""`Connection`: requests of one thread, and the answers to them as they come."""

import itertools
import logging
import os
import random
import secrets
import threading
import time
from typing import Final, NoReturn, final

from tensorwrapper.errors import (
    OutcomeUnknownError,
    OutOfBoundsError,
    ReadOnlyError,
    RemoteProtocolError,
    RequestRefusedError,
    TensorNameError,
    TensorWrapperError,
    TransportAuthenticationError,
    TransportClosedError,
    TransportForkError,
    TransportHandshakeError,
    TransportTimeoutError,
    VersionChangedError,
)
from tensorwrapper.remote.client._cache import Cache
from tensorwrapper.remote.client._link import Link
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
from tensorwrapper.remote.protocol._requests import send_request
from tensorwrapper.remote.protocol._steps import ASKED, RequestState
from tensorwrapper.remote.protocol._terms import PROTOCOL
from tensorwrapper.transport import Counters, CurveClient, Socket
from tensorwrapper.wire import DEFAULT_LIMITS, Limits

__all__ = ["Connection", "Connections", "Pending", "raise_refusal"]

_PING: Final = 0.5
"""Seconds of silence after which the server is asked whether it is there."""
_AGAIN: Final = 2.0
"""Seconds after which a request is sent anew, if the server is there and has not answered."""
_STALLED: Final = 3.0
"""Seconds after which a connection that takes no bytes is made anew: what is lost with it is sent again."""
_BACK: Final = 0.05
_LONGEST: Final = 2.0
_WAITING: Final = frozenset[RequestState](("queued", "waiting"))
_log = logging.getLogger(__name__)


@final
class Pending:
    """A request that is not answered yet; its state is one of the table of the protocol."""

    __slots__ = ("answer", "begun", "failed", "number", "request", "sent", "state", "tries", "wait_until")

    def __init__(self, number: int, request: Request) -> None:
        self.number: int = number
        self.request: Request = request
        self.answer: Answer | None = None
        self.failed: TensorWrapperError | None = None
        self.begun: float = time.monotonic()
        self.sent: float = 0.0
        self.wait_until: float = 0.0
        self.tries: int = 0
        self.state: RequestState = "queued"

    def take(self, step: str) -> bool:
        """Take a step of the table; return whether there is one from here."""
        to = ASKED.get((self.state, step))
        if to is None:
            return False
        self.state = to
        return True


@final
class Connection:
    """One socket, of one thread, with the requests that are under way over it."""

    __slots__ = (
        "_client",
        "_compress",
        "_deadline",
        "_heard",
        "_numbers",
        "_pending",
        "_pinged",
        "_reader",
        "_socket",
        "_timeout",
        "address",
        "cache",
        "link",
        "welcome",
    )

    def __init__(
        self,
        address: str,
        security: CurveClient | None,
        timeout: float,
        deadline: float | None,
        cache: Cache,
        link: Link | None = None,
        *,
        compress: bool | None = None,
        limits: Limits = DEFAULT_LIMITS,
    ) -> None:
        self.address: str = address
        self.cache: Cache = cache
        self.link: Link = Link(address) if link is None else link
        self._compress = compress
        self._timeout, self._deadline = timeout, deadline
        self._client = secrets.token_hex(16)
        # Numbers are never used twice, nor guessed by who was not told.
        self._numbers = itertools.count(secrets.randbits(62))
        self._pending: dict[int, Pending] = {}
        self._reader = AnswerReader()
        self._socket = Socket("DEALER", timeout=timeout, security=security, limits=limits, stalled=_STALLED)
        self._heard = self._pinged = time.monotonic()
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
            raise RemoteProtocolError("schema", f"{self.address} answers a hello with something else")
        if answer.version != PROTOCOL:
            raise RemoteProtocolError(
                "unsupported",
                f"{self.address} speaks version {answer.version} of the protocol, not {PROTOCOL}",
            )
        return answer

    @property
    def counters(self) -> Counters:
        """What went over it."""
        return self._socket.counters

    def piece_bytes(self) -> int:
        """Return how many bytes of elements one answer is to have, by what is known of the link now."""
        return min(self.welcome.answer_bytes, self.link.piece_bytes)

    def packing(self) -> str | None:
        """Return how answers are packed from now on, if they are."""
        wanted = self.link.packs if self._compress is None else self._compress
        return "zlib" if wanted and "zlib" in self.welcome.capabilities else None

    @property
    def client(self) -> str:
        """What the server knows it by."""
        return self._client

    @property
    def is_encrypted(self) -> bool:
        """Whether frames are encrypted, and so longer."""
        return self._socket.is_encrypted

    def start(self, request: Request) -> Pending:
        """Send a request, and return what will have its answer."""
        pending = Pending(next(self._numbers), request)
        self._pending[pending.number] = pending
        self._send(pending)
        return pending

    def ask(self, request: Request) -> Answer:
        """Return the answer to a request.

        Raises
        ------
        TransportTimeoutError
            If nothing is heard of the server for too long.
        RequestRefusedError, TensorNameError, VersionChangedError, OutOfBoundsError
            If it refuses.
        """
        pending = self.start(request)
        while pending.answer is None:
            self.pump(0.1)
            if pending.failed is not None:
                raise pending.failed
        if isinstance(pending.answer, Refused):
            raise_refusal(pending.answer, request)
        return pending.answer

    def forget(self, pending: Pending) -> None:
        """Tell the server, if it can be told now, that an answer is not wanted any more."""
        if self._pending.pop(pending.number, None) is None or self._socket.closed:
            return
        pending.take("cancelled")
        try:
            self._socket.send(send_request(next(self._numbers), Cancel(pending.number)), timeout=0)
        except TransportTimeoutError:
            _log.debug("%s could not be told of a cancelled request", self.address)

    def pump(self, seconds: float) -> None:
        """Take an answer that is there; wait for one so many seconds at most."""
        try:
            if self._socket.poll(self._patience(seconds)):
                self._receive()
                return
        except TransportHandshakeError as error:
            self._bear(error)
            time.sleep(min(self._patience(seconds), _BACK))
        self._look()

    def _bear(self, error: TransportHandshakeError) -> None:
        """Raise why there is no peer, unless a server that was there may be coming back.

        One that is killed, or starts, breaks handshakes off; who it was before is known.
        """
        if isinstance(error, TransportAuthenticationError) or not hasattr(self, "welcome"):
            raise error

    def _patience(self, seconds: float) -> float:
        waiting = [
            own.wait_until for own in self._pending.values() if own.state in _WAITING and own.wait_until
        ]
        return max(min(seconds, min(waiting) - time.monotonic()), 0.001) if waiting else seconds

    def _send(self, pending: Pending) -> None:
        frames = send_request(pending.number, pending.request)
        try:
            # A connection that is being made takes a moment; one that is lost may take any time.
            self._socket.send(frames, timeout=min(self._timeout, 0.1 if pending.tries else self._timeout))
        except (TransportTimeoutError, TransportHandshakeError) as error:
            if isinstance(error, TransportHandshakeError):
                self._bear(error)
            pending.tries += 1
            if self._left(pending) <= 0:
                self._give_up(pending, "took no request")
            return
        pending.tries += 1
        pending.sent = time.monotonic()
        pending.take("sent")

    def _receive(self) -> None:
        number, answer = self._reader.read(self._socket.receive_frames(timeout=0)[1])
        self._heard = time.monotonic()
        pending = self._pending.get(number)
        if isinstance(answer, Pong):
            self._pending.pop(number, None)
            self._resend(answer.server)
            return
        if pending is None:
            # Of a request that was cancelled, or an answer that came twice.
            return
        if isinstance(answer, Refused) and answer.reason == "replayed":
            # The server works at it still.
            return
        if isinstance(answer, Refused) and answer.reason in {"busy", "draining"} and self._left(pending) > 0:
            back = min(_BACK * 2 ** min(pending.tries, 10), _LONGEST)
            pending.wait_until = time.monotonic() + back * random.uniform(0.5, 1.0)  # noqa: S311 - no secret
            pending.take("busy")
            return
        pending.answer = answer
        pending.take("refused" if isinstance(answer, Refused) else "answered")
        del self._pending[number]

    def _resend(self, server: str) -> None:
        """Send what a server that has started anew does not know of, and what may have been lost."""
        welcome: Welcome | None = getattr(self, "welcome", None)
        anew = welcome is not None and server != welcome.server
        if anew and welcome is not None:
            _log.warning("the server at %s has started anew", self.address)
            self.welcome = Welcome(
                server, welcome.version, welcome.capabilities, welcome.answer_bytes, welcome.in_flight
            )
        now = time.monotonic()
        for pending in list(self._pending.values()):
            if anew and _is_unsafe(pending):
                del self._pending[pending.number]
                pending.failed = _unknown(self.address, "it has started anew")
                continue
            if not isinstance(pending.request, Ping) and (anew or now - pending.sent > _AGAIN):
                pending.take("lost")
                self._send(pending)

    def _look(self) -> None:
        """Do what time asks for: send again what waits, ask whether anybody is there, give up."""
        now = time.monotonic()
        for pending in list(self._pending.values()):
            if self._left(pending) <= 0:
                self._give_up(pending, "does not answer")
            if pending.state in _WAITING and now >= pending.wait_until:
                self._send(pending)
        if self._pending and now - max(self._heard, self._pinged) > _PING:
            self._pinged = now
            for number in [key for key, own in self._pending.items() if isinstance(own.request, Ping)]:
                del self._pending[number]
            ping = Pending(next(self._numbers), Ping())
            ping.tries = 1
            self._pending[ping.number] = ping
            self._send(ping)

    def _left(self, pending: Pending) -> float:
        now = time.monotonic()
        silent = self._timeout - (now - max(self._heard, pending.begun))
        return silent if self._deadline is None else min(silent, self._deadline - (now - pending.begun))

    def _give_up(self, pending: Pending, why: str) -> NoReturn:
        self._pending.pop(pending.number, None)
        pending.take("late")
        if pending.sent and isinstance(pending.request, AskWrite):
            raise _unknown(self.address, why)
        raise TransportTimeoutError(
            f"{self.address} {why} for {time.monotonic() - pending.begun:.1f} s; either nobody serves there, "
            "it does not know this key, or the network is slow"
        )

    def close(self) -> None:
        """Close the socket; closing twice is harmless."""
        self._socket.close()


@final
class Connections:
    """The connections of a client: one for each thread that uses it, made when it does."""

    __slots__ = ("_closed", "_compress", "_lock", "_make", "_open", "_process", "address")

    def __init__(
        self,
        address: str,
        security: CurveClient | None,
        timeout: float,
        deadline: float | None,
        cache_bytes: int = 0,
        *,
        compress: bool | None = None,
    ) -> None:
        self.address: str = address
        self._make = (address, security, timeout, deadline, Cache(cache_bytes), Link(address))
        self._compress = compress
        self._lock = threading.Lock()
        self._open: dict[threading.Thread, Connection] = {}
        self._closed = False
        self._process = os.getpid()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    @property
    def has_keys(self) -> bool:
        """Whether it proves with a key who we are."""
        return self._make[1] is not None

    @property
    def opening(self) -> tuple[str, float, float | None]:
        """The address, and how long requests wait."""
        return self.address, self._make[2], self._make[3]

    @property
    def is_leaked(self) -> bool:
        """Whether it is open still, in the process that opened it."""
        return not self._closed and self._process == os.getpid()

    def here(self) -> Connection:
        """Return the connection of this thread.

        Raises
        ------
        TransportClosedError
            If the client is closed.
        TransportForkError
            If this is another process than the one that connected.
        """
        if self._process != os.getpid():
            raise TransportForkError(
                f"the client of {self.address} was connected before a fork: connect here"
            )
        if self._closed:
            # Who writes connect(...)["x"] closed nothing: nothing kept the client, and it went.
            raise TransportClosedError(
                f"the client of {self.address} is closed, or nothing kept it: "
                "`with tw.connect(...) as remote` does while it is read"
            )
        thread = threading.current_thread()
        found = self._open.get(thread)
        if found is None:
            found = Connection(*self._make, compress=self._compress)
            with self._lock:
                gone = [self._open.pop(own) for own in list(self._open) if not own.is_alive()]
                self._open[thread] = found
            for connection in gone:
                connection.close()
        return found

    def counters(self) -> list[Counters]:
        """Return what went over each connection that is open."""
        with self._lock:
            return [own.counters for own in self._open.values()]

    def close(self) -> None:
        """Close all connections; closing twice is harmless."""
        self._closed = True
        if self._process != os.getpid():
            return
        with self._lock:
            found = list(self._open.values())
            self._open.clear()
        for connection in found:
            connection.close()


def raise_refusal(refused: Refused, request: Request) -> NoReturn:
    """Raise the error that a refusal is to the caller."""
    match refused.reason:
        case "missing":
            raise TensorNameError(refused.text)
        case "readonly":
            raise ReadOnlyError(refused.text)
        case "changed":
            raise VersionChangedError(refused.text)
        case "bounds":
            raise OutOfBoundsError(refused.text)
        case _:
            raise RequestRefusedError(refused.reason, f"{type(request).__name__}: {refused.text}")


def _is_unsafe(pending: Pending) -> bool:
    """Tell whether a request that was sent must not be sent to another start of the server."""
    return isinstance(pending.request, AskWrite) and not pending.request.version and pending.sent > 0


def _unknown(address: str, why: str) -> OutcomeUnknownError:
    return OutcomeUnknownError(
        f"a write to {address} was sent, and {why}: it is done or not, and it is not sent again"
    )
