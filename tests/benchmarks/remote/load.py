# ruff: noqa: T201 - it prints figures
"""What an honest client and a newcomer see of a server that many clients flood, vanish from and come to.

``python tests/benchmarks/remote/load.py [CLIENTS] [SECONDS] [APART]``. Each flooding client asks for 30
answers of 2 MiB, and every second it vanishes and comes back as another one. Half of them take what comes,
half take nothing. They come within APART seconds, 1 if not given; 0 is all at once. All of it goes over the
loopback interface, and ends after so many seconds.
"""

import contextlib
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import zmq

import tensorwrapper as tw
from tensorwrapper.remote.protocol._events import AskRead
from tensorwrapper.remote.protocol._requests import send_request
from tensorwrapper.selection import Outer

ROWS, COLUMNS = 8192, 2048
"""Of the matrix of float64 that is served: 128 MiB."""
ASKED, PIECE = 30, 128
"""How many answers a client asks for, of how many rows each: 2 MiB."""
DIFFERENT = 100
"""Clients that ask for different rows: what a server was asked for before, it need not read again."""
HONEST = 1024
"""Rows of the honest read: 16 MiB."""


def hold() -> None:
    x = np.arange(ROWS * COLUMNS, dtype="f8").reshape(ROWS, COLUMNS)
    with tw.serve({"x": x, "y": np.arange(4.0)}) as server:
        print(server.address, flush=True)
        for line in sys.stdin:
            if line.startswith("end"):
                return
            print(server.stats(), flush=True)


class Flood:
    """Peers that ask for much, vanish after a second, and come back as others."""

    def __init__(self, address: str, count: int, apart: float) -> None:
        self.address, self.context, self.poller = address, zmq.Context(), zmq.Poller()
        self.requests = [self.request(k, first) for first in range(DIFFERENT) for k in range(ASKED)]
        begin = time.monotonic()
        self.peers = [(begin + 1 + apart * k / count, self.come(k)) for k in range(count)]

    @staticmethod
    def request(number: int, first: int) -> list[bytes | memoryview]:
        begin = first + PIECE * number
        wanted = Outer([range(begin, begin + PIECE), range(COLUMNS)])
        return list(send_request(number + 1, AskRead("x", "", None, (wanted,))))

    def come(self, number: int) -> "zmq.Socket[bytes]":
        peer = self.context.socket(zmq.DEALER)
        peer.linger, peer.rcvhwm = 0, 2
        peer.connect(self.address)
        first = ASKED * (number % DIFFERENT)
        for frames in self.requests[first : first + ASKED]:
            peer.send_multipart([b"", *frames], zmq.NOBLOCK)
        if number % 2:
            self.poller.register(peer, zmq.POLLIN)
        return peer

    def step(self) -> None:
        """Take what has come to those that take it, and have those whose time is up come back."""
        for place, _ in self.poller.poll(5):
            with contextlib.suppress(zmq.Again):
                for _ in range(4):
                    place.recv_multipart(zmq.NOBLOCK, copy=False)
        now = time.monotonic()
        for number, (end, peer) in enumerate(self.peers):
            if end < now:
                if number % 2:
                    self.poller.unregister(peer)
                peer.close()
                self.peers[number] = (now + 1, self.come(number))


def flood(address: str, count: int, seconds: float, apart: float) -> None:
    until, peers = time.monotonic() + seconds, Flood(address, count, apart)
    while time.monotonic() < until:
        peers.step()
    peers.context.destroy(0)


def honest(address: str, seconds: float) -> list[float]:
    taken = list[float]()
    with tw.connect(address, timeout=60) as remote:
        part, out = remote["x"][:HONEST], np.empty((HONEST, COLUMNS))
        part.compute(out)
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            begin = time.perf_counter()
            part.compute(out)
            taken.append(time.perf_counter() - begin)
            time.sleep(0.01)
    return taken


def newcomer(address: str) -> float:
    begin = time.perf_counter()
    with tw.connect(address, timeout=60) as remote:
        remote["y"].compute()
    return time.perf_counter() - begin


def descriptors(pid: int) -> int:
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


def told(what: str, seconds: list[float]) -> None:
    least, middle, most = min(seconds) * 1e3, statistics.median(seconds) * 1e3, max(seconds) * 1e3
    print(
        f"{what}: {least:.1f} / {middle:.1f} / {most:.1f} ms (least, median, most of {len(seconds)})",
        flush=True,
    )


def main() -> None:
    count, seconds, apart = [*map(int, sys.argv[1:]), *(100, 10, 1)[len(sys.argv) - 1 :]]
    words = [sys.executable, __file__]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([*words, "hold"], **pipes) as server:  # type: ignore[call-overload]
        address = server.stdout.readline().strip()
        flooding = None
        try:
            told("an honest read of 16 MiB, calm", honest(address, 2))
            told("a newcomer, calm", [newcomer(address) for _ in range(10)])
            before = descriptors(server.pid)
            flooding = subprocess.Popen([*words, "flood", address, *map(str, (count, seconds + 4, apart))])
            time.sleep(1.5)
            most, new = [], []
            reading = subprocess.Popen([*words, "honest", address, str(seconds)])
            until = time.monotonic() + seconds
            while time.monotonic() < until:
                new.append(newcomer(address))
                most.append(descriptors(server.pid))
                time.sleep(0.3)
            reading.wait(60)
            told("a newcomer, under load", new)
            print(f"descriptors of the server: {before} before, {max(most)} at most", flush=True)
            flooding.wait(60)
            time.sleep(1)
            print(f"descriptors afterwards: {descriptors(server.pid)}")
            server.stdin.write("stats\n")
            server.stdin.flush()
            print(server.stdout.readline())
        finally:
            if flooding is not None:
                flooding.kill()
            server.kill()


if __name__ == "__main__":
    match sys.argv[1:2]:
        case ["hold"]:
            hold()
        case ["flood"]:
            flood(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
        case ["honest"]:
            told("an honest read of 16 MiB, under load", honest(sys.argv[2], float(sys.argv[3])))
        case _:
            main()
