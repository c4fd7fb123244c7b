"""`Loop`: the socket thread of a server, and its reader threads."""

import logging
import selectors
import socket as sockets
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Final, cast, final

from tensorwrapper.errors import (
    PeerUnreachableError,
    RemoteProtocolError,
    RequestRefusedError,
    TransportClosedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.remote.protocol._answers import send_answer
from tensorwrapper.remote.protocol._events import (
    Answer,
    AskHealth,
    AskRead,
    AskRecords,
    AskRows,
    AskStats,
    Cancel,
    Elements,
    Ping,
    Refused,
    Request,
    Stats,
)
from tensorwrapper.remote.protocol._frames import number_of, plain_limit
from tensorwrapper.remote.protocol._requests import RequestReader, receive_request
from tensorwrapper.remote.server._catalogue import Catalogue
from tensorwrapper.remote.server._client_sockets import Line
from tensorwrapper.remote.server._clients import Budget, Client, Task
from tensorwrapper.remote.server._connection_limit import excess, most_connections
from tensorwrapper.remote.server._fair_queue import FairQueue, cost_of
from tensorwrapper.remote.server._send_queue import Sending
from tensorwrapper.remote.server._trim_allocator import give_back
from tensorwrapper.transport import Counters, Delivery, Security, Socket

_PAUSE: Final = 0.004
"""Seconds between attempts to send to a client without room."""
_IDLE: Final = 0.5
"""Seconds between two checks of timeouts."""
_TURN: Final = 0.005
"""Time limit in seconds for messages, and for answers, before the next poll."""
_VISIT: Final = 0.02
"""Seconds between two checks that clients are still connected."""
_TRIMS: Final = 8
"""Number of memory trims after a client disconnects; ZeroMQ frees its frames within seconds."""
_STALLED: Final = 3.0
"""Seconds without received bytes after which a client is disconnected; it then repeats its requests."""
_GONE: Final = 10.0
"""Seconds without a received answer after which a client is dropped."""
_LEAST: Final = 64
"""Size limit of labels of urgent requests, such as `ping` and `cancel`."""
_MOST: Final = 1024
"""Labels up to this size are parsed faster than another thread starts."""
_LONG: Final = 0.02
"""Seconds of work after which another request may begin beside a request."""
_MOST_LONG: Final = 8
"""Requests that may take longer at a time; one more where a client is new."""
_LAST: Final = 0.25
"""Seconds at most in which clients receive the last answers of a closing server.

ZeroMQ drops what a client has not received when its connection ends.
"""
_STATE: Final = (AskHealth, AskStats, Ping)
"""Requests about the state of the server, which a closing server answers as well."""
_log = logging.getLogger(__name__)


@final
class Loop:
    """A ROUTER in its thread, which receives requests and sends answers.

    Requests of a client are answered in order, at the rate at which it receives answers. So a slow client has
    only a few unsent answers, and does not delay others.
    """

    __slots__ = (
        "_budget",
        "_busy",
        "_catalogue",
        "_clients",
        "_connections",
        "_done",
        "_draining",
        "_error",
        "_last_check",
        "_last_clients",
        "_most",
        "_peers_of_lines",
        "_pool",
        "_queue",
        "_reader",
        "_ready",
        "_running",
        "_security",
        "_sending",
        "_sent_at",
        "_socket",
        "_started",
        "_stop_at",
        "_thread",
        "_threads",
        "_trims",
        "_wake",
        "_woken",
        "address",
        "counts",
    )

    def __init__(self, catalogue: Catalogue, address: str, security: Security | None, threads: int) -> None:
        self._catalogue, self._security, self._threads = catalogue, security, threads
        self._clients: dict[bytes, Client] = {}
        self._busy: dict[bytes, Client] = {}
        """Clients with requests or unsent answers: a pass visits only these."""
        self._done: deque[tuple[Task, Answer | Request]] = deque()
        """Requests that other threads have answered or parsed."""
        self._queue = FairQueue()
        self._connections: tuple[int, ...] = ()
        """Connected clients when the server was last idle."""
        self._trims = 0
        self._most = most_connections(catalogue.limits.connections)
        self._peers_of_lines: dict[tuple[int, int], bytes] = {}
        """Peer of each connection."""
        self._last_check = 0.0
        self._budget = Budget(catalogue.limits)
        self._sending = Sending(self._budget, catalogue.staging)
        self._wake, self._woken = sockets.socketpair()
        self._wake.setblocking(False)
        self._woken.setblocking(False)
        self._ready = threading.Event()
        self._error: BaseException | None = None
        self._draining = False
        self._stop_at: float | None = None
        self._sent_at = 0.0
        self._last_clients: dict[bytes, Client] = {}
        """Clients that were sent answers while the server closes."""
        self._running: dict[Task, float] = {}
        """Requests in other threads, and when they began."""
        self._started = time.monotonic()
        self.counts: dict[str, int] = {
            "requests": 0,
            "answers": 0,
            "refusals": 0,
            "dropped": 0,
            "clients_dropped": 0,
            "connections_cut": 0,
        }
        self._reader = RequestReader(catalogue.limits)
        self._socket: Socket | None = None
        self.address: str = address
        self._pool = ThreadPoolExecutor(threads + _MOST_LONG + 1, "tensorwrapper-read")
        self._thread = threading.Thread(target=self._run, name="tensorwrapper-serve", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            self._thread.join()
            self._clean_up()
            raise self._error

    # Called from other threads.

    def stop(self, seconds: float) -> None:
        """Stop accepting requests, answer pending ones for at most `seconds`, and end."""
        self._stop_at = time.monotonic() + seconds
        self._draining = True
        self._wake_up()
        self._thread.join()
        self._clean_up()

    @property
    def is_alive(self) -> bool:
        """True while the loop answers requests."""
        return self._thread.is_alive()

    def stats(self) -> dict[str, int]:
        """Return the counters of all clients together."""
        sent = Counters() if self._socket is None else self._socket.counters
        return {
            **self.counts,
            "clients": len(self._clients),
            "in_flight": sum([len(own.tasks) for own in list(self._clients.values())]),
            "bytes_held": self._budget.held,
            "clients_cut": self._sending.cuts,
            "bytes_sent": sent.bytes_sent_on_wire,
            "bytes_received": sent.bytes_received_on_wire,
            "seconds": int(time.monotonic() - self._started),
            "draining": int(self._draining),
        }

    def _wake_up(self) -> None:
        with suppress(OSError):
            self._wake.send(b"x")

    def _clean_up(self) -> None:
        self._pool.shutdown(cancel_futures=True)
        self._wake.close()
        self._woken.close()

    # Run in the thread.

    def _run(self) -> None:
        try:
            limits = self._catalogue.limits.of_messages()
            with Socket(
                "ROUTER", limits=limits, security=self._security, stalled=_STALLED, watched=True
            ) as socket:
                self._socket = socket
                self.address = socket.bind(self.address)
                with selectors.DefaultSelector() as selector:
                    for descriptor in socket.filenos():
                        selector.register(descriptor, selectors.EVENT_READ)
                    selector.register(self._woken, selectors.EVENT_READ)
                    self._ready.set()
                    self._serve(socket, selector)
        except TransportClosedError as error:
            # ZeroMQ was shut down because the process ends without closing its server.
            self._error = error
            _log.debug("the server at %s ended with ZeroMQ", self.address)
        except BaseException as error:  # noqa: BLE001 - whoever waits for the start is told
            self._error = error
            if self._ready.is_set():
                _log.exception("the server at %s ended", self.address)
        finally:
            # Answers in progress can no longer be sent.
            for client in self._clients.values():
                for task in client.tasks.values():
                    task.stop.set()
            self._ready.set()

    def _serve(self, socket: Socket, selector: selectors.BaseSelector) -> None:
        there = socket.poll()
        while not self._is_over():
            self._check_connections(socket)
            turn = time.monotonic() + _TURN
            while there and time.monotonic() < turn:
                self._receive_all(socket)
                there = socket.poll()
            waiting = False
            if self._busy or self._done or self._sending:
                self._collect()
                self._sending.reap()
                self._dispatch()
                waiting = self._send(socket)
                if self._sending and self._is_short():
                    self._sending.press(self._clients.values())
                # The descriptor only signals changes, so poll the socket itself after each pass.
                there = socket.poll()
                if there or self._done or self._is_ready():
                    continue
            elif there:
                continue
            for key, _ in selector.select(_PAUSE if waiting or self._busy or self._draining else _IDLE):
                if key.fileobj is self._woken:
                    with suppress(BlockingIOError):
                        self._woken.recv(4096)
            there = socket.poll()
            if not (there or self._busy or self._sending):
                self._rest(socket)

    def _rest(self, socket: Socket) -> None:
        """Free unused memory and expired snapshots."""
        self._catalogue.rest()
        guests = socket.guests
        if guests != self._connections:
            # A disconnected client may leave memory of unfinished messages.
            self._connections, self._trims = guests, _TRIMS
        if self._trims:
            self._trims -= 1
            give_back()

    def _is_over(self) -> bool:
        if self._stop_at is None:
            return False
        now = time.monotonic()
        if now > self._stop_at:
            return True
        if self._running or self._busy:
            return False
        lines = [client.line for client in self._last_clients.values()]
        return now > self._sent_at + _LAST or all(line is not None and line.is_gone for line in lines)

    def _receive_all(self, socket: Socket) -> None:
        try:
            peer, key, frames = socket.receive_signed(timeout=0)
        except TransportTimeoutError:
            return
        except RemoteProtocolError as error:
            self._drop(error.peer, plain_limit(str(error)))
            return
        self._receive(peer, key, frames)

    def _drop(self, peer: bytes, why: str) -> None:
        count = self.counts["dropped"] = self.counts["dropped"] + 1
        # A client that sends a million such messages must not fill the disk with log lines.
        if count & (count - 1) == 0:
            _log.warning("%d messages dropped; the last, of the client %s: %s", count, peer.hex(), why)

    def _receive(self, peer: bytes, key: str, frames: list[memoryview]) -> None:
        client = self._clients.get(peer) or self._welcome(peer, key)
        if client is None:
            return
        client.key = key
        begin = time.monotonic()
        is_later = self._queue.waits(client, begin)
        if len(client.out) > 2 * self._catalogue.limits.in_flight:
            # Refusals are also answers, and must not fill memory if a client does not receive them.
            self._drop(peer, "it takes no answers")
            return
        if (
            is_later
            and len(frames) == 2
            and _LEAST < frames[0].nbytes <= _MOST
            and number_of(frames) is not None
        ):
            self._count(client, "requests", 1)
            self._read_later(client, frames, is_short=True)
            client.due += time.monotonic() - begin
            return
        try:
            found = self._reader.read(frames)
        except RequestRefusedError as error:
            client.due += time.monotonic() - begin
            known = number_of(frames)
            if known is None:
                self._drop(peer, str(error))
            else:
                self._refuse(client, known, error)
            return
        self._count(client, "requests", 1)
        if found is None:
            self._read_later(client, frames)
            return
        number, request = found
        if isinstance(request, Cancel):
            self._cancel(client, request.number)
            return
        refused = self._why_not(client, number, request)
        if refused is not None:
            self._refuse(client, number, refused, type(request).__name__)
            return
        if not client.asked and not client.out and self._answer_at_once(client, number, request):
            client.due += time.monotonic() - begin
            return
        client.due += time.monotonic() - begin
        task = Task(client, number, request, self._catalogue.bytes_of(request, key))
        task.is_quick = self._catalogue.is_quick(request, key)
        self._ask_later(task)

    def _ask_later(self, task: Task) -> None:
        """Queue a request, if there is room."""
        client = task.client
        if not self._budget.has_place(task):
            refused = RequestRefusedError("busy", "the pending requests of this client are too large")
            self._refuse(client, task.number, refused, task.verb)
            return
        client.tasks[task.number] = task
        self._budget.enter(task)
        self._busy[client.peer] = client

    def _welcome(self, peer: bytes, key: str) -> Client | None:
        """Return a new client; None if it has disconnected, or there are too many."""
        line, is_there = self._line_of(peer)
        if not is_there:
            # The client disconnected after sending the message, so no answer can arrive.
            self.counts["dropped"] += 1
            return None
        if len(self._clients) >= self._catalogue.limits.clients and not self._make_room():
            self._drop(peer, "there are too many clients")
            return None
        client = self._clients[peer] = Client(peer, key, line)
        if line is not None:
            self._peers_of_lines[line.place] = peer
        return client

    def _line_of(self, peer: bytes) -> tuple[Line | None, bool]:
        """Return the connection of a new peer, and whether the peer is connected, as far as known."""
        sender = None if self._socket is None else self._socket.sender
        line = Line.of(sender)
        if line is None or line.is_gone:
            return None, sender is None
        # Descriptors are reused. ZeroMQ numbers its peers, so the later peer has this descriptor.
        before = self._peers_of_lines.get(line.place)
        if before is None:
            return line, True
        if before > peer:
            return None, False
        self._forget(before, "it went away")
        return line, True

    def _read_later(self, client: Client, frames: list[memoryview], *, is_short: bool = False) -> None:
        """Queue a request to parse it later, in another thread unless it is short.

        A long request must not delay other clients, and requests of a disconnected client should cost little.
        """
        number = number_of(frames)
        if number is None:
            raise AssertionError("a message without a number cannot be queued")
        refused = self._why_not(client, number, None)
        if refused is not None:
            self._refuse(client, number, refused)
            return
        task = Task(client, number, None)
        task.frames, task.weight = frames, sum([frame.nbytes for frame in frames])
        task.is_quick = is_short
        self._ask_later(task)

    def _answer_at_once(self, client: Client, number: int, request: Request) -> bool:
        """Answer a small read of a client without pending requests; return False for other requests.

        This is a fast path of `_dispatch` and `_send`; the answer is copied and not kept.
        """
        socket = self._socket
        if socket is None or not isinstance(request, AskRead | AskRows | AskRecords):
            return False
        answer = self._catalogue.at_once(request, client.key)
        if answer is None:
            return False
        if isinstance(answer, Refused):
            _log_refusal(client, type(request).__name__, answer.reason)
            self._send_later(Task(client, number, None), answer)
            return True
        # Count before sending, so that a client with the answer finds it counted.
        self._count(client, "answers", 1)
        try:
            socket.send(send_answer(number, answer), peer=client.peer, timeout=0)
        except TransportTimeoutError:
            self._count(client, "answers", -1)
            self._send_later(Task(client, number, None), answer)
        except TransportError as error:
            self._forget(client.peer, str(error))
        return True

    def _count(self, client: Client, what: str, more: int) -> None:
        client.counts[what] += more
        self.counts[what] += more

    def _cancel(self, client: Client, number: int) -> None:
        task = client.tasks.pop(number, None)
        # A request being parsed is pending, but not in the queue.
        if task is not None and task.take("cancelled") and task.state == "over" and task in client.asked:
            self._budget.leave(task)

    def _make_room(self) -> bool:
        """Forget the clients without requests; ZeroMQ does not report that a client has left."""
        busy = {peer: client for peer, client in self._clients.items() if client.tasks or client.out}
        room = len(busy) < len(self._clients)
        for client in self._clients.values():
            if client.peer not in busy:
                self._release_line(client)
        self._clients = busy
        return room

    def _release_line(self, client: Client) -> None:
        if client.line is not None and self._peers_of_lines.get(client.line.place) == client.peer:
            del self._peers_of_lines[client.line.place]

    def _why_not(self, client: Client, number: int, request: Request | None) -> RequestRefusedError | None:
        if number in client.tasks:
            return RequestRefusedError("replayed", f"the request {number} is not answered yet")
        limits = self._catalogue.limits
        if len(client.tasks) >= limits.in_flight:
            return RequestRefusedError("busy", f"{len(client.tasks)} requests are under way")
        if client.is_fast(limits.requests_per_second):
            return RequestRefusedError(
                "busy", f"the limit is {limits.requests_per_second} requests per second"
            )
        if self._draining and not isinstance(request, _STATE):
            return RequestRefusedError("draining", "the server is closing")
        return None

    def _refuse(self, client: Client, number: int, error: RequestRefusedError, verb: str = "") -> None:
        _log_refusal(client, verb, error.reason)
        # The number may belong to another unanswered request.
        self._send_later(Task(client, number, None), Refused(error.reason, str(error.args[1])))

    def _dispatch(self) -> None:
        """Answer pending requests: fast ones at once, others in worker threads, one per client.

        A pass may end before all are answered. `FairQueue` determines the order.
        """
        begin = time.monotonic()
        turn = begin + _TURN
        for client in self._queue.order(self._busy.values(), begin, self._has_room):
            if begin > turn:
                return
            if not (self._queue.may(client) and self._has_room(client.asked[0])):
                continue
            task = client.asked[0]
            self._budget.leave(task)
            held, is_unread = client.held, task.frames is not None
            self._begin(task)
            now = time.monotonic()
            nbytes = 0 if is_unread else task.nbytes
            self._queue.charge(client, cost_of(nbytes, now - begin), client.held - held)
            begin = now

    def _begin(self, task: Task) -> None:
        """Answer a request at once, or pass it to another thread."""
        client, request = task.client, task.request
        if task.frames is not None:
            if task.is_quick:
                self._read_now(task, task.frames)
                return
            self._running[task] = time.monotonic()
            self._pool.submit(partial(self._read, task, task.frames))
            return
        task.take("begun")
        self._budget.begin(task)
        if isinstance(request, AskStats):
            self._answered(task, self._stats_of(client))
        elif isinstance(request, AskHealth):
            self._answered(task, self._health())
        elif request is not None and task.is_quick and self._catalogue.is_quick(request, client.key):
            self._answered(task, self._answer_to(task, request))
        else:
            self._running[task] = time.monotonic()
            self._pool.submit(partial(self._work, task))

    def _is_ready(self) -> bool:
        """Return True if a request can be answered now, as its client received previous answers."""
        return any(
            own.asked and not own.out and self._queue.may(own) and self._has_room(own.asked[0])
            for own in self._busy.values()
        )

    def _check_connections(self, socket: Socket) -> None:
        """Check connections periodically: drop work for disconnected clients, and enforce the limit."""
        now = time.monotonic()
        if now - self._last_check < _VISIT:
            return
        self._last_check = now
        for peer, client in list(self._busy.items()):
            if client.line is not None and client.line.is_gone:
                self._forget(peer, "it went away")
        guests = socket.guests
        if len(guests) > self._most:
            own = [client.line for client in self._clients.values() if client.is_settled]
            known = {line.place[0] for line in own if line is not None}
            for descriptor in excess(guests, known, self._most):
                line = Line.of(descriptor)
                self.counts["connections_cut"] += line is not None and line.cut()

    def _is_short(self) -> bool:
        """Return True if a client waits for memory that others hold."""
        return any(own.asked and self._budget.is_short(own.asked[0]) for own in self._busy.values())

    def _has_room(self, task: Task) -> bool:
        """Return True if a request is answered now: others wait for memory, and some for a thread."""
        if isinstance(task.request, _STATE):
            return True
        return (task.is_quick or self._has_thread(task.client)) and self._budget.fits(task)

    def _has_thread(self, client: Client) -> bool:
        """Return True if another thread may begin a request of a client: long ones leave room for others.

        A client has as many long ones at a time as there are threads, and new clients have their own place.
        """
        few = 2 * self._threads
        if len(self._running) < few:
            return True
        late = time.monotonic() - _LONG
        long = [task for task, begun in self._running.items() if begun < late]
        if sum([task.client is client for task in long]) >= self._threads:
            return False
        most = _MOST_LONG + (not client.is_settled)
        return len(self._running) - min(len(long), most) < few

    def _health(self) -> Answer:
        """Return the state of the server: requests under way, pending requests, and whether it is closing."""
        counts = {
            "clients": len(self._clients),
            "draining": int(self._draining),
            "running": len(self._running),
            "seconds": int(time.monotonic() - self._started),
            "tensors": len(self._catalogue),
            "threads": self._threads,
            "waiting": sum([len(own.asked) for own in self._clients.values()]),
        }
        return Stats(tuple(sorted(counts.items())))

    def _answer_to(self, task: Task, request: Request) -> Answer:
        client = task.client
        return self._catalogue.answer(request, client.key, task.number, task.stop, client.peer.hex())

    def _read(self, task: Task, frames: list[memoryview]) -> None:
        found: Answer | Request = Refused("internal", "the server failed")
        begin = time.thread_time()
        try:
            if task.state != "over":
                found = receive_request(frames, self._catalogue.limits)[1]
        except RequestRefusedError as error:
            found = Refused(error.reason, str(error.args[1]))
        except BaseException:  # noqa: BLE001 - the client is answered in any case
            _log.exception("a request could not be read")
        task.seconds = time.thread_time() - begin
        self._done.append((task, found))
        self._wake_up()

    def _work(self, task: Task) -> None:
        answer: Answer = Refused("internal", "the server failed")
        begin = time.thread_time()
        try:
            if task.request is not None and not task.stop.is_set():
                answer = self._answer_to(task, task.request)
        except BaseException:  # noqa: BLE001 - the client is answered in any case
            _log.exception("a request failed")
        task.seconds = time.thread_time() - begin
        self._done.append((task, answer))
        self._wake_up()

    def _read_now(self, task: Task, frames: list[memoryview]) -> None:
        found: Answer | Request
        try:
            _, found = self._reader.read(frames) or receive_request(frames, self._catalogue.limits)
        except RequestRefusedError as error:
            found = Refused(error.reason, str(error.args[1]))
        self._was_read(task, frames, found)

    def _collect(self) -> None:
        while self._done:
            task, found = self._done.popleft()
            self._running.pop(task, None)
            self._queue.charge(task.client, task.seconds)
            if task.frames is not None:
                self._was_read(task, task.frames, found)
            else:
                self._answered(task, cast("Answer", found))

    def _was_read(self, task: Task, frames: list[memoryview], found: Answer | Request) -> None:
        """Continue with a request that another thread has parsed, unless it was cancelled."""
        task.frames = None
        if task.state == "over":
            return
        client = task.client
        if isinstance(found, Refused):
            task.take("begun")
            self._answered(task, found)
            return
        request = cast("Request", found)
        if isinstance(request, Cancel):
            client.tasks.pop(task.number, None)
            self._cancel(client, request.number)
            return
        self._reader.keep(frames, request)
        task.know(request, self._catalogue.bytes_of(request, client.key))
        task.is_quick = self._catalogue.is_quick(request, client.key)
        # The request already had a place in the queue.
        self._budget.enter(task, first=True)
        self._busy[client.peer] = client

    def _stats_of(self, client: Client) -> Answer:
        seconds = int(time.monotonic() - self._started)
        own = {**client.counts, "in_flight": len(client.tasks), "seconds": seconds}
        return Stats(tuple(sorted({**own, "draining": int(self._draining)}.items())))

    def _answered(self, task: Task, answer: Answer) -> None:
        task.take("made")
        if task.state == "over":
            # The request was cancelled before the answer was created.
            self._budget.end(task)
            if isinstance(answer, Elements):
                self._catalogue.staging.give(answer.frames)
            return
        task.client.tasks.pop(task.number, None)
        if isinstance(answer, Refused):
            _log_refusal(task.client, task.verb, answer.reason)
        self._send_later(task, answer)

    def _send_later(self, task: Task, answer: Answer) -> None:
        client = task.client
        kind = "refusals" if isinstance(answer, Refused) else "answers"
        self._count(client, kind, 1)
        if not client.out:
            client.since = time.monotonic()
        frames = send_answer(task.number, answer)
        self._budget.made(task, sum([own.nbytes for own in frames]))
        client.out.append((task, frames))
        self._busy[client.peer] = client

    def _send(self, socket: Socket) -> bool:
        """Send answers to clients with room; return True if some are left."""
        left = False
        for peer, client in list(self._busy.items()):
            # Do not retry a client without room at each pass: others are served meanwhile.
            if client.out and client.full and time.monotonic() - client.full < _PAUSE:
                left = True
                continue
            client.full = 0.0
            while client.out:
                task, frames = client.out[0]
                try:
                    delivery = socket.send(frames, peer=peer, timeout=0)
                except TransportTimeoutError:
                    if time.monotonic() - client.since > _GONE:
                        self._forget(peer, "it takes no answers")
                    client.full = time.monotonic()
                    left = True
                    break
                except PeerUnreachableError:
                    self._forget(peer, "it is gone")
                    break
                except TransportError as error:
                    self._forget(peer, str(error))
                    break
                client.out.popleft()
                self._sent(task, delivery, frames)
            if not client.asked and not client.out:
                self._busy.pop(peer, None)
        return left

    def _sent(self, task: Task, delivery: Delivery, frames: list[memoryview]) -> None:
        client = task.client
        client.since = time.monotonic()
        task.take("sent")
        if task.nbytes:
            self._sending.add(task, delivery, frames)
        if self._draining and task.request is not None and not isinstance(task.request, _STATE):
            self._sent_at, self._last_clients[client.peer] = client.since, client

    def _forget(self, peer: bytes, why: str) -> None:
        client = self._clients.pop(peer, None)
        self._busy.pop(peer, None)
        if client is not None:
            self._release_line(client)
            for task in [*client.tasks.values(), *[own for own, _ in client.out]]:
                if task.take("lost") and task.state == "over":
                    self._budget.end(task)
            for task in list(client.asked):
                self._budget.leave(task)
            client.out.clear()
            client.tasks.clear()
            self.counts["clients_dropped"] += 1
            fields = {"client": peer.hex(), "key": client.key, "reason": why}
            _log.info("the client %s is forgotten: %s", peer.hex(), why, extra=fields)


def _log_refusal(client: Client, verb: str, reason: str) -> None:
    """Log a refusal, with fields for log filters."""
    fields = {"client": client.peer.hex(), "key": client.key, "verb": verb, "reason": reason}
    _log.debug("refused: %s %s", verb or "what is not a request", reason, extra=fields)
