"""Peers that are killed, frozen or cut off in the middle of a transfer."""

import os
import random
import signal
import struct
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import PeerUnreachableError, TransportTimeoutError
from tensorwrapper.transport import Socket, TransferReceiver, Transfers, TransferSender
from tensorwrapper.wire.lowlevel import take_apart

COUNT = 2_000_000

GIVER = f"""
    import sys
    import numpy as np
    from tensorwrapper.transport import Socket, Transfers

    with Socket("DEALER") as socket:
        socket.connect(sys.argv[1])
        with Transfers(socket, chunk=4096, timeout=60) as transfers:
            transfers.send(np.arange({COUNT}), key="the numbers", check="crc32")
"""


def start(address):
    return subprocess.Popen([sys.executable, "-c", textwrap.dedent(GIVER), address])


def end(process):
    process.send_signal(signal.SIGCONT)
    process.kill()
    process.wait(30)


def move(transfers, transfer, share):
    """Let a transfer move until a share of it has come."""
    until = time.monotonic() + 30
    while transfer.left > transfer.nbytes * (1 - share):
        transfers.advance(timeout=1)
        assert time.monotonic() < until


def test_givers_that_are_killed_go_on_where_they_stood(tmp_path):
    chance = random.Random(1)
    out = np.full(COUNT, -1)
    with Socket("ROUTER") as socket, Transfers(socket, chunk=4096, timeout=30) as transfers:
        address = socket.bind(f"ipc://{tmp_path}/s")
        process = start(address)
        try:
            taken = transfers.accept().into(out)
            share = 0.0
            for _ in range(3):
                share += chance.uniform(0.05, 0.2)
                move(transfers, taken, share)
                end(process)
                came = out >= 0
                # What has come is not sent again: it stays as it is now.
                out[came] += COUNT
                left = taken.left
                process = start(address)
                move(transfers, taken, share + 0.01)
                assert taken.left < left
                out[out >= COUNT] -= COUNT
            taken.wait(timeout=30)
            assert process.wait(30) == 0
        finally:
            end(process)
    assert np.array_equal(out, np.arange(COUNT))


def test_a_taker_that_was_killed_goes_on_with_what_it_noted(tmp_path):
    out = np.full(COUNT, -1)
    address = f"ipc://{tmp_path}/s"
    process = start(address)
    try:
        with Socket("ROUTER") as socket:
            socket.bind(address)
            first = Transfers(socket, chunk=4096)
            taken = first.accept(timeout=30).into(out)
            move(first, taken, 0.3)
            missing = taken.missing
        # The socket closed without a word, as that of a killed process does.
        out[: missing[0][1]] = np.arange(missing[0][1])
        with Socket("ROUTER") as socket, Transfers(socket, chunk=4096) as second:
            socket.bind(address)
            again = second.accept(timeout=30).into(out, missing=missing)
            assert again.left == sum(8 * count for _, _, count in missing)
            again.wait(timeout=30)
            # The giver asks again if the word that all has come was lost with the connection.
            until = time.monotonic() + 30
            while process.poll() is None:
                second.advance(timeout=0.1)
                assert time.monotonic() < until
        assert process.returncode == 0
    finally:
        end(process)
    assert np.array_equal(out, np.arange(COUNT))


def test_a_giver_of_many_grants_moves_for_a_taker_that_begins_anew(tmp_path):
    address, array = f"ipc://{tmp_path}/s", np.arange(100_000)
    with Socket("DEALER") as socket, Transfers(socket, chunk=4096) as giving:
        socket.connect(address)
        given = giving.offer(array, key="the numbers")
        with Socket("ROUTER") as router:
            router.bind(address)
            first = Transfers(router, chunk=4096)
            while not first.running:
                giving.advance(timeout=0.01)
                first.advance(timeout=0.01)
            taken = first.accept().into()
            for _ in range(40):
                # As after each kill, stop and lost chunk.
                first._engine.grant(taken, taken._machine)
            while taken.left > array.nbytes // 2:
                giving.advance(timeout=0.01)
                first.advance(timeout=0.01)
        with Socket("ROUTER") as router, Transfers(router, chunk=4096) as second:
            router.bind(address)
            until = time.monotonic() + 15
            while not second.running or second.running[0].state != "offered":
                giving.advance(timeout=0.01)
                second.advance(timeout=0.01)
                assert time.monotonic() < until
            again = second.accept().into()
            while given.state != "done":
                giving.advance(timeout=0.01)
                second.advance(timeout=0.01)
                assert time.monotonic() < until
            assert np.array_equal(again.wait(), array)


@pytest.mark.parametrize("leaves", [False, True], ids=["silent", "gone"])
def test_a_giver_that_does_not_hear_the_last_word_says_that_all_went(tmp_path, leaves):
    array = np.arange(4000)
    with Socket("ROUTER") as router, Socket("DEALER") as socket, Transfers(socket) as giving:
        socket.connect(router.bind(f"ipc://{tmp_path}/s"))
        given = giving.offer(array)
        taker = TransferReceiver()
        while not router.poll(0.01):
            giving.advance(timeout=0.01)
        peer, frames = router.receive_frames()
        taker.receive(wire.decode(frames))
        router._endpoint.send([peer, b"", *taker.grant(8, 2**20)], 1)
        while given.left or given.state != "moving":
            giving.advance(timeout=0.1)
        if leaves:
            router.close()
        with pytest.raises(TransportTimeoutError, match="all of a tensor went") as caught:
            given.wait(timeout=0.5)
    assert isinstance(caught.value, PeerUnreachableError) or not leaves


def test_a_taker_that_grants_for_ever_and_never_has_all_is_an_error_in_time(tmp_path):
    with Socket("ROUTER") as router, Socket("DEALER") as socket, Transfers(socket) as giving:
        socket.connect(router.bind(f"ipc://{tmp_path}/s"))
        given = giving.offer(np.arange(4000))
        while not router.poll(0.01):
            giving.advance(timeout=0.01)
        peer, frames = router.receive_frames()
        taker = TransferReceiver()
        taker.receive(wire.decode(frames))
        grants = 0

        def ask(*_):
            nonlocal grants
            while router.poll(0):
                router.receive_frames()
            router._endpoint.send([peer, b"", *taker.grant(8, 2**20)], 1)
            grants += 1

        ask()
        with pytest.raises(TransportTimeoutError):
            given.wait(timeout=0.3, progress=ask)
        assert grants > 1


def test_a_giver_that_trickles_is_ended_by_who_is_told_how_far_it_is(tmp_path):
    with Socket("ROUTER") as router, Socket("DEALER") as socket, Transfers(router) as taking:
        socket.connect(router.bind(f"ipc://{tmp_path}/s"))
        giver = TransferSender(take_apart(tw.as_tensor(np.arange(4000)), wire.DEFAULT_LIMITS).whole, 7, "key")
        socket._endpoint.send([b"", *giver.offer()], 5)
        taken = taking.accept().into()
        giver.receive(wire.decode(socket.receive_frames()[1]))
        label, coordinates = giver.header(giver.next())
        request, first, seqno = struct.unpack("<3Q", coordinates)

        sent = set()

        def one_more(done, _):
            count = done // 8
            if count == 5:
                raise KeyboardInterrupt
            if count in sent:
                return
            sent.add(count)
            chunk = struct.pack("<3Q", request, first + count, seqno + count)
            socket._endpoint.send([b"", label, chunk, bytes(8)], 1)

        # The first is there before anybody waits: later the grant would be said again, and it came too late.
        one_more(0, 0)
        with pytest.raises(KeyboardInterrupt):
            taken.wait(timeout=5, progress=one_more)
        assert taken.left == 8 * (4000 - 5)
        taken.cancel("too slow")
        assert not taking.running


def test_a_peer_that_is_frozen_is_an_error_in_time_and_goes_on_when_it_wakes(tmp_path):
    with Socket("ROUTER") as socket, Transfers(socket, chunk=4096) as transfers:
        process = start(socket.bind(f"ipc://{tmp_path}/s"))
        try:
            taken = transfers.accept(timeout=30).into()
            move(transfers, taken, 0.1)
            os.kill(process.pid, signal.SIGSTOP)
            with pytest.raises(TransportTimeoutError, match="left within"):
                taken.wait(timeout=0.5)
            os.kill(process.pid, signal.SIGCONT)
            assert np.array_equal(taken.wait(timeout=30).to_numpy(), np.arange(COUNT))
        finally:
            end(process)
