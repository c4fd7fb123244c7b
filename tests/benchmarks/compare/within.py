"""Work within rows beside Awkward: a million elements in short, middle and long rows, and one huge row."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import tensorwrapper as tw
from tests.benchmarks.compare.measure import Row, Run, library

SIZE = 10**6

CALLS: dict[str, tuple[Callable[[Any], object], Callable[[Any, Any], object], tuple[float, ...]]] = {
    # What it is here, what in Awkward, and at most how many times that for each kind of rows.
    "sort": (lambda r: r.sort(), lambda ak, a: ak.sort(a, axis=-1), (1.3, 0.6, 0.2, 0.3)),
    "argsort": (lambda r: r.argsort(), lambda ak, a: ak.argsort(a, axis=-1), (1.5, 0.8, 1.1, 0.8)),
    "argmax": (lambda r: r.argmax(empty=-1), lambda ak, a: ak.argmax(a, axis=-1), (3.5, 2.5, 3.5, 1.5)),
    "max": (lambda r: r.max(empty=0), lambda ak, a: ak.max(a, axis=-1), (2.5, 1, 2.5, 1)),
    "sum": (lambda r: r.sum(), lambda ak, a: ak.sum(a, axis=-1), (2, 1, 2, 1)),
    "mean": (lambda r: r.mean(empty=0), lambda ak, a: ak.mean(a, axis=-1), (0.7, 0.2, 0.6, 0.2)),
    "var": (lambda r: r.var(empty=0), lambda ak, a: ak.var(a, axis=-1), (0.5, 0.9, 0.5, 0.9)),
    "rankdata": (
        lambda r: r.rankdata("ordinal"),
        lambda ak, a: ak.argsort(ak.argsort(a, axis=-1), axis=-1),
        (0.5, 0.7, 0.7, 0.7),
    ),
    "unique_counts": (
        lambda r: r.unique_counts(),
        lambda ak, a: ak.run_lengths(ak.sort(a, axis=-1)),
        (1, 0.6, 0.3, 0.3),
    ),
}


def lengths() -> dict[str, "np.ndarray[Any, np.dtype[np.int64]]"]:
    """Return lengths of rows that have so many elements, by their kind."""
    rng = np.random.default_rng(0)
    short = rng.integers(0, 8, SIZE * 2 // 7)
    return {
        "rows of 0 to 7": short,
        "rows of 0 to 199": rng.integers(0, 200, SIZE * 2 // 199),
        "one huge row": np.append(short[: len(short) // 2], SIZE // 2),
        "rows of some 660": np.minimum(rng.lognormal(6, 1, SIZE // 660).astype(np.int64), 8000),
    }


def within() -> Iterator[Row]:
    """Each call for each kind of rows."""
    ak = library("awkward")
    rng = np.random.default_rng(1)
    for kind, (name, counts) in enumerate(lengths().items()):
        splits = np.concatenate([[0], np.cumsum(counts)])
        flat = rng.random(int(splits[-1]))
        t = tw.as_tensor(flat).unflatten(counts)
        a = (
            ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(splits), ak.contents.NumpyArray(flat)))
            if ak
            else None
        )
        for call, (ours, theirs, times) in CALLS.items():
            peers: dict[str, Run] = {"Awkward": lambda theirs=theirs, a=a: theirs(ak, a)} if ak else {}
            yield Row(
                "W",
                f"{call}, {name}",
                lambda ours=ours, t=t: ours(t.rows()),
                peers,
                times=times[kind],
                missing=None if ak else "awkward",
            )
        if kind in (1, 3):
            # Equal elements, whose rows are sorted again.
            flat = np.floor(flat * 100)
            ties = tw.as_tensor(flat).unflatten(counts)
            b = (
                ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(splits), ak.contents.NumpyArray(flat)))
                if ak
                else None
            )
            equal: dict[str, Run] = {"Awkward": lambda b=b: ak.argsort(b, axis=-1)} if ak else {}
            yield Row(
                "W",
                f"argsort of equal floats, {name}",
                lambda ties=ties: ties.rows().argsort(),
                equal,
                times=1.1,
                missing=None if ak else "awkward",
            )
        if not kind:
            pairs: dict[str, Run] = {"Awkward": lambda a=a: ak.argcombinations(a, 2)} if ak else {}
            yield Row(
                "W",
                f"combinations, {name}",
                lambda t=t: t.rows().combinations(2),
                pairs,
                times=1.1,
                missing=None if ak else "awkward",
            )


ROWS = {"W": within}
