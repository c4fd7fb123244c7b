"""Who is connected to where a socket listens."""

import os
import socket as sockets
import stat
import time

import pytest
import zmq

from tensorwrapper.errors import TransportClosedError, TransportError
from tensorwrapper.transport import Socket
from tensorwrapper.transport.connections._peer_connections import PeerConnections


def wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    assert condition()


def test_it_tells_who_came_and_went_also_of_who_says_nothing():
    with Socket("ROUTER", watched=True) as router:
        host, _, port = router.bind("tcp://127.0.0.1:*").removeprefix("tcp://").rpartition(":")
        assert router.guests == ()
        assert len(router.filenos()) == 2
        with sockets.create_connection((host, int(port))), sockets.create_connection((host, int(port))):
            wait_for(lambda: len(router.guests) == 2)
            assert all(stat.S_ISSOCK(os.fstat(own).st_mode) for own in router.guests)
        wait_for(lambda: router.guests == ())
        with Socket("DEALER", linger=0) as dealer:
            dealer.connect(f"tcp://{host}:{port}")
            dealer.send([b"a", b"b"])
            router.receive_frames()
            assert router.guests == (router.sender,)
        wait_for(lambda: router.guests == ())


def test_who_does_not_watch_tells_nothing_and_who_does_connects_to_nobody():
    with Socket("ROUTER") as router, pytest.raises(TransportError, match="open it with watched=True"):
        router.guests  # noqa: B018
    with (
        Socket("ROUTER", watched=True) as router,
        pytest.raises(TransportError, match="can only listen, not connect"),
    ):
        router.connect("tcp://127.0.0.1:1")


def test_who_asks_after_the_end_of_zeromq_is_told_so(monkeypatch):
    """An interpreter that ends takes ZeroMQ down under the threads that still ask."""

    def ended(_):
        raise zmq.ContextTerminated

    with Socket("ROUTER", watched=True) as router:
        router.bind("tcp://127.0.0.1:*")
        # To end it here would end it for all tests of this process.
        monkeypatch.setattr(PeerConnections, "read", ended)
        with pytest.raises(TransportClosedError, match="ZeroMQ is shut down"):
            _ = router.guests
