"""`FlowMachine`: the state machine of one end of a flow, without sockets, clocks or threads."""

from collections.abc import Mapping, Sequence
from typing import SupportsIndex, TypeGuard, cast, final

import attrs

from tensorwrapper._integers import to_int
from tensorwrapper._value_class import Shown, frozen
from tensorwrapper.errors import ExtentError, LocalProtocolError, RemoteProtocolError
from tensorwrapper.transport.flow._table import FLOW_TRANSITIONS, FlowDirection, FlowState, FlowStep, FlowVerb
from tensorwrapper.typing import BufferLike
from tensorwrapper.wire import Message, decode, encode

MOST_CREDIT = 2**31 - 1
"""Limit on the messages under way."""

_LEAST = 8
"""Minimum size of the first frame of a message in bytes."""
_COORDINATES = 24
"""Size of the second frame of a message in bytes."""
_VERBS: tuple[FlowVerb, ...] = ("BOT", "PAY", "DAT", "EOT")
_OTHER: Mapping[FlowDirection, FlowDirection] = {"extract": "inject", "inject": "extract"}
_NOTHING = Message(form="FLOW")

Frames = list[bytes | memoryview]


@final
@frozen
class FlowEvent:
    """A received message of a flow: its kind, its credit, and the message itself."""

    verb: FlowVerb
    """Beginning, credit, data or end."""
    credit: int
    """Number of messages that ``BOT`` proposes or ``PAY`` grants; 0 for other kinds."""
    message: Message
    """The message; a ``DAT`` message has the tensors."""
    is_dropped: bool = attrs.field(default=False, kw_only=True)
    """True if it was sent before the peer knew that this end had ended the flow."""


@final
class FlowMachine(Shown):
    """State machine of one end of a flow; `FLOW_TRANSITIONS` lists its transitions.

    It makes the frames to send, and checks the order, credit and numbers of received messages. Each end
    numbers its messages consecutively. The machine has no socket or clock: its driver transports the frames
    and times out.

    A client requests a flow (`offer`), a server answers (`accept`). The giving end spends one credit per
    message; the taking end grants credit (`pay`).

    Parameters
    ----------
    origin
        Number of this end, a coordinate of every message that it sends.

    Examples
    --------
    >>> from tensorwrapper import wire
    >>> client, server = FlowMachine(), FlowMachine()
    >>> server.receive(wire.decode(client.offer("extract", 2))).credit
    2
    >>> client.receive(wire.decode(server.accept())).verb, client.state, server.state
    ('BOT', 'giving', 'taking')
    >>> client.receive(wire.decode(server.pay(2))).credit, client.credit
    (2, 2)
    >>> server.receive(wire.decode(client.give([[1, 2]]))).message.tensors[0].tolist()
    [1, 2]
    >>> server.receive(wire.decode(client.end())).verb, client.receive(wire.decode(server.end())).verb
    ('EOT', 'EOT')
    >>> client.state, server.state
    ('ended', 'ended')
    """

    __slots__ = ("_asked", "_credit", "_direction", "_origin", "_received", "_sent", "_state", "_total")

    def __init__(self, *, origin: SupportsIndex = 0) -> None:
        self._state: FlowState = "idle"
        self._direction: FlowDirection | None = None
        self._origin = to_int(origin, "origin")
        self._total = self._credit = self._sent = self._received = 0
        self._asked = _NOTHING

    @property
    def state(self) -> FlowState:
        """State of this end."""
        return self._state

    @property
    def direction(self) -> FlowDirection | None:
        """Direction of this end: ``extract`` gives, ``inject`` takes; None until the flow is agreed."""
        return self._direction

    @property
    def total(self) -> int:
        """The agreed credit, which limits the messages under way."""
        return self._total

    @property
    def credit(self) -> int:
        """Number of messages that may be sent before the receiver grants more."""
        return self._credit

    @property
    def due(self) -> int:
        """Credit that the taking end may grant now."""
        return self._total - self._credit if self._state == "taking" else 0

    # Sending.

    def offer(self, direction: FlowDirection, credit: SupportsIndex, message: Message = _NOTHING) -> Frames:
        """Return the frames that request a flow, with at most `credit` messages under way.

        The keys of the label and the payload are copied from `message`.
        """
        if direction not in _OTHER:
            raise LocalProtocolError("flow", f"direction must be 'extract' or 'inject', not {direction!r}")
        count = to_credit(credit)
        self._check(("send", "BOT"))
        self._direction, self._total = direction, count
        return self._send("BOT", message, {"direction": direction, "credit": count})

    def accept(self, credit: SupportsIndex = MOST_CREDIT) -> Frames:
        """Return the frames that answer an offer, with the keys of the offer; grant at most `credit`."""
        self._check(("send", "BOT"))
        if self._state != "asked" or self._direction is None:
            raise LocalProtocolError("flow", "no peer has requested this flow")
        self._total = min(self._total, to_credit(credit))
        keys = {"direction": self._direction, "credit": self._total}
        return self._send("BOT", Message(form="FLOW", label=self._asked.label), keys)

    def pay(self, credit: SupportsIndex) -> Frames:
        """Return the frames that grant `credit` more messages."""
        count = to_credit(credit)
        self._check(("send", "PAY"))
        if count > self.due:
            raise LocalProtocolError(
                "flow",
                f"cannot grant {count} more messages: {self._credit} of {self._total} are already",
            )
        self._credit += count
        return self._send("PAY", _NOTHING, {"credit": count})

    def give(self, data: Message | Sequence[object]) -> Frames:
        """Return the frames of a data message: tensors, or a message whose label keeps its own keys.

        `data` may also be the frames of a message, as returned by `wire.encode`.

        Raises
        ------
        LocalProtocolError
            If there is no credit, or the data cannot be sent.
        RemoteProtocolError
            If frames that begin like a message are malformed.
        """
        self._check(("send", "DAT"))
        if not self._credit:
            raise LocalProtocolError("flow", "there is no credit; wait until the other end grants some")
        frames = self._send("DAT", decode(data) if _is_message(data) else data, {})
        self._credit -= 1
        return frames

    def end(self, message: Message = _NOTHING) -> Frames:
        """Return the frames that end the flow, or confirm the peer's end."""
        self._check(("send", "EOT"))
        return self._send("EOT", message, {})

    def fail(self) -> None:
        """Fail the flow; no further messages are sent or accepted."""
        self._state = "failed"

    def _check(self, step: FlowStep) -> None:
        if (self._state, step) not in FLOW_TRANSITIONS:
            raise LocalProtocolError("flow", f"cannot send {step[1]} in state {self._state}")

    def _send(self, verb: FlowVerb, what: Message | Sequence[object], keys: Mapping[str, object]) -> Frames:
        label = {**keys, "flow": verb}
        frames = encode(what, form="FLOW", origin=self._origin, seqno=self._sent, label=label)
        self._sent += 1
        self._move(("send", verb))
        return frames

    def _move(self, step: FlowStep) -> None:
        state = FLOW_TRANSITIONS[self._state, step]
        self._state = ("giving" if self._direction == "extract" else "taking") if state == "open" else state

    # Receiving.

    def receive(self, message: Message) -> FlowEvent:
        """Process a message from the other end, and return its event.

        Raises
        ------
        RemoteProtocolError
            If the message violates the protocol; the state is then ``failed``.
        """
        try:
            return self._receive(message)
        except RemoteProtocolError:
            self._state = "failed"
            raise

    def _receive(self, message: Message) -> FlowEvent:
        verb, label = _read_label(message)
        state = self._state
        step: FlowStep = ("receive", verb)
        if (state, step) not in FLOW_TRANSITIONS:
            raise RemoteProtocolError("flow", f"{verb} received in state {state}")
        if message.seqno != self._received:
            raise RemoteProtocolError(
                "flow", f"message {self._received} of a flow is missing; received number {message.seqno}"
            )
        is_dropped = state == "ending" and verb != "EOT"
        credit = 0
        if verb == "BOT":
            credit = self._begin(message, label, is_dropped=is_dropped)
        elif verb == "PAY":
            credit = _read_credit(label)
            if not is_dropped:
                self._earn(credit)
        elif verb == "DAT" and not is_dropped:
            if not self._credit:
                raise RemoteProtocolError("flow", f"DAT exceeds the credit of {self._total}")
            self._credit -= 1
        self._received += 1
        self._move(step)
        return FlowEvent(verb, credit, message, is_dropped=is_dropped)

    def _begin(self, message: Message, label: Mapping[str, object], *, is_dropped: bool) -> int:
        credit, theirs = _read_credit(label), label.get("direction")
        if theirs not in ("extract", "inject"):
            raise RemoteProtocolError("flow", f"BOT has the direction {theirs!r}, not 'extract' or 'inject'")
        ours = _OTHER[theirs]
        if is_dropped:
            return credit
        if self._direction is None:
            self._direction, self._total, self._asked = ours, credit, message
        elif ours != self._direction:
            raise RemoteProtocolError("flow", f"both ends of the flow have the direction {self._direction!r}")
        elif credit > self._total:
            raise RemoteProtocolError("flow", f"the credit was raised from {self._total} to {credit}")
        else:
            self._total = credit
        return credit

    def _earn(self, credit: int) -> None:
        if self._credit + credit > self._total:
            raise RemoteProtocolError(
                "flow", f"PAY of {credit} with {self._credit} unspent exceeds the credit of {self._total}"
            )
        self._credit += credit

    def __repr__(self) -> str:
        return f"<FlowMachine {self._state}, credit {self._credit} of {self._total}>"


def to_credit(credit: SupportsIndex) -> int:
    """Return a valid credit as an integer."""
    count = to_int(credit, "credit")
    if not 1 <= count <= MOST_CREDIT:
        raise ExtentError(f"credit must be from 1 to {MOST_CREDIT} messages, not {count}")
    return count


def _read_label(message: Message) -> tuple[FlowVerb, Mapping[str, object]]:
    if message.form != "FLOW":
        raise RemoteProtocolError("flow", f"received a message of the form {message.form!r} in a flow")
    label: object = message.label_object
    if not isinstance(label, dict):
        raise RemoteProtocolError("flow", "the label of a flow message is not a JSON object")
    keys = cast("Mapping[str, object]", label)
    verb = keys.get("flow")
    if verb not in _VERBS:
        raise RemoteProtocolError("flow", f"'flow' must be one of {', '.join(_VERBS)}, not {verb!r}")
    return verb, keys


def _read_credit(label: Mapping[str, object]) -> int:
    credit = label.get("credit")
    # Reject bools and integral floats.
    if type(credit) is not int or not 1 <= credit <= MOST_CREDIT:
        raise RemoteProtocolError(
            "flow", f"'credit' must be from 1 to {MOST_CREDIT} messages, not {credit!r}"
        )
    return credit


def _is_message(data: object) -> TypeGuard[Sequence[BufferLike]]:
    """Return True if `data` is the frames of a message, as opposed to tensors."""
    if not isinstance(data, list | tuple) or len(cast("list[object]", data)) < 2:
        return False
    frames = cast("list[object]", data)
    if not all(isinstance(own, bytes | bytearray | memoryview) for own in frames):
        return False
    heads = [memoryview(cast("BufferLike", own)).cast("B") for own in frames[:2]]
    begins = heads[0].nbytes >= _LEAST and bytes(heads[0][:3]) == b"ZIO"
    return begins and heads[1].nbytes == _COORDINATES
