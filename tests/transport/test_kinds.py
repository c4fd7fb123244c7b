"""Every kind of socket by every road: subscriptions and turns."""

import time

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    ConversionError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Socket

ROADS = ["tcp", "ipc", "inproc"]


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
    with Socket("PULL") as sink, pytest.raises(TransportError, match="not a PULL"):
        getattr(sink, call)("ZIO")
    with Socket("SUB") as sink, pytest.raises(ConversionError, match="bytes or str"):
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
    with pytest.raises(TransportError, match="in turn"):
        client.receive(timeout=0.05)
    with pytest.raises(TransportError, match="in turn"):
        server.send(wire.encode([]))
    client.send(wire.encode([[1]]))
    with pytest.raises(TransportError, match="in turn"):
        client.send(wire.encode([[2]]))
    assert server.receive().tensors[0].tolist() == [1]
    server.send(wire.encode([[3]]))
    assert client.receive().tensors[0].tolist() == [3]
