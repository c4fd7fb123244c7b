"""Messages over real sockets: what is sent arrives as it was, by any road, without a copy."""

import gc
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
import zmq

import tensorwrapper as tw
from tensorwrapper import Shape, Tiling, wire
from tensorwrapper.buffer import count_copies
from tensorwrapper.errors import PeerUnreachableError, TransportError, TransportTimeoutError
from tensorwrapper.transport import Socket

LARGE = 32 * 2**20
ROADS = ["tcp", "ipc", "inproc"]


def frames_of(seqno=1):
    table = tw.as_tensor(np.arange(12.0).reshape(3, 4))
    tensors = [
        table,
        tw.jagged([[1, 2, 3], [], [4]]),
        table.tiled(Tiling([1, 2], [3, 1])),
        np.array(2.5),
        np.empty((0, 3), np.float32),
        np.arange(200_000, dtype=np.int64),
    ]
    return wire.encode(tensors, seqno=seqno, metadata={"run": 3})


def assert_arrived(message, frames):
    assert [bytes(frame) for frame in message.to_frames()] == [bytes(frame) for frame in frames]
    want = wire.decode(frames)
    assert message == want
    for ours, theirs in zip(message.tensors, want.tensors, strict=True):
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        assert ours.tolist() == theirs.tolist()
        assert ours.is_readonly


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(("listening", "connecting"), [("PULL", "PUSH"), ("PUSH", "PULL")])
def test_push_to_pull(pair, road, listening, connecting):
    sockets = dict(zip((listening, connecting), pair(listening, connecting, road), strict=True))
    for seqno in range(3):
        sockets["PUSH"].send(frames_of(seqno))
    for seqno in range(3):
        assert_arrived(sockets["PULL"].receive(), frames_of(seqno))


@pytest.mark.parametrize("road", ROADS)
def test_pair_to_pair_and_back(pair, road):
    left, right = pair("PAIR", "PAIR", road)
    right.send(frames_of(1))
    received = left.receive()
    assert_arrived(received, frames_of(1))
    # What was received can be sent on as it is.
    left.send(received)
    assert_arrived(right.receive(), frames_of(1))


@pytest.mark.parametrize("road", ROADS)
def test_dealer_to_router_and_back(pair, road):
    router, dealer = pair("ROUTER", "DEALER", road)
    dealer.send(frames_of(1))
    peer, received = router.receive_from()
    assert peer
    assert_arrived(received, frames_of(1))
    router.send(wire.decode(frames_of(2)), peer=peer)
    nobody, reply = dealer.receive_from()
    assert nobody == b""
    assert_arrived(reply, frames_of(2))


def test_a_reply_reaches_the_peer_it_is_for(pair):
    router, first = pair("ROUTER", "DEALER")
    with Socket("DEALER") as second:
        second.connect(router.addresses[0])
        first.send(wire.encode([], seqno=1))
        second.send(wire.encode([], seqno=2))
        peers = {message.seqno: peer for peer, message in (router.receive_from(), router.receive_from())}
        assert len(set(peers.values())) == 2
        for seqno, peer in peers.items():
            router.send(wire.encode([], seqno=10 * seqno), peer=peer)
        assert (first.receive().seqno, second.receive().seqno) == (10, 20)


@pytest.mark.parametrize("kind", ["PUSH", "PAIR", "DEALER"])
@pytest.mark.parametrize("road", ["tcp", "ipc"])
def test_large_frames_may_change_once_they_are_delivered(pair, road, kind):
    listening = {"PUSH": "PULL", "PAIR": "PAIR", "DEALER": "ROUTER"}[kind]
    sink, source = pair(listening, kind, road)
    large = np.arange(LARGE // 8, dtype=np.int64)
    small = np.array([7.0])
    with count_copies() as count:
        delivery = source.send(wire.encode([large, small]))
        assert not delivery.done  # the last frame is small and done at once; the large one is not
        message = sink.receive()
        delivery.wait(20)
    assert count.nbytes == 0
    assert delivery.done
    large[:] = -1
    small[:] = -1
    got, last = message.tensors
    assert np.array_equal(got.to_numpy(), np.arange(LARGE // 8))
    assert last.tolist() == [7]


def test_memory_that_is_still_being_read_is_reported_and_waited_for(pair):
    sink, source = pair("PULL", "PUSH", "inproc")
    delivery = source.send(wire.encode([np.zeros(2**17)]))
    # Between threads the reader has the sender's own memory, until it lets go of it.
    message = sink.receive()
    with pytest.raises(TransportTimeoutError):
        delivery.wait(0.02)
    assert not delivery.done
    del message
    gc.collect()
    delivery.wait(10)
    delivery.wait(0)
    assert delivery.done


def test_waiting_for_what_is_done_takes_no_time_however_many_frames(pair):
    sink, source = pair("PULL", "PUSH")
    delivery = source.send(wire.encode([np.zeros(2**14) for _ in range(50)]))
    sink.receive()
    delivery.wait(10)
    for _ in range(20):
        delivery.wait(0)
    with pytest.raises(TransportError, match="timeout"):
        delivery.wait(-1)
    delivery.wait(float("inf"))


def test_a_buffer_cannot_go_away_while_it_is_sent(pair):
    sink, source = pair("PULL", "PUSH", "inproc")
    payload = bytearray(2**20)
    delivery = source.send(wire.Message(form="BUFF", parts=[payload]))
    message = sink.receive()
    with pytest.raises(BufferError):
        payload.clear()
    del message
    gc.collect()
    delivery.wait(10)
    # The lock is given up just after the delivery is announced.
    until = time.monotonic() + 10
    while payload and time.monotonic() < until:
        try:
            payload.clear()
        except BufferError:
            time.sleep(0.01)
    assert not payload


def test_small_buffers_are_free_at_once(pair):
    sink, source = pair("PULL", "PUSH")
    payload = bytearray(b"small")
    delivery = source.send(wire.Message(form="BUFF", parts=[payload]))
    assert delivery.done
    payload.clear()
    assert bytes(sink.receive().parts[0]) == b"small"


@pytest.mark.parametrize("road", ["tcp", "ipc"])
def test_received_frames_are_aligned_so_that_none_is_copied(pair, road):
    sink, source = pair("PULL", "PUSH", road)
    sizes = [1, 3, 5, 7, 33, 35, 101, 999, 4001, 8191, 8193, 70001]
    tensors = [np.arange(n % 251, n % 251 + n).astype(t) for n in sizes for t in ("u1", "f8", "c16")]
    source.send(wire.encode(tensors))
    with count_copies() as count:
        message = sink.receive()
    assert count.nbytes == 0
    for got, want in zip(message.tensors, tensors, strict=True):
        assert got.to_numpy().__array_interface__["data"][0] % 8 == 0
        assert np.array_equal(got.to_numpy(), want)


def test_received_tensors_outlive_the_message_and_the_socket(pair):
    sink, source = pair("PULL", "PUSH")
    source.send(wire.encode([np.arange(100_000), np.arange(10)]))
    arrays = [tensor.to_numpy() for tensor in sink.receive().tensors]
    sink.close()
    source.close()
    gc.collect()
    assert [array.sum() for array in arrays] == [4999950000, 45]


def test_the_envelope_of_a_dealer_is_one_empty_frame():
    with zmq.Context() as context, context.socket(zmq.ROUTER) as raw, Socket("DEALER") as dealer:
        raw.linger = 0
        raw.rcvtimeo = 10_000
        dealer.connect(f"tcp://127.0.0.1:{raw.bind_to_random_port('tcp://127.0.0.1')}")
        dealer.send(wire.encode([np.arange(3, dtype="u1")], seqno=5))
        peer, *frames = raw.recv_multipart()
        sent = [bytes(frame) for frame in wire.encode([np.arange(3, dtype="u1")], seqno=5)]
        assert frames == [b"", *sent]
        raw.send_multipart([peer, b"", *sent])
        assert_arrived(dealer.receive(), sent)


@pytest.mark.parametrize("kind", [zmq.REQ, zmq.DEALER])
def test_the_envelope_of_a_router_is_the_peer_and_one_empty_frame(kind):
    with zmq.Context() as context, context.socket(kind) as raw, Socket("ROUTER") as router:
        raw.linger = 0
        raw.rcvtimeo = 10_000
        raw.setsockopt(zmq.IDENTITY, b"somebody")
        raw.connect(router.bind("tcp://127.0.0.1:*"))
        sent = [bytes(frame) for frame in wire.encode([np.arange(3, dtype="u1")])]
        # REQ writes and strips the empty frame itself: that is what a DEALER pretends to be.
        bare = [] if kind == zmq.REQ else [b""]
        raw.send_multipart([*bare, *sent])
        peer, message = router.receive_from()
        assert peer == b"somebody"
        assert_arrived(message, sent)
        router.send(message, peer=peer)
        assert raw.recv_multipart() == [*bare, *sent]


@pytest.mark.parametrize(("kind", "raw_kind"), [("PUSH", zmq.PULL), ("PAIR", zmq.PAIR)])
def test_other_sockets_have_no_envelope(kind, raw_kind):
    with zmq.Context() as context, context.socket(raw_kind) as raw, Socket(kind) as source:
        raw.rcvtimeo = 10_000
        source.connect(f"tcp://127.0.0.1:{raw.bind_to_random_port('tcp://127.0.0.1')}")
        sent = [bytes(frame) for frame in wire.encode([np.arange(3, dtype="u1")])]
        source.send(sent)
        assert raw.recv_multipart() == sent


def test_a_router_knows_who_is_not_there(pair):
    router, dealer = pair("ROUTER", "DEALER")
    with pytest.raises(PeerUnreachableError, match="nobody") as caught:
        router.send(wire.encode([]), peer=b"nobody")
    assert isinstance(caught.value, ConnectionError)
    dealer.send(wire.encode([], seqno=1))
    peer, _ = router.receive_from()
    dealer.close()

    def send_on():
        # Until the router has noticed; what it takes before is lost with the peer.
        until = time.monotonic() + 10
        while time.monotonic() < until:
            router.send(wire.encode([], seqno=2), peer=peer)
            time.sleep(0.01)

    with pytest.raises(PeerUnreachableError):
        send_on()


ECHO = """
import sys
from tensorwrapper.transport import Socket
with Socket("DEALER", timeout=20) as socket:
    socket.connect(sys.argv[1])
    for _ in range(2):
        message = socket.receive()
        socket.send(message).wait(20)
"""


def test_another_process_echoes_a_message():
    with Socket("DEALER", timeout=30) as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        process = subprocess.Popen([sys.executable, "-c", ECHO, address])
        try:
            for seqno in range(2):
                frames = [*frames_of(seqno), np.arange(LARGE // 8).data.cast("B")]
                socket.send(frames)
                assert_arrived(socket.receive(), frames)
            assert process.wait(20) == 0
        finally:
            process.kill()
            process.wait()


def test_each_thread_has_sockets_of_its_own():
    got = []

    def receive(address):
        with Socket("PULL") as sink:
            sink.connect(address)
            got.extend(sink.receive().seqno for _ in range(20))

    with Socket("PUSH") as source:
        thread = threading.Thread(target=receive, args=(source.bind("inproc://threads"),))
        thread.start()
        for seqno in range(20):
            source.send(wire.encode([np.arange(seqno)], seqno=seqno))
        thread.join(20)
    assert not thread.is_alive()
    assert got == list(range(20))


def test_a_window_of_a_larger_tensor_is_sent_as_it_lies(pair):
    sink, source = pair("PULL", "PUSH")
    whole = tw.as_tensor(np.arange(10.0).reshape(5, 2))
    window = whole.window(Shape(2, 2, origin=(1, 0)))
    with count_copies() as count:
        source.send(wire.encode([window]))
        (got,) = sink.receive().tensors
    assert count.copies == 0
    assert (got.shape, got.tolist()) == (window.shape, window.tolist())
