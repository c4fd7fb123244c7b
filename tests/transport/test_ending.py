"""A process that ends while it sends: what it had sent arrives, or nothing of it."""

import subprocess
import sys

import numpy as np
import pytest

from tensorwrapper.transport import Socket

pytestmark = pytest.mark.slow

COUNT = 8_000_000
SEND = f"""
import multiprocessing, sys, threading, time
import numpy as np
from tensorwrapper import wire
from tensorwrapper.transport import Socket

def send():
    with Socket("PUSH", timeout=60, linger=60) as socket:
        socket.connect(sys.argv[1])
        for start in (0, 1):
            socket.send(wire.encode([np.arange(start, {COUNT} + start)]))
"""
# Most of it is still in the memory of the sender when that is at the end of its program.
WAYS = {
    "with": "send()",
    "thread": "other = threading.Thread(target=send); other.start()",
    "multiprocessing": 'multiprocessing.get_context("fork").Process(target=send).start()',
    "another open": 'Socket("PUSH").connect(sys.argv[1]); send()',
    "daemon": """
def wait():
    with Socket("PULL", timeout=1000) as socket:
        socket.bind("inproc://nothing")
        socket.receive()
threading.Thread(target=wait, daemon=True).start()
time.sleep(0.2)
send()
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_s8_what_was_sent_arrives_as_it_was(way):
    with Socket("PULL", timeout=60) as sink:
        road = sink.bind("tcp://127.0.0.1:*")
        program = SEND + WAYS[way]
        sender = subprocess.Popen([sys.executable, "-c", program, road], stderr=subprocess.PIPE, text=True)
        found = [sink.receive().tensors[0] for _ in range(2)]
        _, said = sender.communicate(timeout=60)

    assert sender.returncode == 0, said
    assert "Traceback" not in said or way == "daemon", said
    for start, tensor in enumerate(found):
        assert np.array_equal(tensor, np.arange(start, COUNT + start))


LEAVE = """
import sys, threading, time
import numpy as np
from tensorwrapper import wire
from tensorwrapper.transport import Socket

with Socket("PUSH", timeout=60, linger=0.1) as socket:
    socket.connect(sys.argv[1])
    socket.send(wire.encode([np.zeros(8_000_000)]))
"""


def test_a_process_does_not_wait_longer_than_it_lingers():
    with Socket("PULL", timeout=60) as sink:
        road = sink.bind("tcp://127.0.0.1:*")
        done = subprocess.run(
            [sys.executable, "-c", LEAVE, road], capture_output=True, text=True, timeout=60, check=False
        )
    assert (done.returncode, done.stderr) == (0, "")
