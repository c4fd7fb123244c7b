"""`Flows`: all flows of one socket; each received message is passed to the flow of its sender."""

import logging
import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from types import TracebackType
from typing import Final, SupportsIndex, final

from tensorwrapper._integers import to_count, to_int
from tensorwrapper._value_class import Shown
from tensorwrapper.errors import (
    LocalProtocolError,
    PeerUnreachableError,
    RemoteProtocolError,
    TransportClosedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.transport._delivery import to_milliseconds
from tensorwrapper.transport._socket import Socket
from tensorwrapper.transport.aio._io_thread import IoThread
from tensorwrapper.transport.flow._flow import Flow
from tensorwrapper.transport.flow._machine import FlowMachine, to_credit
from tensorwrapper.transport.flow._table import FlowDirection
from tensorwrapper.wire import Message

_log = logging.getLogger(__name__)

_MOST: Final = 64
"""Default number of concurrent flows."""


@final
class Flows(Shown):
    """Flows over one socket, each with one peer: streams of messages under credit.

    A client requests a flow with `open`. A server accepts the next request with `accept`, and may have many
    flows at once. Using any of them reads messages for all. A peer that violates the protocol ends only its
    own flow.

    Parameters
    ----------
    socket
        A connected or listening DEALER, ROUTER or PAIR, which the caller closes. Flows must be the only user
        of the socket.
    credit
        Number of messages that may be under way in each flow; the maximum to offer or to grant.
    flows
        Number of flows that may run at a time. Further requests are answered with an end. To make room,
        requests that waited longer than `timeout` are ended first.
    timeout
        Default time limit of a call, in seconds.
    origin
        Origin in the coordinates of messages.
    background
        Whether a thread answers the peers while the caller computes. The thread receives messages up to the
        credit of each flow, grants credit that is free again, accepts requested flows, and answers their
        ends. A waiting call does this work itself. Any thread may call, one at a time. No other code may use
        the socket until `close`.

    Examples
    --------
    >>> import threading
    >>> from tensorwrapper.transport import Socket
    >>> def give(address):
    ...     with Socket("DEALER") as socket:
    ...         socket.connect(address)
    ...         with Flows(socket).open("extract") as flow:
    ...             for number in range(3):
    ...                 flow.put([[number, number]])
    >>> with Socket("ROUTER") as socket:
    ...     giver = threading.Thread(target=give, args=[socket.bind("tcp://127.0.0.1:*")])
    ...     giver.start()
    ...     with Flows(socket).accept() as flow:
    ...         [message.tensors[0].tolist() for message in flow]
    ...     giver.join()
    [[0, 0], [1, 1], [2, 2]]
    """

    __slots__ = (
        "__weakref__",
        "_asked",
        "_credit",
        "_driver",
        "_dropped",
        "_flows",
        "_lock",
        "_most",
        "_origin",
        "_socket",
        "_timeout",
    )

    def __init__(
        self,
        socket: Socket,
        *,
        credit: SupportsIndex = 8,
        flows: SupportsIndex = _MOST,
        timeout: float = 10.0,
        origin: SupportsIndex = 0,
        background: bool = False,
    ) -> None:
        if socket.kind not in ("DEALER", "ROUTER", "PAIR", "CLIENT", "SERVER"):
            raise TransportError(
                f"flows need a two-way socket (DEALER, ROUTER, PAIR, CLIENT or SERVER), not {socket.kind}"
            )
        to_milliseconds(timeout, "timeout")
        self._socket, self._timeout = socket, timeout
        self._credit, self._most = to_credit(credit), to_count(flows, "flows")
        self._origin = to_int(origin, "origin")
        self._flows: dict[bytes, Flow] = {}
        self._asked: deque[tuple[float, Flow]] = deque()
        self._dropped = 0
        self._driver = IoThread(socket._endpoint, self._serve) if background else None
        self._lock: AbstractContextManager[None] = self._driver or nullcontext()

    @property
    def running(self) -> tuple[Flow, ...]:
        """The flows that have not ended."""
        return tuple(self._flows.values())

    @property
    def strays(self) -> int:
        """Number of dropped messages that belonged to no flow."""
        return self._dropped

    def open(
        self,
        direction: FlowDirection,
        *,
        credit: SupportsIndex | None = None,
        message: Message | None = None,
        timeout: float | None = None,
    ) -> Flow:
        """Request a flow from the peer, and return the flow once the peer accepts.

        Parameters
        ----------
        direction
            ``extract`` to give data, ``inject`` to take data.
        credit
            Number of messages that may be under way; the peer may lower it.
        message
            Message to send with the request. The peer receives the keys of its label and its payload.
        timeout
            Seconds to wait for the peer.

        Raises
        ------
        TransportTimeoutError
            If the peer does not answer in time.
        TransportClosedError
            If the peer refuses the flow, or already has one with this end.
        RemoteProtocolError
            If the peer's answer violates the protocol.
        """
        with self._lock:
            return self._open(direction, credit, message, timeout)

    def _open(
        self,
        direction: FlowDirection,
        credit: SupportsIndex | None,
        message: Message | None,
        timeout: float | None,
    ) -> Flow:
        deadline, seconds = self._deadline(timeout)
        if self._socket.kind in ("ROUTER", "SERVER"):
            raise TransportError("a ROUTER cannot open a flow, as it has many peers; use accept()")
        if b"" in self._flows:
            raise TransportClosedError("there is a flow with this peer already; end it first")
        flow = Flow(self, b"", FlowMachine(origin=self._origin))
        self._flows[b""] = flow
        try:
            flow._offer(direction, self._credit if credit is None else credit, message, seconds)
            flow._wait_until_open(deadline, seconds)
        except BaseException:
            flow._give_up()
            raise
        return flow

    def accept(self, *, credit: SupportsIndex | None = None, timeout: float | None = None) -> Flow:
        """Return the next flow that a peer requests; `Flow.request` is the message of its request.

        Raises
        ------
        TransportTimeoutError
            If no peer requests one in time.
        """
        deadline, seconds = self._deadline(timeout)
        if credit is not None and self._driver is not None:
            raise LocalProtocolError(
                "flow", "flows accepted in the background have the credit of Flows(credit=...)"
            )
        most = self._credit if credit is None else to_credit(credit)
        with self._lock:
            while True:
                while not self._asked:
                    if not self._read_next(deadline):
                        raise TransportTimeoutError(f"no peer opened a flow within {seconds} s")
                _, flow = self._asked.popleft()
                if flow.state == "asked":
                    try:
                        flow._accept(most, seconds)
                    except PeerUnreachableError:
                        # The peer disconnected after its request.
                        flow._give_up()
                        continue
                    return flow
                if flow._is_agreed:
                    return flow
                flow._give_up()

    def _serve(self) -> bool:
        """Answer the peers while the caller computes; return True if there may be more to do."""
        came = self._read_next(0)
        if not came:
            for flow in self.running:
                flow._answer(self._credit)
        return came

    def _deadline(self, timeout: float | None) -> tuple[float, float]:
        seconds = self._timeout if timeout is None else timeout
        return time.monotonic() + to_milliseconds(seconds, "timeout") / 1000, seconds

    def _send(self, peer: bytes, frames: Sequence[bytes | memoryview], seconds: float) -> None:
        self._socket.send(
            frames, peer=peer if self._socket.kind in ("ROUTER", "SERVER") else None, timeout=seconds
        )

    def _read_next(self, deadline: float) -> bool:
        """Read the next message of any flow; return False if none came in time."""
        left = max(deadline - time.monotonic(), 0.0)
        if not self._socket.poll(left):
            return False
        try:
            peer, message = self._socket.receive_from(timeout=0)
        except TransportTimeoutError:
            # ZeroMQ may drop a message after announcing it.
            return True
        except RemoteProtocolError as error:
            self._fail_sender(error)
            return True
        flow = self._flows.get(peer)
        if flow is not None:
            flow._handle(message)
        else:
            self._begin(peer, message)
        return True

    def _fail_sender(self, error: RemoteProtocolError) -> None:
        """End the flow of the peer that sent an invalid message."""
        flow = self._flows.get(error.peer if self._socket.kind in ("ROUTER", "SERVER") else b"")
        if flow is not None:
            flow._fail(error)
        else:
            self._drop(error.peer, str(error))

    def _begin(self, peer: bytes, message: Message) -> None:
        machine = FlowMachine(origin=self._origin)
        try:
            event = machine.receive(message)
        except RemoteProtocolError as error:
            self._drop(peer, str(error))
            return
        self._make_room()
        if len(self._flows) >= self._most:
            self._drop(peer, f"there are {self._most} flows already")
            self._send(peer, machine.end(), 0)
            return
        flow = Flow(self, peer, machine, event.message)
        self._flows[peer] = flow
        self._asked.append((time.monotonic(), flow))

    def _make_room(self) -> None:
        """End requests that were not accepted within the timeout of a call, if there is no room.

        The end message informs the peer. Otherwise a vanished peer would occupy a place for ever.
        """
        while len(self._flows) >= self._most and self._asked:
            since, flow = self._asked[0]
            if time.monotonic() - since <= self._timeout:
                return
            self._asked.popleft()
            if flow.state not in ("ended", "failed"):
                with suppress(TransportError, LocalProtocolError):
                    self._send(flow.peer, flow._machine.end(), 0)
            flow._give_up()

    def _drop(self, peer: bytes, why: str) -> None:
        self._dropped += 1
        _log.info("a message of %r belongs to no flow: %s", peer, why)

    def _forget(self, flow: Flow) -> None:
        if self._flows.get(flow.peer) is flow:
            del self._flows[flow.peer]

    def close(self) -> None:
        """Abort all running flows; the socket stays open. Closing twice is harmless."""
        if self._driver is not None:
            self._driver.stop()
        for flow in self.running:
            flow._give_up()

    def __enter__(self) -> "Flows":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
