# ruff: noqa: T201, ARG001 - it prints a table, and unpickles what it sent itself
"""Large tensors between two processes over tcp: ours and its peers, in turns, as in docs/benchmarks.md.

``python tests/benchmarks/transport/transfers.py [MIB] [ROUNDS]``. A row has the least and the median of the
wall time, and the least CPU time of both processes together. dask.distributed, pyarrow and msgpack-numpy are
timed if they are here.
"""

import contextlib
import importlib.util
import os
import pickle
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import zmq

ADDRESS = "tcp://127.0.0.1"


def has(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def tensor(mib: int) -> Any:
    return np.arange(mib * 2**17, dtype="f8").reshape(-1, 1024)


# The far process: says where it listens, gives what it is asked for, and says its CPU time at the end.


def raw(mib: int, make: Callable[[Any], list[Any]]) -> None:
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        print(socket.bind_to_random_port(ADDRESS), flush=True)
        parts = make(tensor(mib))
        while socket.recv():
            socket.send_multipart(parts, copy=False)


def give_raw(mib: int) -> None:
    raw(mib, lambda array: [array])


def give_pickle(mib: int) -> None:
    def make(array: Any) -> list[Any]:
        buffers: list[Any] = []
        return [pickle.dumps(array, 5, buffer_callback=buffers.append), *[b.raw() for b in buffers]]

    raw(mib, make)


def give_msgpack(mib: int) -> None:
    import msgpack
    import msgpack_numpy

    array = tensor(mib)
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        print(socket.bind_to_random_port(ADDRESS), flush=True)
        while socket.recv():
            socket.send(msgpack.packb(array, default=msgpack_numpy.encode), copy=False)


def give_flight(mib: int) -> None:
    import pyarrow as pa
    from pyarrow import flight

    flat = tensor(mib).reshape(-1)
    table = pa.table({"x": flat})

    class Server(flight.FlightServerBase):
        def do_get(self, _context: Any, ticket: Any) -> Any:
            if not ticket.ticket:
                self.shutdown()
            return flight.RecordBatchStream(
                pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=2**19))
            )

    server = Server("grpc://127.0.0.1:0")
    print(server.port, flush=True)
    sys.stdin.readline()
    server.shutdown()


def give_dask(mib: int) -> None:
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            dashboard_address=None,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
        ) as cluster,
        Client(cluster),
    ):
        print(cluster.scheduler_address, flush=True)
        sys.stdin.readline()


def give_ours(mib: int, target: str = "") -> None:
    from tensorwrapper.transport import Socket, Transfers

    array = tensor(mib)
    with Socket("ROUTER") as socket:
        print(socket.bind(f"{ADDRESS}:*").rpartition(":")[2], flush=True)
        with Transfers(socket, timeout=600) as transfers:
            while True:
                peer, frames = asked(socket)
                if not frames:
                    return
                transfers.send(array, peer=peer)


def asked(socket: Any) -> tuple[bytes, bytes]:
    peer, frames = socket.receive_frames(timeout=600)
    return peer, bytes(frames[1])


# This process.


def take_raw(port: str, mib: int) -> Any:
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.connect(f"{ADDRESS}:{port}")

    def take() -> Any:
        socket.send(b"x")
        return np.frombuffer(socket.recv(copy=False), "f8").reshape(-1, 1024)

    return take, lambda: (socket.send(b""), socket.close())


def take_pickle(port: str, mib: int) -> Any:
    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.connect(f"{ADDRESS}:{port}")

    def take() -> Any:
        socket.send(b"x")
        head, *parts = socket.recv_multipart(copy=False)
        return pickle.loads(head, buffers=parts)

    return take, lambda: (socket.send(b""), socket.close())


def take_msgpack(port: str, mib: int) -> Any:
    import msgpack
    import msgpack_numpy

    socket = zmq.Context.instance().socket(zmq.REQ)
    socket.connect(f"{ADDRESS}:{port}")

    def take() -> Any:
        socket.send(b"x")
        frame = socket.recv(copy=False)
        return msgpack.unpackb(frame.buffer, object_hook=msgpack_numpy.decode, max_bin_len=2**32 - 1)

    return take, lambda: (socket.send(b""), socket.close())


def take_flight(port: str, mib: int) -> Any:
    from pyarrow import flight

    client = flight.connect(f"grpc://127.0.0.1:{port}")

    def take() -> Any:
        out, at = np.empty(mib * 2**17), 0
        for chunk in client.do_get(flight.Ticket(b"x")):
            part = chunk.data.column(0).to_numpy()
            out[at : at + len(part)] = part
            at += len(part)
        return out.reshape(-1, 1024)

    return take, client.close


def take_dask(address: str, mib: int) -> Any:
    from distributed import Client
    from distributed.worker import get_worker

    client = Client(address)
    # The tensor stays with the worker; what is timed is one that comes here, directly from it.
    future = client.submit(tensor, mib, pure=False)
    future.result()
    del get_worker
    return lambda: client.gather(future, direct=True), client.close


def take_ours(port: str, mib: int, out: Any = None) -> Any:
    from tensorwrapper.transport import Socket, Transfers

    socket = Socket("DEALER")
    socket.connect(f"{ADDRESS}:{port}")
    transfers = Transfers(socket, timeout=600)

    def take() -> Any:
        socket.send([b"ZIO0TENS", b"x" * 24])
        return transfers.receive(out).to_numpy()

    return take, lambda: (socket.send([b"ZIO0TENS", b""]), socket.close())


GIVERS = {
    "ours": give_ours,
    "raw": give_raw,
    "pickle": give_pickle,
    "msgpack": give_msgpack,
    "flight": give_flight,
    "dask": give_dask,
}


def pitched(mib: int) -> Any:
    return np.empty((mib * 128, 1040))[:, :1024]


def every_second(mib: int) -> Any:
    return np.empty((mib * 128, 2048))[:, ::2]


def subjects(mib: int) -> dict[str, tuple[str, Callable[[str], Any]]]:
    found: dict[str, tuple[str, Callable[[str], Any]]] = {
        "ours, into new memory": ("ours", lambda port: take_ours(port, mib)),
        "one raw zero-copy frame": ("raw", lambda port: take_raw(port, mib)),
        "pickle 5, out of band": ("pickle", lambda port: take_pickle(port, mib)),
    }
    if has("msgpack_numpy"):
        found["msgpack-numpy"] = "msgpack", lambda port: take_msgpack(port, mib)
    if has("pyarrow"):
        found["Arrow Flight, batches of 4 MiB into one array"] = "flight", lambda port: take_flight(port, mib)
    if has("distributed"):
        found["dask.distributed, gathered from its worker"] = "dask", lambda port: take_dask(port, mib)
    flat, rows, second = np.empty((mib * 128, 1024)), pitched(mib), every_second(mib)
    found["ours, into an array that is there"] = "ours", lambda port: take_ours(port, mib, flat)
    found["ours, into pitched rows"] = "ours", lambda port: take_ours(port, mib, rows)
    found["ours, into every second element"] = "ours", lambda port: take_ours(port, mib, second)
    return found


def touch(mib: int, array: Any) -> None:
    """Write all of an array, a mebibyte at a time: what memory costs by itself, wherever it came from."""
    flat = array.reshape(-1).view("u1")
    for at in range(0, mib * 2**20, 2**20):
        flat[at : at + 2**20] = 1


def cpu_of(pid: int) -> float:
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii") as file:  # noqa: PTH123
        fields = file.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return 0.0


def main(mib: int, rounds: int) -> None:
    wanted = tensor(mib)
    running = {}
    for name, (giver, take) in subjects(mib).items():
        process = subprocess.Popen(
            [sys.executable, __file__, "--give", giver, str(mib)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        if process.stdout is None:
            return
        running[name] = process, *take(process.stdout.readline().strip())
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in running}
    there = np.ones((mib * 128, 1024))
    alone: dict[str, Callable[[], None]] = {
        "(new memory written once, alone)": lambda: touch(mib, np.empty((mib * 128, 1024))),
        "(memory that is there written once, alone)": lambda: touch(mib, there),
    }
    for number in range(rounds + 1):
        for name, (process, take, _) in running.items():
            before, begin = time.process_time() + cpu_of(process.pid), time.perf_counter()
            came = take()
            wall = time.perf_counter() - begin
            used = time.process_time() + cpu_of(process.pid) - before
            if number:
                times[name].append((wall, used))
            elif not np.array_equal(came, wanted):
                raise AssertionError(name)
            del came
        for name, write in alone.items():
            used, begin = time.process_time(), time.perf_counter()
            write()
            wall = time.perf_counter() - begin
            times.setdefault(name, []).append((wall, time.process_time() - used))
    print(
        f"| {mib} MiB | wall ms, least | median | CPU ms of both, least | raw / this |\n" + "| --- " * 5 + "|"
    )
    base = min(wall for wall, _ in times["one raw zero-copy frame"])
    for name, seen in times.items():
        walls, used = [w for w, _ in seen], [c for _, c in seen]
        least = min(walls)
        print(
            f"| {name} | {least * 1e3:.0f} | {statistics.median(walls) * 1e3:.0f} "
            f"| {min(used) * 1e3:.0f} | {base / least:.2f} |"
        )
    for process, _, end in running.values():
        with contextlib.suppress(Exception):
            end()
        process.kill()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--give"]:
        GIVERS[sys.argv[2]](int(sys.argv[3]))
    else:
        main(*[int(word) for word in (*sys.argv[1:], *("512", "7")[len(sys.argv) - 1 :])])
