"""Servers whose readers ask for everything, which are killed, begin anew, and whose tensors are replaced."""

import contextlib
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tensorwrapper.errors import VersionChangedError
from tests.support.remote_servers import bound, end, random_reads, tensors

__all__ = ["ServingSoak"]

PROCESSES = 4


class ServingSoak:
    """A server of a file, of which readers in other processes must have all that they ask for, exactly.

    One tensor of it, `v`, is replaced all the time: each of its versions has one number everywhere.
    """

    def __init__(self, folder, seed):
        self.chance = random.Random(seed)
        self.path = f"{folder}/served.tens"
        tw.save(self.path, tensors())
        self.address = "tcp://127.0.0.1:*"
        self.process = None
        self.growth = 0
        """The most that a server grew by after the first third of a round, in bytes."""
        self.counts = {"reads": 0, "wrong": 0, "mixed": 0, "changed": 0, "kills": 0, "rounds": 0}

    def start(self):
        words = [sys.executable, "-m", "tests.soak.serving", "serve", self.address, self.path]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True)
        self.address = self.process.stdout.readline().strip()

    def memory(self):
        """Return the bytes that the server has, without the pages of its file."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(text.split("RssAnon:")[1].split()[0]) * 1024

    def close(self):
        if self.process is not None:
            end(self.process)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.close()

    def round(self, seed, *, clients, seconds, kills):
        """Have so many clients read for some seconds, while the server is killed some times."""
        words = [sys.executable, "-m", "tests.soak.serving", "read", self.address]
        processes = min(PROCESSES, clients // 2)
        each = clients // processes
        readers = [
            subprocess.Popen(
                [*words, str(each), str(seconds), str(seed + 1000 * number)],
                stdout=subprocess.PIPE,
                text=True,
            )
            for number in range(processes)
        ]
        try:
            moments = sorted(self.chance.uniform(0.2, 0.9) for _ in range(kills))
            begin, before = time.monotonic(), 0
            while any(own.poll() is None for own in readers):
                passed = (time.monotonic() - begin) / seconds
                if moments and passed > moments[0]:
                    moments.pop(0)
                    self.close()
                    self.counts["kills"] += 1
                    time.sleep(self.chance.uniform(0, 0.3))
                    self.start()
                if not kills and not before and passed > 0.34:
                    before = self.memory()
                time.sleep(0.05)
            if before:
                # What nothing lies in any more is given back bit by bit.
                time.sleep(4)
                self.growth = max(self.growth, self.memory() - before)
        finally:
            for own in readers:
                own.kill()
            answers = [own.communicate()[0] for own in readers]
        for text in answers:
            for name, count in zip(
                ("reads", "wrong", "mixed", "changed"), map(int, text.split()), strict=True
            ):
                self.counts[name] += count
        self.counts["rounds"] += 1


def serve(address, path):
    with bound(lambda: tw.serve(path, address, threads=2)) as server:
        server.replace("v", np.zeros((300, 300)))
        sys.stdout.write(server.address + "\n")
        sys.stdout.flush()
        over = threading.Event()

        def replace():
            number = 0
            while not over.wait(0.02):
                number += 1
                server.replace("v", np.full((300, 300), float(number)))

        thread = threading.Thread(target=replace)
        thread.start()
        sys.stdin.read()
        over.set()
        thread.join()


def read(address, clients, seconds, seed):
    local, until, found = tensors(), time.monotonic() + seconds, np.zeros(4, int)
    lock = threading.Lock()

    def work(number):
        rng, counts = random.Random(number), np.zeros(4, int)
        with tw.connect(address, timeout=60) as remote:
            while time.monotonic() < until or not counts[0]:
                counts[:2] += 2, random_reads(remote, local, rng, 2)
                with contextlib.suppress(VersionChangedError):
                    part = remote["v"][rng.randrange(200) :, :: rng.randint(1, 9)].compute().to_numpy()
                    counts[2] += not (part == part[0, 0]).all()
                    continue
                counts[3] += 1
        with lock:
            found[...] += counts

    threads = [threading.Thread(target=work, args=(seed + k,)) for k in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(" ".join(map(str, found.tolist())) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(*sys.argv[2:])
    else:
        read(sys.argv[2], *map(int, sys.argv[3:]))
