# ruff: noqa: T201 - it prints figures
"""How much memory a server takes for many flows at once, and how soon it stops at what is cancelled.

``python tests/benchmarks/remote/memory.py [FLOWS] [MIB]``. Each flow is a thread with a connection of its own
that reads every 8th column of a tensor; the figure is the peak of the server's resident memory beyond what it
had after a first request. Then a large read is cancelled, again and again: how long the caller takes to be
released, and how long it takes until the server has nothing under way.
"""

import contextlib
import os
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

import tensorwrapper as tw
from tensorwrapper.errors import ComputationCancelledError


def hold(mib: int) -> None:
    x = np.zeros((mib * 2**17 // 4096, 4096))
    x += 1
    with tw.serve({"x": x, "y": np.arange(4.0)}) as server:
        print(server.address, flush=True)
        sys.stdin.read()
        os._exit(0)


def resident(pid: int, field: str) -> int:
    text = Path(f"/proc/{pid}/status").read_text()
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(field)) * 1024


def flows(address: str, pid: int, count: int) -> None:
    with tw.connect(address, timeout=120) as remote:
        there = remote["x"]
        there[:, ::8].compute()
        Path(f"/proc/{pid}/clear_refs").write_text("5")
        base, wait = resident(pid, "VmRSS"), threading.Barrier(count)

        def read() -> None:
            with tw.connect(address, timeout=120) as own:
                part = own["x"][:, ::8]
                wait.wait()
                part.compute()

        threads = [threading.Thread(target=read) for _ in range(count)]
        begin = time.perf_counter()
        for own in threads:
            own.start()
        for own in threads:
            own.join()
        total = count * there.nbytes / 8
        taken = time.perf_counter() - begin
        peak = resident(pid, "VmHWM") - base
        print(f"{count} flows of {there.nbytes // 2**23} MiB: {total / taken / 2**30:.2f} GiB/s, ", end="")
        print(f"the server's peak {peak / 2**20:.0f} MiB beyond what it had")


def cancels(address: str, rounds: int = 30) -> None:
    released, stopped = list[float](), list[float]()
    with tw.connect(address, timeout=120) as remote, tw.connect(address) as other:
        there, out = remote["x"], np.empty(remote["x"].shape.extents)
        for _ in range(rounds):
            cancel, at = threading.Event(), list[float]()

            def later(cancel: threading.Event = cancel, at: list[float] = at) -> None:
                time.sleep(0.01)
                at.append(time.perf_counter())
                cancel.set()

            thread = threading.Thread(target=later)
            thread.start()
            with contextlib.suppress(ComputationCancelledError):
                there.compute(out, cancel=cancel)
            ended = time.perf_counter()
            thread.join()
            if ended < at[0]:
                continue
            released.append(ended - at[0])
            while other.health()["running"] or other.health()["waiting"]:
                pass
            stopped.append(time.perf_counter() - at[0])
    for what, own in (("the caller is released", released), ("the server has nothing under way", stopped)):
        middle, most = statistics.median(own) * 1e3, max(own) * 1e3
        print(f"{what} after {min(own) * 1e3:.2f} / {middle:.2f} / {most:.2f} ms (least, median, most)")


def main() -> None:
    count, mib = [*map(int, sys.argv[1:]), *(64, 128)[len(sys.argv) - 1 :]]
    words = [sys.executable, __file__, "hold", str(mib)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().strip()  # type: ignore[union-attr]
            flows(address, process.pid, count)
            cancels(address)
        finally:
            process.kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["hold"]:
        hold(int(sys.argv[2]))
    else:
        main()
