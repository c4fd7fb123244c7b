"""Both ends of a transfer without a socket, and what they say to one another."""

import json
import random
from typing import get_args

import numpy as np

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.transport import Run, TransferReceiver, TransferSender, TransferVerb
from tensorwrapper.wire.lowlevel import take_apart

VERBS = get_args(TransferVerb)
ELEMENTS = np.arange(1000, dtype="<i4")


def skeleton(data=ELEMENTS):
    return take_apart(tw.as_tensor(data), wire.DEFAULT_LIMITS).whole


def read(frames):
    return wire.decode(frames)


def pair(credit=4, chunk=400, *, granted=2, data=ELEMENTS):
    """Return a giver and a taker that have said what the tensor is, and what is missing."""
    giver, taker = TransferSender(skeleton(data), 7, "key", credit=credit, chunk=chunk), TransferReceiver()
    taker.receive(read(giver.offer()))
    giver.receive(read(taker.grant(granted, chunk)))
    return giver, taker


def chunk_of(giver):
    """Return the next chunk as what arrives: part, first element, bytes, number."""
    run = giver.next()
    message = read(giver.header(run))
    giver.sent(run)
    part = json.loads(message.label)["tw"]["part"]
    nbytes = run.count * giver.tensor.item_sizes[part]
    return part, message.granule, nbytes, message.seqno


def take(taker, chunk):
    part, first, nbytes, seqno = chunk
    if taker.room(part, first, seqno):
        taker.came(part, first, nbytes, seqno)


def in_state(role, state):
    giver, taker = TransferSender(skeleton(), 7, "key", credit=4), TransferReceiver()
    machine = giver if role == "giver" else taker
    if state == "asked":
        asked = taker.ask(7, "key", 2, 400)
        if role == "giver":
            giver.receive(read(asked))
    if state in ("offered", "moving", "done"):
        taker.receive(read(giver.offer()))
    if state in ("moving", "done"):
        giver.receive(read(taker.grant(2, 4096)))
    if state == "done":
        take(taker, chunk_of(giver))
        giver.receive(read(taker.done()))
    if state == "failed":
        machine.fail()
    assert machine.state == state
    return machine


def send(machine, verb):
    if verb == "CHUNK":
        machine.sent(machine.next() or Run(0, 0, 1, 0))
        return
    does = {
        "OFFER": getattr(machine, "offer", None),
        "GRANT": lambda: machine.grant(1, 400),
        "CREDIT": lambda: machine.pay(1, 400),
        "DONE": getattr(machine, "done", None),
        "HEARD": getattr(machine, "heard", None),
        "CANCEL": lambda: machine.cancel("enough"),
    }
    does[verb]()


def said(verb, epoch=1):
    what = {"chunk": 400, "key": "key", "version": 1}
    flow, keys, own = {
        "OFFER": (
            "BOT",
            {"direction": "extract", "credit": 2},
            what | {"tensor": skeleton().described.value},
        ),
        "GRANT": ("BOT", {"direction": "inject", "credit": 2}, what),
        "CREDIT": ("PAY", {"credit": 1}, {"chunk": 400}),
        "CHUNK": ("DAT", {}, {"part": 0}),
        "DONE": ("EOT", {}, {}),
        "HEARD": ("EOT", {}, {"heard": True}),
        "CANCEL": ("EOT", {}, {"error": {"reason": "cancelled", "text": "enough"}}),
    }[verb]
    label = json.dumps({"flow": flow, **keys, "tw": own})
    return wire.Message(form="FLOW", label=label, origin=7, granule=epoch)


def receive(machine, verb):
    if verb == "CHUNK" and isinstance(machine, TransferReceiver):
        seqno = 1 << 32
        if machine.state == "done":
            assert machine.room(0, 0, seqno) == 0
        else:
            machine.came(0, 0, 4, seqno)
        return
    # A grant that begins anew has a higher number.
    machine.receive(said(verb, 2 if verb == "GRANT" else 1))


# Credit.


# What a taker takes.


# Grants.


# Offers.


def entry(extent, part):
    return {"dtype": "i", "word": 4, "shape": [extent], "part": part}


def spoilt(**changes):
    label = json.loads(said("OFFER").label)
    for key, value in changes.items():
        label["tw"][key] = value
    return wire.Message(form="FLOW", label=json.dumps(label), origin=7)


# Whatever is lost.


class Link:
    """Two ends and what is between them, where messages are lost, and chunks overtake one another."""

    def __init__(self, seed, loss):
        self.chance, self.loss = random.Random(seed), loss
        self.giver = TransferSender(skeleton(), 7, "key", credit=4, chunk=128)
        self.taker = TransferReceiver()
        self.there = np.zeros(1000, int)
        self.to_taker, self.to_giver = [self.giver.offer()], []

    def step(self):
        if self.to_taker and self.chance.random() < 0.5:
            moving = self.giver.state == "moving"
            frames = self.to_taker.pop(self.chance.randrange(len(self.to_taker)) if moving else 0)
            if self.chance.random() >= self.loss:
                self.come(read(frames[:2]), frames[2:])
        elif self.to_giver:
            frames = self.to_giver.pop(0)
            if self.chance.random() >= self.loss:
                self.giver.receive(read(frames))
        elif (run := self.giver.next()) is not None:
            self.to_taker.append([*self.giver.header(run), bytes(run.count)])
            self.giver.sent(run)
        elif not self.to_taker and self.taker.state == "moving":
            # Nothing comes any more.
            self.to_giver.append(self.taker.grant(4, 128))
        elif not self.to_taker:
            self.to_taker.append(self.giver.offer())

    def come(self, message, data):
        taker = self.taker
        if not data:
            taker.receive(message)
            if taker.state == "done":
                self.to_giver.append(taker.done())
            elif taker.state == "offered":
                self.to_giver.append(taker.grant(4, 128))
        elif taker.room(0, message.granule, message.seqno):
            count = len(data[0])
            self.there[message.granule : message.granule + count] += 1
            taker.came(0, message.granule, 4 * count, message.seqno)
        if taker.state == "moving" and taker.is_complete:
            self.to_giver.append(taker.done())
        elif taker.state == "moving" and taker.outstanding < 4:
            self.to_giver.append(taker.pay(4 - taker.outstanding, 128))
