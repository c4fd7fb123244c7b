# ruff: noqa: A003, ARG002, PLW1641, T201 - peers are imported where they are there
"""Selections of a matrix by dask.distributed and by zarr over a local HTTP server, beside ours.

``python tests/benchmarks/remote/peers.py [MIB] [ROUNDS]``: the least and the median of wall time. A worker of
dask has the array in memory, as our server has, and selects there; zarr has chunks of 2 MiB in files without
compression, which an HTTP server hands out whole, over connections that are kept.
"""

import asyncio
import http.client
import http.server
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import tensorwrapper as tw

KEYS = {
    "1 KiB": (3, slice(0, 128)),
    "100 rows": (slice(50, 150),),
    "every 8th column": (slice(None), slice(None, None, 8)),
    "whole": (Ellipsis,),
}


def matrix(mib: int) -> Any:
    return np.arange(mib * 2**17, dtype="f8").reshape(-1, 4096)


class Quiet(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def hold(mib: int) -> None:
    import zarr
    from distributed import LocalCluster

    x = matrix(mib)
    with tempfile.TemporaryDirectory() as folder:
        array = zarr.create_array(folder, shape=x.shape, chunks=(64, 4096), dtype="f8", compressors=None)
        array[...] = x
        files = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder))
        threading.Thread(target=files.serve_forever, daemon=True).start()
        server = tw.serve({"x": x})
        cluster = LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tcp://",
            host="127.0.0.1",
            dashboard_address=None,
        )
        print(server.address, cluster.scheduler_address, files.server_port, flush=True)
        sys.stdin.read()
        os._exit(0)


def http_store(port: int) -> Any:
    """Return zarr's store of what an HTTP server has, over a few connections that are kept."""
    from zarr.abc.store import Store

    own = threading.local()

    def fetch(key: str) -> "bytes | None":
        connection = getattr(own, "connection", None)
        if connection is None:
            connection = own.connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", f"/{key}")
        answer = connection.getresponse()
        found = answer.read()
        return bytes(found) if answer.status == 200 else None

    class HttpStore(Store):  # type: ignore[misc]
        supports_writes = supports_deletes = supports_partial_writes = supports_listing = False

        def __eq__(self, other: object) -> bool:
            return self is other

        async def get(self, key: str, prototype: Any, byte_range: Any = None) -> Any:
            found = await asyncio.to_thread(fetch, key)
            return None if found is None else prototype.buffer.from_bytes(found)

        async def get_partial_values(self, prototype: Any, key_ranges: Any) -> Any:
            return [await self.get(key, prototype, own) for key, own in key_ranges]

        async def exists(self, key: str) -> bool:
            return await asyncio.to_thread(fetch, key) is not None

        async def set(self, key: str, value: Any) -> None:
            raise PermissionError("it is read")

        async def delete(self, key: str) -> None:
            raise PermissionError("it is read")

        async def list(self) -> Any:
            raise PermissionError("it is read")

        list_dir = list_prefix = list

    return HttpStore(read_only=True)


def calls(address: str, scheduler: str, port: int) -> "dict[str, Any]":
    """Return for each peer a function of a key."""
    import zarr
    from distributed import Client

    remote = tw.connect(address, timeout=120)
    client = Client(scheduler, set_as_default=False)
    (worker,) = client.scheduler_info()["workers"]
    mib = remote["x"].nbytes // 2**20
    there = client.submit(matrix, mib, workers=[worker])
    there.result  # noqa: B018 - it stays at the worker
    array = zarr.open_array(http_store(port), mode="r")
    numbers = iter(range(10**9))

    def by_dask(key: Any) -> Any:
        # Each is asked for once: dask keeps results by what was asked.
        return client.submit(lambda own, key, _: own[key], there, key, next(numbers)).result()

    return {
        "ours": lambda key: remote["x"][key].compute(),
        "dask.distributed": by_dask,
        "zarr over HTTP": lambda key: array[key],
    }


def main() -> None:
    mib, rounds = [*map(int, sys.argv[1:]), *(256, 5)[len(sys.argv) - 1 :]]
    words = [sys.executable, __file__, "hold", str(mib)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            address, scheduler, port = process.stdout.readline().split()  # type: ignore[union-attr]
            found = calls(address, scheduler, int(port))
            right = matrix(mib)
            for work, key in KEYS.items():
                times: dict[str, list[float]] = {name: [] for name in found}
                for call in found.values():
                    assert np.array_equal(np.asarray(call(key)), right[key])
                for _ in range(rounds if work == "whole" else 4 * rounds):
                    for name, call in found.items():
                        begin = time.perf_counter()
                        call(key)
                        times[name].append(time.perf_counter() - begin)
                said = [
                    f"{name} {min(own) * 1e3:.2f} / {statistics.median(own) * 1e3:.2f}"
                    for name, own in times.items()
                ]
                print(f"{work:18}", " | ".join(said), flush=True)
        finally:
            process.kill()
    os._exit(0)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    if sys.argv[1:2] == ["hold"]:
        hold(int(sys.argv[2]))
    else:
        main()
