"""The states of a request as a table: what each step makes of it, at the client."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, TypeAlias

__all__ = ["ASKED", "RequestState", "RequestStep"]

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
