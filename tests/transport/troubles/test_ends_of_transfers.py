"""The end of a transfer is certain at both ends, also where one closes at once."""

import threading
import time

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import TransportError
from tensorwrapper.transport import Socket, Transfers, TransferSender
from tests.support.transport.transfers import skeleton


def give(address, failed, kind="DEALER"):
    try:
        with Socket(kind) as socket:
            socket.connect(address)
            with Transfers(socket, timeout=3) as transfers:
                transfers.send(np.arange(1000))
    except TransportError as error:
        failed.append(error)


@pytest.mark.parametrize(("left", "right"), [("ROUTER", "DEALER"), ("PAIR", "PAIR"), ("DEALER", "DEALER")])
def test_who_closes_at_once_takes_no_last_word_with_it(left, right):
    """Without an answer to it, one of ten senders here was told that its tensor may be lost."""
    failed = []
    for _ in range(25):
        with Socket(left, linger=0) as socket:
            address = socket.bind("tcp://127.0.0.1:*")
            giver = threading.Thread(target=give, args=[address, failed, right])
            giver.start()
            with Transfers(socket) as transfers:
                transfers.receive()
        giver.join()
    assert failed == []


@pytest.fixture
def stranger(pair):
    """Return the transfers of a taker, and a giver that says only what it is told to."""
    sink, source = pair("ROUTER", "DEALER")
    machine = TransferSender(skeleton(), 7, "key", chunk=4096)
    source.send(machine.offer())
    with Transfers(sink, chunk=4096) as transfers:
        taken = transfers.accept(timeout=5).into()
        machine.receive(source.receive())
        run = machine.next()
        source.send([*machine.header(run), bytes(4000)])
        taken.wait(timeout=5)
        yield transfers, source, machine


def test_the_last_word_is_said_again_until_it_is_heard(stranger):
    transfers, source, machine = stranger
    closing = []

    def answer_the_third():
        said = [wire.decode(source.receive_frames(timeout=5)[1]) for _ in range(3)]
        closing.append([machine.receive(message) for message in said])
        source.send(machine.heard())

    thread = threading.Thread(
        target=lambda: (setattr(source._endpoint, "_thread", threading.get_ident()), answer_the_third())
    )
    thread.start()
    begin = time.monotonic()
    transfers.close()
    thread.join()
    source._endpoint._thread = threading.get_ident()
    assert closing == [["DONE"] * 3]
    assert transfers._engine.unheard == {}
    assert time.monotonic() - begin < 20
    assert transfers.strays == 0


def test_nobody_waits_for_a_giver_that_has_gone_or_never_answers(stranger):
    transfers, source, _ = stranger
    transfers.close()
    assert [*transfers._engine.unheard] == ["key"]
    source.close()
    transfers.close()
    assert transfers._engine.unheard == {}


def test_an_answer_to_nothing_is_dropped(pair):
    sink, source = pair("ROUTER", "DEALER")
    source.send([b'ZIO0FLOW{"flow":"EOT","tw":{"heard":true}}', (9).to_bytes(8, "little") + bytes(16)])
    source.send([b'ZIO0FLOW{"flow":"EOT","tw":{"heard":false}}', bytes(24)])
    source.send([b'ZIO0FLOW{"flow":"EOT","tw":{}}', (9).to_bytes(8, "little") + bytes(16)])
    with Transfers(sink) as transfers:
        while transfers.strays < 3:
            assert transfers.advance(timeout=10)
        # Else two ends that know nothing could answer each other for ever.
        assert not source.poll(0.1)
