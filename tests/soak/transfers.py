"""Transfers whose ends are killed, frozen and begun anew at random moments, and must be exact."""

import os
import random
import signal
import subprocess
import sys
import time

import numpy as np

import tensorwrapper as tw
from tensorwrapper.tensor import from_buffer
from tensorwrapper.transport import Socket, Transfers

__all__ = ["Soak"]

CHUNK = 16_384


def tensor_of(seed):
    """Return a tensor that both ends make: dense, strided, jagged or of strings, of a megabyte or some."""
    chance = np.random.default_rng(seed)
    rows = int(chance.integers(500, 3000))
    array = chance.integers(0, 2**40, (rows, 200))
    kind = seed % 4
    if kind == 0:
        return tw.as_tensor(array)
    if kind == 1:
        return tw.as_tensor(array[::-1, ::2])
    if kind == 2:
        lengths = chance.multinomial(array.size, np.ones(rows) / rows)
        return from_buffer(array.reshape(-1), tw.Shape.jagged(lengths))
    return tw.strings([str(number) for number in array.reshape(-1)[:100_000]])


def give(address, seed):
    with Socket("DEALER") as socket:
        socket.connect(address)
        with Transfers(socket, chunk=CHUNK, timeout=120) as transfers:
            transfers.send(tensor_of(seed), key=f"soak {seed}", check="crc32")


class Soak:
    """One end, in this process, and the other, which is a process that is ended at random."""

    def __init__(self, folder, seed):
        self.chance = random.Random(seed)
        self.address = f"ipc://{folder}/soak"
        self.process = None
        self.counts = {"transfers": 0, "kills": 0, "stops": 0, "restarts of the taker": 0}

    def start(self, seed):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.soak.transfers", self.address, str(seed)]
        )

    def end(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait(30)

    def round(self, seed, *, troubles):
        """Move one tensor, through so many troubles; raise unless it is exact."""
        wanted = tensor_of(seed)
        # A taker that begins anew keeps what it had, where that was memory of its own.
        out, missing = np.zeros(tuple(wanted.shape.extents), "i8") if seed % 4 < 2 else None, None
        marks = sorted(self.chance.uniform(0.02, 0.95) for _ in range(troubles))
        try:
            self.start(seed)
            while True:
                with Socket("ROUTER") as socket:
                    socket.bind(self.address)
                    # Never closed: who is killed says nothing.
                    transfers = Transfers(socket, chunk=CHUNK, timeout=60)
                    taken = transfers.accept(timeout=60).into(out, missing=missing)
                    while marks and self.until(transfers, taken, marks[0]):
                        marks.pop(0)
                        trouble = self.chance.choice(["kills", "stops", "restarts of the taker"])
                        self.counts[trouble] += 1
                        if trouble == "kills":
                            self.end()
                            self.start(seed)
                        elif trouble == "stops":
                            self.process.send_signal(signal.SIGSTOP)
                            self.idle(transfers, self.chance.uniform(0, 1.5))
                            self.process.send_signal(signal.SIGCONT)
                        else:
                            missing = taken.missing if out is not None else None
                            break
                    else:
                        found = taken.wait(timeout=60)
                        while self.process.poll() is None:
                            transfers.advance(timeout=0.05)
                        break
            if self.process.returncode:
                raise AssertionError(f"seed {seed}: the giver ended with {self.process.returncode}")
        finally:
            self.end()
        if not found.array_equal(wanted):
            raise AssertionError(f"seed {seed}: what came is not what was sent")
        self.counts["transfers"] += 1

    @staticmethod
    def until(transfers, taken, share):
        """Let it move until so much has come; return whether it has not ended before."""
        limit = time.monotonic() + 60
        while taken.state == "moving" and taken.left > taken.nbytes * (1 - share):
            transfers.advance(timeout=1)
            if time.monotonic() > limit:
                raise AssertionError("a transfer stands still")
        return taken.state == "moving"

    @staticmethod
    def idle(transfers, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            transfers.advance(timeout=0.05)


def resident():
    """Return the bytes of memory that this process has."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    give(sys.argv[1], int(sys.argv[2]))
