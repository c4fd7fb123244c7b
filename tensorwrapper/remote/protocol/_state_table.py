"""The states of a request as tables of transitions, at the client and at the server."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

RequestState: TypeAlias = Literal["queued", "sent", "waiting", "done", "failed"]
"""State of a request: not sent yet; sent; to be repeated after a pause; answered or cancelled; failed."""

RequestStep: TypeAlias = Literal["sent", "answered", "refused", "busy", "lost", "late", "cancelled"]
"""Event of a request.

``lost``: the server has restarted, or is alive and has not answered for long. ``late``: a time limit.
"""

ASKED: Final[Mapping[tuple[str, str], RequestState]] = MappingProxyType(
    {
        ("queued", "sent"): "sent",
        ("queued", "late"): "failed",
        ("queued", "cancelled"): "done",
        ("sent", "answered"): "done",
        ("sent", "refused"): "failed",
        ("sent", "busy"): "waiting",
        ("sent", "lost"): "queued",
        ("sent", "late"): "failed",
        ("sent", "cancelled"): "done",
        ("waiting", "sent"): "sent",
        ("waiting", "lost"): "queued",
        ("waiting", "late"): "failed",
        ("waiting", "cancelled"): "done",
        ("queued", "answered"): "done",
        ("queued", "refused"): "failed",
    }
)
"""State after a state and a step; others change nothing."""

TaskState: TypeAlias = Literal["waiting", "running", "stopping", "ready", "sending", "over"]
"""State of a request at the server: it waits for a thread or for memory; is answered; is answered although
it was cancelled; its answer waits for room at the client; is being sent; is finished."""

TaskStep: TypeAlias = Literal["begun", "made", "sent", "delivered", "cancelled", "lost"]
"""Event of a request at the server. ``lost``: its client has disconnected, or takes no answers."""

SERVED: Final[Mapping[tuple[str, str], TaskState]] = MappingProxyType(
    {
        ("waiting", "begun"): "running",
        ("waiting", "cancelled"): "over",
        ("waiting", "lost"): "over",
        ("running", "made"): "ready",
        ("running", "cancelled"): "stopping",
        ("running", "lost"): "stopping",
        ("stopping", "made"): "over",
        ("ready", "sent"): "sending",
        ("ready", "cancelled"): "over",
        ("ready", "lost"): "over",
        ("sending", "delivered"): "over",
    }
)
"""State after a state and a step at the server; others change nothing."""
