"""Transition table of a flow, read by code, tests and pictures."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

FlowVerb = Literal["BOT", "PAY", "DAT", "EOT"]
"""Kind of a flow message: begin, credit, data or end."""

FlowDirection = Literal["extract", "inject"]
"""Direction of one end of a flow: it gives data (``extract``) or takes data (``inject``)."""

FlowState = Literal["idle", "offered", "asked", "giving", "taking", "ending", "leaving", "ended", "failed"]
"""State of one end of a flow.

``offered``: this end requested a flow, and waits for the answer. ``asked``: the peer requested a flow, and
waits for the answer. ``giving``, ``taking``: data is sent. ``ending``: this end ended the flow, and drops
messages until the peer confirms. ``leaving``: the peer ended the flow, and waits for confirmation.
``failed``: the peer violated the protocol, or an end aborted the flow.
"""

FlowStep = tuple[Literal["send", "receive"], FlowVerb]
"""Direction and kind of a message: sent or received."""

_OPEN: Final = "open"
"""Placeholder for `giving` or `taking`, as this end does."""

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
