"""Write messages of a transfer, and parse untrusted ones."""

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NoReturn, cast, final, get_args

import numpy as np

from tensorwrapper._json import Json, dump_json
from tensorwrapper._value_class import frozen
from tensorwrapper.errors import LocalProtocolError, RemoteProtocolError
from tensorwrapper.transport.transfer._missing_runs import MOST_RUNS
from tensorwrapper.transport.transfer._table import (
    TRANSFER_TRANSITIONS,
    TransferRole,
    TransferState,
    TransferStep,
    TransferVerb,
)
from tensorwrapper.wire import Limits, Message
from tensorwrapper.wire.lowlevel import Checksum, Field, checksum_of, load_label, refuse

Frames = list[bytes | memoryview]

MOST_KEY: Final = 128
"""Length limit of a transfer key in characters."""

MOST_NAME: Final = 255
"""Length limit of a tensor name in characters."""

MOST_FOLLOW: Final = 2**31 - 1
"""Limit on the number of tensors that follow another."""

MOST_CREDIT: Final = 65_536
"""Limit on the number of chunks under way."""

MOST_CHUNK: Final = 2**30 - 1
"""Size limit of a chunk in bytes."""

_TEXT: Final = 500
"""Length limit of a cancellation reason in characters."""

_COORDINATES: Final = struct.Struct("<3Q")
COORDINATES: Final = _COORDINATES.size
"""Size of the second frame of a message in bytes."""

CHECKED: Final = struct.Struct("<2Q")
"""Number of elements of a chunk, and their checksum."""

_VERSION: Final = 1

_WHAT: Final = {"version", "key"}


@final
@frozen
class ParsedLabel:
    """A validated label of a message; fields that its verb does not use keep their defaults."""

    verb: TransferVerb
    credit: int = 0
    chunk: int = 0
    """Maximum or requested size of a chunk in bytes."""
    part: int = 0
    key: str = ""
    """Key of the transfer at both ends, valid across connections."""
    check: Checksum | None = None
    """The checksum of each chunk."""
    tensor: Field | None = None
    """Unparsed description of the tensor."""
    name: str = ""
    """Name of the tensor at the giver."""
    follow: int = 0
    """Number of tensors that follow, as the giver announces."""
    error: str | None = None


def read_label(text: str, limits: Limits) -> ParsedLabel | None:
    """Return the parsed label; None if it does not belong to a transfer.

    Raises
    ------
    RemoteProtocolError
        If a key is missing, has a wrong type, or exceeds a limit.
    """
    return _remembered(text, limits) if len(text) < 1024 else _read(text, limits)


def is_end(text: str, limits: Limits) -> bool:
    """Return True if a label ends a transfer or cannot be parsed. Such messages are not answered.

    Otherwise two ends that cannot parse each other's answers could answer for ever.
    """
    try:
        label = load_label(text, limits)
    except RemoteProtocolError:
        return True
    return not isinstance(label, dict) or label.get("flow") == "EOT"


def _refuse_flow(path: str, reason: str, text: str) -> NoReturn:
    refuse("limit" if reason == "limit" else "schema", f"{path} {text}")


def _read(text: str, limits: Limits) -> ParsedLabel | None:
    label = load_label(text, limits)
    if not isinstance(label, dict) or not isinstance(label.get("tw"), dict) or "flow" not in label:
        return None
    fields = Field(label, "", _refuse_flow)
    own, verb = fields["tw"], fields["flow"].one_of(("BOT", "PAY", "DAT", "EOT"))
    if verb == "DAT":
        return ParsedLabel("CHUNK", part=own.object({"part"})["part"].count(MOST_RUNS))
    if verb == "PAY":
        return ParsedLabel("CREDIT", _credit(fields), _chunk(own.object({"chunk"})))
    if verb == "EOT":
        own.object(optional={"error", "heard"})
        if own["heard"].value is not None and own["error"].value is None:
            if not own["heard"].boolean():
                refuse("schema", "heard is true, or not said")
            return ParsedLabel("HEARD")
        if own["error"].value is None:
            return ParsedLabel("DONE")
        return ParsedLabel(
            "CANCEL", error=own["error"].object(optional=None)["text"].text(most=16 * _TEXT)[:_TEXT]
        )
    direction = fields["direction"].one_of(("extract", "inject"))
    if direction == "inject":
        own.object({*_WHAT, "chunk"}, {"request"})
    else:
        own.object({*_WHAT, "chunk", "tensor"}, {"check", "follow", "name"})
    own["version"].integer(_VERSION, _VERSION)
    key = own["key"].text(most=MOST_KEY)
    if direction == "inject":
        return ParsedLabel("GRANT", _credit(fields), _chunk(own), key=key)
    found = None if own["check"].value is None else own["check"].one_of(get_args(Checksum))
    check = cast("Checksum | None", found)
    name = "" if own["name"].value is None else own["name"].text(most=MOST_NAME)
    follow = 0 if own["follow"].value is None else own["follow"].count(MOST_FOLLOW)
    return ParsedLabel(
        "OFFER",
        _credit(fields),
        _chunk(own),
        key=key,
        check=check,
        tensor=own["tensor"],
        name=name,
        follow=follow,
    )


_remembered = lru_cache(maxsize=256)(_read)


def _credit(fields: Field) -> int:
    return fields["credit"].count(MOST_CREDIT, 1)


def _chunk(own: Field) -> int:
    return own["chunk"].count(MOST_CHUNK, 1)


def prefix(verb: str, own: dict[str, Json], **keys: Json) -> bytes:
    """Return the first frame of a message."""
    return b"ZIO0FLOW" + dump_json({**keys, "flow": verb, "tw": own}).encode()


def coordinates(request: int, granule: int, seqno: int) -> bytes:
    """Return the second frame of a message."""
    return _COORDINATES.pack(request, granule, seqno)


def unpack_coordinates(frame: memoryview) -> tuple[int, int, int]:
    """Return the numbers in the second frame of a message."""
    if frame.nbytes != _COORDINATES.size:
        refuse("frame", f"frame 1 has {frame.nbytes} bytes; coordinates have {_COORDINATES.size}")
    first, second, third = _COORDINATES.unpack(frame)
    return first, second, third


def message_frames(verb: TransferVerb, request: int, granule: int, said: ParsedLabel) -> Frames:
    """Return the header frames of a message without elements."""
    return [_prefix_of(verb, said), coordinates(request, granule, 0)]


def _prefix_of(verb: TransferVerb, said: ParsedLabel) -> bytes:
    what: dict[str, Json] = {"chunk": said.chunk, "key": said.key, "version": _VERSION}
    if verb == "OFFER":
        if said.check is not None:
            what["check"] = said.check
        if said.name:
            what["name"] = said.name
        if said.follow:
            what["follow"] = said.follow
        tensor = {} if said.tensor is None else said.tensor.mapping()
        return prefix("BOT", {**what, "tensor": tensor}, credit=said.credit, direction="extract")
    if verb == "GRANT":
        return prefix("BOT", what, credit=said.credit, direction="inject")
    if verb == "CREDIT":
        return prefix("PAY", {"chunk": said.chunk}, credit=said.credit)
    if verb == "CHUNK":
        return prefix("DAT", {"part": said.part})
    if verb in ("DONE", "HEARD"):
        return prefix("EOT", {} if verb == "DONE" else {"heard": True})
    return prefix("EOT", {"error": {"reason": "cancelled", "text": (said.error or "")[:_TEXT]}})


def next_state(role: TransferRole, state: TransferState, step: TransferStep) -> TransferState:
    """Return the state after a message.

    Raises
    ------
    RemoteProtocolError, LocalProtocolError
        If the table has no such transition.
    """
    found = TRANSFER_TRANSITIONS.get((role, state, step))
    if found is not None:
        return found
    if step[0] == "receive":
        refuse("flow", f"{step[1]} came to a {role} that is {state}")
    raise LocalProtocolError("flow", f"a {role} cannot send {step[1]} in state {state}")


def run_table(runs: Sequence[tuple[int, int, int]]) -> memoryview:
    """Return the payload of a grant: part, first and count of each missing run."""
    return memoryview(b"".join([_COORDINATES.pack(*run) for run in runs]))


def read_runs(message: Message, counts: Sequence[int]) -> list[tuple[int, int, int]]:
    """Return the missing runs of a grant, for parts with these element counts; all if it lists none.

    Raises
    ------
    RemoteProtocolError
        If a run exceeds its part.
    """
    parts = message.parts
    if not parts:
        return [(number, 0, count) for number, count in enumerate(counts) if count]
    data = parts[0]
    if len(parts) > 1 or data.nbytes % 24 or data.nbytes > 24 * MOST_RUNS:
        refuse("size", f"a table of missing runs has {data.nbytes} bytes in {len(parts)} parts")
    table: list[list[int]] = np.frombuffer(data, dtype="<u8").reshape(-1, 3).tolist()
    runs: list[tuple[int, int, int]] = []
    total = 0
    for part, first, count in table:
        total += count
        # Use Python integers, because sums of untrusted numbers may exceed 64 bits.
        if part >= len(counts) or not count or first + count > counts[part] or total > sum(counts):
            refuse("layout", f"run {part}, {first}, {count} is not within parts of {list(counts)[:8]}")
        runs.append((part, first, count))
    return runs


def check_frames(name: Checksum | None, count: int, data: memoryview) -> list[bytes]:
    """Return the frame with the element count and checksum of a chunk; an empty list without a checksum."""
    return [] if name is None else [CHECKED.pack(count, checksum_of(name)(data))]


def compare(name: Checksum, frame: memoryview, count: int, data: memoryview) -> None:
    """Raise `RemoteProtocolError` unless a chunk matches the checksum in its frame."""
    if frame.nbytes != CHECKED.size:
        refuse("frame", f"the check sum of a chunk has {frame.nbytes} bytes, not {CHECKED.size}")
    if CHECKED.unpack(frame) != (count, checksum_of(name)(data)):
        refuse("integrity", f"damaged: a chunk of {count} elements has another {name}")
