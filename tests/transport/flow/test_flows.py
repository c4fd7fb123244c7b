"""Flows over real sockets: threads and processes, peers that vanish, hang, or break the rules."""

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import zmq

from tensorwrapper import wire
from tensorwrapper.errors import (
    RemoteProtocolError,
    TransportError,
    TransportTimeoutError,
)
from tensorwrapper.transport import Flows, Socket
from tests.support.transport.flows import expected, get_many, give, in_thread, put_many

RECORDED = json.loads((Path(__file__).parents[2] / "golden" / "zio-flow.json").read_text())["conversations"]
COUNTER = iter(range(10**6))


# Peers that are others, or hostile.


def frames_of(entry):
    frames = [bytes.fromhex(frame) for frame in entry["frames"]]
    if len(frames) == 1:
        return [bytes(frame) for frame in wire.decode_frames(frames[0])]
    return frames[next(k for k, frame in enumerate(frames) if frame[:3] == b"ZIO") :]


@pytest.fixture
def plain():
    """Make a plain DEALER, as a stranger has it."""
    context, opened = zmq.Context(), []

    def make(address):
        socket = context.socket(zmq.DEALER)
        opened.append(socket)
        socket.linger, socket.rcvtimeo = 0, 10_000
        socket.connect(address)
        return socket

    yield make
    for socket in opened:
        socket.close()
    context.term()


def verb_of(message):
    return message.label_object["flow"]


@pytest.mark.parametrize("number", range(len(RECORDED)))
def test_a_recorded_client_is_served(plain, number):
    """What a real client sent, in its order, is answered as its real server answered."""
    recorded = [(entry["dir"][:6], wire.decode(frames_of(entry))) for entry in RECORDED[number]["messages"]]
    theirs = [message for who, message in recorded if who == "server"]
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")

        def client():
            own, answers = plain(address), []
            for who, message in recorded:
                if who == "client":
                    own.send_multipart([b"", *message.to_frames()])
                    continue
                answers.append(wire.decode(own.recv_multipart()[1:]))
                while verb_of(message) == "EOT" != verb_of(answers[-1]):
                    # Credit for the last of the data, which the real server had no time for.
                    answers.append(wire.decode(own.recv_multipart()[1:]))
            return answers

        join = in_thread(client)
        with Flows(socket).accept() as flow:
            assert flow.credit == 2
            taken = [flow.get() for _ in range(4)] if flow.direction == "inject" else []
            for message in theirs if flow.direction == "extract" else ():
                if verb_of(message) == "DAT":
                    flow.put(list(message.tensors))
        ours = join()
    assert None not in taken
    assert [verb_of(m) for m in ours if verb_of(m) != "PAY"] == [
        verb_of(m) for m in theirs if verb_of(m) != "PAY"
    ]
    paid = sum(message.label_object["credit"] for message in ours if verb_of(message) == "PAY")
    assert paid in ((5, 6) if flow.direction == "inject" else (0,))
    for our, their in zip(ours, theirs, strict=False):
        if verb_of(their) == "DAT":
            assert our.label_object == their.label_object
            assert our.parts == their.parts


HOSTILE = [
    [b"garbage"],
    [b"ZIO0FLOW{}", bytes(24)],
    [b'ZIO0FLOW{"flow":"DAT"}', bytes(8) + bytes(8) + (2).to_bytes(8, "little")],
    [b'ZIO0FLOW{"flow":"PAY","credit":1}', bytes(16) + (1).to_bytes(8, "little")],
    [b'ZIO0FLOW{"flow":"BOT","credit":1,"direction":"extract"}', bytes(16) + (1).to_bytes(8, "little")],
    [b'ZIO0FLOW{"flow":"EOT"}', bytes(16) + (7).to_bytes(8, "little")],
    [b"ZIO0TENS{}", bytes(24)],
]


@pytest.mark.parametrize("frames", HOSTILE)
def test_who_breaks_the_rules_ends_his_own_flow_and_no_other(plain, frames):
    begin = [b'ZIO0FLOW{"flow":"BOT","credit":1,"direction":"extract"}', bytes(24)]
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        flows, hostile = Flows(socket), plain(address)
        hostile.send_multipart([b"", *frames])
        hostile.send_multipart([b"", *begin])
        bad = flows.accept()
        hostile.send_multipart([b"", *frames])
        join = in_thread(give, address, 5)
        with flows.accept() as good:
            assert [message.tensors[0].tolist() for message in good] == expected(5)
        join()
        with pytest.raises(RemoteProtocolError) as caught:
            bad.get()
        assert caught.value.peer == bad.peer
        assert bad.state == "failed"
        assert flows.strays == 1
        assert not flows.running


GIVER = """
    import sys, time
    import numpy as np
    from tensorwrapper.transport import Flows, Socket
    with Socket("DEALER") as socket:
        socket.connect(sys.argv[1])
        with Flows(socket).open("extract", credit=4) as flow:
            for number in range(10**6):
                flow.put([np.full(1000, number)])
                print(number, flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no such signals")
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_giver_that_dies_or_hangs_is_noticed_within_the_deadline(how):
    with Socket("ROUTER") as socket:
        address = socket.bind("tcp://127.0.0.1:*")
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(GIVER), address], stdout=subprocess.PIPE, text=True
        )
        try:
            flow = Flows(socket, timeout=30).accept()
            for number in range(5):
                assert flow.get().tensors[0][0].item() == number
            process.send_signal(how)
            with pytest.raises(TransportTimeoutError, match="gave nothing"):
                get_many(flow, timeout=0.5)
        finally:
            process.kill()
            process.communicate()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no such signals")
def test_a_taker_that_dies_is_noticed_within_the_deadline():
    code = GIVER.replace('open("extract", credit=4)', 'open("inject", credit=4)').replace(
        "flow.put([np.full(1000, number)])", "flow.get()"
    )
    with Socket("ROUTER") as socket:
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code), socket.bind("tcp://127.0.0.1:*")],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            flow = Flows(socket, timeout=30).accept()
            flow.put([[1]])
            assert process.stdout.readline() == "0\n"
            process.kill()
            with pytest.raises(TransportError, match=r"no credit|not connected"):
                put_many(flow, timeout=0.5)
        finally:
            process.kill()
            process.communicate()
