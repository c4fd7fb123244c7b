"""Offers of strangers that vanish, or offer too much, keep nobody out."""

import threading
import time

import numpy as np
import pytest
import zmq

from tensorwrapper.errors import FlowAbortedError
from tensorwrapper.transport import Flows, Socket, Transfers, TransferSender
from tensorwrapper.transport.transfer import _dispatch, _scheduler
from tests.support.transport.flows import expected, give, in_thread
from tests.support.transport.transfers import skeleton

BEGIN = [b'ZIO0FLOW{"flow":"BOT","credit":1,"direction":"extract"}', bytes(24)]


def fill(address, messages, *, each=1, stay=False):
    """Send messages, so many to a connection, and vanish; or return who stays."""
    context = zmq.Context()
    sockets = []
    for at in range(0, len(messages), each):
        sockets.append(context.socket(zmq.DEALER))
        sockets[-1].linger = 1000
        sockets[-1].connect(address)
        for frames in messages[at : at + each]:
            sockets[-1].send_multipart([b"", *frames])
    if stay:
        return context, sockets
    for socket in sockets:
        socket.close()
    context.term()
    return None


def offers(count):
    return [TransferSender(skeleton(), 100 + k, f"key {k}").offer() for k in range(count)]


def offer(address, found):
    with Socket("DEALER") as socket:
        socket.connect(address)
        with Transfers(socket, timeout=20) as transfers:
            try:
                transfers.send(np.arange(5), key="honest")
            except FlowAbortedError as error:
                found.append(error)


def test_offers_of_64_strangers_that_vanished_make_room(monkeypatch):
    monkeypatch.setattr(_dispatch, "_SILENT", 0.4)
    monkeypatch.setattr(_scheduler, "_OFFERED", 0.2)
    found = []
    with Socket("ROUTER", timeout=20) as socket, Transfers(socket, timeout=20) as transfers:
        address = socket.bind("tcp://127.0.0.1:*")
        fill(address, offers(64))
        while len(transfers.running) < 64:
            assert transfers.advance(timeout=10)
        honest = threading.Thread(target=offer, args=[address, found])
        honest.start()
        while transfers.running[-1].key != "honest":
            assert transfers.advance(timeout=10)
        assert len(transfers.running) == 1
        # Those of before are not handed out.
        taken = transfers.accept(timeout=10)
        assert taken.key == "honest"
        taken.into().wait()
        honest.join()
    assert found == []


def test_one_peer_has_half_of_the_places_and_others_the_rest():
    found = []
    with Socket("ROUTER", timeout=20) as socket, Transfers(socket, transfers=8, timeout=20) as transfers:
        address = socket.bind("tcp://127.0.0.1:*")
        context, [stranger] = fill(address, offers(20), each=20, stay=True)
        while transfers.strays < 16:
            assert transfers.advance(timeout=10)
        honest = threading.Thread(target=offer, args=[address, found])
        honest.start()
        taken = [transfers.accept(timeout=10) for _ in range(5)]
        assert [transfer.key for transfer in taken] == ["key 0", "key 1", "key 2", "key 3", "honest"]
        taken[-1].into().wait()
        honest.join()
        stranger.close(linger=0)
        context.term()
    assert found == []


def test_what_was_accepted_is_not_forgotten_for_others(monkeypatch):
    monkeypatch.setattr(_dispatch, "_SILENT", 0.0)
    with Socket("ROUTER", timeout=20) as socket, Transfers(socket, transfers=1) as transfers:
        address = socket.bind("tcp://127.0.0.1:*")
        fill(address, offers(1))
        held = transfers.accept(timeout=10)
        found = []
        other = threading.Thread(target=offer, args=[address, found])
        other.start()
        while not transfers.strays:
            assert transfers.advance(timeout=10)
        other.join()
        assert (held.state, transfers.running) == ("offered", (held,))
        assert "1 transfers already" in str(found)


@pytest.mark.parametrize("background", [False, True])
def test_flows_that_vanished_peers_asked_for_make_room(background):
    with Socket("ROUTER", timeout=20) as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        with Flows(socket, flows=16, timeout=0.3, background=background) as flows:
            context, sockets = fill(address, [BEGIN] * 16, stay=True)
            deadline = time.monotonic() + 10
            while len(flows.running) < 16 and time.monotonic() < deadline:
                with flows._lock:
                    flows._read_next(time.monotonic() + 0.05)
            for stranger in sockets:
                stranger.close(linger=0)
            context.term()
            time.sleep(0.35)
            kept = [*flows.running]  # So that no new flow gets the id of one of them.
            dead = {*map(id, kept)}
            join = in_thread(give, address, 5)
            while dead >= {*map(id, flows.running)}:
                with flows._lock:
                    assert flows._read_next(time.monotonic() + 10)
            assert len(flows.running) <= 16
            # What was agreed to in the background, for a peer that has gone, says so when it is used.
            while (flow := flows.accept(timeout=10)).peer != flows.running[-1].peer:
                assert background
            with flow:
                assert [message.tensors[0].tolist() for message in flow] == expected(5)
            join()


def test_a_peer_that_has_gone_since_it_asked_is_passed_over():
    with Socket("ROUTER", timeout=20) as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        flows = Flows(socket)
        fill(address, [BEGIN] * 2)
        join = in_thread(give, address, 5)
        with flows.accept(timeout=10) as flow:
            assert [message.tensors[0].tolist() for message in flow] == expected(5)
        join()
