"""Files at addresses: rows of a file that a server gives by ranges, each request after 30 ms."""

import http.client
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

import tensorwrapper as tw
from tests.benchmarks.compare.measure import Row
from tests.support.store.served_files import Served, served

DELAY = 0.03


def _asked(server: Served, run: object) -> list[str]:
    """Return the ranges that a run asks for."""
    before = len(server.seen)
    run()  # type: ignore[operator]
    return [own["Range"] for own in server.seen[before:]]


def _all_at_once(server: Served, ranges: list[str]) -> list[bytes]:
    """Fetch ranges that are known before, each on a connection of its own."""
    parts = urlsplit(server.url)

    def fetch(wanted: str) -> bytes:
        connection = http.client.HTTPConnection(parts.netloc)
        connection.request("GET", parts.path, headers={"Range": wanted})
        raw = connection.getresponse().read()
        connection.close()
        return raw

    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(fetch, ranges))


def rows_at_an_address() -> Iterator[Row]:
    """Ten rows of 10^6, far from one another or neighbours, and three rows of a model."""
    rng = np.random.default_rng(5)
    splits = np.concatenate([[0], np.cumsum(rng.integers(0, 10, 10**6))])
    rows = tw.from_buffer(np.arange(float(splits[-1])), tw.Shape.from_offsets(splits))
    far = sorted(rng.choice(10**6, 10, replace=False).tolist())
    near = list(range(500_000, 500_010))
    weights = {f"w{k}": np.arange(500_000, dtype="f4").reshape(5000, 100) + k for k in range(8)}
    with tempfile.TemporaryDirectory() as folder:
        path, model = Path(folder) / "rows.tens", Path(folder) / "model.safetensors"
        tw.save(path, {"r": rows})
        tw.save(model, weights)
        raw, packed = path.read_bytes(), model.read_bytes()
        with served(raw) as server, served(packed, "model.safetensors") as other:

            def taken(wanted: list[int]) -> object:
                with tw.open(server.url) as file:
                    return file.take("r", wanted)

            def three() -> object:
                with tw.open(other.url) as file:
                    return file["w3"][7:10].compute()

            for work, run, own in [
                ("10 far rows of 10^6 over http", lambda: taken(far), server),
                ("10 near rows of 10^6 over http", lambda: taken(near), server),
                ("3 rows of a safetensors file over http", three, other),
            ]:
                ranges = _asked(own, run)
                count, nbytes = len(ranges), own.nbytes
                run()
                nbytes = own.nbytes - nbytes
                own.delay = DELAY
                yield Row(
                    "H1",
                    f"{work}: {count} requests, {nbytes} bytes",
                    run,
                    {
                        "the same ranges, known before": lambda own=own, ranges=ranges: _all_at_once(
                            own, ranges
                        )
                    },
                    aim=0.45,
                    once=True,
                    clock=time.perf_counter,
                )
                own.delay = 0.0
        yield Row("H2", "the kind of a file is recognised", lambda: tw.store.recognise(path), aim=1e-3)


ROWS = {"H1, H2": rows_at_an_address}
