"""What goes wrong on sockets: each trouble has its error, nothing hangs, and the next message arrives."""

import gc
import socket as sockets
import threading
import time
import warnings

import numpy as np
import pytest
import zmq

from tensorwrapper import as_tensor, wire
from tensorwrapper.errors import (
    ConversionError,
    LeakedResourceWarning,
    LocalProtocolError,
    PeerAbsentError,
    PeerUnreachableError,
    RemoteProtocolError,
    TransportClosedError,
    TransportError,
    TransportThreadError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Socket
from tensorwrapper.wire import Limits

pytestmark = pytest.mark.slow

EMPTY = [bytes(frame) for frame in wire.encode([])]
KINDS = ["PUSH", "PULL", "PAIR", "DEALER", "ROUTER"]


@pytest.fixture
def raw():
    """Make a plain ZeroMQ socket that is connected to an address."""
    context = zmq.Context()
    opened = []

    def make(kind, address):
        socket = context.socket(kind)
        opened.append(socket)
        socket.linger = 0
        socket.sndtimeo = socket.rcvtimeo = 10_000
        socket.connect(address)
        return socket

    yield make
    for socket in opened:
        socket.close()
    context.term()


@pytest.mark.parametrize("kind", ["PUSH", "PAIR", "DEALER"])
def test_sending_without_a_peer_ends_in_time(kind):
    with Socket(kind) as socket:
        socket.bind("tcp://127.0.0.1:*")
        started = time.monotonic()
        with pytest.raises(TransportTimeoutError) as caught:
            socket.send(EMPTY, timeout=0.05)
        assert isinstance(caught.value, TimeoutError)
        assert isinstance(caught.value, OSError)
        assert 0.04 < time.monotonic() - started < 5
        with pytest.raises(TimeoutError):
            socket.send(EMPTY, timeout=0)


def free_address():
    # Not by a ZeroMQ socket: it goes on listening for a moment after it was closed.
    with sockets.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return f"tcp://127.0.0.1:{listener.getsockname()[1]}"


@pytest.mark.parametrize("kind", ["PUSH", "PAIR", "DEALER"])
def test_sending_to_an_address_where_nobody_listens_ends_in_time(kind):
    address = free_address()
    with Socket(kind) as socket:
        socket.connect(address)
        started = time.monotonic()
        with pytest.raises(PeerAbsentError, match=f"no peer listens at {address} within 0.5 s") as caught:
            socket.send(EMPTY, timeout=0.5)
        assert isinstance(caught.value, TransportTimeoutError)
        assert caught.value.peer == address.encode()
        assert 0.49 < time.monotonic() - started < 5


@pytest.mark.parametrize(("kind", "raw_kind"), [("PUSH", "PULL"), ("PAIR", "PAIR"), ("DEALER", "DEALER")])
def test_sending_waits_for_a_peer_that_comes_later(kind, raw_kind):
    address = free_address()
    with Socket(kind) as socket, Socket(raw_kind) as late:
        socket.connect(address)
        with pytest.raises(TransportTimeoutError):
            socket.send(EMPTY, timeout=0)
        late.bind(address)
        socket.send(wire.encode([], seqno=9), timeout=10)
        assert late.receive(timeout=10).seqno == 9


@pytest.mark.parametrize("kind", ["PULL", "PAIR", "DEALER", "ROUTER"])
def test_receiving_nothing_ends_in_time(kind):
    with Socket(kind, timeout=0.05) as socket:
        socket.bind("tcp://127.0.0.1:*")
        started = time.monotonic()
        with pytest.raises(TransportTimeoutError, match=r"0\.05"):
            socket.receive()
        with pytest.raises(TimeoutError):
            socket.receive_from(timeout=0.01)
        assert 0.05 < time.monotonic() - started < 5


def test_nothing_of_a_message_that_timed_out_is_sent(raw):
    with Socket("DEALER") as dealer:
        address = dealer.bind("tcp://127.0.0.1:*")
        for _ in range(3):
            with pytest.raises(TransportTimeoutError):
                dealer.send(EMPTY, timeout=0)
        peer = raw(zmq.DEALER, address)
        dealer.send(wire.encode([], seqno=9))
        assert peer.recv_multipart() == [b"", *map(bytes, wire.encode([], seqno=9))]


@pytest.mark.parametrize("timeout", [-1, -0.001, float("nan"), "a", [1], 1j])
def test_timeouts_are_numbers_that_are_not_negative(timeout):
    with pytest.raises(TransportError, match=r"linger.*at least 0"):
        Socket("PULL", linger=timeout)
    with pytest.raises(TransportError, match=r"timeout.*at least 0"):
        Socket("PULL", timeout=timeout)
    with Socket("PAIR") as socket:
        socket.bind("tcp://127.0.0.1:*")
        with pytest.raises(TransportError, match="at least 0"):
            socket.receive(timeout=timeout)
        with pytest.raises(TransportError, match="at least 0"):
            socket.send(EMPTY, timeout=timeout)


@pytest.mark.parametrize("name", ["timeout", "linger"])
def test_a_socket_needs_its_timeouts(name):
    with pytest.raises(TransportError, match=f"{name}.*None"):
        Socket("PULL", **{name: None})
    Socket("PULL", **{name: np.float32(0.5)}).close()


def test_a_timeout_may_be_endless(raw):
    with Socket("PAIR", timeout=float("inf"), linger=0) as socket:
        peer = raw(zmq.PAIR, socket.bind("tcp://127.0.0.1:*"))
        peer.send_multipart(EMPTY)
        assert socket.receive().tensors == ()
        socket.send(EMPTY)
        assert peer.recv_multipart() == EMPTY
    Socket("PAIR", linger=float("inf")).close()


def test_a_port_that_is_taken_is_named():
    with Socket("PULL") as first, Socket("PULL") as second:
        address = first.bind("tcp://127.0.0.1:*")
        assert not address.endswith("*")
        with pytest.raises(TransportError, match=address) as caught:
            second.bind(address)
        assert isinstance(caught.value, OSError)
        assert caught.value.errno == zmq.EADDRINUSE
        # The socket that failed can still be used.
        second.bind("tcp://127.0.0.1:*")


@pytest.mark.parametrize(
    "address",
    ["", "nonsense", "tcp://", "tcp://127.0.0.1", "tcp://127.0.0.1:x", "nosuch://x"],
)
@pytest.mark.parametrize("method", ["bind", "connect"])
def test_addresses_that_are_none(address, method):
    with Socket("PAIR") as socket, pytest.raises(TransportError, match="cannot") as caught:
        getattr(socket, method)(address)
    assert address in str(caught.value)


@pytest.mark.parametrize("method", ["bind", "connect"])
def test_a_port_that_does_not_exist(method):
    with Socket("PAIR") as socket, pytest.raises(TransportError, match="use 1 to 65535"):
        getattr(socket, method)("tcp://127.0.0.1:65536")


def test_a_folder_that_is_not_there(tmp_path):
    with Socket("PULL") as socket:
        with pytest.raises(TransportError, match="missing"):
            socket.bind(f"ipc://{tmp_path}/missing/socket")
        with pytest.raises(TransportError):
            socket.bind(f"ipc://{tmp_path}/{'x' * 200}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_closed_socket_says_so(kind):
    socket = Socket(kind)
    address = socket.bind("tcp://127.0.0.1:*")
    assert (socket.kind, socket.closed, repr(socket)) == (kind, False, f"Socket('{kind}')")
    socket.close()
    socket.close()
    assert (socket.kind, socket.closed, repr(socket)) == (kind, True, f"Socket('{kind}', closed)")
    for call in (
        lambda: socket.bind(address),
        lambda: socket.connect(address),
        lambda: socket.send(EMPTY),
        socket.receive,
        socket.receive_from,
    ):
        with pytest.raises(TransportClosedError, match=kind):
            call()


def test_leaving_a_block_closes_the_socket_whatever_happened():
    with pytest.raises(ZeroDivisionError), Socket("PULL") as socket:
        _ = 1 / 0
    assert socket.closed


@pytest.mark.parametrize("call", ["bind", "connect", "send", "receive", "receive_from"])
def test_another_thread_is_refused(call):
    raised = []

    def use(socket):
        arguments = {"bind": ["inproc://other"], "connect": ["inproc://other"], "send": [EMPTY]}
        try:
            getattr(socket, call)(*arguments.get(call, []))
        except TransportThreadError as error:
            raised.append(error)

    with Socket("PAIR") as socket:
        thread = threading.Thread(target=use, args=(socket,))
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
    assert len(raised) == 1


def test_a_socket_that_is_dropped_warns_once():
    def drop():
        Socket("PULL")
        gc.collect()

    with pytest.warns(LeakedResourceWarning, match="PULL") as caught:
        drop()
    assert len(caught) == 1
    assert issubclass(LeakedResourceWarning, ResourceWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        socket = Socket("PULL")
        socket.close()
        del socket
        gc.collect()


def test_a_dropped_socket_frees_its_address():
    with pytest.warns(LeakedResourceWarning):
        address = Socket("PULL").bind("tcp://127.0.0.1:*")
    until = time.monotonic() + 10
    with Socket("PULL") as socket:
        while True:
            try:
                socket.bind(address)
                break
            except TransportError:
                assert time.monotonic() < until
                time.sleep(0.02)


@pytest.mark.parametrize("frames", [[], [b"ZIO0TENS"]])
def test_less_than_a_header_is_not_sent(raw, frames):
    with Socket("DEALER") as dealer:
        peer = raw(zmq.DEALER, dealer.bind("tcp://127.0.0.1:*"))
        with pytest.raises(LocalProtocolError) as caught:
            dealer.send(frames)
        assert caught.value.reason == "frame"
        # And no envelope is left that would spoil the next message.
        dealer.send(EMPTY)
        assert peer.recv_multipart() == [b"", *EMPTY]


@pytest.mark.parametrize(
    "one",
    [np.arange(6.0).reshape(2, 3), as_tensor([1, 2]), "text", b"bytes", None, {"a": b""}],
    ids=lambda one: type(one).__name__,
)
def test_one_value_is_no_message(raw, one):
    with Socket("PUSH") as push:
        peer = raw(zmq.PULL, push.bind("tcp://127.0.0.1:*"))
        with pytest.raises(ConversionError, match=type(one).__name__):
            push.send(one)
        push.send(EMPTY)
        assert peer.recv_multipart() == EMPTY


@pytest.mark.parametrize("peer", ["text", 5, ["x"]])
def test_a_peer_is_bytes(peer):
    with Socket("ROUTER") as router:
        router.bind("tcp://127.0.0.1:*")
        with pytest.raises(ConversionError, match="peer"):
            router.send(EMPTY, peer=peer)


@pytest.mark.parametrize("method", ["bind", "connect"])
@pytest.mark.parametrize("address", [5, None, b"tcp://127.0.0.1:*"])
def test_an_address_is_text(method, address):
    with Socket("PULL") as socket, pytest.raises(ConversionError, match="address"):
        getattr(socket, method)(address)


def test_only_a_router_names_the_peer(raw):
    with Socket("PUSH") as push, Socket("ROUTER") as router:
        raw(zmq.PULL, push.bind("tcp://127.0.0.1:*"))
        with pytest.raises(TransportError, match="ROUTER"):
            push.send(EMPTY, peer=b"x")
        router.bind("tcp://127.0.0.1:*")
        with pytest.raises(TransportError, match="ROUTER"):
            router.send(EMPTY)


def spoilt():
    good = [bytes(frame) for frame in wire.encode([np.arange(3)])]
    return [
        ([b"garbage"], "frame"),
        ([b""], "frame"),
        ([b"ZIO0TENS", b"short"], "frame"),
        ([b"ZIO0TENS\xff", bytes(24)], "header"),
        (good[:2], "layout"),
        ([*good[:2], b"1234"], "size"),
        ([*good[:2], good[2] + b"1"], "size"),
    ]


@pytest.mark.parametrize(("frames", "reason"), spoilt())
@pytest.mark.parametrize(
    ("kind", "raw_kind"), [("PULL", zmq.PUSH), ("PAIR", zmq.PAIR), ("ROUTER", zmq.DEALER)]
)
def test_garbage_is_refused_and_the_next_message_arrives(raw, kind, raw_kind, frames, reason):
    with Socket(kind) as socket:
        peer = raw(raw_kind, socket.bind("tcp://127.0.0.1:*"))
        envelope = [b""] if kind == "ROUTER" else []
        peer.send_multipart([*envelope, *frames])
        peer.send_multipart([*envelope, *map(bytes, wire.encode([], seqno=4))])
        with pytest.raises(RemoteProtocolError) as caught:
            socket.receive()
        assert caught.value.reason == reason
        assert socket.receive().seqno == 4


@pytest.mark.parametrize("kind", ["ROUTER", "DEALER"])
def test_a_missing_delimiter_is_refused_and_the_next_message_arrives(raw, kind):
    with Socket(kind) as socket:
        peer = raw(zmq.DEALER, socket.bind("tcp://127.0.0.1:*"))
        peer.send_multipart(EMPTY)
        peer.send_multipart([b"not empty", *EMPTY])
        peer.send_multipart([b"", *map(bytes, wire.encode([], seqno=4))])
        for _ in range(2):
            with pytest.raises(RemoteProtocolError, match="empty frame") as caught:
                socket.receive()
            assert caught.value.reason == "frame"
        assert socket.receive().seqno == 4


@pytest.mark.parametrize(
    ("limits", "frames"),
    [
        (Limits(parts=3), [*EMPTY, b"", b"", b"", b""]),
        (Limits(parts=3), [*EMPTY, *[b""] * 1000]),
        (Limits(total_bytes=1000), [*EMPTY, bytes(600), bytes(600)]),
        (Limits(total_bytes=1000), [*EMPTY, *[bytes(100)] * 50]),
        (Limits(label_bytes=10), [EMPTY[0], EMPTY[1]]),
    ],
)
@pytest.mark.parametrize(("kind", "raw_kind"), [("PULL", zmq.PUSH), ("ROUTER", zmq.DEALER)])
def test_limits_hold_and_the_next_message_arrives(raw, kind, raw_kind, limits, frames):
    with Socket(kind, limits=limits) as socket:
        peer = raw(raw_kind, socket.bind("tcp://127.0.0.1:*"))
        envelope = [b""] if kind == "ROUTER" else []
        peer.send_multipart([*envelope, *frames])
        peer.send_multipart([*envelope, b"ZIO0TENS{}", (4).to_bytes(24, "big")])
        with pytest.raises(RemoteProtocolError) as caught:
            socket.receive()
        assert caught.value.reason == "limit"
        assert socket.receive().seqno == 4 << 56


def test_a_frame_over_the_limit_is_not_even_read(raw):
    with Socket("PULL", limits=Limits(total_bytes=1000), timeout=0.3) as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        raw(zmq.PUSH, address).send_multipart([*EMPTY, bytes(2000)])
        # ZeroMQ drops the peer that announces such a frame.
        with pytest.raises(TransportTimeoutError):
            socket.receive()
        raw(zmq.PUSH, address).send_multipart(EMPTY)
        assert socket.receive(timeout=10).tensors == ()


def send_until_it_fails(socket, peer, array, timeout):
    for _ in range(1000):
        socket.send(wire.encode([array]), peer=peer, timeout=timeout)


def test_a_peer_that_left_while_its_room_was_full_is_unreachable(pair):
    router, dealer = pair("ROUTER", "DEALER")
    dealer.send(wire.encode([]))
    peer, _ = router.receive_from()
    with pytest.raises(TransportTimeoutError):
        send_until_it_fails(router, peer, np.zeros(100_000), 0.2)
    dealer.close()
    with pytest.raises(PeerUnreachableError):
        send_until_it_fails(router, peer, np.zeros(1), 10)
