"""What comes from peers that break the rules."""

import json

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import Transfers, TransferSender
from tests.support.transport.sockets_of_transfers import CHUNK
from tests.support.transport.transfers import skeleton


class Stranger:
    """A giver that says what it wants, over a socket of its own."""

    def __init__(self, pair, check=None):
        self.sink, self.source = pair("ROUTER", "DEALER")
        self.transfers = Transfers(self.sink, chunk=CHUNK)
        self.machine = TransferSender(skeleton(), 7, "key", chunk=CHUNK, check=check)
        self.source.send(self.machine.offer())
        self.out = np.full(1000, -1, "<i4")
        self.taken = self.transfers.accept(timeout=5).into(self.out)
        self.machine.receive(self.source.receive(timeout=5))

    def say(self, first, *frames, number=0, epoch=1, part=0):
        label = json.dumps({"flow": "DAT", "tw": {"part": part}})
        head = wire.Message(form="FLOW", label=label, origin=7, granule=first, seqno=epoch << 32 | number)
        self.source.send([*head.to_frames(), *frames])

    def refused(self):
        with pytest.raises(RemoteProtocolError) as caught:
            self.taken.wait(timeout=5)
        assert self.machine.receive(self.source.receive(timeout=5)) == "CANCEL"
        assert self.transfers.running == ()
        return caught.value.reason


@pytest.mark.parametrize(
    ("first", "frames", "keys", "reason"),
    [
        (999, [bytes(8)], {}, "size"),
        (0, [bytes(2 * CHUNK)], {}, "size"),
        (0, [bytes(3)], {}, "size"),
        (0, [b""], {}, "size"),
        (2**63, [bytes(4)], {}, "flow"),
        (0, [bytes(4)], {"part": 9}, "layout"),
        # They were dropped, and whoever sent them waited on.
        (0, [bytes(4)], {"part": -1}, "schema"),
        (0, [bytes(4)], {"part": "0"}, "schema"),
        (0, [], {"part": -1}, "schema"),
        (0, [bytes(4)], {"epoch": 2}, "flow"),
        (0, [bytes(4)], {"number": 8}, "flow"),
    ],
)
def test_a_chunk_that_does_not_fit_ends_the_transfer_and_the_peer_is_told(pair, first, frames, keys, reason):
    stranger = Stranger(pair)
    stranger.say(first, *frames, **keys)
    assert stranger.refused() == reason


def test_a_chunk_is_never_written_beyond_what_is_missing(pair):
    stranger = Stranger(pair)
    stranger.say(10, np.arange(10, dtype="<i4").tobytes())
    stranger.say(0, bytes(100), number=1)
    assert stranger.refused() == "size"
    assert stranger.out[10:20].tolist() == [*range(10)]


def test_a_chunk_with_another_check_sum_is_refused(pair):
    stranger = Stranger(pair, check="crc32")
    stranger.say(0, bytes(16), bytes(400))
    assert stranger.refused() == "integrity"


@pytest.mark.parametrize(
    "change",
    [
        {"credit": 0},
        {"direction": "both"},
        {"tw": {"version": 2, "key": "a", "chunk": 4096, "tensor": {}}},
        {"tw": {"version": 1, "key": "a", "chunk": 4096, "tensor": {}, "more": 1}},
        {"tw": {"version": 1, "key": "", "chunk": -1, "tensor": {}}},
    ],
)
def test_who_makes_a_malformed_offer_is_told(pair, change):
    """It was dropped, and whoever made it waited on."""
    sink, source = pair("ROUTER", "DEALER")
    with Transfers(sink) as transfers:
        own = {"version": 1, "key": "a", "chunk": 4096, "tensor": {}}
        label = {"flow": "BOT", "direction": "extract", "credit": 1, "tw": own, **change}
        source.send(wire.Message(form="FLOW", label=json.dumps(label), origin=99).to_frames())
        while not transfers.strays:
            assert transfers.advance(timeout=5)
        told = source.receive(timeout=5)
    assert (told.origin, told.label_object["flow"]) == (99, "EOT")
    assert told.label_object["tw"]["error"]["text"]
    assert transfers.running == ()


@pytest.mark.parametrize(
    "label", ["{", '{"flow":"EOT","tw":{"error":1}}', '{"flow":"EOT","tw":{"heard":false}}']
)
def test_who_says_a_malformed_end_is_told_nothing(pair, label):
    sink, source = pair("PAIR", "PAIR")
    source.send([b"ZIO0FLOW" + label.encode(), (99).to_bytes(8, "little") + bytes(16)])
    with Transfers(sink) as transfers:
        while not transfers.strays:
            assert transfers.advance(timeout=5)
        # What is sent next would come behind what was told.
        transfers.offer([1.0])
        assert source.receive(timeout=5).label_object["flow"] == "BOT"


def test_chunks_of_nobody_are_dropped_and_counted(pair):
    stranger = Stranger(pair)
    head = wire.Message(form="FLOW", label='{"flow":"DAT","tw":{"part":0}}', origin=8)
    stranger.source.send([*head.to_frames(), bytes(400)])
    stranger.say(0, bytes(400), epoch=0)
    stranger.source.send([b"what is this", b"x"])
    assert stranger.sink.poll(5)
    while stranger.transfers.strays < 2:
        assert stranger.transfers.advance(timeout=5)
    assert stranger.taken.state == "moving"
    assert (stranger.out == -1).all()
