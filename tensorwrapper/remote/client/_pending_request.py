"""`Pending` and `Timeouts`: a request without an answer, its time limits, and the errors of refusals."""

import time
from typing import Final, NoReturn, TypeAlias, cast, final

from tensorwrapper._value_class import frozen
from tensorwrapper.errors import (
    ConversionError,
    OutcomeUnknownError,
    OutOfBoundsError,
    ReadOnlyError,
    RequestRefusedError,
    TensorNameError,
    TensorWrapperError,
    VersionChangedError,
)
from tensorwrapper.remote.protocol._events import Answer, AskWrite, Hello, Refused, Request
from tensorwrapper.remote.protocol._state_table import ASKED, RequestState
from tensorwrapper.typing import BufferLike

__all__ = ["IDLE", "Pending", "Prepared", "Timeouts", "is_unsafe", "raise_refusal", "unknown_outcome"]

IDLE: Final = 120.0
"""Default seconds in which a server that is alive must answer some request."""


Prepared: TypeAlias = tuple[bytes, list[BufferLike]]
"""A request that was written: its first frame, and those after its number."""


@final
class Pending:
    """A request that is not answered yet; its state is one of the table of the protocol."""

    __slots__ = (
        "answer",
        "begun",
        "failed",
        "number",
        "request",
        "said",
        "sent",
        "state",
        "tries",
        "wait_until",
    )

    def __init__(self, number: int, request: Request, said: "Prepared | None" = None) -> None:
        self.number: int = number
        self.request: Request = request
        self.said: Prepared | None = said
        """Frames beside the number, if they were encoded before."""
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
@frozen
class Timeouts:
    """Timeouts of a client, in seconds.

    Attributes
    ----------
    timeout
        While nothing at all is heard of the server.
    deadline
        For one request, even if other messages arrive.
    idle
        While the server is heard, and answers no request: that it is there is no progress.
    """

    timeout: float = 10.0
    deadline: float | None = None
    idle: float | None = IDLE

    def check(self) -> "Timeouts":
        """Return it; raise if one of its limits is not a time.

        Raises
        ------
        ConversionError
            If it is not a number of seconds above 0.
        """
        for name, own in (("deadline", self.deadline), ("idle", self.idle)):
            given = cast("object", own)
            if given is None:
                continue
            # Not a number is above nothing.
            if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
                raise ConversionError(f"{name} is a number of seconds above 0, or None, not {given!r}")
        return self

    def left(self, pending: Pending, heard: float, moved: float) -> tuple[float, str]:
        """Return how many seconds a request may still wait, and the reason to report after that.

        `heard` is when anything came of the server, `moved` when an answer did.
        """
        now = time.monotonic()
        # A server answers hello at once; anything else is not a server of tensors.
        since = pending.begun if isinstance(pending.request, Hello) else max(heard, pending.begun)
        found = self.timeout - (now - since), ""
        if self.idle is not None:
            found = min(found, (self.idle - (now - max(moved, pending.begun)), "idle"))
        if self.deadline is not None:
            found = min(found, (self.deadline - (now - pending.begun), ""))
        return found


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
        case "limit":
            whose = "the limit is the server's: its ServeLimits set it"
            raise RequestRefusedError("limit", f"{type(request).__name__}: {refused.text}; {whose}")
        case _:
            raise RequestRefusedError(refused.reason, f"{type(request).__name__}: {refused.text}")


def is_unsafe(pending: Pending) -> bool:
    """Return True if a request that was sent must not be sent to another start of the server."""
    return isinstance(pending.request, AskWrite) and not pending.request.version and pending.sent > 0


def unknown_outcome(address: str, why: str) -> OutcomeUnknownError:
    """Return the error for a write whose outcome is unknown."""
    return OutcomeUnknownError(
        f"a write to {address} was sent, and {why}: it is done or not, and it is not sent again"
    )
