"""Why there is no peer: each reason has an error of its own, with the address, within the time allowed."""

import contextlib
import os
import signal
import socket as sockets
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    LeakedResourceWarning,
    PeerAbsentError,
    PeerUnreachableError,
    TransportAuthenticationError,
    TransportError,
    TransportHandshakeError,
    TransportTimeoutError,
)
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair, Socket
from tensorwrapper.wire import Message
from tests.support.long_runs import IS_LONG

SERVER, LISTED, OTHER = KeyPair.make(), KeyPair.make(), KeyPair.make()
FRAMES = wire.encode([[1, 2, 3]])


@pytest.fixture
def listener():
    """A plain listener of the system that no ZeroMQ stands behind."""
    with sockets.create_server(("127.0.0.1", 0)) as listener:
        yield listener, f"tcp://127.0.0.1:{listener.getsockname()[1]}"


def free_address():
    with sockets.create_server(("127.0.0.1", 0)) as listener:
        return f"tcp://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("call", ["send", "receive", "poll"])
def test_a_key_that_is_not_listed_is_told_at_once(call):
    with (
        Socket("ROUTER", security=CurveServer(SERVER, allow=[LISTED.public])) as server,
        Socket("DEALER", security=CurveClient(OTHER, SERVER.public), timeout=60) as client,
    ):
        address = server.bind("tcp://127.0.0.1:*")
        client.connect(address)
        started = time.monotonic()
        with pytest.raises(TransportAuthenticationError, match="does not let this key in") as caught:
            client.send(FRAMES) if call == "send" else client.receive() if call == "receive" else client.poll(
                60
            )
        assert time.monotonic() - started < 30
        assert isinstance(caught.value, PermissionError)
        assert caught.value.peer == address.encode()


@pytest.mark.parametrize(
    ("security", "error"),
    [
        (CurveClient(LISTED, OTHER.public), TransportAuthenticationError),
        (None, TransportHandshakeError),
    ],
    ids=["another server", "no keys"],
)
def test_a_handshake_that_fails_again_and_again_is_told_before_the_time_is_up(security, error):
    with (
        Socket("ROUTER", security=CurveServer(SERVER, allow=[LISTED.public])) as server,
        Socket("DEALER", security=security, timeout=60) as client,
    ):
        address = server.bind("tcp://127.0.0.1:*")
        client.connect(address)
        with pytest.raises(error, match="breaks the handshake off") as caught:
            client.send(FRAMES)
        assert type(caught.value) is error
        assert caught.value.peer == address.encode()


def test_keys_for_a_server_that_has_none():
    with (
        Socket("ROUTER") as server,
        Socket("DEALER", security=CurveClient(LISTED, SERVER.public), timeout=60) as client,
    ):
        client.connect(server.bind("tcp://127.0.0.1:*"))
        with pytest.raises(TransportAuthenticationError, match="is not encrypted"):
            client.send(FRAMES)


@pytest.mark.parametrize("road", ["tcp", "ipc"])
def test_nobody_listens(road, tmp_path):
    address = free_address() if road == "tcp" else f"ipc://{tmp_path}/nobody"
    with Socket("DEALER", timeout=0.5) as client:
        client.connect(address)
        for call in (lambda: client.send(FRAMES), client.receive):
            with pytest.raises(PeerAbsentError, match="no peer listens") as caught:
                call()
            assert isinstance(caught.value, TransportTimeoutError)
            assert isinstance(caught.value, PeerUnreachableError)
            assert caught.value.peer == address.encode()


def test_what_listens_and_says_nothing(listener):
    _, address = listener
    with Socket("DEALER", timeout=3) as client:
        client.connect(address)
        with pytest.raises(TransportTimeoutError) as caught:
            client.send(FRAMES, timeout=0.2)
        assert not isinstance(caught.value, PeerUnreachableError)
        with pytest.raises(TransportHandshakeError, match="says nothing within 3 s") as failed:
            client.send(FRAMES)
        assert failed.value.peer == address.encode()


def test_what_listens_and_speaks_something_else(listener):
    """(What does not begin as ZMTP 3 does is taken for ZMTP 1, which has no handshake that could fail.)"""
    plain, address = listener

    def answer():
        while True:
            try:
                other, _ = plain.accept()
            except OSError:
                return
            with other:
                other.sendall(b"\xff" + bytes(8) + b"\x7f\x03what is this?")

    threading.Thread(target=answer, daemon=True).start()
    with Socket("DEALER", timeout=60) as client:
        client.connect(address)
        with pytest.raises(TransportHandshakeError, match="not ZeroMQ"):
            client.send(FRAMES)
    plain.shutdown(sockets.SHUT_RDWR)


def test_a_socket_of_a_kind_that_does_not_go_with_it():
    with Socket("PUB") as other, Socket("DEALER", timeout=1) as client:
        client.connect(other.bind("tcp://127.0.0.1:*"))
        with pytest.raises(TransportHandshakeError, match="a kind that does not go with this one"):
            client.send(FRAMES)


def test_a_peer_that_goes_away_and_one_that_comes_back():
    with Socket("DEALER", timeout=0.5) as client:
        with Socket("ROUTER") as server:
            address = server.bind("tcp://127.0.0.1:*")
            client.connect(address)
            client.send(FRAMES, timeout=10)
            assert server.receive().tensors
            with pytest.raises(TransportTimeoutError) as quiet:
                client.receive(timeout=0.1)
            assert not isinstance(quiet.value, PeerUnreachableError)
        with pytest.raises(PeerAbsentError, match="went away") as caught:
            client.receive()
        assert caught.value.peer == address.encode()
        with Socket("ROUTER") as server:
            deadline = time.monotonic() + 30
            while True:
                try:
                    server.bind(address)
                    break
                except TransportError:
                    # ZeroMQ goes on listening for a moment after a close.
                    assert time.monotonic() < deadline
                    time.sleep(0.02)
            client.send(FRAMES, timeout=30)
            assert server.receive(timeout=30).tensors
            with pytest.raises(TransportTimeoutError) as quiet:
                client.receive()
            assert not isinstance(quiet.value, PeerUnreachableError)


FROZEN = """
    import sys
    from tensorwrapper.transport import Socket
    with Socket("ROUTER") as socket:
        print(socket.bind("tcp://127.0.0.1:*"), flush=True)
        socket.receive(timeout=60)
        print("received", flush=True)
        sys.stdin.read()
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals that stop a process")
@pytest.mark.parametrize("number", [signal.SIGSTOP, signal.SIGKILL], ids=lambda number: number.name)
def test_a_process_that_stops(number):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(FROZEN)], stdin=-1, stdout=subprocess.PIPE, text=True
    )
    with process, Socket("DEALER") as client:
        address = process.stdout.readline().strip()
        client.connect(address)
        client.send(FRAMES)
        assert process.stdout.readline() == "received\n"
        os.kill(process.pid, number)
        # Of one that is stopped its system says that it is there: the time of the call is what bounds it.
        stopped = number == signal.SIGSTOP
        with pytest.raises(TransportTimeoutError if stopped else PeerAbsentError) as caught:
            client.receive(timeout=1 if stopped else 6)
        assert stopped or caught.value.peer == address.encode()
        process.kill()


FLOODED = """
    import time
    from tensorwrapper.transport import Socket
    from tensorwrapper.wire import Message
    with Socket("{kind}") as socket:
        print(socket.bind("tcp://127.0.0.1:*"), flush=True)
        input()
        time.sleep(1.5)
        print(*[socket.receive().origin for _ in range({count})], flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "peer"), [("ROUTER", "DEALER"), ("PULL", "PUSH"), ("PAIR", "PAIR")])
def test_who_floods_and_goes_away_ends_no_process(kind, peer):
    """ZeroMQ's heartbeats abort where the messages of a peer fill the pipe, and it hangs up."""
    code = textwrap.dedent(FLOODED).format(kind=kind, count=20)
    with subprocess.Popen([sys.executable, "-c", code], stdin=-1, stdout=-1, text=True) as process:
        with Socket(peer, linger=0.2) as socket:
            socket.connect(process.stdout.readline().strip())
            for number in range(2000):
                with contextlib.suppress(TransportTimeoutError):
                    socket.send(Message(form="TEXT", origin=number, parts=[b"x" * 1000]), timeout=0.0)
        out, _ = process.communicate("\n", timeout=30)
    assert process.returncode == 0
    assert len(set(out.split())) == 20


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "peer"), [("PULL", "PUSH"), ("ROUTER", "DEALER")])
def test_who_is_slow_to_receive_loses_nothing(kind, peer):
    """A heartbeat that waits behind what nobody takes is not answered, though nobody is dead.

    Nor has a system that is told how long bytes may lie.
    """
    with Socket(kind) as sink, ThreadPoolExecutor(1) as pool:
        address = sink.bind("tcp://127.0.0.1:*")

        def give():
            with Socket(peer, timeout=30, linger=10) as source:
                source.connect(address)
                for number in range(800):
                    source.send(Message(form="TEXT", origin=number, parts=[b"x" * 10_000]))

        given = pool.submit(give)
        time.sleep(4.5)
        assert [sink.receive().origin for _ in range(800)] == list(range(800))
        given.result()


def test_while_one_of_two_peers_is_there_nothing_is_wrong():
    with Socket("PULL") as sink, Socket("PUSH", timeout=10) as source:
        source.connect(free_address())
        source.connect(sink.bind("tcp://127.0.0.1:*"))
        for _ in range(3):
            source.send(FRAMES)
            assert sink.receive().tensors


def test_who_listens_as_well_goes_on_waiting():
    """Somebody else may still come to its own address."""
    with (
        Socket("ROUTER", security=CurveServer(SERVER, allow=[])) as refusing,
        Socket("PUSH") as plain,
        Socket("PULL", timeout=1.5) as socket,
    ):
        socket.connect(refusing.bind("tcp://127.0.0.1:*"))
        address = socket.bind("tcp://127.0.0.1:*")
        with pytest.raises(TransportTimeoutError) as caught:
            socket.receive()
        assert not isinstance(caught.value, PeerUnreachableError)
        plain.connect(address)
        plain.send(FRAMES)
        assert socket.receive(timeout=10).tensors


def test_a_server_that_starts_anew_is_waited_for(listener):
    """One handshake that breaks off is no reason to give up."""
    plain, address = listener
    with Socket("PUSH", timeout=30) as source, Socket("PULL") as sink:
        source.connect(address)
        other, _ = plain.accept()
        other.close()
        plain.close()
        deadline = time.monotonic() + 30
        while True:
            try:
                sink.bind(address)
                break
            except TransportError:
                assert time.monotonic() < deadline
                time.sleep(0.02)
        source.send(FRAMES)
        assert sink.receive().tensors


def count_descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs to see descriptors")
def test_nothing_stays_open():
    def once():
        with Socket("DEALER") as socket:
            socket.connect(address)
            with pytest.raises(TransportTimeoutError):
                socket.send(FRAMES, timeout=0)

    address = free_address()
    once()
    before = count_descriptors()
    for _ in range(30):
        once()
    deadline = time.monotonic() + 30
    while count_descriptors() > before + 4 and time.monotonic() < deadline:
        # ZeroMQ closes in a thread of its own.
        time.sleep(0.02)
    assert count_descriptors() <= before + 4


def test_what_is_leaked_warns_once():
    socket = Socket("DEALER")
    socket.connect(free_address())
    with pytest.warns(LeakedResourceWarning) as found:
        del socket
    assert len(found) == 1


ENDING = """
    import os, signal, sys, threading, time
    from tensorwrapper import wire
    from tensorwrapper.transport import Socket
    # A shell starts what runs behind it without.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    server, client, lost = [Socket(kind, linger=0.2) for kind in ("ROUTER", "DEALER", "PUSH")]
    # Loads the modules: Python 3.11 hides an interrupt of a class that is being made in a RuntimeError.
    wire.decode(wire.encode([bytes(100)]))
    with server, client, lost:
        client.connect(server.bind(sys.argv[1]))
        lost.connect("tcp://127.0.0.1:9")
        def interrupt():
            # pyzmq loses one in a hundred, that which strikes while it frees a frame; one tries again.
            time.sleep(float(sys.argv[2]))
            while True:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(3)
        threading.Thread(target=interrupt, daemon=True).start()
        print("ready", flush=True)
        while True:
            client.send(wire.encode([bytes(100)]))
            peer, message = server.receive_from()
            server.send(message, peer=peer)
            client.receive()
            try:
                lost.send(wire.encode([]), timeout=0.01)
            except TimeoutError:
                pass
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no such signal")
def test_ctrl_c_leaves_nothing(tmp_path):
    """At many moments: the process ends by the interrupt, within its linger, and no file of ipc is left."""
    for number in range(0, 12, 1 if IS_LONG else 2):
        address = f"ipc://{tmp_path}/ending-{number}"
        started = time.monotonic()
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(ENDING), address, str(0.001 + 0.0073 * number)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode in (1, -signal.SIGINT), done.stderr
        assert done.stderr.rstrip().endswith("KeyboardInterrupt"), done.stderr
        assert "LeakedResource" not in done.stderr
        assert time.monotonic() - started < 30
    assert not list(tmp_path.iterdir())
