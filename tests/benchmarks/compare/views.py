# ruff: noqa: PLW0108 - lambdas stand in one column
"""Views over many shards, and of few elements."""

from collections.abc import Iterator

import numpy as np

import tensorwrapper as tw
from tensorwrapper import Shape
from tensorwrapper import selection as sel
from tests.benchmarks.compare.measure import Row, Run

SHARDS = 10**4


def shards() -> Iterator[Row]:
    """10^4 shards of ten elements."""
    parts = [np.arange(10.0) for _ in range(SHARDS)]
    tensors = [tw.as_tensor(part) for part in parts]
    view = sel.concat(tensors)
    view.compute()
    peer: dict[str, Run] = {"np.concatenate": lambda: np.concatenate(parts)}
    yield Row(
        "P2", "10^4 shards joined, a shard", lambda: sel.concat(tensors), peer, aim=0.5e-6, shares=SHARDS
    )
    yield Row(
        "P2",
        "joined and computed the first time, a shard",
        lambda: sel.concat(tensors).compute(),
        peer,
        aim=1.5e-6,
        shares=SHARDS,
    )
    yield Row(
        "P2", "[::-1] of it, computed, a shard", lambda: view[::-1].compute(), peer, aim=1e-6, shares=SHARDS
    )
    places = np.random.default_rng(0).integers(0, 10 * SHARDS, 1000)
    yield Row(
        "P3",
        "1000 positions out of 10^4 shards",
        lambda: view[places].compute(),
        {"concatenate and take": lambda: np.concatenate(parts)[places]},
        aim=3e-3,
    )


def boxes() -> Iterator[Row]:
    """Shards of every rank, fewer and more than are joined without a view of each."""
    rng = np.random.default_rng(0)
    for count in (16, 17, 2000):
        for extents, mode in (((1000,), 0), ((10, 10), 0), ((10, 10), 1), ((5, 5, 5), 1)):
            parts = [rng.random(extents) for _ in range(count)]
            tensors = [tw.as_tensor(part) for part in parts]
            yield Row(
                "Q3",
                f"{count} of {extents} joined along mode {mode} and computed",
                lambda tensors=tensors, mode=mode: sel.concat(tensors, mode=mode).compute(),
                {"np.concatenate": lambda parts=parts, mode=mode: np.concatenate(parts, mode)},
                times=10,
            )
    parts = [rng.random((10, 10)) for _ in range(1000)]
    tensors = [tw.as_tensor(part) for part in parts]
    yield Row(
        "Q3",
        "1000 of (10, 10) stacked and computed",
        lambda: sel.stack(tensors).compute(),
        {"np.stack": lambda: np.stack(parts)},
        times=10,
    )
    rows = [rng.random((100, 16)) for _ in range(300)]
    whole = sel.concat([tw.as_tensor(part) for part in rows])
    # A run of all is copied from 1 row in 256 on.
    for count in (100, 400, 1024, 4000):
        places = rng.integers(0, 30_000, count)
        yield Row(
            "Q2",
            f"{count} rows of 300 shards of (100, 16)",
            lambda places=places: whole[places].compute(),
            {"concatenate and take": lambda places=places: np.concatenate(rows).take(places, 0)},
            times=3,
        )


def small() -> Iterator[Row]:
    """Ten by ten."""
    a, b = np.ones((10, 10)), np.zeros((10, 10))
    t, u, mask = tw.as_tensor(a), tw.as_tensor(b), a > 0
    m = tw.as_tensor(mask)
    rng = np.random.default_rng(0)
    box = Shape(100)
    for work, ours, peer in (
        ("concat of two 10 x 10", lambda: sel.concat([t, u]).compute(), lambda: np.concatenate([a, b])),
        ("pad by one", lambda: sel.pad(t, [(1, 1), (1, 1)], fill_value=0).compute(), lambda: np.pad(a, 1)),
        ("where by a mask", lambda: sel.where(m, t, 0.0).compute(), lambda: np.where(mask, a, 0.0)),
        ("random of 100", lambda: sel.random(box, seed=1).compute(), lambda: rng.random(100)),
    ):
        yield Row("P4", work, ours, {"NumPy": peer}, aim=40e-6)
    view = sel.as_view(t)
    yield Row(
        "P5",
        "a slice of a view of one tensor",
        lambda: view[1:3].compute(),
        {"NumPy": lambda: a[1:3].copy()},
        aim=8e-6,
    )


ROWS = {"P2, P3": shards, "Q2, Q3": boxes, "P4, P5": small}
