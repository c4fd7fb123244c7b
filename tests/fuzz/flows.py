"""Targets that take part in a flow, or in a transfer: whatever the other end says is answered, or ends it."""

import json
from functools import cache
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import FlowMachine, TransferReceiver, TransferSender
from tensorwrapper.wire.lowlevel import take_apart
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


_CHUNK = 64
_ROWS = tw.from_buffer(np.arange(44), tw.Shape.jagged([5, 9, 30]))


def _giver(key: str = "key") -> TransferSender:
    return TransferSender(
        take_apart(_ROWS, LIMITS).whole, 7, key, credit=_CREDIT, chunk=_CHUNK, limits=LIMITS
    )


def _messages(data: bytes) -> list[wire.Message]:
    reader = wire.StreamReader(limits=LIMITS)
    reader.feed(data)
    return list(reader.messages())


def give(data: bytes) -> TransferSender:
    """Lead the end that gives by what the other says; the first byte tells how it begins."""
    machine = _giver()
    if data[:1] == b"1":
        machine.offer()
    for message in _messages(data[1:]):
        machine.receive(message)
        assert machine.credit <= _CREDIT
        if machine.state == "asked":
            machine.offer()
        while (run := machine.next()) is not None:
            assert run.first + run.count <= machine.tensor.sizes[run.part]
            machine.sent(run)
    return machine


def take(data: bytes) -> TransferReceiver:
    """Lead the end that takes by what the other says: elements are of the part in the level."""
    machine = TransferReceiver(credit=_CREDIT, chunk=_CHUNK, limits=LIMITS)
    if data[:1] == b"1":
        machine.ask(7, "key", _CREDIT, _CHUNK)
    for message in _messages(data[1:]):
        if not message.parts:
            machine.receive(message)
        elif room := machine.room(message.level, message.granule, message.seqno):
            left = machine.left
            count = machine.came(message.level, message.granule, message.parts[0].nbytes, message.seqno)
            assert 0 < count <= room
            assert machine.left == left - count
        if machine.is_complete and machine.state in ("offered", "moving"):
            machine.done()
        elif machine.state == "offered":
            machine.grant(_CREDIT, _CHUNK)
        elif machine.state == "moving" and machine.outstanding < 2:
            machine.pay(1, _CHUNK)
    return machine


def _stream(*messages: list[bytes | memoryview]) -> bytes:
    return b"".join([bytes(piece) for frames in messages for piece in wire.stream_pieces(frames)])


@cache
def _takers_say() -> list[bytes]:
    """Return what an end that takes says to one that gives."""
    found = []
    for begin in (b"0", b"1"):
        giver, taker = _giver(), TransferReceiver(credit=_CREDIT, chunk=_CHUNK)
        if begin == b"0":
            said = [taker.ask(7, "key", 1, _CHUNK)]
            giver.receive(wire.decode(said[0]))
            taker.receive(wire.decode(giver.offer()))
        else:
            taker.receive(wire.decode(giver.offer()))
            said = [taker.grant(1, _CHUNK)]
        said.append(taker.pay(1, 32))
        taker.came(0, 5, 40, 1 << 32)
        said += [taker.grant(_CREDIT, _CHUNK), taker.pay(1, 16), taker.cancel("enough")]
        found += [begin + _stream(*said[:k]) for k in range(1, len(said) + 1)]
    return found


@cache
def _givers_say() -> list[bytes]:
    """Return what an end that gives says to one that takes: offers, and chunks in place of their bytes."""
    giver, taker = _giver(), TransferReceiver(credit=_CREDIT, chunk=_CHUNK)
    said = [giver.offer()]
    taker.receive(wire.decode(said[0]))
    giver.receive(wire.decode(taker.grant(_CREDIT, _CHUNK)))
    while (run := giver.next()) is not None:
        frames = giver.header(run)
        size = run.count * giver.tensor.item_sizes[run.part]
        header = wire.decode(frames)
        chunk = wire.Message(
            form="FLOW", level=run.part, granule=header.granule, seqno=header.seqno, parts=[bytes(size)]
        )
        said.append(chunk.to_frames())
        giver.sent(run)
    said.append(giver.cancel("enough"))
    return [begin + _stream(*said[:k]) for begin in (b"0", b"1") for k in range(1, len(said) + 1)]


_REFUSALS = (RemoteProtocolError,)

TARGETS = [
    Target("flow", lead, _conversations, ("transport.FlowMachine.receive",), refusals=_REFUSALS),
    Target("transfer-giver", give, _takers_say, ("transport.TransferSender.receive",), refusals=_REFUSALS),
    Target("transfer-taker", take, _givers_say, ("transport.TransferReceiver.receive",), refusals=_REFUSALS),
]
