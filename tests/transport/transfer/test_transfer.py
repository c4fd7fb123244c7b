"""Ends of a transfer."""

import numpy as np
import pytest

from tensorwrapper.errors import (
    FlowAbortedError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Socket, Transfers
from tests.support.transport.sockets_of_transfers import CHUNK


@pytest.mark.parametrize("end", ["giver", "taker"])
def test_a_transfer_is_cancelled_at_either_end(pair, end):
    sink, source = pair("ROUTER", "DEALER")
    giving, taking = Transfers(source, chunk=CHUNK), Transfers(sink, chunk=CHUNK)
    given = giving.offer(np.arange(1_000_000))
    while not sink.poll(0.01):
        # It is offered once the socket is connected.
        giving.advance()
    taken = taking.accept(timeout=10).into()
    giving.advance()
    ended, other, their = (given, taken, taking) if end == "giver" else (taken, given, giving)
    ended.cancel("no more")
    ended.cancel()
    assert (ended.state, ended.missing == ()) == ("failed", end == "giver")
    with pytest.raises(FlowAbortedError, match="no more"):
        other.wait(timeout=5)
    with pytest.raises(FlowAbortedError, match="cancelled"):
        ended.wait(timeout=5)
    assert their.running == giving.running == taking.running == ()


def test_nobody_takes_it():
    with Socket("ROUTER") as sink, Socket("DEALER") as source:
        source.connect(sink.bind("tcp://127.0.0.1:*"))
        with Transfers(source) as transfers, pytest.raises(TransportTimeoutError):
            transfers.send(np.zeros(10), timeout=0.3)
        # What was offered and taken back is not offered any more.
        with Transfers(sink) as transfers:
            while sink.counters.messages_received < 2 or transfers.running:
                assert transfers.advance(timeout=5)
            with pytest.raises(TransportTimeoutError, match="no peer offered"):
                transfers.accept(timeout=0.05)
