"""What each socket was told: as ZeroMQ has it."""

import pytest
import zmq

from tensorwrapper.transport import Socket
from tensorwrapper.wire import Limits


@pytest.mark.parametrize("kind", ["PUSH", "PULL", "REQ", "REP", "PAIR", "DEALER", "ROUTER"])
def test_what_waits_is_bounded(kind):
    with Socket(kind, linger=0.25, limits=Limits(total_bytes=1000)) as socket:
        own = socket._endpoint.socket
        assert (own.sndhwm, own.rcvhwm, own.linger, own.maxmsgsize) == (16, 16, 250, 1000)
        assert own.immediate == (kind != "PULL")
        assert 0 < own.handshake_ivl <= 2000
        assert own.tcp_keepalive == 1
        # ZeroMQ aborts the process where heartbeats meet a full queue.
        assert own.heartbeat_ivl == 0
        # Who is slow to receive keeps its connection, unless it is said how long it may stand still.
        assert own.getsockopt(zmq.TCP_MAXRT) == 0


def test_who_stands_still_for_so_long_is_let_go_of():
    with Socket("ROUTER", stalled=7.0) as socket:
        assert socket._endpoint.socket.getsockopt(zmq.TCP_MAXRT) == 7000
