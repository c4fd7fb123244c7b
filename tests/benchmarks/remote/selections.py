# ruff: noqa: T201, PLW0108 - it prints a table, and unpickles what it sent itself
"""Selections of tensors in another process over tcp: ours and its peers, in turns, as in docs/benchmarks.md.

``python tests/benchmarks/remote/selections.py [MIB] [ROUNDS] [IN A ROW]``. A row has the least and the median
of wall time, and the mean CPU time of both processes together; each takes so many turns in a row, of which
only the processor time of all is asked for. The peers send what was selected before, in one raw
frame or by pickle 5 out of band, or as Flight's batches: what is timed of them is to ask, send and receive.
"""

import contextlib
import importlib.util
import os
import pickle
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import zmq

import tensorwrapper as tw

ADDRESS = "tcp://127.0.0.1"
LARGE = ("whole", "every 8th column", "a row of tiles")
TICKS = os.sysconf("SC_CLK_TCK")


def matrix(mib: int) -> Any:
    return np.arange(mib * 2**17, dtype="f8").reshape(-1, 4096)


def rows() -> Any:
    lengths = np.random.default_rng(1).integers(0, 50, 1_000_000)
    return tw.from_buffer(np.arange(float(lengths.sum())), tw.Shape.jagged(lengths))


def tiled(array: Any) -> Any:
    tall = len(array) // 4
    return tw.as_tensor(array).tiled(tw.Tiling([tall] * 4, [1024] * 4)).copy()


def selected(mib: int) -> dict[str, Any]:
    """Return what each work is, as the array that comes of it."""
    x, rng = matrix(mib), np.random.default_rng(2)
    events = rows()
    chosen = np.sort(rng.choice(1_000_000, 100, replace=False)).tolist()
    points = np.sort(rng.choice(x.size, 10_000, replace=False))
    return {
        "1 KiB": x[3, :128],
        "whole": x,
        "100 rows": x[50:150],
        "every 8th column": np.ascontiguousarray(x[:, ::8]),
        "100 rows of a million": np.concatenate([np.asarray(events[k]) for k in chosen]),
        "10 000 points": x.reshape(-1)[points],
    }


def ours(address: str) -> "tuple[Any, dict[str, Any]]":
    """Return a client, and a function for each work."""
    remote = tw.connect(address, timeout=120)
    rng = np.random.default_rng(2)
    chosen = np.sort(rng.choice(1_000_000, 100, replace=False)).tolist()
    there, events, cells = remote["x"], remote["rows"], remote["tiles"]
    size = there.size
    points = np.unravel_index(np.sort(rng.choice(size, 10_000, replace=False)), there.shape.extents)
    kept = there[3, :128]
    everywhere = there.view().vindex[points]
    return remote, {
        "1 KiB": lambda: there[3, :128].compute(),
        "1 KiB, kept view": kept.compute,
        "whole": there.compute,
        "100 rows": lambda: there[50:150].compute(),
        "every 8th column": lambda: there[:, ::8].compute(),
        "100 rows of a million": lambda: events[chosen].compute(),
        "10 000 points": everywhere.compute,
        "a row of tiles": lambda: cells[1].compute(),
    }


# The far process: all holders in one, each with a socket or server of its own.


def hold(mib: int) -> None:
    import threading

    found = selected(mib)
    x = matrix(mib)
    found["a row of tiles"] = np.ascontiguousarray(x[len(x) // 4 : len(x) // 2])
    server = tw.serve({"x": x, "rows": rows(), "tiles": tiled(x)})
    addresses = [server.address]
    context = zmq.Context()

    def answer(socket: Any, *, pickled: bool) -> None:
        while True:
            array = found[socket.recv().decode()]
            if not pickled:
                socket.send(array, copy=False)
                continue
            buffers: list[Any] = []
            head = pickle.dumps(array, 5, buffer_callback=buffers.append)
            socket.send_multipart([head, *[own.raw() for own in buffers]], copy=False)

    for pickled in (False, True):
        socket = context.socket(zmq.REP)
        addresses.append(f"{ADDRESS}:{socket.bind_to_random_port(ADDRESS)}")
        threading.Thread(target=answer, args=(socket,), kwargs={"pickled": pickled}, daemon=True).start()
    if importlib.util.find_spec("pyarrow") is not None:
        import pyarrow as pa
        from pyarrow import flight

        class Holder(flight.FlightServerBase):  # type: ignore[misc]
            def do_get(self, _context: Any, ticket: Any) -> Any:
                flat = found[ticket.ticket.decode()].reshape(-1)
                return flight.RecordBatchStream(pa.table({"x": pa.array(flat)}))

        holder = Holder("grpc://127.0.0.1:0")
        addresses.append(f"grpc://127.0.0.1:{holder.port}")
    print(*addresses, flush=True)
    sys.stdin.read()
    server.close()
    os._exit(0)


def peers(addresses: list[str]) -> "dict[str, Any]":
    context = zmq.Context()

    def socket_of(address: str) -> Any:
        socket = context.socket(zmq.REQ)
        socket.connect(address)
        return socket

    raw, pickled = socket_of(addresses[1]), socket_of(addresses[2])

    def read_raw(work: str) -> Any:
        raw.send(work.encode())
        return np.frombuffer(raw.recv(copy=False), "u1")

    def read_pickled(work: str) -> Any:
        pickled.send(work.encode())
        head, *frames = pickled.recv_multipart(copy=False)
        return pickle.loads(head, buffers=frames)

    found = {"raw frame": read_raw, "pickle 5": read_pickled}
    if len(addresses) > 3:
        from pyarrow import flight

        client = flight.connect(addresses[3])

        def read_flight(work: str) -> Any:
            reader = client.do_get(flight.Ticket(work.encode()))
            return np.concatenate([batch.data.column(0).to_numpy() for batch in reader])

        found["Flight"] = read_flight
    return found


def cpu(process: Any) -> float:
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS + time.process_time()


def timed(call: Any) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def main() -> None:
    mib, rounds, row = [*map(int, sys.argv[1:]), *(256, 5, 1)[len(sys.argv) - 1 :]]
    words = [sys.executable, __file__, "hold", str(mib)]
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        addresses = process.stdout.readline().split()  # type: ignore[union-attr]
        remote, works = ours(addresses[0])
        others = peers(addresses)
        for work, read in works.items():
            base = work.split(",")[0]
            calls = {"ours": read}
            for name, ask in others.items():
                calls[name] = lambda ask=ask, base=base: ask(base)
            times: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
            repeats = rounds if work in LARGE else 40 * rounds
            for call in calls.values():
                call()
            for _ in range(repeats):
                for name, call in calls.items():
                    spent = cpu(process)
                    walls = [timed(call) for _ in range(1 if work in LARGE else row)]
                    mean = (cpu(process) - spent) / len(walls)
                    times[name] += [(wall, mean) for wall in walls]
            print(f"{work:24}", end="")
            for name, own in times.items():
                walls, spent = [a for a, _ in own], sum(b for _, b in own) / len(own)
                least, middle = min(walls) * 1e3, statistics.median(walls) * 1e3
                print(f" | {name} {least:.3f} / {middle:.3f} ({spent * 1e3:.2f})", end="")
            print(flush=True)
        plan, before = works["1 KiB, kept view"].__self__.plan(), remote.counters
        print("bytes of 1 KiB on the wire, plan:", plan.bytes_on_wire, "messages:", before.messages_sent)
        remote.close()
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        process.communicate()


if __name__ == "__main__":
    if sys.argv[1:2] == ["hold"]:
        hold(int(sys.argv[2]))
    else:
        main()
