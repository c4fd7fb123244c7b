# ruff: noqa: T201 - the table is printed
"""What moves when rows become columns on two worker processes, as the last table of ``docs/design/dask.md``.

``python tests/benchmarks/many_machines.py [MIB]``, 1024 if not given. It makes the numbers on the workers,
retiles them, and sums a row. Bytes between workers are those of their transfer logs, bytes of this process
(which runs the scheduler as well) those that the kernel counted at its sockets.
"""

import gc
import math
import socket
import struct
import sys
import time
from itertools import pairwise
from typing import Any

import distributed

from tensorwrapper import Shape, interop
from tensorwrapper import selection as sel

MOST = 1_000_000
"""How many bytes may pass through this process."""


def socket_bytes() -> int:
    """Return what the kernel sent and received for the connections of this process."""
    total = 0
    for own in gc.get_objects():
        if (
            isinstance(own, distributed.comm.tcp.TCP)
            and own.stream is not None
            and own.stream.socket is not None
        ):
            info = own.stream.socket.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
            total += sum(struct.unpack_from("QQ", info, 120))
    return total


def received(client: Any) -> int:
    """Return the bytes that workers were sent by others so far."""
    logs = client.run(lambda dask_worker: sum(own["total"] for own in dask_worker.transfer_incoming_log))
    return sum(logs.values())


def done(collection: Any) -> Any:
    """Return the collection when its parts are there."""
    distributed.wait(collection)
    return collection


def main(mib: int) -> int:
    """Run the job, print what moved, and return whether too much did."""
    n = math.isqrt(mib * 2**17)
    tile = -(-n // 16)
    config = {
        "distributed.worker.memory.target": False,
        "distributed.worker.memory.spill": False,
        "distributed.worker.memory.pause": False,
        "array.rechunk.method": "tasks",
    }
    with (
        distributed.dask.config.set(config),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            silence_logs="ERROR",
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        interop.register_dask(client)
        ends = [(socket_bytes(), received(client), time.perf_counter())]
        source = sel.iota(Shape(n * n)).reshape((n, n)).astype("f8")
        x = done(source.to_dask(chunks=(tile, -1)).persist())
        ends.append((socket_bytes(), received(client), time.perf_counter()))
        least = interop.reshard_plan(x, (-1, tile)).nbytes
        y = done(interop.reshard(x, (-1, tile)))
        ends.append((socket_bytes(), received(client), time.perf_counter()))
        # The sum of row k is that of n numbers from n k on.
        total = float(y[n // 2].sum().compute())
        ends.append((socket_bytes(), received(client), time.perf_counter()))
        right = total == float(n * (n // 2) * n + n * (n - 1) // 2)
        del y
        before = received(client)
        begin = time.perf_counter()
        done(x.rechunk((-1, tile)).persist())
        theirs, seconds = received(client) - before, time.perf_counter() - begin
    steps = [[b - a for a, b in zip(one, other, strict=True)] for one, other in pairwise(ends)]
    here = int(ends[-1][0] - ends[0][0])
    print(f"{n} x {n} doubles, {8 * n * n} bytes, chunks of {tile} rows to chunks of {tile} columns")
    print(f"the least that can move, by the plan: {least}")
    print(
        f"moved: {int(steps[1][1])}, {steps[1][1] / least:.3f} of the least; by dask.array.rechunk: {theirs}"
    )
    print(
        "bytes through this process:",
        {k: int(s[0]) for k, s in zip(("made", "retiled", "summed"), steps, strict=True)},
    )
    print(f"in all {here} of {MOST}; the sum is {'right' if right else 'WRONG'}")
    print(f"seconds: made {steps[0][2]:.1f}, retiled {steps[1][2]:.1f}, by dask.array.rechunk {seconds:.1f}")
    return int(here > MOST or not right)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1024))
