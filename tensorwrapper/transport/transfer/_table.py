"""Transition table of a transfer, read by code, tests and pictures."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

TransferVerb = Literal["OFFER", "GRANT", "CHUNK", "CREDIT", "DONE", "HEARD", "CANCEL"]
"""Kind of a transfer message.

``OFFER``: description of the tensor. ``GRANT``: missing runs, and credit for the first chunks.
``CHUNK``: a run of elements. ``CREDIT``: more credit. ``DONE``: all of it has arrived. ``HEARD``: the
giver's confirmation of that. ``CANCEL``: an end cancels the transfer.
"""

TransferRole = Literal["giver", "taker"]
"""Role of an end: ``giver`` has the tensor, ``taker`` receives it."""

TransferState = Literal["idle", "asked", "offered", "moving", "done", "failed"]
"""State of one end of a transfer.

``offered``: the offer was sent or received, but no grant yet. ``asked``: the grant was received or sent
before the offer. ``moving``: chunks are sent. ``done``: the taker has the whole tensor. ``failed``: an end
cancelled the transfer.
"""

TransferStep = tuple[Literal["send", "receive"], TransferVerb]
"""Direction and kind of a message: sent or received."""

TRANSFER_TRANSITIONS: Final[Mapping[tuple[TransferRole, TransferState, TransferStep], TransferState]] = (
    MappingProxyType(
        {
            ("giver", "idle", ("send", "OFFER")): "offered",
            ("giver", "idle", ("receive", "GRANT")): "asked",
            ("giver", "asked", ("receive", "GRANT")): "asked",
            ("giver", "asked", ("send", "OFFER")): "moving",
            ("giver", "asked", ("send", "CANCEL")): "failed",
            ("giver", "asked", ("receive", "CANCEL")): "failed",
            # Repeated if there is no answer for some time.
            ("giver", "offered", ("send", "OFFER")): "offered",
            ("giver", "offered", ("receive", "GRANT")): "moving",
            ("giver", "offered", ("receive", "DONE")): "done",
            ("giver", "offered", ("send", "CANCEL")): "failed",
            ("giver", "offered", ("receive", "CANCEL")): "failed",
            ("giver", "moving", ("send", "CHUNK")): "moving",
            ("giver", "moving", ("receive", "CREDIT")): "moving",
            ("giver", "moving", ("receive", "GRANT")): "moving",
            ("giver", "moving", ("send", "OFFER")): "moving",
            ("giver", "moving", ("receive", "DONE")): "done",
            ("giver", "moving", ("send", "CANCEL")): "failed",
            ("giver", "moving", ("receive", "CANCEL")): "failed",
            # A taker that receives the same message twice repeats that it is done.
            ("giver", "done", ("receive", "DONE")): "done",
            ("giver", "done", ("receive", "CREDIT")): "done",
            ("giver", "done", ("send", "HEARD")): "done",
            ("taker", "idle", ("receive", "OFFER")): "offered",
            ("taker", "idle", ("send", "GRANT")): "asked",
            ("taker", "asked", ("send", "GRANT")): "asked",
            ("taker", "asked", ("receive", "OFFER")): "moving",
            ("taker", "asked", ("send", "CANCEL")): "failed",
            ("taker", "asked", ("receive", "CANCEL")): "failed",
            ("taker", "offered", ("receive", "OFFER")): "offered",
            ("taker", "offered", ("send", "GRANT")): "moving",
            ("taker", "offered", ("send", "DONE")): "done",
            ("taker", "offered", ("send", "CANCEL")): "failed",
            ("taker", "offered", ("receive", "CANCEL")): "failed",
            ("taker", "moving", ("receive", "CHUNK")): "moving",
            ("taker", "moving", ("send", "CREDIT")): "moving",
            ("taker", "moving", ("send", "GRANT")): "moving",
            ("taker", "moving", ("receive", "OFFER")): "moving",
            ("taker", "moving", ("send", "DONE")): "done",
            ("taker", "moving", ("send", "CANCEL")): "failed",
            ("taker", "moving", ("receive", "CANCEL")): "failed",
            ("taker", "done", ("receive", "OFFER")): "done",
            ("taker", "done", ("receive", "CHUNK")): "done",
            # Repeated until the giver confirms or disconnects.
            ("taker", "done", ("send", "DONE")): "done",
            ("taker", "done", ("receive", "HEARD")): "done",
            ("taker", "done", ("receive", "CANCEL")): "done",
        }
    )
)
"""The state after a message is sent or received; all others break the rules.

An end that ``failed`` drops all messages.
"""
