"""Targets that take part in a flow: whatever the other end says is answered, or ends it."""

import json
from functools import cache
from pathlib import Path

from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import FlowMachine
from tests.fuzz.messages import LIMITS
from tests.fuzz.target import Target

_RECORDED = Path(__file__).parents[1] / "golden" / "zio-flow.json"
_CREDIT = 3


def _answer(machine: FlowMachine) -> None:
    """Send what an end may send now: that of a taker grants, that of a giver gives."""
    if machine.state == "asked":
        machine.accept(_CREDIT)
    if machine.due:
        machine.pay(machine.due)
    while machine.state == "giving" and machine.credit > 0:
        machine.give([[1]])
        if machine.total > _CREDIT:
            break
    if machine.state == "leaving":
        machine.end()


def lead(data: bytes) -> FlowMachine:
    """Lead one end of a flow by what the other says; the first byte tells how it begins."""
    machine = FlowMachine()
    if data[:1] in (b"1", b"2"):
        machine.offer("extract" if data[:1] == b"1" else "inject", _CREDIT)
    reader = wire.StreamReader(limits=LIMITS)
    reader.feed(data[1:])
    for message in reader.messages():
        before = machine.credit
        event = machine.receive(message)
        assert event.is_dropped or event.verb != "DAT" or machine.credit == before - 1
        assert 0 <= machine.credit <= machine.total
        _answer(machine)
    return machine


@cache
def _conversations() -> list[bytes]:
    """Return what each side of the recorded conversations says, as a stream."""
    found = []
    for conversation in json.loads(_RECORDED.read_text())["conversations"]:
        for side, begin in (("client", b"0"), ("server", b"1"), ("server", b"2")):
            pieces = [begin]
            for entry in conversation["messages"]:
                if entry["dir"].startswith(side):
                    frames = [bytes.fromhex(frame) for frame in entry["frames"]]
                    frames = wire.decode_frames(frames[0]) if len(frames) == 1 else frames[1:]
                    pieces += [bytes(piece) for piece in wire.stream_pieces([bytes(f) for f in frames])]
            found.append(b"".join(pieces))
    return found


TARGETS = [
    Target("flow", lead, _conversations, ("transport.FlowMachine.receive",), refusals=(RemoteProtocolError,)),
]
