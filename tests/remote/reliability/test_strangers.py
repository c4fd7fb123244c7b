"""Whoever has not the right key gets no byte of data, and a process that is attacked stays as it is."""

import contextlib
import logging
import random
import struct
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TensorNameError, TransportError
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._requests import send_request
from tensorwrapper.selection import Outer, Runs
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair, Socket
from tensorwrapper.wire import Message
from tests.support.long_runs import IS_LONG
from tests.support.remote_servers import resident, running
from tests.support.strangers.raw_peers import GREETING, RawPeer, frames_of

_log = logging.getLogger(__name__)
REQUESTS = 10_000 if IS_LONG else 1000
X = np.arange(1000.0)


@pytest.mark.parametrize("how", ["none", "unlisted", "wrong server"])
def test_a_wrong_key_never_gets_a_byte_of_data(how):
    ours, theirs, other = KeyPair.make(), KeyPair.make(), KeyPair.make()
    security = {
        "none": None,
        "unlisted": CurveClient(other, ours.public),
        "wrong server": CurveClient(theirs, other.public),
    }[how]
    with tw.serve({"x": X}, security=CurveServer(ours, allow=[theirs.public])) as server:
        with pytest.raises(TransportError):
            tw.connect(server.address, security=security)
        with Socket("DEALER", security=security, linger=0) as socket:
            socket.connect(server.address)
            try:
                for number in range(5):
                    socket.send(send_request(number, ev.AskRead("x", "", None, (Runs(0, 10),))), timeout=0.05)
                socket.poll(0.3)
            except TransportError:
                pass
            assert socket.counters.frames_received == 0
        stats = server.stats()
        assert stats["requests"] == stats["bytes_sent"] == 0
        with tw.connect(server.address, security=CurveClient(theirs, ours.public)) as remote:
            assert remote["x"][7].compute().item() == 7


def test_missing_and_forbidden_are_one_answer_in_one_time():
    ours, theirs = KeyPair.make(), KeyPair.make()
    security = CurveServer(ours, allow=[theirs.public])
    allow = {"open": [theirs.public], "hidden": []}
    with (
        tw.serve({"open": X, "hidden": X}, security=security, allow=allow) as server,
        tw.connect(server.address, security=CurveClient(theirs, ours.public)) as remote,
    ):
        texts = []
        for name in ("hidden", "absent"):
            with pytest.raises(TensorNameError) as caught:
                remote[name]
            texts.append(str(caught.value).replace(name, "?"))
        assert texts[0] == texts[1]
        assert list(remote) == ["open"]
        connection = remote._connections.here()
        sizes = []
        for name in ("hidden", "absent"):
            before = remote.counters.bytes_received
            for ask in (ev.AskRead(name, "", None, (Runs(0, 1),)), ev.AskShape(name, "")):
                with pytest.raises(TensorNameError):
                    connection.ask(ask)
            sizes.append(remote.counters.bytes_received - before)
        assert sizes[0] == sizes[1]


def hostile(rng, version):
    """Return one request that nobody should send."""
    deep = Message(form="JSON", label='{"tw":' + "[" * rng.choice([20, 9000]), origin=rng.randrange(9))
    huge = 2**62
    views = ["[" * 5000, '{"view":1}', '{"view":2,"nodes":[' + '{"of":{"number":0}},' * 50 + "0]}"]
    match rng.randrange(9):
        case 0:
            return deep.to_frames()
        case 1:
            frames = send_request(1, ev.AskRead("box", "", None, (Runs(0, huge), Runs(1, huge))))
        case 2:
            frames = send_request(1, ev.AskRead("box", "", None, (Outer([range(2000), range(2000)]),) * 500))
        case 3:
            frames = [b"\xff" * rng.randrange(200), rng.randbytes(24), rng.randbytes(rng.randrange(2000))]
        case 4:
            told = ev.Described(rng.choice(views), (), (("x", "box", version),))
            frames = send_request(1, ev.AskView(told, (Runs(0, 10),)))
        case 5:
            data = memoryview(rng.randbytes(800))
            frames = send_request(1, ev.AskWrite("none", "", "0" * 32, "<f8", (Runs(0, 100),), data))
        case 6:
            frames = send_request(1, ev.AskPin("nobody"))
        case 7:
            table = '{"first":0,"n":1099511627776,"as":"u1","frame":0}'
            select = '[{"starts":' + table + ',"lengths":1}]'
            label = '{"tw":{"read":{"name":"box","version":"","select":' + select + "}}}"
            frames = Message(form="JSON", label=label, origin=1, parts=[bytes(100)]).to_frames()
        case _:
            frames = [b"ZIO0JSON{}", bytes(24), *[b""] * rng.randrange(3000)]
    frames = [bytearray(own) for own in frames]
    if rng.random() < 0.5:
        own = rng.choice([own for own in frames if own] or [bytearray(b"1")])
        own[rng.randrange(len(own))] = rng.randrange(256)
    return frames


@pytest.mark.slow  # a thousand requests, and a process that takes them
def test_hostile_requests_leave_a_server_alive_and_as_large_as_it_was():
    rng = random.Random(11)
    with running() as (server, address), tw.connect(address, timeout=60) as remote:
        there = remote["box"]
        version = there.version
        begun = None
        with Socket("DEALER", linger=0, timeout=60) as socket:
            socket.connect(address)
            for number in range(REQUESTS):
                if number == REQUESTS // 5:
                    begun = resident(server)
                socket.send(hostile(rng, version))
                if number % 20 == 0:
                    # One that is well is answered meanwhile.
                    assert there[number % 2000, 5].compute().item() == 2000 * (number % 2000) + 5
                while socket.poll(0):
                    socket.receive_frames()
            until = time.monotonic() + 60
            while remote.health()["waiting"] and time.monotonic() < until:
                socket.poll(0.01)
        assert server.poll() is None
        grown = resident(server) - begun
        _log.info("%d requests; %d bytes grown", REQUESTS, grown)
        assert grown < 32 * 2**20
        assert np.array_equal(there[3].compute(), np.arange(6000.0, 8000.0))


def broken(rng, number):
    """Return what breaks the protocol of ZeroMQ: of its greeting, or of what comes after it."""
    good = frames_of([b"", *send_request(number, ev.AskRead("x", "", None, (Runs(0, 10),)))])
    endless = [b"\2" + struct.pack(">Q", 2**62) + b"x" * 100, b"\3" + struct.pack(">Q", 2**25 + 1) + b"x"]
    after = [
        good,
        frames_of([b"x" * 9]),
        frames_of([b""]),
        *endless,
        b"\4\4PING",
        b"\4\5\4PING",
        b"\xff" * 50,
    ]
    greeting = [b"GET / HTTP/1.1\r\n\r\n", rng.randbytes(200), GREETING[: rng.randrange(64)], b"\xff" * 100]
    data = bytearray(rng.choice(after))
    if rng.random() < 0.5:
        data[rng.randrange(min(len(data), 40))] = rng.randrange(256)
    return (True, bytes(data)) if rng.random() < 0.6 else (False, rng.choice(greeting))


def test_peers_that_break_the_protocol_beneath_hold_up_nobody():
    rng = random.Random(5)
    with (
        tw.serve({"x": X}) as server,
        tw.connect(server.address, timeout=60) as remote,
        contextlib.ExitStack() as stack,
    ):
        there = remote["x"]
        for number in range(200):
            is_after, data = broken(rng, number)
            with contextlib.suppress(OSError):
                peer = stack.enter_context(RawPeer(server.address, greets=is_after))
                peer.socket.sendall(data)
            if number % 10 == 0:
                assert there[number].compute().item() == number
        assert server.stats()["clients_cut"] == 0
        assert np.array_equal(there.compute(), X)
