"""Attacks on encrypted sockets: nothing gets in, who is listed does meanwhile, and errors come in time."""

import contextlib
import random
import socket as sockets
import threading
import time

import pytest

from tensorwrapper import wire
from tensorwrapper.errors import TransportAuthenticationError, TransportError, TransportHandshakeError
from tensorwrapper.transport import CurveClient, CurveServer, KeyPair, Socket, _curve

SERVER, LISTED, OTHER = KeyPair.make(), KeyPair.make(), KeyPair.make()
GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"CURVE".ljust(20, b"\0") + bytes(32)
WITHIN = 10.0
"""Seconds in which whoever is listed must have got in, however many others try; a second is usual."""


@pytest.fixture
def server():
    with Socket("ROUTER", security=CurveServer(SERVER, allow=[LISTED.public])) as socket:
        yield socket, socket.bind("tcp://127.0.0.1:*")


def place_of(address):
    host, _, port = address[6:].rpartition(":")
    return host, int(port)


def ask(address, security, timeout=WITHIN):
    with Socket("DEALER", security=security, timeout=timeout) as socket:
        socket.connect(address)
        socket.send(wire.encode([[1, 2, 3]])).wait(timeout)


def honest_gets_in(socket, address):
    """Check that what comes next is of who is listed, and comes in time."""
    begin = time.monotonic()
    ask(address, CurveClient(LISTED, SERVER.public))
    assert socket.receive(timeout=WITHIN).tensors[0].tolist() == [1, 2, 3]
    assert time.monotonic() - begin < WITHIN
    assert not socket.poll(0.05)


@contextlib.contextmanager
def strangers(address, count, words):
    """Connect so many times and say something each time; the connections stay."""
    opened = []
    try:
        for number in range(count):
            stranger = sockets.create_connection(place_of(address), timeout=WITHIN)
            opened.append(stranger)
            with contextlib.suppress(OSError):
                stranger.sendall(words(number))
        yield opened
    finally:
        for stranger in opened:
            stranger.close()


def command(name, body):
    data = bytes([len(name)]) + name + body
    return (
        b"\x04" + bytes([len(data)]) if len(data) < 256 else b"\x06" + len(data).to_bytes(8, "big")
    ) + data


def garbage(number):
    """Return what begins as a handshake and is none, of a kind that the number decides."""
    chance = random.Random(number)
    hello = b"\x01\x00" + bytes(72) + chance.randbytes(32) + bytes(8) + chance.randbytes(80)
    initiate = chance.randbytes(96) + bytes(8) + chance.randbytes(144)
    return [
        chance.randbytes(200),
        GREETING + chance.randbytes(300),
        GREETING + command(b"HELLO", hello),
        GREETING + command(b"HELLO", chance.randbytes(chance.randrange(255))),
        GREETING + command(b"INITIATE", initiate),
        GREETING + command(b"MESSAGE", chance.randbytes(64)),
        GREETING + command(b"READY", b"\x0bSocket-Type\x00\x00\x00\x06DEALER"),
        GREETING + b"\x06" + b"\x7f" * 8,
        GREETING.replace(b"CURVE", b"NULL\0") + command(b"READY", b"\x0bSocket-Type\x00\x00\x00\x06DEALER"),
        GREETING.replace(b"CURVE", b"PLAIN") + command(b"HELLO", b"\x05admin\x05admin"),
        GREETING.replace(b"\x7f\x03", b"\x7f\x01") + b"\x00\x05hello" * 20,
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 10,
    ][number % 12]


def test_garbage_within_the_handshake(server):
    socket, address = server
    with strangers(address, 240, garbage):
        honest_gets_in(socket, address)
    assert socket.counters.messages_received == 1


@pytest.mark.slow  # a handshake may take two seconds
def test_hundreds_of_handshakes_that_stand_still(server):
    """They are let go of after two seconds, and nobody who is listed waits for that."""
    socket, address = server
    with strangers(address, 400, lambda number: GREETING[: 8 * number % 65]) as opened:
        honest_gets_in(socket, address)
        until = time.monotonic() + 20
        for stranger in opened:
            stranger.settimeout(max(until - time.monotonic(), 0.1))
            with contextlib.suppress(ConnectionError):
                # The greeting of the server, and then the end.
                while stranger.recv(4096):
                    pass
    honest_gets_in(socket, address)


class Recorder:
    """A relay of one connection, which keeps what the client said."""

    def __init__(self, address):
        self.said = bytearray()
        self.listening = sockets.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self.listening.getsockname()[1]}"
        self.ends = []
        self.threads = [threading.Thread(target=self.accept, args=[place_of(address)])]
        self.threads[0].start()

    def accept(self, place):
        self.ends = [self.listening.accept()[0], sockets.create_connection(place)]
        self.threads += [
            threading.Thread(target=self.carry, args=[*self.ends, self.said]),
            threading.Thread(target=self.carry, args=[*self.ends[::-1], bytearray()]),
        ]
        for thread in self.threads[1:]:
            thread.start()

    @staticmethod
    def carry(source, target, kept):
        with contextlib.suppress(OSError):
            while data := source.recv(65_536):
                kept += data
                target.sendall(data)

    def close(self):
        self.listening.close()
        for end in self.ends:
            with contextlib.suppress(OSError):
                end.shutdown(sockets.SHUT_RDWR)
            end.close()
        for thread in self.threads:
            thread.join(10)


def test_a_conversation_that_was_recorded_says_nothing_again(server):
    socket, address = server
    recorder = Recorder(address)
    honest_gets_in(socket, recorder.address)
    recorder.close()
    said = bytes(recorder.said)
    # The secret words of the tensor are not in it.
    assert len(said) > 500
    assert b"TENS" not in said
    with strangers(address, 20, lambda number: said if number % 2 else said[: 64 + 300 * number]):
        honest_gets_in(socket, address)
    assert socket.counters.messages_received == 2


def test_sixty_keys_that_are_not_listed_starve_nobody(server):
    socket, address = server
    refused = []
    with contextlib.ExitStack() as stack:
        clients = [Socket("DEALER", security=CurveClient(KeyPair.make(), SERVER.public)) for _ in range(60)]
        for client in clients:
            stack.enter_context(client)
            client.connect(address)
        honest_gets_in(socket, address)
        for client in clients:
            with pytest.raises(TransportAuthenticationError) as caught:
                client.send(wire.encode([[9]]), timeout=WITHIN)
            refused.append(caught.value)
    assert len(refused) == 60
    assert socket.counters.messages_received == 1


@pytest.mark.parametrize("security", [CurveClient(LISTED, SERVER.public), CurveClient(OTHER, OTHER.public)])
def test_who_expects_keys_says_nothing_to_a_plain_socket(security):
    with Socket("ROUTER") as plain:
        address = plain.bind("tcp://127.0.0.1:*")
        begin = time.monotonic()
        with pytest.raises(TransportHandshakeError):
            ask(address, security)
        assert time.monotonic() - begin < WITHIN
        assert not plain.poll(0.05)


@pytest.mark.parametrize("seconds", [0.3, 2.2])
def test_who_answers_for_the_list_is_slow(server, monkeypatch, seconds):
    """Until it has answered nobody is in; who waited as long gets in, and others an error in time."""
    socket, address = server
    real, waits = CurveServer.callback, [seconds]

    def slow(self, domain, key):
        time.sleep(waits.pop() if waits else 0)
        return real(self, domain, key)

    monkeypatch.setattr(CurveServer, "callback", slow)
    begin = time.monotonic()
    with pytest.raises(TransportError):
        ask(address, CurveClient(OTHER, SERVER.public), 0.2)
    assert time.monotonic() - begin < WITHIN
    assert not socket.poll(0.05)
    honest_gets_in(socket, address)


def test_who_answered_is_replaced_when_the_next_list_comes(server):
    socket, address = server
    _curve._authenticators[id(socket._endpoint.socket.context)].stop()
    with pytest.raises(TransportAuthenticationError):
        ask(address, CurveClient(LISTED, SERVER.public))
    assert not socket.poll(0.05)
    with Socket("PULL", security=CurveServer(OTHER, allow=[])) as other:
        other.bind("tcp://127.0.0.1:*")
        honest_gets_in(socket, address)
        with pytest.raises(TransportAuthenticationError):
            ask(address, CurveClient(OTHER, SERVER.public))


def test_who_answers_for_the_list_fails(server, monkeypatch):
    """What raises there lets nobody in, and answers the next one."""
    socket, address = server
    real, fails = CurveServer.callback, [True]

    def spoilt(self, domain, key):
        if fails and fails.pop():
            raise RuntimeError("no list at hand")
        return real(self, domain, key)

    monkeypatch.setattr(CurveServer, "callback", spoilt)
    with pytest.raises(TransportError):
        ask(address, CurveClient(OTHER, SERVER.public))
    assert not socket.poll(0.05)
    honest_gets_in(socket, address)


def test_a_list_that_changes_while_the_socket_runs(server):
    """Who is connected stays so; whoever comes is asked of the list that is in force then."""
    socket, address = server
    providers = _curve._authenticators[id(socket._endpoint.socket.context)].credentials_providers
    domain = socket._endpoint.socket.zap_domain.decode()
    with Socket("DEALER", security=CurveClient(LISTED, SERVER.public)) as client:
        client.connect(address)
        client.send(wire.encode([[1]]))
        socket.receive(timeout=WITHIN)
        providers[domain] = CurveServer(SERVER, allow=[OTHER.public])
        with pytest.raises(TransportAuthenticationError):
            ask(address, CurveClient(LISTED, SERVER.public))
        ask(address, CurveClient(OTHER, SERVER.public))
        assert socket.receive(timeout=WITHIN).tensors[0].tolist() == [1, 2, 3]
        client.send(wire.encode([[2]]))
        assert socket.receive(timeout=WITHIN).tensors[0].tolist() == [2]
        del providers[domain]
        with pytest.raises(TransportHandshakeError):
            ask(address, CurveClient(OTHER, SERVER.public))
        assert not socket.poll(0.05)
