# ruff: noqa: PLW0108 - lambdas stand in one column
"""Rows: one of them, and a million."""

from collections.abc import Iterator

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tests.benchmarks.compare.measure import Row, Run, library

ROWS_OF_ONE = 10**6


def one_element() -> Iterator[Row]:
    """A full index of rows."""
    t = tw.jagged([[1, 2, 3], [4], [5, 6]])
    starts, flat = np.array([0, 3, 4, 6]), np.arange(6)
    peer: dict[str, Run] = {"by hand": lambda: flat[starts[2] + 0]}
    yield Row("P8", "t[2, 0] of rows", lambda: t[2, 0], peer, aim=2e-6)


def lookups() -> Iterator[Row]:
    """Places of 10^6 rows in no order."""
    counts = np.random.default_rng(0).integers(0, 7, ROWS_OF_ONE)
    shape = Shape.jagged(counts)
    ordinals = np.random.default_rng(1).integers(0, shape.size, 10**6)
    splits = np.concatenate([[0], np.cumsum(counts)])

    def table() -> object:
        row = np.repeat(np.arange(ROWS_OF_ONE, dtype=np.int32), counts)[ordinals]
        out = np.empty((len(ordinals), 2), np.int64)
        out[:, 0] = row
        out[:, 1] = ordinals - splits[row]
        return out

    yield Row(
        "P13",
        "indices_at, 10^6 of 10^6 rows",
        lambda: shape.indices_at(ordinals),
        {"by a table": table},
        aim=20e-3,
        times=1.54,
    )


def million() -> Iterator[Row]:
    """A million rows of 0 to 6 float64, beside Awkward."""
    ak = library("awkward")
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 7, ROWS_OF_ONE)
    flat = rng.random(int(counts.sum()))
    splits = np.concatenate([[0], np.cumsum(counts)])
    t = tw.as_tensor(flat).unflatten(counts)
    order, chosen = rng.permutation(ROWS_OF_ONE), flat > 0.5
    mask = tw.as_tensor(chosen).unflatten(counts)
    a = (
        ak.Array(ak.contents.ListOffsetArray(ak.index.Index64(splits), ak.contents.NumpyArray(flat)))
        if ak
        else None
    )
    own = ak.unflatten(chosen, counts) if ak else None
    missing = None if ak else "awkward"

    def by_hand() -> object:
        starts, lengths = splits[order], counts[order]
        ends = np.cumsum(lengths)
        return flat[np.repeat(starts - (ends - lengths), lengths) + np.arange(ends[-1])]

    def reduced() -> object:
        return np.add.reduceat(flat, splits[:-1][counts > 0])

    def masked() -> object:
        return np.concatenate([[0], np.cumsum(chosen)])[splits], flat[chosen]

    def theirs(run: Run) -> dict[str, Run]:
        return {"Awkward": run} if ak else {}

    yield Row(
        "P14",
        "rows().reduce(np.add), 10^6 rows",
        lambda: t.rows().reduce(np.add),
        theirs(lambda: ak.sum(a, axis=1)),
        times=1,
        aim=3.5e-3,
        limit=("np.add.reduceat alone", reduced),
        missing=missing,
    )
    yield Row(
        "P15",
        "rows in another order, t[order]",
        lambda: t[order],
        {**theirs(lambda: ak.to_packed(a[order])), "by hand": by_hand},
        aim=50e-3,
        times=1,
        missing=missing,
    )
    yield Row(
        "P15",
        "t[mask]",
        lambda: t[mask],
        {**theirs(lambda: a[own]), "by hand": masked},
        aim=30e-3,
        times=1,
        missing=missing,
    )
    yield Row(
        "P15",
        "local_index",
        lambda: t.local_index(),
        theirs(lambda: ak.local_index(a)),
        aim=4e-3,
        times=1,
        missing=missing,
    )
    yield Row(
        "P15",
        "pad_rows(4)",
        lambda: t.pad_rows(4),
        theirs(lambda: ak.fill_none(ak.pad_none(a, 4), 0.0)),
        aim=30e-3,
        times=1,
        missing=missing,
    )
    yield Row(
        "P15", "t[:, :1]", lambda: t[:, :1], theirs(lambda: a[:, :1]), aim=8e-3, times=1, missing=missing
    )


def decided() -> Iterator[Row]:
    """A jagged tensor from ten million counts."""
    ak = library("awkward")
    counts = np.arange(10**7) % 4
    flat = np.zeros(int(counts.sum()), np.int8)
    peers: dict[str, Run] = {"cumsum": lambda: np.cumsum(counts)}
    if ak:
        peers["Awkward"] = lambda: ak.unflatten(flat, counts)
    t = tw.as_tensor(flat)
    yield Row(
        "P25",
        "a jagged tensor from 10^7 counts",
        lambda: t.unflatten(counts),
        peers,
        aim=10e-3,
        times=1,
        missing=None if ak else "awkward",
        limit=(
            "sum and cumsum into new memory",
            lambda: (counts.min(), np.cumsum(counts, out=np.empty(10**7, np.int64))),
        ),
    )


ROWS = {"P8": one_element, "P13": lookups, "P14, P15": million, "P25": decided}
