"""Servers and clients as processes of their own, and what they take of memory."""

import contextlib
import random
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np

import tensorwrapper as tw

ROWS = np.random.default_rng(3).integers(0, 60, 20_000)
SERVER = """
    import sys, time
    import tensorwrapper as tw
    from tests.support.remote_servers import tensors

    with tw.serve(tensors(), sys.argv[1], writable=True, threads=2) as server:
        print(server.address, flush=True)
        sys.stdin.read()
"""


def tensors():
    """What the server of a test has: every kind, of elements that tell where they are."""
    return {
        "box": tw.as_tensor(np.arange(4_000_000.0).reshape(2000, 2000)),
        "cube": tw.as_tensor(np.arange(240_000, dtype="i4").reshape(40, 60, 100)),
        "rows": tw.from_buffer(np.arange(ROWS.sum()), tw.Shape.jagged(ROWS)),
        "tiles": tw.as_tensor(np.arange(250_000.0).reshape(500, 500)).tiled(tw.Tiling([200, 300], [100] * 5)),
        "words": tw.strings([f"word {k}" * (k % 4) for k in range(2000)]),
        "sparse": tw.sparse(
            [(k, (7 * k) % 300) for k in range(300)], np.arange(300) + 1.0, tw.Shape(300, 300)
        ),
    }


def start(script=SERVER, address="tcp://127.0.0.1:*", *arguments):
    """Start a process that says its address, or another word, when it is ready."""
    for _ in range(20):
        process, word = _started(script, address, *arguments)
        # A client that looks for its server may hold the port of one that is gone for an instant.
        if word or address.endswith("*"):
            break
        end(process)
    return process, word


def _started(script, address, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), address, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    return process, process.stdout.readline().strip()


def bound(make):
    """Return what listens where a client that looks for its server may hold the port for an instant."""
    for _ in range(200):
        with contextlib.suppress(OSError):
            return make()
        time.sleep(0.05)
    return make()


def end(*processes):
    """End processes that may be frozen or dead."""
    for process in processes:
        process.kill()
        process.communicate()


@contextlib.contextmanager
def running(script=SERVER, address="tcp://127.0.0.1:*", *arguments):
    """Give a process and its first word, and end it."""
    process, word = start(script, address, *arguments)
    try:
        yield process, word
    finally:
        end(process)


def resident(process):
    """Return how many bytes of memory a process has."""
    text = Path(f"/proc/{process.pid}/status").read_text()
    return int(text.split("VmRSS:")[1].split()[0]) * 1024


def random_reads(remote, local, rng, count):
    """Read random selections of all kinds; return how many differ from what they are here."""
    wrong = 0
    box, cube = np.asarray(local["box"]), np.asarray(local["cube"])
    there = {name: remote[name] for name in local}
    for _ in range(count):
        a, b = sorted(rng.sample(range(2000), 2))
        match rng.randrange(9):
            case 0:
                key = (slice(a, min(b, a + 30)), slice(None, None, rng.choice([1, 2, 7, -3])))
                wrong += not np.array_equal(there["box"][key].compute(), box[key])
            case 1:
                points = rng.sample(range(2000), 20), rng.sample(range(2000), 20)
                wrong += not np.array_equal(there["box"].view().vindex[points].compute(), box[points])
            case 2:
                rows = rng.sample(range(2000), 5)
                wrong += not np.array_equal(there["box"][rows, 3:9].compute(), box[rows, 3:9])
            case 3:
                key = (rng.randrange(40), slice(None), slice(rng.randrange(50), 90, 9))
                wrong += not np.array_equal(there["cube"][key].compute(), cube[key])
            case 4:
                wrong += there["rows"][a].compute().tolist() != local["rows"][a].tolist()
            case 5:
                rows = slice(a, a + rng.randrange(40))
                wrong += there["rows"][rows].compute().tolist() != local["rows"][rows].tolist()
            case 6:
                k = rng.randrange(2)
                wrong += not there["tiles"][k].compute().array_equal(local["tiles"][k])
            case 7:
                wrong += there["words"][a : a + 5].compute().tolist() != local["words"][a : a + 5].tolist()
            case _:
                k = a % 300
                wrong += there["sparse"][k].compute().to_dense().tolist() != [
                    k + 1.0 if column == (7 * k) % 300 else 0.0 for column in range(300)
                ]
    return wrong


def main():
    """Be several clients of a server for some seconds: print how many reads were right and wrong."""
    import threading
    import time

    address, count, seconds, seed = sys.argv[1], *map(int, sys.argv[2:5])
    local, until, found = tensors(), time.monotonic() + seconds, []

    def work(number):
        rng, done, wrong = random.Random(number), 0, 0
        with tw.connect(address, timeout=60) as remote:
            while time.monotonic() < until or not done:
                wrong += random_reads(remote, local, rng, 5)
                done += 5
        found.append((done, wrong))

    threads = [threading.Thread(target=work, args=(seed + k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.stdout.write(f"{len(found)} {sum(own for own, _ in found)} {sum(own for _, own in found)}\n")


if __name__ == "__main__":
    main()
