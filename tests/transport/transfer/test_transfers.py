"""Tensors of every kind in chunks over sockets."""

import threading

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import (
    ConversionError,
    ExtentError,
    FlowAbortedError,
    LocalProtocolError,
    RemoteProtocolError,
    TransportClosedError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Socket, Transfers
from tensorwrapper.transport.transfer import _scheduler
from tests.support.selection.kinds import KINDS
from tests.support.transport.sockets_of_transfers import CHUNK, Sending, through


@pytest.mark.parametrize("kind", KINDS)
def test_a_tensor_of_each_kind_arrives(listening, kind):
    tensor = KINDS[kind](400, 3)
    received = through(listening, tensor)
    assert received.shape == tensor.shape
    assert received.dtype == tensor.dtype
    assert received.array_equal(tensor)


@pytest.mark.parametrize("road", ["tcp", "ipc", "inproc"])
@pytest.mark.parametrize(("left", "right"), [("ROUTER", "DEALER"), ("PAIR", "PAIR"), ("DEALER", "DEALER")])
def test_by_every_road_and_between_every_pair_of_kinds(pair, road, left, right):
    sink, source = pair(left, right, road)
    tensor = np.arange(50_000, dtype="f4").reshape(100, 500)
    found = []

    def take():
        with Transfers(sink, chunk=CHUNK) as transfers:
            found.append(transfers.receive(timeout=10))

    # A socket belongs to the thread that opened it: what receives has one of its own here.
    sink._endpoint._thread = None
    thread = threading.Thread(
        target=lambda: (setattr(sink._endpoint, "_thread", threading.get_ident()), take())
    )
    thread.start()
    with Transfers(source, chunk=CHUNK) as transfers:
        transfers.send(tensor, timeout=10)
    thread.join(20)
    sink._endpoint._thread = threading.get_ident()
    assert np.array_equal(found[0].to_numpy(), tensor)


@pytest.mark.parametrize(
    "tensor",
    [
        np.float64(3.5),
        np.zeros((0, 5)),
        np.zeros((3, 0, 2), "i2"),
        np.arange(24, dtype=">i4").reshape(2, 3, 4),
        np.arange(40_000, dtype="f4").reshape(200, 200)[::-1, ::2],
        np.arange(40_000, dtype="c16").reshape(200, 200).T,
        np.arange(20_000) % 3 == 0,
        np.arange(5000).astype("M8[s]"),
        np.array([], "i8"),
    ],
    ids=["scalar", "empty", "empty-middle", "big-endian", "reversed", "transposed", "bools", "times", "none"],
)
def test_arrays_of_every_form(listening, tensor):
    received = through(listening, tensor)
    assert np.array_equal(received.to_numpy(), tensor)


def test_origins_and_names_and_layers_stay(listening):
    tensor = tw.as_tensor(np.arange(60.0).reshape(6, 10)).translate_to((3, -4)).named("row", "column")
    received = through(listening, tensor)
    assert (received.shape, received.shape.names) == (tensor.shape, ("row", "column"))


def test_many_transfers_share_a_socket(listening):
    socket, address = listening
    tensors = [np.full((50, 100), number) for number in range(10)]
    sending = Sending(address, *tensors)
    with Transfers(socket, chunk=CHUNK) as transfers:
        taken = [transfers.accept(timeout=10).into() for _ in tensors]
        found = [transfer.wait(timeout=10)[0, 0].item() for transfer in taken]
        assert transfers.running == ()
    sending.end()
    # An offer that waits for seconds is made again, behind the others: on a starved machine that happens.
    assert sorted(found) == list(range(10))


def test_more_than_may_run_are_refused(listening, monkeypatch):
    # One that comes before the first is accepted waits, and is made again.
    monkeypatch.setattr(_scheduler, "_OFFERED", 0.05)
    socket, address = listening
    sending = Sending(address, np.zeros(10), np.ones(10))
    with Transfers(socket, transfers=1) as transfers:
        first = transfers.accept(timeout=10)
        with pytest.raises(TransportTimeoutError):
            transfers.accept(timeout=0.4)
        first.into().wait(timeout=10)
        assert transfers.strays >= 1
    with pytest.raises(FlowAbortedError, match="1 transfers already"):
        sending.end()


def test_what_is_received_may_be_sent_back(listening):
    socket, address = listening
    tensor = np.arange(10_000)
    found = []

    def ask():
        with Socket("DEALER") as client:
            client.connect(address)
            with Transfers(client, chunk=CHUNK) as transfers:
                transfers.send(tensor, timeout=10)
                found.append(transfers.receive(timeout=10).to_numpy())

    thread = threading.Thread(target=ask)
    thread.start()
    with Transfers(socket, chunk=CHUNK) as transfers:
        transfer = transfers.accept(timeout=10)
        received = transfer.into().wait(timeout=10)
        transfers.send(received, peer=transfer.peer, timeout=10)
    thread.join(20)
    assert np.array_equal(found[0], tensor)


def test_what_is_no_transfer_is_refused_here(listening):
    socket, _ = listening
    with Socket("PULL") as pull, pytest.raises(TransportError, match="need a DEALER"):
        Transfers(pull)
    with pytest.raises(ExtentError):
        Transfers(socket, chunk=2**30)
    transfers = Transfers(socket)
    with pytest.raises(TransportError, match="peer"):
        transfers.offer(np.zeros(3))
    with Socket("PAIR") as other:
        transfers = Transfers(other, chunk=CHUNK)
        for key in ("", "k" * 129, 3):
            with pytest.raises(ConversionError):
                transfers.offer(np.zeros(3), key=key)
        with pytest.raises(LocalProtocolError):
            transfers.offer(np.zeros(3), check="md5")
        with pytest.raises(LocalProtocolError, match="long doubles"):
            transfers.offer(np.zeros(3, "g"))
        transfers.offer(np.zeros(3), key="twice")
        with pytest.raises(TransportClosedError, match="under way"):
            transfers.offer(np.zeros(3), key="twice")
        transfers.close()


def test_limits_are_kept_before_memory_is_taken(tmp_path):
    limits = tw.wire.Limits(received_bytes=10_000)
    with Socket("ROUTER", limits=limits) as socket:
        address = socket.bind(f"ipc://{tmp_path}/s")
        sending = Sending(address, np.zeros(2000))
        with Transfers(socket) as transfers, pytest.raises(RemoteProtocolError, match="limit"):
            transfers.receive(timeout=10)
        with pytest.raises(FlowAbortedError):
            sending.end()


def test_tensors_have_names_and_say_how_many_follow(listening):
    socket, address = listening
    sending = Sending(address, np.arange(5), name="zürich/x", follow=3)
    with Transfers(socket) as transfers:
        transfer = transfers.accept(timeout=10)
        assert (transfer.name, transfer.follow) == ("zürich/x", 3)
        seen = []
        transfer.into().wait(timeout=10, progress=lambda done, total: seen.append((done, total)))
        sending.end()
        for options in ({"name": "n" * 256}, {"name": 3}, {"follow": -1}, {"follow": 2**31}):
            with pytest.raises((ConversionError, ExtentError)):
                transfers.offer(np.zeros(3), peer=b"x", **options)
    assert seen[-1] == (40, 40)


def test_whoever_waits_is_told_how_far_it_is(listening):
    socket, address = listening
    sending = Sending(address, np.zeros(100_000))
    seen = []
    with Transfers(socket, chunk=CHUNK) as transfers:
        transfers.receive(timeout=10, progress=lambda done, total: seen.append((done, total)))
    sending.end()
    assert len(seen) > 3
    assert seen == sorted(set(seen))
    assert seen[-1] == (800_000, 800_000)
