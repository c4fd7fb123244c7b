"""What goes through a socket: one way or both, unread, waited for, and who is to blame for it."""

import errno
import select
import threading

import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    RemoteProtocolError,
    TransportError,
)
from tensorwrapper.transport import Socket


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
