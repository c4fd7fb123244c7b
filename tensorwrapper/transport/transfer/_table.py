"""Transitions of a transfer: the one table of messages by state that code, tests and pictures read."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal

__all__ = ["TRANSFER_TRANSITIONS", "TransferRole", "TransferState", "TransferStep", "TransferVerb"]

TransferVerb = Literal["OFFER", "GRANT", "CHUNK", "CREDIT", "DONE", "HEARD", "CANCEL"]
"""Kind of a message of a transfer.

``OFFER``: description of the tensor. ``GRANT``: missing runs, and credit for the first chunks.
``CHUNK``: a run of elements. ``CREDIT``: more credit. ``DONE``: all of it has arrived. ``HEARD``: the
giver's confirmation of that. ``CANCEL``: an end gives up.
"""

TransferRole = Literal["giver", "taker"]
"""Role of an end: it has the tensor, or receives it."""

TransferState = Literal["idle", "asked", "offered", "moving", "done", "failed"]
"""State of one end of a transfer.

``offered``: the offer was sent or received, and no grant yet. ``asked``: the grant was received or sent
before the offer. ``moving``: chunks are sent. ``done``: the taker has all. ``failed``: an end gave up.
"""

TransferStep = tuple[Literal["send", "receive"], TransferVerb]
"""A message that goes or comes."""

TRANSFER_TRANSITIONS: Final[Mapping[tuple[TransferRole, TransferState, TransferStep], TransferState]] = (
    MappingProxyType(
        {
            ("giver", "idle", ("send", "OFFER")): "offered",
            ("giver", "idle", ("receive", "GRANT")): "asked",
            ("giver", "asked", ("receive", "GRANT")): "asked",
            ("giver", "asked", ("send", "OFFER")): "moving",
            ("giver", "asked", ("send", "CANCEL")): "failed",
            ("giver", "asked", ("receive", "CANCEL")): "failed",
            # Repeated after a while without an answer.
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
            # A taker that gets the same question twice repeats that it is done.
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
            # Repeated until it is heard, or the giver is gone.
            ("taker", "done", ("send", "DONE")): "done",
            ("taker", "done", ("receive", "HEARD")): "done",
            ("taker", "done", ("receive", "CANCEL")): "done",
        }
    )
)
"""The state after a message is sent or received; all others break the rules.

An end that ``failed`` drops all messages.
"""
