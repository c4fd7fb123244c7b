"""Transitions of a flow: the one table of messages by state that code, tests and pictures read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["FLOW_TRANSITIONS", "FlowDirection", "FlowState", "FlowStep", "FlowVerb"]

FlowVerb = Literal["BOT", "PAY", "DAT", "EOT"]
"""Kind of a message of a flow: its beginning, credit, data, its end."""

FlowDirection = Literal["extract", "inject"]
"""Direction of an end of a flow: it gives data (``extract``) or takes them (``inject``)."""

FlowState = Literal["idle", "offered", "asked", "giving", "taking", "ending", "leaving", "ended", "failed"]
"""State of one end of a flow.

``offered``: it requested a flow, and waits for the answer. ``asked``: the peer requested one, and waits for
its answer. ``giving``, ``taking``: data are sent. ``ending``: it has ended the flow; messages until the
peer's confirmation are dropped. ``leaving``: the peer has ended the flow, and waits for the answer.
``failed``: the peer broke the rules, or the flow was aborted.
"""

FlowStep = tuple[Literal["send", "receive"], FlowVerb]
"""A message that goes or comes."""

_OPEN: Final = "open"
"""Placeholder for `giving` or `taking`, whichever the end does."""

FLOW_TRANSITIONS: Final[Mapping[tuple[FlowState, FlowStep], Literal[FlowState, "open"]]] = MappingProxyType(
    {
        ("idle", ("send", "BOT")): "offered",
        ("idle", ("receive", "BOT")): "asked",
        ("offered", ("receive", "BOT")): _OPEN,
        ("offered", ("receive", "EOT")): "leaving",
        ("offered", ("send", "EOT")): "ending",
        ("asked", ("send", "BOT")): _OPEN,
        ("asked", ("send", "EOT")): "ending",
        ("asked", ("receive", "EOT")): "leaving",
        ("giving", ("send", "DAT")): "giving",
        ("giving", ("receive", "PAY")): "giving",
        ("giving", ("send", "EOT")): "ending",
        ("giving", ("receive", "EOT")): "leaving",
        ("taking", ("receive", "DAT")): "taking",
        ("taking", ("send", "PAY")): "taking",
        ("taking", ("send", "EOT")): "ending",
        ("taking", ("receive", "EOT")): "leaving",
        # Messages that were under way when this end sent EOT.
        ("ending", ("receive", "BOT")): "ending",
        ("ending", ("receive", "PAY")): "ending",
        ("ending", ("receive", "DAT")): "ending",
        ("ending", ("receive", "EOT")): "ended",
        ("leaving", ("send", "EOT")): "ended",
    }
)
"""The state after a message is sent or received; all others break the rules."""
