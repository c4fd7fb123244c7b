"""Every kind of socket by every road: subscriptions, turns, and what each counts."""

import errno
import select
import socket as plain
import threading
import time

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    ConversionError,
    RemoteProtocolError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Counters, Socket

COUNTER = iter(range(10**6))
ROADS = ["tcp", "ipc", "inproc"]


def address_for(road, folder):
    if road == "tcp":
        return "tcp://127.0.0.1:*"
    return f"ipc://{folder}/k{next(COUNTER)}" if road == "ipc" else f"inproc://kinds-{next(COUNTER)}"


@pytest.fixture
def pair(tmp_path):
    """Make two connected sockets, closed at the end: the first kind listens, the second connects."""
    opened = []

    def make(listening, connecting, road="tcp", **options):
        left, right = Socket(listening, **options), Socket(connecting, **options)
        opened.extend((left, right))
        right.connect(left.bind(address_for(road, tmp_path)))
        return left, right

    yield make
    for socket in opened:
        socket.close()


def subscribed(publisher, *subscribers, topic=b""):
    """Subscribe, and wait until the publisher knows: what it sends before is lost."""
    for subscriber in subscribers:
        subscriber.subscribe(topic)
    waiting = set(subscribers)
    for _ in range(2000):
        if not waiting:
            break
        publisher.send(wire.encode([], form="TENS"))
        waiting -= {subscriber for subscriber in waiting if subscriber.poll(0.005)}
    assert not waiting
    for subscriber in subscribers:
        while subscriber.poll(0.05):
            subscriber.receive()


# PUB and SUB.


@pytest.mark.parametrize("road", ROADS)
def test_all_subscribers_get_what_is_published(pair, road):
    publisher, first = pair("PUB", "SUB", road)
    with Socket("SUB") as second:
        second.connect(publisher.addresses[0])
        subscribed(publisher, first, second)
        frames = wire.encode([np.arange(200_000), [[1, 2], [3, 4]]], seqno=5)
        publisher.send(frames)
        for subscriber in (first, second):
            message = subscriber.receive()
            assert [bytes(frame) for frame in message.to_frames()] == [bytes(frame) for frame in frames]


def test_a_topic_is_how_a_message_begins(pair):
    publisher, subscriber = pair("PUB", "SUB")
    subscribed(publisher, subscriber, topic="ZIO0TENS")
    publisher.send(wire.encode([[1]], level=4))
    publisher.send(wire.Message(form="TEXT", label="hello"))
    publisher.send(wire.encode([[2]]))
    assert subscriber.receive().tensors[0].tolist() == [2]
    subscriber.unsubscribe(b"ZIO0TENS")
    subscriber.subscribe(b"ZIO4")
    for _ in range(200):
        publisher.send(wire.encode([[3]], level=4))
        if subscriber.poll(0.02):
            break
    assert subscriber.receive().level == 4


def test_publishing_waits_for_nobody(pair):
    publisher, subscriber = pair("PUB", "SUB")
    publisher.send(wire.encode([[1]]), timeout=0)
    with pytest.raises(TransportTimeoutError, match=r"SUB socket at tcp://127\.0\.0\.1:\d+ within 0\.05 s"):
        subscriber.receive(timeout=0.05)


def test_what_a_slow_subscriber_lost_is_counted(pair):
    publisher, subscriber = pair("PUB", "SUB")
    subscribed(publisher, subscriber)
    payload = np.zeros(2**17)
    for seqno in range(1, 200):
        publisher.send(wire.encode([payload], origin=3, seqno=seqno))
    time.sleep(0.2)
    publisher.send(wire.encode([], origin=3, seqno=200))
    came = []
    while subscriber.poll(0.5):
        came.append(subscriber.receive().seqno)
    first, last = came[0], came[-1]
    assert len(came) < 199
    assert subscriber.counters.messages_dropped == last - first + 1 - len(came)


def test_messages_without_numbers_and_of_other_origins_are_no_gaps(pair):
    publisher, subscriber = pair("PUB", "SUB")
    subscribed(publisher, subscriber)
    for origin, seqno in [(1, 0), (2, 0), (1, 0), (1, 1), (2, 5), (1, 2), (2, 6), (1, 0)]:
        publisher.send(wire.encode([], origin=origin, seqno=seqno))
        subscriber.receive()
    assert subscriber.counters.messages_dropped == 4


@pytest.mark.parametrize("call", ["subscribe", "unsubscribe"])
def test_only_a_sub_has_topics(call):
    with Socket("PULL") as sink, pytest.raises(TransportError, match="PULL has none"):
        getattr(sink, call)("ZIO")
    with Socket("SUB") as sink, pytest.raises(ConversionError, match="bytes or text"):
        getattr(sink, call)(3)


# REQ and REP.


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize(("asks", "answers"), [("REQ", "REP"), ("REQ", "ROUTER"), ("DEALER", "REP")])
def test_a_question_is_answered(pair, asks, answers, road):
    server, client = pair(answers, asks, road)
    for value in range(3):
        client.send(wire.encode([[value]]))
        peer, question = server.receive_from()
        reply = wire.encode([[question.tensors[0][0].item() * 2]])
        server.send(reply, peer=peer or None)
        assert client.receive().tensors[0].tolist() == [value * 2]


def test_turns_are_kept(pair):
    server, client = pair("REP", "REQ")
    with pytest.raises(TransportTimeoutError, match="no message came"):
        client.receive(timeout=0.05)
    with pytest.raises(TransportError, match="in turn"):
        server.send(wire.encode([]))
    client.send(wire.encode([[1]]))
    with pytest.raises(TransportError, match="in turn"):
        client.send(wire.encode([[2]]))
    assert server.receive().tensors[0].tolist() == [1]
    server.send(wire.encode([[3]]))
    assert client.receive().tensors[0].tolist() == [3]


@pytest.mark.parametrize("kind", ["PULL", "SUB"])
def test_some_only_receive(kind):
    with Socket(kind) as socket, pytest.raises(TransportError, match=f"a {kind} socket receives") as caught:
        socket.send(wire.encode([]))
    assert caught.value.errno == errno.ENOTSUP


@pytest.mark.parametrize("kind", ["PUSH", "PUB"])
def test_some_only_send(kind):
    with Socket(kind) as socket, pytest.raises(TransportError, match=f"a {kind} socket sends") as caught:
        socket.receive()
    assert caught.value.errno == errno.ENOTSUP


# Frames that nobody has read, waiting, and who is to blame.


@pytest.mark.parametrize(
    ("listening", "connecting"), [("PULL", "PUSH"), ("ROUTER", "DEALER"), ("REP", "REQ")]
)
def test_frames_come_as_they_are(pair, listening, connecting):
    sink, source = pair(listening, connecting)
    source.send([b"no header", b"nor coordinates", b"part"])
    peer, frames = sink.receive_frames()
    assert [bytes(frame) for frame in frames] == [b"no header", b"nor coordinates", b"part"]
    assert bool(peer) == (listening == "ROUTER")


def test_a_message_that_breaks_the_rules_says_where_it_came_from(pair):
    sink, source = pair("PULL", "PUSH")
    source.send([b"no header", b"nor coordinates"])
    with pytest.raises(RemoteProtocolError, match=r"127\.0\.0\.1") as caught:
        sink.receive()
    assert caught.value.peer == b"127.0.0.1"


def test_one_waits_for_a_message_with_poll_or_a_selector(pair):
    sink, source = pair("PULL", "PUSH")
    assert not sink.poll()
    source.send(wire.encode([[1]]))
    assert sink.poll(10)
    sink.receive()
    assert not sink.poll()
    timer = threading.Timer(0.05, lambda: None)
    timer.start()
    for number in range(20):
        source.send(wire.encode([], seqno=number))
        while not sink.poll():
            select.select([sink.fileno()], [], [], 10)
        assert sink.receive().seqno == number
    timer.join()


# Counting.


class Relay:
    """Carries bytes between a client and a server, and counts them."""

    def __init__(self, port):
        self.listener = plain.create_server(("127.0.0.1", 0))
        self.port, self.target, self.counts = self.listener.getsockname()[1], port, [0, 0]
        self.ends = []
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        near, _ = self.listener.accept()
        far = plain.create_connection(("127.0.0.1", self.target))
        self.ends = [near, far]
        copies = [threading.Thread(target=self.copy, args=(near, far, 0), daemon=True)]
        copies[0].start()
        self.copy(far, near, 1)
        copies[0].join()

    def copy(self, source, goal, way):
        while data := source.recv(1 << 16):
            self.counts[way] += len(data)
            goal.sendall(data)
        goal.shutdown(plain.SHUT_WR)

    def close(self):
        self.thread.join(10)
        for end in (*self.ends, self.listener):
            end.close()


@pytest.mark.parametrize(
    ("listening", "connecting"),
    [("PULL", "PUSH"), ("ROUTER", "DEALER"), ("REP", "REQ"), ("PAIR", "PAIR"), ("REP", "DEALER")],
)
def test_bytes_on_the_wire_are_those_that_a_relay_sees(listening, connecting):
    with Socket(listening) as sink, Socket(connecting) as source:
        relay = Relay(int(sink.bind("tcp://127.0.0.1:*").rpartition(":")[2]))
        source.connect(f"tcp://127.0.0.1:{relay.port}")
        sizes = [0, 1, 100, 220, 255, 256, 70_000]
        seen = []
        for number, size in enumerate([8, *sizes]):
            source.send(wire.encode([np.zeros(size, "u1")], seqno=number))
            peer, message = sink.receive_from()
            assert message.seqno == number
            if listening in ("REP", "ROUTER"):
                sink.send(wire.encode([np.zeros(size, "u1")]), peer=peer or None)
                source.receive()
            seen.append((source.counters, sink.counters, tuple(relay.counts)))
        first, last = seen[0], seen[-1]
        for sender, receiver, way in ((0, 1, 0), (1, 0, 1)):
            sent = last[sender].bytes_sent_on_wire - first[sender].bytes_sent_on_wire
            assert sent == last[2][way] - first[2][way]
            assert sent == last[receiver].bytes_received_on_wire - first[receiver].bytes_received_on_wire
        assert source.counters.frames_sent == sink.counters.frames_received
        assert source.counters.bytes_sent == sink.counters.bytes_received
        assert source.counters.messages_sent == sink.counters.messages_received == len(sizes) + 1
    relay.close()


def test_what_was_not_sent_is_not_counted():
    with Socket("PUSH") as source:
        source.bind("tcp://127.0.0.1:*")
        with pytest.raises(TransportTimeoutError):
            source.send(wire.encode([[1]]), timeout=0)
        assert source.counters == Counters()
