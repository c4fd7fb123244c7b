"""The states of a request as tables of transitions, at the client and at the server."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

__all__ = ["ASKED", "SERVED", "RequestState", "RequestStep", "TaskState", "TaskStep"]

RequestState: TypeAlias = Literal["queued", "sent", "waiting", "done", "failed"]
"""Where a request is: not sent yet; sent; to be sent again after a pause; answered or cancelled; failed."""

RequestStep: TypeAlias = Literal["sent", "answered", "refused", "busy", "lost", "late", "cancelled"]
"""What may happen to it.

``lost``: the server has started anew, or is there and has not answered for long. ``late``: a time limit.
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
"""For a state and a step the state after it; what is not here changes nothing."""

TaskState: TypeAlias = Literal["waiting", "running", "stopping", "ready", "sending", "over"]
"""Where a request is at the server: it waits for a thread or for memory; is answered; is answered although
nobody wants it any more; its answer waits for room at the client; is on its way; nothing of it is left."""

TaskStep: TypeAlias = Literal["begun", "made", "sent", "delivered", "cancelled", "lost"]
"""What may happen to it. ``lost``: its client is gone, or takes no answers."""

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
"""For a state and a step the state after it, at the server; what is not here changes nothing."""
