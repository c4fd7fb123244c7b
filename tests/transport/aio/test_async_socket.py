"""Sockets in asyncio: what `Socket` does, while the loop goes on; who is cancelled loses nothing."""

import asyncio
import contextlib
import inspect
import itertools
import os
import random
import sys

import numpy as np
import pytest

from tensorwrapper import wire
from tensorwrapper.errors import (
    ConversionError,
    LocalProtocolError,
    PeerAbsentError,
    PeerUnreachableError,
    RemoteProtocolError,
    TransportAuthenticationError,
    TransportClosedError,
    TransportError,
    TransportForkError,
    TransportThreadError,
    TransportTimeoutError,
)
from tensorwrapper.transport import (
    AsyncDelivery,
    AsyncSocket,
    CurveClient,
    CurveServer,
    Delivery,
    KeyPair,
    Socket,
)

FRAMES = wire.encode([[1, 2, 3]])
ROADS = [
    "tcp",
    pytest.param("ipc", marks=pytest.mark.skipif(sys.platform == "win32", reason="no ipc")),
    "inproc",
]
_NUMBERS = itertools.count()


@pytest.fixture(params=ROADS)
def address(request, tmp_path):
    return {
        "tcp": "tcp://127.0.0.1:*",
        "ipc": f"ipc://{tmp_path}/socket",
        "inproc": f"inproc://async-{next(_NUMBERS)}",
    }[request.param]


def numbered(number, count=1):
    return wire.encode([np.full(count, number)], seqno=number)


def elements_of(message):
    return {element for tensor in message.tensors for element in tensor.tolist()}


def public(kind):
    return {name: value for name, value in vars(kind).items() if not name.startswith("_")}


@pytest.mark.parametrize(("sync", "awaited"), [(Socket, AsyncSocket), (Delivery, AsyncDelivery)])
def test_it_has_what_the_other_has(sync, awaited):
    assert list(public(sync)) == list(public(awaited)) or set(public(sync)) == set(public(awaited))
    for name, value in public(sync).items():
        other = public(awaited)[name]
        assert isinstance(value, property) == isinstance(other, property), name
        if not isinstance(value, property):
            ours, theirs = inspect.signature(other), inspect.signature(value)
            assert ours.parameters == theirs.parameters, name
            # What may wait is awaited, and nothing else.
            waits = name.startswith("receive") or name in ("send", "poll", "wait")
            assert inspect.iscoroutinefunction(other) == waits, name
    if sync is Socket:
        assert inspect.signature(sync).parameters == inspect.signature(awaited).parameters


@pytest.mark.parametrize(
    ("listening", "connecting"),
    [
        ("PULL", "PUSH"),
        ("PAIR", "PAIR"),
        ("REP", "REQ"),
        ("ROUTER", "DEALER"),
        ("ROUTER", "REQ"),
        ("REP", "DEALER"),
    ],
)
def test_every_pair_of_kinds(listening, connecting, address):
    async def talk():
        async with AsyncSocket(listening) as left, AsyncSocket(connecting) as right:
            right.connect(left.bind(address))
            for number in range(20):
                taken = asyncio.create_task(left.receive_from())
                delivery = await right.send(numbered(number, 20_000))
                peer, message = await taken
                assert message.tensors[0].tolist() == [number] * 20_000
                if not address.startswith("inproc"):
                    # There the receiver has the memory of the sender.
                    await delivery.wait(10)
                    assert delivery.done
                if listening != "PULL":
                    await left.send(message, peer=peer if listening == "ROUTER" else None)
                    _, frames = await right.receive_frames()
                    assert [bytes(frame) for frame in frames] == [bytes(f) for f in numbered(number, 20_000)]
            assert left.counters.messages_received == right.counters.messages_sent == 20

    asyncio.run(talk())


def test_publishing(address):
    async def talk():
        async with AsyncSocket("PUB") as news, AsyncSocket("SUB") as reader:
            reader.connect(news.bind(address))
            reader.subscribe("ZIO")
            while not await reader.poll(0.01):
                await news.send(FRAMES)
            assert (await reader.receive()).tensors[0].tolist() == [1, 2, 3]
            reader.unsubscribe("ZIO")

    asyncio.run(talk())


def test_a_peer_that_knows_nothing_of_asyncio(address):
    async def talk():
        async with AsyncSocket("ROUTER") as server:
            place = server.bind(address)
            with Socket("DEALER") as client:
                client.connect(place)
                client.send(FRAMES)
                peer, message = await server.receive_from()
                await server.send(message, peer=peer)
                assert client.receive() == message

    asyncio.run(talk())


def test_the_loop_goes_on_while_somebody_waits(address):
    async def talk():
        async with AsyncSocket("PULL") as sink:
            sink.bind(address)
            waiting = asyncio.create_task(sink.receive(timeout=0.2))
            turns = 0
            while not waiting.done():
                turns += 1
                await asyncio.sleep(0.001)
            with pytest.raises(
                TransportTimeoutError, match=r"no message came to this PULL socket.* within 0.2 s"
            ):
                waiting.result()
            assert turns > 10

    asyncio.run(talk())


def test_many_tasks_at_one_socket(address):
    """Each message reaches one of them, also while others send."""

    async def talk():
        async with AsyncSocket("PAIR") as left, AsyncSocket("PAIR") as right:
            right.connect(left.bind(address))

            async def give(socket, start):
                for number in range(start, start + 100):
                    await socket.send(numbered(number))

            async def take(socket):
                return [(await socket.receive()).seqno for _ in range(100)]

            found = await asyncio.gather(
                *[take(left) for _ in range(3)],
                *[take(right) for _ in range(3)],
                *[give(socket, 100 * k) for socket in (left, right) for k in range(3)],
            )
        assert sorted(found[0] + found[1] + found[2]) == list(range(300))
        assert sorted(found[3] + found[4] + found[5]) == list(range(300))

    asyncio.run(talk())


@pytest.mark.parametrize("seed", range(6))
def test_random_cancellations_lose_nothing(seed, address):  # noqa: C901 - the model stands beside both sides
    """A model of what must arrive: what was sent, each once, in order; whoever was cancelled did nothing."""
    chance = random.Random(seed)

    async def perhaps_cancel(task):
        if chance.random() < 0.5:
            await asyncio.sleep(chance.choice([0, 0, 0.0005]))
            task.cancel()

    async def talk():
        sent, got = [], []
        async with AsyncSocket("DEALER", timeout=30) as giver, AsyncSocket("DEALER", timeout=30) as taker:
            giver.connect(taker.bind(address))

            async def give():
                number = 0
                while number < 300:
                    # Large ones now and then, of several frames.
                    arrays = [
                        np.full(chance.choice([1, 10, 9000]), number) for _ in range(chance.randrange(1, 4))
                    ]
                    task = asyncio.create_task(giver.send(wire.encode(arrays, seqno=number)))
                    await perhaps_cancel(task)
                    try:
                        await task
                    except asyncio.CancelledError:
                        continue
                    sent.append(number)
                    number += 1
                done.set()

            async def take():
                while len(got) < 300:
                    task = asyncio.create_task(taker.receive())
                    await perhaps_cancel(task)
                    try:
                        message = await task
                    except asyncio.CancelledError:
                        continue
                    assert elements_of(message) == {message.seqno}
                    got.append(message.seqno)
                    if chance.random() < 0.1:
                        # So that the giver has to wait for room.
                        await asyncio.sleep(0.003)

            done = asyncio.Event()
            await asyncio.wait_for(asyncio.gather(give(), take()), 50)
            assert sent == got == list(range(300))
            assert giver.counters.messages_sent == taker.counters.messages_received == 300
            assert not await taker.poll(0.05)

    asyncio.run(talk())


@pytest.mark.parametrize("seed", range(3))
def test_random_cancellations_of_many_clients(seed):
    """A ROUTER that answers, whose clients are cancelled before, while and after it does."""
    chance = random.Random(seed)

    async def talk():
        async with AsyncSocket("ROUTER", timeout=30) as server:
            place = server.bind("tcp://127.0.0.1:*")

            async def serve():
                while True:
                    peer, message = await server.receive_from()
                    with contextlib.suppress(PeerUnreachableError):
                        await server.send(message, peer=peer)

            async def ask(start):
                async with AsyncSocket("DEALER", timeout=30) as client:
                    client.connect(place)
                    for number in range(start, start + 40):
                        await client.send(numbered(number, chance.choice([1, 20_000])))
                        while True:
                            task = asyncio.create_task(client.receive())
                            if chance.random() < 0.5:
                                await asyncio.sleep(chance.choice([0, 0.0003]))
                                task.cancel()
                            try:
                                message = await task
                            except asyncio.CancelledError:
                                continue
                            break
                        assert message.seqno == number

            serving = asyncio.create_task(serve())
            await asyncio.wait_for(asyncio.gather(*[ask(1000 * k) for k in range(5)]), 50)
            serving.cancel()
            with pytest.raises(asyncio.CancelledError):
                await serving

    asyncio.run(talk())


def test_a_send_that_is_cancelled_while_it_waits_for_room_sent_nothing():
    async def talk():
        async with AsyncSocket("PUSH") as source, AsyncSocket("PULL") as sink:
            address = source.bind("tcp://127.0.0.1:*")
            task = asyncio.create_task(source.send(numbered(1), timeout=30))
            await asyncio.sleep(0.02)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            sink.connect(address)
            await source.send(numbered(2))
            assert (await sink.receive()).seqno == 2
            assert source.counters.messages_sent == 1

    asyncio.run(talk())


def test_who_waits_when_it_is_closed_is_told():
    async def talk():
        async with AsyncSocket("PULL") as sink:
            sink.bind("tcp://127.0.0.1:*")
            waiting = asyncio.create_task(sink.receive(timeout=30))
            await asyncio.sleep(0.01)
        with pytest.raises(TransportClosedError):
            await waiting
        sink.close()

    asyncio.run(talk())


def test_one_loop_after_the_other():
    socket, other = AsyncSocket("PAIR"), AsyncSocket("PAIR")
    other.connect(socket.bind("tcp://127.0.0.1:*"))

    async def talk(number):
        taken = asyncio.create_task(socket.receive())
        await asyncio.sleep(0)
        await other.send(numbered(number))
        assert (await taken).seqno == number

    for number in range(3):
        asyncio.run(talk(number))
    socket.close()
    other.close()


def test_errors_are_those_of_a_socket():
    server, listed, stranger = KeyPair.make(), KeyPair.make(), KeyPair.make()

    async def talk():
        async with AsyncSocket("DEALER") as socket:
            for wrong in ([b"x"], np.arange(3)):
                with pytest.raises((LocalProtocolError, ConversionError)):
                    await socket.send(wrong)
            with pytest.raises(TransportError, match="at least 0"):
                await socket.receive(timeout=-1)
            with pytest.raises(TransportError, match="at least 0"):
                await socket.poll(-1)
            socket.connect("tcp://127.0.0.1:9")
            with pytest.raises(PeerAbsentError, match=r"no peer listens at .* within 0\.5 s"):
                await socket.send(FRAMES, timeout=0.5)
        async with (
            AsyncSocket("ROUTER", security=CurveServer(server, allow=[listed.public])) as holder,
            AsyncSocket("DEALER", security=CurveClient(stranger, server.public), timeout=60) as client,
        ):
            client.connect(holder.bind("tcp://127.0.0.1:*"))
            with pytest.raises(TransportAuthenticationError):
                await client.receive()
            with pytest.raises(TransportAuthenticationError):
                await client.send(FRAMES)
            with pytest.raises(PeerUnreachableError):
                await holder.send(FRAMES, peer=b"nobody")
        async with AsyncSocket("PULL") as sink, AsyncSocket("PUSH") as source:
            source.connect(sink.bind("tcp://127.0.0.1:*"))
            await source.send([b"ZIO9", b""])
            with pytest.raises(RemoteProtocolError):
                await sink.receive()

    asyncio.run(talk())


def test_it_belongs_to_its_thread():
    async def talk():
        async with AsyncSocket("PULL") as sink:
            sink.bind("tcp://127.0.0.1:*")

            def elsewhere():
                with pytest.raises(TransportThreadError):
                    asyncio.run(sink.receive())

            await asyncio.to_thread(elsewhere)

    asyncio.run(talk())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_of_fork_is_refused():
    socket = AsyncSocket("PULL")
    socket.bind("tcp://127.0.0.1:*")
    child = os.fork()
    if not child:
        try:
            asyncio.run(socket.receive())
        except TransportForkError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    socket.close()


def test_its_text():
    socket = AsyncSocket("PULL")
    assert repr(socket) == "AsyncSocket('PULL')"
    assert socket.fileno() >= 0
    socket.close()
    assert repr(socket) == "AsyncSocket('PULL', closed)"
