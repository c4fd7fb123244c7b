"""Records of 27 fields beside NumPy's takes and Awkward, and of 5 fields at a server beside one field."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

import tensorwrapper as tw
from tests.benchmarks.compare.measure import Row, Run, library

FIELDS = 27


def records() -> Iterator[Row]:
    """Gathers, masks, slices and single rows of short and of long rows."""
    ak = library("awkward")
    rng = np.random.default_rng(0)
    for name, counts in {
        "10^5 rows of 0 to 7": rng.integers(0, 8, 100_000),
        "64 rows of 200": np.full(64, 200),
    }.items():
        splits = np.concatenate([[0], np.cumsum(counts)])
        flat = [rng.random(int(splits[-1])).astype("f4") for _ in range(FIELDS)]
        shape = tw.Shape.jagged(counts)
        r = tw.records({f"f{k}": tw.from_buffer(own, shape) for k, own in enumerate(flat)})
        pick = rng.integers(0, len(counts), len(counts) // 2)
        mask = r["f0"] > 0.5
        chosen = mask.elements()

        def takes(splits: Any = splits, pick: Any = pick, flat: Any = flat) -> object:
            starts = splits[pick]
            lengths = splits[pick + 1] - starts
            ends = np.cumsum(lengths)
            places = np.arange(ends[-1]) + np.repeat(starts - ends + lengths, lengths)
            return ends, [own.take(places) for own in flat]

        def choices(splits: Any = splits, chosen: Any = chosen, flat: Any = flat) -> object:
            places = np.flatnonzero(chosen)
            return np.searchsorted(places, splits), [own.take(places) for own in flat]

        yield Row(
            "F",
            f"gather of {FIELDS} fields, {name}",
            lambda r=r, pick=pick: r[pick],
            {"NumPy's takes": takes},
            times=1.5,
        )
        yield Row(
            "F",
            f"mask of {FIELDS} fields, {name}",
            lambda r=r, mask=mask: r[mask],
            {"NumPy's takes": choices},
            times=1.2,
        )
        yield Row(
            "F",
            f"slice of {FIELDS} fields, {name}",
            lambda r=r: r[3:-3],
            {"one field": lambda t=r["f0"]: t[3:-3]},
            times=8,
        )
        yield Row("F", f"one row of {FIELDS} fields, {name}", lambda r=r: r[5])
        a = r.to_awkward() if ak else None
        peers: dict[str, Run] = {"Awkward": lambda a=a, pick=pick: ak.to_packed(a[pick])} if ak else {}
        work = f"gather of {FIELDS} fields beside Awkward, {name}"
        yield Row(
            "F", work, lambda r=r, pick=pick: r[pick], peers, times=1, missing=None if ak else "awkward"
        )


def served() -> Iterator[Row]:
    """64 rows of 5 fields of a server in one request, beside the same rows of one field."""
    rng = np.random.default_rng(0)
    shape = tw.Shape.jagged(rng.integers(0, 8, 100_000))
    fields = {f"f{k}": tw.from_buffer(rng.random(shape.size).astype("f4"), shape) for k in range(5)}
    rows = np.sort(rng.choice(100_000, 64, replace=False))
    with tw.serve({"ev": tw.records(fields)}) as server, tw.connect(server.address) as remote:
        events, one = remote.records("ev"), remote["ev.f0"]
        keys: dict[str, Any] = {"slice": slice(10, 74), "gather": rows}
        for name, key in keys.items():

            def of_one(key: Any = key) -> object:
                return one[key].compute()

            # The server answers in another thread, so the time is that of the clock.
            work, ours = f"{name} of 64 rows of 5 fields of a server", lambda key=key: events[key]
            yield Row("FS", work, ours, {"one field": of_one}, times=1.3, clock=time.perf_counter)


ROWS = {"F": records, "FS": served}
