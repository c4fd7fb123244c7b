# ruff: noqa: PLW0108 - lambdas stand in one column
"""Strings: writes one by one, access, comparison."""

from collections import deque
from collections.abc import Iterator

import numpy as np

import tensorwrapper as tw
from tests.benchmarks.compare.measure import Row, Run, library, parts_made


def writes() -> Iterator[Row]:
    """A loop that writes 10^3 strings of 10^5, each longer than it was."""
    items = ["abc"] * 10**5
    places = np.random.default_rng(0).integers(0, 10**5, 1000).tolist()
    array = np.array(items, dtype="T")
    words = tw.strings(items)

    def ours() -> None:
        for place in places:
            words[place] = "defghi"

    def theirs() -> None:
        for place in places:
            array[place] = "defghi"

    yield Row("P11", "w[i] = s of 10^5 strings, each", ours, {"NumPy": theirs}, aim=5e-6, shares=1000)


def reads() -> Iterator[Row]:
    """A million strings, beside pyarrow."""
    pa, pc = library("pyarrow"), library("pyarrow.compute")
    items = ["x" * n for n in np.random.default_rng(7).integers(0, 40, 10**6).tolist()]
    words = tw.strings(items)
    few = tw.strings(items[:10_000])
    missing = None if pa else "pyarrow"
    limit = ("three objects and their eight slots, each", lambda: parts_made(10_000))
    peers: list[dict[str, Run]] = [{}, {}, {}]
    if pa:
        theirs, small = pa.array(items, pa.large_string()), pa.array(items[:10_000], pa.large_string())
        peers = [
            {"pyarrow": lambda: theirs[5].as_py()},
            {"pyarrow": lambda: small.to_pylist()},
            {"pyarrow": lambda: pc.equal(theirs, "xxxxx")},
        ]
    one = ("three objects and their eight slots", lambda: parts_made(1))
    yield Row("P12", "w[5], one string", lambda: words[5], peers[0], aim=1e-6, limit=one, missing=missing)
    yield Row(
        "P12",
        "a loop over 10^4, each",
        lambda: deque(few, maxlen=0),
        peers[1],
        aim=0.3e-6,
        limit=limit,
        shares=10_000,
        missing=missing,
    )
    yield Row(
        "P12",
        'w == "xxxxx" of 10^6',
        lambda: words == "xxxxx",
        peers[2],
        aim=1.5e-3,
        times=2.1,
        missing=missing,
    )


ROWS = {"P11": writes, "P12": reads}
