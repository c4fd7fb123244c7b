"""What was handed to ZeroMQ, and for how long one waits for it."""

import math
import os

import pytest
import zmq

from tensorwrapper.errors import TransportError, TransportForkError, TransportTimeoutError
from tensorwrapper.transport._delivery import Delivery, check_process, to_milliseconds


@pytest.mark.parametrize(
    ("seconds", "milliseconds"),
    [(0, 0), (1, 1000), (0.0015, 1), (True, 1000), (math.inf, 2**31 - 1), (1e300, 2**31 - 1)],
)
def test_seconds_are_milliseconds_for_zeromq(seconds, milliseconds):
    assert to_milliseconds(seconds, "timeout") == milliseconds


@pytest.mark.parametrize("seconds", [-1, -0.001, math.nan, -math.inf, None, "1", 1j])
def test_what_is_no_time_is_refused(seconds):
    with pytest.raises(TransportError, match="timeout must be a number of seconds, at least 0, not"):
        to_milliseconds(seconds, "timeout")


def test_a_delivery_waits_for_every_frame():
    frames = [zmq.Frame(b"x" * 100, track=True) for _ in range(3)]
    delivery = Delivery([frame.tracker for frame in frames])

    assert delivery.done
    delivery.wait(0)


def test_a_frame_that_zeromq_still_has_is_waited_for_and_no_longer_than_said():
    with zmq.Context() as context, context.socket(zmq.PUSH) as socket:
        socket.setsockopt(zmq.LINGER, 0)
        socket.connect("inproc://nobody")
        tracker = socket.send(bytearray(1 << 20), copy=False, track=True)
        delivery = Delivery([tracker])
        with pytest.raises(TransportTimeoutError, match=r"still being sent after 0\.05 s"):
            delivery.wait(0.05)

        assert not delivery.done
    delivery.wait(60)
    assert delivery.done


def test_only_the_process_that_sent_may_wait():
    check_process(os.getpid(), "a delivery")
    with pytest.raises(TransportForkError, match=r"a socket belongs to process \d+, from which this one was"):
        check_process(os.getpid() + 1, "a socket")
