"""S8, W11: a message arrives as a whole or not at all, and a socket belongs to one process."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import zmq

from tensorwrapper import wire
from tensorwrapper.errors import (
    PeerUnreachableError,
    RemoteProtocolError,
    TransportClosedError,
    TransportError,
    TransportForkError,
    TransportTimeoutError,
    TransportTornError,
)
from tensorwrapper.transport import Socket, _endpoint

pytestmark = pytest.mark.slow

COUNTER = iter(range(10**6))
EMPTY = [bytes(frame) for frame in wire.encode([])]
ROADS = ["tcp", "ipc", "inproc"]


def address(road, folder):
    if road == "tcp":
        return "tcp://127.0.0.1:*"
    return f"ipc://{folder}/t{next(COUNTER)}" if road == "ipc" else f"inproc://torn-{next(COUNTER)}"


class Interrupted(BaseException):
    """As KeyboardInterrupt is, but pytest does not stop at it."""


def interrupt_at(monkeypatch, name, call, *, done):
    """Raise at the given call of a function, before or after it has done its work."""
    count, real = iter(range(10**6)), getattr(_endpoint, name)

    def spoilt(*arguments):
        if next(count) != call:
            return real(*arguments)
        if done:
            real(*arguments)
        raise Interrupted

    monkeypatch.setattr(_endpoint, name, spoilt)


KINDS = [("PULL", "PUSH"), ("PAIR", "PAIR"), ("DEALER", "DEALER"), ("DEALER", "ROUTER")]


@pytest.mark.parametrize("road", ROADS)
@pytest.mark.parametrize("kinds", KINDS, ids="-".join)
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_s8_a_send_that_is_interrupted_at_any_frame_sends_nothing(road, kinds, done, tmp_path, monkeypatch):
    whole = wire.encode([np.arange(3), np.zeros(100_000), np.arange(5)], seqno=7)
    for frame in range(len(whole)):
        with Socket(kinds[0], timeout=10) as sink, Socket(kinds[1], timeout=10) as source:
            source.connect(sink.bind(address(road, tmp_path)))
            peer = None
            if kinds[1] == "ROUTER":
                sink.send(EMPTY)
                peer = source.receive_from()[0]
            source.send(wire.encode([], seqno=1), peer=peer)
            with monkeypatch.context() as patch:
                interrupt_at(patch, "_send_frame", frame, done=done)
                with pytest.raises(Interrupted):
                    source.send(whole, peer=peer)
            for _ in range(2):
                with pytest.raises(TransportTornError, match="interrupted after") as caught:
                    source.send(wire.encode([], seqno=8), peer=peer)
                with pytest.raises(TransportTornError):
                    source.receive()
            assert isinstance(caught.value, TransportClosedError)
            assert source.closed
            # What was sent before the torn message still arrives.
            assert sink.receive().seqno == 1
            if done and frame == len(whole) - 1 and len(kinds[1]) == 4:
                # All frames were handed over: it is there as a whole.
                assert len(sink.receive().tensors) == 3
            with pytest.raises(TransportTimeoutError):
                sink.receive(timeout=0.05)


def test_s8_the_next_socket_is_not_harmed_by_a_torn_one(monkeypatch):
    with Socket("PULL", timeout=10) as sink:
        there = sink.bind("tcp://127.0.0.1:*")
        for frame in range(1, 4):
            torn = Socket("PUSH", timeout=10)
            torn.connect(there)
            with monkeypatch.context() as patch:
                interrupt_at(patch, "_send_frame", frame, done=True)
                with pytest.raises(Interrupted):
                    torn.send(wire.encode([np.arange(9), np.arange(9)], seqno=1))
            with Socket("PUSH", timeout=10) as source:
                source.connect(there)
                source.send(wire.encode([np.arange(4)], seqno=2))
                message = sink.receive()
                # After its last frame was handed over a message is whole, and may still arrive.
                while frame == 3 and (message.seqno, len(message.tensors)) == (1, 2):
                    message = sink.receive()
                assert (message.seqno, len(message.tensors)) == (2, 1)


STORM = """
    import random, signal, sys, threading, time
    import numpy as np
    import zmq
    from tensorwrapper import wire
    from tensorwrapper.errors import RemoteProtocolError, TransportError, TransportTimeoutError
    from tensorwrapper.transport import Socket

    class Alarm(BaseException):
        pass

    def ring(number, frame):
        raise Alarm

    road, rounds, rng = sys.argv[1], int(sys.argv[2]), random.Random(5)
    signal.signal(signal.SIGALRM, ring)
    found, wrong, stop, there = [], [], threading.Event(), []

    def receive():
        with Socket("PULL", timeout=0.05) as sink:
            there.append(sink.bind(road))
            while not stop.is_set():
                try:
                    message = sink.receive()
                except TransportTimeoutError:
                    continue
                except RemoteProtocolError as error:
                    wrong.append(str(error))
                    continue
                values = [int(tensor.to_numpy().sum()) for tensor in message.tensors]
                (found if values == [message.seqno * size for size in SIZES] else wrong).append(message.seqno)

    SIZES = [1, 20_000, 3, 1, 9_000] * 4
    thread = threading.Thread(target=receive)
    thread.start()
    while not there:
        time.sleep(0.01)
    source, torn, sent = None, 0, []
    for seqno in range(rounds):
        if source is None or source.closed:
            source = Socket("PUSH", timeout=10, linger=2)
            source.connect(there[0])
        frames = wire.encode([np.full(size, seqno) for size in SIZES], seqno=seqno)
        try:
            signal.setitimer(signal.ITIMER_REAL, rng.uniform(1e-6, float(sys.argv[3])))
            source.send(frames)
            signal.setitimer(signal.ITIMER_REAL, 0)
            sent.append(seqno)
        except Alarm:
            signal.setitimer(signal.ITIMER_REAL, 0)
            torn += source.closed
        except TransportError as error:
            signal.setitimer(signal.ITIMER_REAL, 0)
    if not source.closed:
        source.close()
    until = time.monotonic() + 20
    while not set(sent) <= set(found) and time.monotonic() < until:
        time.sleep(0.05)
    stop.set()
    thread.join()
    print(torn, len(sent), len(set(sent) - set(found)), len(wrong), len(found) - len(set(found)))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers that signal")
@pytest.mark.parametrize("road", ["tcp://127.0.0.1:*", "inproc://storm"])
def test_s8_signals_while_sending_never_join_two_messages(road):
    rounds = 400
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(STORM), road, str(rounds), "4e-4"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    torn, sent, lost, wrong, repeated = map(int, done.stdout.split())
    assert (lost, wrong, repeated) == (0, 0, 0)
    assert torn > 0
    assert sent > 0


def test_s8_an_exception_while_waiting_for_room_leaves_the_socket_as_it_was():
    with Socket("PUSH") as source, Socket("PULL", timeout=10) as sink:
        there = source.bind("tcp://127.0.0.1:*")

        def ring(*_):
            raise Interrupted

        old = signal.signal(signal.SIGALRM, ring)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.1)
            with pytest.raises(Interrupted):
                source.send(EMPTY, timeout=10)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, old)
        sink.connect(there)
        source.send(wire.encode([], seqno=3))
        assert sink.receive().seqno == 3


def test_s8_a_receive_that_is_interrupted_loses_its_message_and_not_the_beginning_of_the_next(monkeypatch):
    with Socket("PULL", timeout=10) as sink, Socket("PUSH", timeout=10) as source:
        source.connect(sink.bind("tcp://127.0.0.1:*"))
        for frame in range(5):
            source.send(wire.encode([np.arange(3), np.arange(4), np.arange(5)], seqno=1))
            source.send(wire.encode([np.arange(6)], seqno=2))
            count = iter(range(100))

            class Spoilt(zmq.Socket):
                def recv(self, *arguments, frame=frame, count=count, **options):
                    got = super().recv(*arguments, **options)
                    if next(count) == frame:
                        raise Interrupted
                    return got

            with monkeypatch.context() as patch:
                patch.setattr(sink._endpoint, "socket", Spoilt.shadow(sink._endpoint.socket.underlying))
                with pytest.raises(Interrupted):
                    sink.receive()
            assert sink.receive().seqno == 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_w11_a_child_of_fork_is_refused_at_once():
    code = """
        import os, sys, time, warnings
        import numpy as np
        from tensorwrapper import wire
        from tensorwrapper.errors import TransportForkError
        from tensorwrapper.transport import Socket

        with Socket("PAIR", timeout=30) as one, Socket("PAIR", timeout=30) as other:
            there = one.bind("tcp://127.0.0.1:*")
            other.connect(there)
            delivery = one.send(wire.encode([np.zeros(10_000)]))
            child = os.fork()
            if not child:
                started, refused = time.monotonic(), 0
                calls = [
                    lambda: one.send(wire.encode([])), one.receive, one.receive_from, lambda: one.bind(there),
                    lambda: other.connect(there), lambda: delivery.wait(30),
                ]
                for call in calls:
                    try:
                        call()
                    except TransportForkError as error:
                        assert "forked" in str(error)
                        refused += 1
                one.close()
                # Sockets of its own it may have.
                with Socket("PULL") as sink, Socket("PUSH") as source:
                    source.connect(sink.bind("tcp://127.0.0.1:*"))
                    source.send(wire.encode([], seqno=5))
                    assert sink.receive().seqno == 5
                sys.exit(0 if refused == len(calls) and time.monotonic() - started < 5 else 1)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0, status
            assert other.receive().tensors[0].size == 10_000
            one.send(wire.encode([], seqno=9))
            assert other.receive().seqno == 9
        print("parent goes on")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert (done.stdout, done.stderr) == ("parent goes on\n", "")
    assert issubclass(TransportForkError, TransportError)


def test_errors_zmq_that_is_shut_down_says_so_in_our_words():
    context = zmq.Context()
    socket = Socket("PULL", timeout=10)
    socket.close()
    raised = []

    def receive():
        with Socket("PULL", timeout=20) as sink:
            sink.close()
            sink._endpoint.socket = context.socket(zmq.PULL)
            try:
                sink.receive()
            except TransportClosedError as error:
                raised.append(str(error))

    thread = threading.Thread(target=receive)
    thread.start()
    time.sleep(0.2)
    context.term()
    thread.join(10)
    assert raised == ["receiving failed: ZeroMQ is shut down in this process"]


def test_errors_zmq_no_descriptors_left():
    code = """
        import resource, sys
        from tensorwrapper.errors import TransportError
        from tensorwrapper.transport import Socket

        soft = int(sys.argv[1])
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))
        opened = []
        try:
            while True:
                opened.append(Socket("PULL"))
                opened[-1].bind("tcp://127.0.0.1:*")
        except TransportError as error:
            print(len(opened), error.errno, error)
        for socket in opened:
            socket.close()
    """
    for limit in (6, 16, 24, 29, 40):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code), str(limit)],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, ""), limit
        assert " 24 " in done.stdout
        assert "Too many open files" in done.stdout


@pytest.mark.parametrize("method", ["bind", "connect"])
@pytest.mark.parametrize(
    "port", ["-1", "+80", "80abc", "0x50", " 80", "65536", "99999", "", "\uff18\uff10", "1e3", "8_0"]
)
def test_errors_ports_that_are_none_are_refused(method, port):
    with Socket("PAIR") as socket, pytest.raises(TransportError, match="use 1 to 65535"):
        getattr(socket, method)(f"tcp://127.0.0.1:{port}")


@pytest.mark.parametrize("there", ["tcp://[::1]:5", "tcp://127.0.0.1:0;127.0.0.1:5"])
def test_errors_ports_that_are_some_are_taken(there):
    with Socket("PAIR") as socket:
        socket.connect(there)


def test_errors_a_malformed_message_at_a_router_names_its_peer():
    with zmq.Context() as context, context.socket(zmq.DEALER) as raw, Socket("ROUTER", timeout=10) as router:
        raw.linger = 0
        raw.setsockopt(zmq.IDENTITY, b"somebody")
        raw.connect(router.bind("tcp://127.0.0.1:*"))
        many = wire.Limits(parts=2)
        for frames in ([b"", b"garbage"], [b"no envelope", b"x"], [b"", *EMPTY, *[b""] * 9]):
            raw.send_multipart(frames)
            router._limits = many
            with pytest.raises(RemoteProtocolError, match="somebody") as caught:
                router.receive_from()
            assert caught.value.peer == b"somebody"
    with pytest.raises(RemoteProtocolError) as caught:
        wire.decode([b"garbage"])
    assert caught.value.peer == b""


def test_a_peer_that_has_no_room_is_waited_for_and_then_reported():
    with Socket("ROUTER", timeout=0.1, linger=0) as router, Socket("DEALER", timeout=10, linger=0) as dealer:
        dealer.connect(router.bind("inproc://full"))
        dealer.send(EMPTY)
        peer, _ = router.receive_from(timeout=10)
        rng = random.Random(1)
        started = time.monotonic()

        def fill():
            for _ in range(100):
                router.send([*EMPTY, rng.randbytes(9)], peer=peer)

        with pytest.raises(TransportTimeoutError, match="ROUTER"):
            fill()
        assert time.monotonic() - started < 10
        assert not router.closed
        # One is taken, and there is room again.
        for _ in range(20):
            dealer.receive()
        router.send(EMPTY, peer=peer)
        with pytest.raises(PeerUnreachableError):
            router.send(EMPTY, peer=b"nobody")
        assert not router.closed


def test_what_arrived_at_a_pull_that_connected_outlives_its_sender():
    for _ in range(5):
        with Socket("PULL", timeout=10) as sink:
            with Socket("PUSH", timeout=10) as source:
                sink.connect(source.bind("tcp://127.0.0.1:*"))
                source.send(wire.encode([], seqno=1))
            time.sleep(0.05)
            assert sink.receive().seqno == 1
