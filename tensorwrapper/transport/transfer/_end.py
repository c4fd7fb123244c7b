"""The parts that both ends of a transfer have: its terms, its state, and messages that end it."""

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

from tensorwrapper._value_class import Shown
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport.transfer._messages import (
    Frames,
    ParsedLabel,
    message_frames,
    next_state,
    read_label,
)
from tensorwrapper.transport.transfer._table import TransferState, TransferVerb
from tensorwrapper.wire import Limits, Message
from tensorwrapper.wire.lowlevel import Checksum, refuse


class TransferEnd(Shown, ABC):
    """Abstract: `_receive`, `_role`, and the attributes below."""

    __slots__ = ("_epoch", "_limits", "_state", "_terms", "error", "request")

    _role: ClassVar[Literal["giver", "taker"]]
    _epoch: int
    _limits: Limits
    _state: TransferState
    _terms: ParsedLabel
    error: str | None
    """Why the other end gave up."""
    request: int
    """Number of the transfer."""

    @property
    def state(self) -> TransferState:
        """State of this end."""
        return self._state

    @property
    def key(self) -> str:
        """Key of the transfer at both ends."""
        return self._terms.key

    @property
    def name(self) -> str:
        """Name of the tensor at the giver."""
        return self._terms.name

    @property
    def follow(self) -> int:
        """Number of tensors that follow, as the giver announces."""
        return self._terms.follow

    @property
    def check(self) -> Checksum | None:
        """The checksum of each chunk."""
        return self._terms.check

    def cancel(self, why: str) -> Frames:
        """Return the frames that cancel the transfer."""
        return self._say("CANCEL", error=why)

    def fail(self) -> None:
        """Fail without notifying the peer."""
        self._state = "failed"

    def receive(self, message: Message) -> TransferVerb:
        """Process a message without elements. One that is older than the last grant changes nothing.

        Raises
        ------
        RemoteProtocolError
            If the message violates the protocol; the state is then ``failed``.
        """
        try:
            said = read_label(message.label, self._limits)
            if said is None:
                refuse("flow", "the message does not belong to a transfer")
            if self._state != "failed":
                if said.verb == "CANCEL":
                    self.error = said.error or ""
                self._receive(said, message)
        except RemoteProtocolError:
            self.fail()
            raise
        return said.verb

    @abstractmethod
    def _receive(self, said: ParsedLabel, message: Message) -> None:
        """Process a message; called unless this end has failed."""

    def _say(self, verb: TransferVerb, *, error: str | None = None) -> Frames:
        """Return the frames of a message that has only its verb, and the error if one is given."""
        self._move("send", verb)
        return message_frames(verb, self.request, self._epoch, ParsedLabel(verb, error=error))

    def _move(self, way: Literal["send", "receive"], verb: TransferVerb) -> None:
        self._state = next_state(self._role, self._state, (way, verb))
