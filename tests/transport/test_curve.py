"""Encrypted sockets: who is listed is let in, and nobody else gets or gives a byte."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import zmq

from tensorwrapper import wire
from tensorwrapper.errors import (
    ConversionError,
    InsecureAddressWarning,
    TransportAuthenticationError,
    TransportError,
    TransportHandshakeError,
)
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair, Socket, _curve

SERVER, LISTED, OTHER = KeyPair.make(), KeyPair.make(), KeyPair.make()


@pytest.fixture
def server():
    with Socket("ROUTER", security=CurveServer(SERVER, allow=[LISTED.public])) as socket:
        yield socket, socket.bind("tcp://127.0.0.1:*")


def ask(address, security, timeout=10.0):
    """Send a message and wait until it has left."""
    with Socket("DEALER", security=security, timeout=timeout) as socket:
        socket.connect(address)
        socket.send(wire.encode([[1, 2, 3]])).wait(timeout)


def test_who_is_listed_is_let_in(server):
    socket, address = server
    with Socket("DEALER", security=CurveClient(LISTED, SERVER.public)) as client:
        client.connect(address)
        frames = wire.encode([np.arange(200_000)])
        client.send(frames)
        peer, message = socket.receive_from()
        assert message.tensors[0].tolist() == list(range(200_000))
        socket.send(message, peer=peer)
        assert client.receive() == message
        assert client.counters.bytes_sent_on_wire - client.counters.bytes_sent == 4 * 33 + 2 + 2 + 2 + 9


@pytest.mark.parametrize(
    "security",
    [
        CurveClient(OTHER, SERVER.public),
        CurveClient(LISTED, OTHER.public),
        None,
        CurveClient(KeyPair(LISTED.public, OTHER.secret), SERVER.public),
    ],
    ids=["not listed", "another server", "no keys", "a key that is not its own"],
)
def test_nobody_else_is(server, security):
    socket, address = server
    with pytest.raises(TransportHandshakeError):
        ask(address, security)
    assert not socket.poll(0.1)
    ask(address, CurveClient(LISTED, SERVER.public))
    assert socket.receive().tensors[0].tolist() == [1, 2, 3]


def test_each_server_has_a_list_of_its_own(server):
    _, address = server
    with Socket("ROUTER", security=CurveServer(OTHER, allow=[OTHER.public])) as second:
        place = second.bind("tcp://127.0.0.1:*")
        ask(place, CurveClient(OTHER, OTHER.public))
        with pytest.raises(TransportAuthenticationError):
            ask(place, CurveClient(LISTED, OTHER.public))
        with pytest.raises(TransportAuthenticationError):
            ask(address, CurveClient(OTHER, SERVER.public))


def test_everybody_is_let_in_where_that_is_said():
    with Socket("PULL", security=CurveServer(SERVER, allow="any")) as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        with Socket("PUSH", security=CurveClient(OTHER, SERVER.public)) as client:
            client.connect(address)
            client.send(wire.encode([[5]]))
            assert socket.receive().tensors[0].tolist() == [5]


def test_there_is_no_server_without_a_list():
    with pytest.raises(TypeError, match="allow"):
        CurveServer(SERVER)
    for allow in (None, 3, "everybody", SERVER.public):
        with pytest.raises(ConversionError, match="allow must be a set of public keys"):
            CurveServer(SERVER, allow=allow)
    with pytest.raises(ConversionError, match="in allow"):
        CurveServer(SERVER, allow=["no key"])
    with pytest.raises(ConversionError, match="CurveServer or a CurveClient"):
        Socket("PULL", security=SERVER)


def test_an_empty_list_lets_nobody_in():
    with Socket("ROUTER", security=CurveServer(SERVER, allow=())) as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        with pytest.raises(TransportAuthenticationError):
            ask(address, CurveClient(LISTED, SERVER.public))


def test_who_has_the_list_listens_and_who_has_the_servers_key_connects():
    server, client = CurveServer(SERVER, allow="any"), CurveClient(OTHER, SERVER.public)
    with Socket("PULL", security=server) as socket, pytest.raises(TransportError, match="use a CurveClient"):
        socket.connect("tcp://127.0.0.1:9")
    with Socket("PUSH", security=client) as socket, pytest.raises(TransportError, match="use a CurveServer"):
        socket.bind("tcp://127.0.0.1:*")


DEAD = """
    import sys
    from tensorwrapper import wire
    from tensorwrapper.errors import TransportAuthenticationError
    from tensorwrapper.transport import CurveClient, CurveServer, KeyPair, Socket, _curve
    server, client = KeyPair.make(), KeyPair.make()
    with Socket("PULL", security=CurveServer(server, allow=[client.public])) as sink:
        address = sink.bind("tcp://127.0.0.1:*")
        def send(timeout):
            with Socket("PUSH", security=CurveClient(client, server.public), timeout=timeout) as source:
                source.connect(address)
                source.send(wire.encode([[1]])).wait(timeout)
        send(10)
        sink.receive()
        for authenticator in _curve._authenticators.values():
            authenticator.stop()
        try:
            send(10)
        except TransportAuthenticationError:
            print("nobody gets in")
        print(sink.poll(0.1))
"""


def test_nobody_gets_in_while_nobody_answers_for_the_list():
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(DEAD)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout.split("\n")[:2]) == (0, ["nobody gets in", "False"]), done.stderr


LEFT = """
    from tensorwrapper.transport import CurveClient, CurveServer, KeyPair, Socket
    sockets = [Socket("PULL", security=CurveServer(KeyPair.make(), allow="any")) for _ in range(3)]
    for socket in sockets:
        socket.bind("tcp://127.0.0.1:*")
    CLOSE
    print("done")
"""


@pytest.mark.parametrize("close", ["", "[socket.close() for socket in sockets]"])
def test_a_process_ends_with_a_list_at_hand(close):
    code = textwrap.dedent(LEFT).replace("CLOSE", close)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "done\n"), done.stderr


def test_what_is_sent_is_not_on_the_wire(server):
    """A plain ZeroMQ socket that speaks NULL reads nothing, and its words are dropped."""
    socket, address = server
    context = zmq.Context()
    plain = context.socket(zmq.DEALER)
    plain.linger = 0
    plain.connect(address)
    plain.send_multipart([b"", *[bytes(frame) for frame in wire.encode([[1]])]])
    assert not socket.poll(0.3)
    plain.close()
    context.term()


@pytest.mark.parametrize("host", ["0.0.0.0", "*"])
def test_a_socket_that_others_reach_warns(host):
    with Socket("PULL") as socket, pytest.warns(InsecureAddressWarning, match="security=CurveServer"):
        socket.bind(f"tcp://{host}:*")
    with Socket("PULL", security=CurveServer(SERVER, allow=[])) as socket:
        socket.bind(f"tcp://{host}:*")


@pytest.mark.usefixtures("server")
def test_the_list_of_a_socket_that_is_closed_is_forgotten():
    before = [len(a.credentials_providers) for a in _curve._authenticators.values()]
    for _ in range(20):
        Socket("PULL", security=CurveServer(SERVER, allow="any")).close()
    assert [len(a.credentials_providers) for a in _curve._authenticators.values()] == before
