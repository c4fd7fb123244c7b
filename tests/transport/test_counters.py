"""What sockets count, beside what a relay between them sees."""

import socket as plain
import threading

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    TransportTimeoutError,
)
from tensorwrapper.transport import Counters, Socket

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
