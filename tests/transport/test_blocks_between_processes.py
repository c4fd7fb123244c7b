"""A process sends what an iterator leads to, is killed on the way, and another goes on from its position."""

import itertools
import signal
import subprocess
import sys
import textwrap

import pytest

from tensorwrapper.transport import Socket
from tensorwrapper.wire import Assembler

pytestmark = pytest.mark.slow

MAKE = """
    import numpy as np
    import tensorwrapper as tw
    from tensorwrapper import Shape, Tiling

    def make(kind):
        rows = Shape.jagged(np.arange(200) % 7)
        if kind == "rows":
            return tw.from_buffer(np.arange(float(rows.size)), rows), rows.leading(1)
        if kind == "indices":
            return tw.from_buffer(np.arange(float(rows.size)), rows), rows
        if kind == "tiles":
            tiling = Tiling([3, 4] * 5, [10, 5, 5])
            return tw.as_tensor(np.arange(700).reshape(35, 20)).tiled(tiling), tiling.grid
        if kind == "words":
            flat = tw.strings([None if k % 5 == 0 else "x" * (k % 11) for k in range(rows.size)])
            return tw.from_buffer(flat.buffer, rows), rows.leading(1)
        if kind == "sparse":
            return tw.sparse([(k, 3 * k % 50) for k in range(50)], np.arange(50.0), Shape(50, 50)), Shape(50)
        return tw.as_tensor(np.arange(5000).reshape(50, 100)), Shape(50)
"""
SEND = """
    import sys
    from tensorwrapper import wire
    from tensorwrapper.transport import Socket

    address, kind, position = sys.argv[1:]
    tensor, leading = make(kind)
    over = leading.indices().iterator()
    over.position = int(position)
    with Socket("PUSH", timeout=30) as socket:
        socket.connect(address)
        for block in wire.split_blocks(tensor, "x", over=over, max_bytes=160):
            socket.send(wire.encode([block], tens={"position": over.position}))
"""
SIDE = {}
exec(textwrap.dedent(MAKE), SIDE)
make = SIDE["make"]  # the same tensor on both sides


def sender(address, kind, position):
    script = textwrap.dedent(MAKE) + textwrap.dedent(SEND)
    return subprocess.Popen([sys.executable, "-c", script, address, kind, str(position)])


@pytest.mark.parametrize("kind", ["rows", "indices", "tiles", "words", "sparse", "box"])
def test_a_sender_that_was_killed_is_gone_on_from(kind):
    want, leading = make(kind)
    assembler, position, done = Assembler(2**20, 60), 0, {}
    for stop in (3, 5, None):
        # A socket of its own for each: what a dead process had sent beyond what was taken is not read.
        with Socket("PULL", timeout=30) as sink:
            process = sender(sink.bind("tcp://127.0.0.1:*"), kind, position)
            try:
                taken = 0
                while not done and taken != stop:
                    message = sink.receive()
                    done = assembler.add(message)
                    position = message.label_object["TENS"]["position"]
                    taken += 1
                if stop is not None:
                    process.send_signal(signal.SIGKILL)
            finally:
                if stop is not None or not done:
                    process.kill()
                process.wait(30)
        assert stop is None or 0 <= position < leading.size
    assert position == leading.size
    got = done["x"]
    assert got.shape == want.shape
    assert got.array_equal(want)
    assert (assembler.pending, assembler.nbytes) == ((), 0)


def test_four_processes_share_a_tensor_by_their_positions():
    want, leading = make("rows")
    script = textwrap.dedent(MAKE) + textwrap.dedent(SEND).replace(
        "leading.indices()", "leading.indices()[start:stop]"
    )
    script = script.replace(
        "tensor, leading = make(kind)",
        "tensor, leading = make(kind); start, stop = map(int, position.split(':')); position = 0",
    )
    marks = [*range(0, leading.size, 50), leading.size]
    assembler, done = Assembler(2**20, 60), {}
    with Socket("PULL", timeout=30) as sink:
        address = sink.bind("tcp://127.0.0.1:*")
        processes = [
            subprocess.Popen([sys.executable, "-c", script, address, "rows", f"{a}:{b}"])
            for a, b in itertools.pairwise(marks)
        ]
        try:
            while not done:
                done = assembler.add(sink.receive())
        finally:
            for process in processes:
                process.wait(30)
    assert done["x"].array_equal(want)
