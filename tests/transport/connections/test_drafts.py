"""CLIENT and SERVER: all frames of a message as one, where `.ci/drafts` has built a ZeroMQ that has them."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
import zmq

import tensorwrapper as tw
from tensorwrapper import wire
from tensorwrapper.errors import (
    ConversionError,
    PeerUnreachableError,
    RemoteProtocolError,
    TransportError,
    TransportTimeoutError,
    UnsupportedSocketError,
)
from tensorwrapper.transport import AsyncSocket, CurveClient, CurveServer, Flows, KeyPair, Socket, Transfers
from tests.support.transport.flows import expected, give, in_thread, take

pytestmark = pytest.mark.skipif(
    not zmq.DRAFT_API, reason="ZeroMQ without its draft API: .ci/drafts builds one"
)

ROADS = ["tcp", "ipc", "inproc"]
RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "zio-flow.json").read_text())["conversations"]


def many(socket, peer, *tensors, timeout):
    until = time.monotonic() + 10
    while time.monotonic() < until:
        socket.send(wire.encode(tensors), peer=peer, timeout=timeout)


@pytest.mark.parametrize("road", ROADS)
def test_messages_go_there_and_back(pair, road):
    server, client = pair("SERVER", "CLIENT", road)
    frames = wire.encode([np.arange(200_000), tw.jagged([[1, 2], [], [3]]), np.float32(2.5)], seqno=7)
    for _ in range(3):
        client.send(frames)
        peer, message = server.receive_from()
        assert [bytes(frame) for frame in message.to_frames()] == [bytes(frame) for frame in frames]
        server.send(message, peer=peer)
        assert client.receive().tensors[1].tolist() == [[1, 2], [], [3]]
    assert client.counters.frames_sent == server.counters.frames_received == 3
    assert client.counters.bytes_sent == server.counters.bytes_sent == 3 * len(wire.encode_frames(frames))


def test_each_client_gets_what_is_for_him(pair):
    server, first = pair("SERVER", "CLIENT")
    with Socket("CLIENT") as second:
        second.connect(server.addresses[0])
        peers = {}
        for number, client in enumerate((first, second)):
            client.send(wire.encode([[number]]))
            peer, message = server.receive_from()
            peers[message.tensors[0].tolist()[0]] = peer
        assert len(set(peers.values())) == 2
        for number in (1, 0):
            server.send(wire.encode([[number + 10]]), peer=peers[number])
        assert [client.receive().tensors[0].tolist() for client in (first, second)] == [[10], [11]]
        second.close()
        with pytest.raises(PeerUnreachableError):
            many(server, peers[1], timeout=10)


def test_the_frames_are_those_of_the_single_frame_codec(pair):
    server, client = pair("SERVER", "CLIENT")
    frames = wire.encode([[1, 2, 3]])
    with zmq.Context() as context, context.socket(zmq.CLIENT) as stranger:
        stranger.connect(server.addresses[0])
        stranger.send(wire.encode_frames(frames))
        assert server.receive().tensors[0].tolist() == [1, 2, 3]
        stranger.send(b"\x05ab")
        with pytest.raises(RemoteProtocolError) as caught:
            server.receive()
        assert (caught.value.reason, len(caught.value.peer)) == ("frame", 4)
    client.send(frames)
    assert server.receive().tensors[0].tolist() == [1, 2, 3]


def test_waits_have_ends_and_room_is_waited_for(pair):
    server, client = pair("SERVER", "CLIENT")
    with pytest.raises(TransportTimeoutError):
        client.receive(timeout=0.05)
    with pytest.raises(TransportError, match="peer"):
        server.send(wire.encode([]))
    with pytest.raises(ConversionError, match="4 bytes"):
        server.send(wire.encode([]), peer=b"12345")
    with pytest.raises(TransportTimeoutError):
        many(client, None, np.zeros(10**6), timeout=0.1)
    assert not client.closed
    with pytest.raises(TransportError, match="file descriptor"):
        client.fileno()


@pytest.mark.parametrize("end", [give, take])
def test_flows(tmp_path, end):
    with Socket("SERVER") as socket:
        join = in_thread(end, socket.bind(f"ipc://{tmp_path}/s"), *([20] if end is give else []), 4, "CLIENT")
        with Flows(socket).accept() as flow:
            if end is give:
                found = [message.tensors[0].tolist() for message in flow]
            else:
                for number in range(20):
                    flow.put([np.full(number % 5, number)])
        done = join()
    assert (found if end is give else done) == expected(20)


@pytest.mark.parametrize("conversation", [c for c in RECORDED if c["socket"] == "server"])
def test_a_recorded_client_is_served(conversation):
    """What a real client sent in single frames is answered as its real server answered."""
    recorded = [(m["dir"][:6], bytes.fromhex(m["frames"][-1])) for m in conversation["messages"]]
    with Socket("SERVER") as socket, zmq.Context() as context, context.socket(zmq.CLIENT) as client:
        client.linger, client.rcvtimeo = 0, 10_000
        client.connect(socket.bind("tcp://127.0.0.1:*"))

        def play():
            answers = []
            for who, frame in recorded:
                if who == "client":
                    client.send(frame)
                else:
                    answers.append(wire.decode(wire.decode_frames(client.recv())))
            return [message.label_object["flow"] for message in answers]

        join = in_thread(play)
        with Flows(socket).accept() as flow:
            if flow.direction == "inject":
                assert all(flow.get() is not None for _ in range(4))
            else:
                for who, frame in recorded:
                    message = wire.decode(wire.decode_frames(frame))
                    if who == "server" and message.label_object["flow"] == "DAT":
                        flow.put(list(message.tensors))
        assert join()[0] == "BOT"


def test_keys_and_what_needs_other_sockets():
    ours, theirs = KeyPair.make(), KeyPair.make()
    with (
        Socket("SERVER", security=CurveServer(ours, allow=[theirs.public])) as server,
        Socket("CLIENT", security=CurveClient(theirs, ours.public)) as client,
    ):
        client.connect(server.bind("tcp://127.0.0.1:*"))
        client.send(wire.encode([[1]]))
        assert server.receive_signed(timeout=10)[1] == theirs.public
        with pytest.raises(TransportError, match="transfers"):
            Transfers(client)
    with pytest.raises(UnsupportedSocketError, match="loop"):
        AsyncSocket("CLIENT")
