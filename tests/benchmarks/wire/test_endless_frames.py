"""W10: what endless frames of one message take from a receiver, in a process of its own."""

import socket
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="memory of processes is read from /proc"
    ),
]

RECEIVER = """
    import sys
    from tensorwrapper.errors import TransportTimeoutError
    from tensorwrapper.transport import Socket
    from tensorwrapper.wire import Limits

    limits = Limits(total_bytes=2**21, received_bytes=2**21, parts=1000)
    with Socket("PULL", timeout=60, limits=limits) as sink:
        print(sink.bind("tcp://127.0.0.1:*"), flush=True)
        sink.receive()
"""


GREETING = b"\xff" + bytes(8) + b"\x7f\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
READY = b"\x04\x1a\x05READY\x0bSocket-Type\x00\x00\x00\x04PUSH"


def memory_of(process, key):
    text = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith(key))


def taken(frame, count):
    """Return how many bytes a receiver takes more when so many frames came, and how many were sent."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(RECEIVER)], stdout=subprocess.PIPE, text=True
    )
    address = process.stdout.readline().strip()
    host, port = address.removeprefix("tcp://").split(":")
    try:
        with socket.create_connection((host, int(port)), timeout=60) as peer:
            # By hand: ZeroMQ itself sends nothing of a message before its last frame.
            peer.sendall(GREETING + READY)
            before = memory_of(process, "VmRSS")
            more = (
                b"\x01" + bytes([len(frame)]) if len(frame) < 256 else b"\x03" + len(frame).to_bytes(8, "big")
            )
            batch = (more + frame) * 1000
            for _ in range(count // 1000):
                peer.sendall(batch)
            last = 0
            while (now := memory_of(process, "VmHWM")) != last:
                last = now
                time.sleep(0.5)
            return last - before
    finally:
        process.kill()
        process.wait(30)
        process.stdout.close()


def test_w10_an_endless_message_takes_what_is_sent_of_it():
    size, count = 2**16, 2000

    # The limit of 2 MiB does not bound it: docs/reliability.md says so, with figures.
    assert taken(bytes(size), count) > 0.9 * size * count
