"""`Pending` and `Timeouts`: pending requests, time limits, and the errors of refusals."""

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

IDLE: Final = 120.0
"""Default time limit, in seconds, for a live server to answer some request."""


Prepared: TypeAlias = tuple[bytes, list[BufferLike]]
"""An encoded request: its first frame, and the frames after its number."""


@final
class Pending:
    """A request without an answer, with its state in the protocol's table."""

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
        """Frames without the number, if encoded before."""
        self.answer: Answer | None = None
        self.failed: TensorWrapperError | None = None
        self.begun: float = time.monotonic()
        self.sent: float = 0.0
        self.wait_until: float = 0.0
        self.tries: int = 0
        self.state: RequestState = "queued"

    def take(self, step: str) -> bool:
        """Make a transition of the table; return False if the state has none."""
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
        Limit without any message from the server.
    deadline
        Limit for one request, even if other messages arrive.
    idle
        Limit while the server is alive but answers no request.
    """

    timeout: float = 10.0
    deadline: float | None = None
    idle: float | None = IDLE

    def check(self) -> "Timeouts":
        """Return self; raise if a limit is invalid.

        Raises
        ------
        ConversionError
            If a limit is not a positive number of seconds.
        """
        for name, own in (("deadline", self.deadline), ("idle", self.idle)):
            given = cast("object", own)
            if given is None:
                continue
            # NaN fails every comparison.
            if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
                raise ConversionError(f"{name} must be a positive number of seconds, or None, not {given!r}")
        return self

    def left(self, pending: Pending, heard: float, moved: float) -> tuple[float, str]:
        """Return how many seconds a request may still wait, and the reason to report after that.

        `heard` is the time of the last message from the server, `moved` that of the last answer.
        """
        now = time.monotonic()
        # A server answers hello at once; others are not tensor servers.
        since = pending.begun if isinstance(pending.request, Hello) else max(heard, pending.begun)
        found = self.timeout - (now - since), ""
        if self.idle is not None:
            found = min(found, (self.idle - (now - max(moved, pending.begun)), "idle"))
        if self.deadline is not None:
            found = min(found, (self.deadline - (now - pending.begun), ""))
        return found


def verb_of(request: Request) -> str:
    """Return the word for a request in the protocol.

    Examples
    --------
    >>> from tensorwrapper.remote.protocol._events import Ping
    >>> verb_of(Ping())
    'ping'
    """
    return type(request).__name__.removeprefix("Ask").lower()


def raise_refusal(refused: Refused, request: Request) -> NoReturn:
    """Raise the caller's error for a refusal."""
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
            raise RequestRefusedError("limit", f"{verb_of(request)}: {refused.text}; {whose}")
        case _:
            raise RequestRefusedError(refused.reason, f"{verb_of(request)}: {refused.text}")


def is_unsafe(pending: Pending) -> bool:
    """Return True if a sent request must not be repeated after a restart of the server."""
    return isinstance(pending.request, AskWrite) and not pending.request.version and pending.sent > 0


def unknown_outcome(address: str, why: str) -> OutcomeUnknownError:
    """Return the error for a write whose outcome is unknown."""
    return OutcomeUnknownError(
        f"a write to {address} was sent, but {why}; its outcome is unknown, and it is not repeated"
    )
