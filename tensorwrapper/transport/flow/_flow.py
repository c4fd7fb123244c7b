"""`Flow`: one stream of messages with one peer, for callers."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import TYPE_CHECKING, Final, SupportsIndex, cast, final

from tensorwrapper._json import dump_json
from tensorwrapper._value_class import Shown
from tensorwrapper.errors import (
    FlowAbortedError,
    LocalProtocolError,
    PeerUnreachableError,
    RemoteProtocolError,
    TransportClosedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.transport.flow._machine import FlowMachine
from tensorwrapper.transport.flow._table import FlowDirection, FlowState
from tensorwrapper.wire import Message

if TYPE_CHECKING:
    from tensorwrapper.transport.flow._flows import Flows

_AT_ONCE: Final = 16
"""Messages read before each message given, so that peers that send all the time cannot starve this end."""

_SOON: Final = 0.1
"""Seconds that the background thread waits for room. For credit and ends a live peer has room."""

_TEXT: Final = 500
"""Length limit of the reason for an abort, in characters."""


@final
class Flow(Shown):
    """A stream of messages to or from one peer, created by `Flows`.

    The giving end calls `put`, which waits while credit is spent. The taking end iterates or calls `get`,
    which grants credit again. So the number of messages under way or in memory never exceeds the agreed
    credit.

    Leaving ``with`` ends the flow, and waits for the peer's confirmation. An exception in the block aborts
    the flow and informs the peer that the messages are incomplete. Peers that do not use this library see a
    normal end.
    """

    __slots__ = (
        "__weakref__",
        "_error",
        "_flows",
        "_inbox",
        "_is_agreed",
        "_lost_peer",
        "_machine",
        "_peer",
        "_request",
    )

    def __init__(
        self, flows: "Flows", peer: bytes, machine: FlowMachine, request: Message | None = None
    ) -> None:
        self._flows, self._peer, self._machine = flows, peer, machine
        self._request = request
        self._inbox: deque[Message] = deque()
        self._error: Exception | None = None
        self._lost_peer: PeerUnreachableError | None = None
        # Whether the background thread accepted the flow, which now waits for `accept`.
        self._is_agreed = False

    @property
    def peer(self) -> bytes:
        """Identity of the peer on a ROUTER; empty for other sockets."""
        return self._peer

    @property
    def direction(self) -> FlowDirection | None:
        """Direction of this end: ``extract`` gives, ``inject`` takes."""
        return self._machine.direction

    @property
    def state(self) -> FlowState:
        """State of this end."""
        return self._machine.state

    @property
    def credit(self) -> int:
        """Number of messages that may be under way, as both ends agreed."""
        return self._machine.total

    @property
    def request(self) -> Message | None:
        """Message with which the peer requested or accepted the flow."""
        return self._request

    # Methods for the caller.

    def put(self, data: Message | Sequence[object], *, timeout: float | None = None) -> None:
        """Send tensors, or a message, whose label keeps its own keys; wait for credit if there is none.

        `data` may also be the frames of a message, as returned by `wire.encode`.

        Raises
        ------
        TransportTimeoutError
            If the peer grants no credit in time. No part of the message was sent.
        TransportClosedError
            If the flow has ended.
        FlowAbortedError
            If the peer aborted the flow.
        RemoteProtocolError
            If the peer violated the protocol.
        PeerUnreachableError
            If the peer of a ROUTER has disconnected.
        """
        with self._flows._lock:
            self._put(data, timeout)

    def _put(self, data: Message | Sequence[object], timeout: float | None) -> None:
        machine, flows = self._machine, self._flows
        deadline, seconds = flows._deadline(timeout)
        if self.direction == "inject":
            raise LocalProtocolError("flow", "this end of the flow takes data; use get()")
        for _ in range(_AT_ONCE):
            # Wait for credit, or for the peer to end the flow.
            if not flows._read_next(0):
                break
        while self._is_open() and not machine.credit:
            self._read_next(deadline, f"the peer granted no credit within {seconds} s")
        if machine.state != "giving":
            self._answer_end(seconds)
            raise TransportClosedError("this flow has ended")
        self._send(machine.give(data), seconds)

    def get(self, *, timeout: float | None = None) -> Message | None:
        """Return the next message, whose tensors are read-only; None when the flow has ended.

        Raises
        ------
        TransportTimeoutError
            If none comes in time.
        FlowAbortedError
            If the peer aborted the flow: the messages are incomplete.
        RemoteProtocolError
            If the peer violated the protocol.
        LocalProtocolError
            If this end gives.
        """
        with self._flows._lock:
            return self._get(timeout)

    def _get(self, timeout: float | None) -> Message | None:
        deadline, seconds = self._flows._deadline(timeout)
        if self.direction == "extract":
            raise LocalProtocolError("flow", "this end of the flow gives data; use put()")
        while not self._inbox and self._is_open():
            self._read_next(deadline, f"the peer gave nothing within {seconds} s")
        if not self._inbox:
            self._answer_end(seconds)
            return None
        message = self._inbox.popleft()
        # Grant half of the credit at a time. A reply per message would cost as much as a small message.
        free = self._machine.due - len(self._inbox)
        if self._machine.state == "taking" and free >= max(self.credit // 2, 1):
            try:
                self._send(self._machine.pay(free), seconds)
            except PeerUnreachableError as error:
                self._lost_peer = error
        return message

    def __iter__(self) -> Iterator[Message]:
        """Iterate over received messages until the flow ends."""
        while (message := self.get()) is not None:
            yield message

    def close(self, *, timeout: float | None = None) -> None:
        """End the flow and wait for the peer's confirmation; messages that still arrive are dropped.

        Raises
        ------
        TransportTimeoutError
            If the peer does not answer in time.
        FlowAbortedError, RemoteProtocolError
            As `put` and `get` raise them.
        """
        with self._flows._lock:
            self._close(timeout)

    def _close(self, timeout: float | None) -> None:
        deadline, seconds = self._flows._deadline(timeout)
        machine = self._machine
        self._inbox.clear()
        try:
            if machine.state in ("giving", "taking", "asked"):
                self._send(machine.end(), seconds)
            while machine.state == "ending":
                self._read_next(deadline, f"the peer did not end the flow within {seconds} s")
            self._answer_end(seconds)
        except BaseException:
            self._give_up()
            raise

    def abort(self, why: str = "") -> None:
        """Abort the flow, and inform the peer that its messages are incomplete."""
        with self._flows._lock:
            self._abort(why)

    def _abort(self, why: str) -> None:
        machine = self._machine
        if machine.state in ("giving", "taking", "asked", "offered"):
            said = {"tw": {"error": {"reason": "cancelled", "text": str(why)[:_TEXT]}}}
            # Sent only if the peer is connected and has room.
            with suppress(TransportError):
                self._flows._send(self._peer, machine.end(Message(form="FLOW", label=dump_json(said))), 0)
        self._give_up()

    def __enter__(self) -> "Flow":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self.abort(type(error).__name__)
        else:
            self.close()

    def __repr__(self) -> str:
        return f"<Flow {self.direction or ''} {self.state}, credit {self._machine.credit} of {self.credit}>"

    # Methods for `Flows`.

    def _read_next(self, deadline: float, complaint: str) -> None:
        # Messages that arrived before the peer vanished can still be read.
        if not self._flows._read_next(0 if self._lost_peer else deadline):
            raise self._lost_peer or TransportTimeoutError(complaint)

    def _is_open(self) -> bool:
        if self._error is not None:
            raise self._error
        return self._machine.state in ("offered", "asked", "giving", "taking")

    def _answer_end(self, seconds: float) -> None:
        if self._error is not None:
            raise self._error
        if self._machine.state == "leaving":
            self._send(self._machine.end(), seconds)
        if self._machine.state == "ended":
            self._flows._forget(self)

    def _send(self, frames: Sequence[bytes | memoryview], seconds: float) -> None:
        try:
            self._flows._send(self._peer, frames, seconds)
        except PeerUnreachableError:
            # This message is lost, but earlier messages of the peer can still be read.
            raise
        except BaseException as error:
            # The machine already counted this message, so the next would have a wrong number.
            self._give_up()
            if isinstance(error, Exception):
                self._error = error
            raise

    def _offer(
        self, direction: FlowDirection, credit: SupportsIndex, message: Message | None, seconds: float
    ) -> None:
        machine = self._machine
        asked = (
            machine.offer(direction, credit) if message is None else machine.offer(direction, credit, message)
        )
        self._send(asked, seconds)

    def _wait_until_open(self, deadline: float, seconds: float) -> None:
        while self._is_open() and self._machine.state == "offered":
            self._read_next(deadline, f"the peer did not answer to a flow within {seconds} s")
        if self._machine.state == "leaving":
            self._answer_end(seconds)
            raise TransportClosedError("the peer refused this flow")
        self._grant(seconds)

    def _answer(self, most: int) -> None:
        """Answer the peer while the caller computes. Runs in the background thread."""
        state = self._machine.state
        try:
            if state == "asked":
                self._is_agreed = True
                self._accept(most, _SOON)
            elif state == "taking" and (free := self._machine.due - len(self._inbox)) > 0:
                self._send(self._machine.pay(free), _SOON)
            elif state == "leaving" and self._error is None:
                self._answer_end(_SOON)
        except PeerUnreachableError as error:
            self._lost_peer = error
        except TransportError as error:
            # The caller's next call raises this error.
            self._fail(error)

    def _accept(self, most: int, seconds: float) -> None:
        self._send(self._machine.accept(most), seconds)
        self._grant(seconds)

    def _grant(self, seconds: float) -> None:
        if self._machine.state == "taking":
            self._send(self._machine.pay(self._machine.due), seconds)

    def _handle(self, message: Message) -> None:
        """Handle a message from the peer."""
        try:
            event = self._machine.receive(message)
        except RemoteProtocolError as error:
            error.peer = self._peer
            self._fail(error)
            return
        if event.verb == "DAT" and not event.is_dropped:
            self._inbox.append(event.message)
        elif event.verb == "BOT" and not event.is_dropped:
            self._request = event.message
        elif event.verb == "EOT" and (why := _abort_reason(event.message)) is not None:
            self._fail(
                FlowAbortedError(f"the peer aborted the flow: {why}" if why else "the peer aborted the flow")
            )

    def _fail(self, error: Exception) -> None:
        self._error = error
        self._give_up()

    def _give_up(self) -> None:
        if self._machine.state != "ended":
            self._machine.fail()
        self._flows._forget(self)


def _abort_reason(message: Message) -> str | None:
    """Return the peer's reason for aborting; None without one."""
    own: object = cast("Mapping[str, object]", message.label_object).get("tw")
    error = cast("Mapping[str, object]", own).get("error") if isinstance(own, dict) else None
    if not isinstance(error, dict):
        return None
    text = cast("Mapping[str, object]", error).get("text")
    return text[:_TEXT] if isinstance(text, str) else ""
