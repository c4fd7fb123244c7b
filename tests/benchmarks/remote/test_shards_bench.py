"""Plans to hold tensors in another way, and reading of several holders, beside their peers."""

import tracemalloc

import numpy as np
import pytest
from dask.array.rechunk import intersect_chunks

import tensorwrapper as tw
from tensorwrapper.remote import Catalogue, Sharding, reshard_plan
from tests.remote.shards.conftest import held

HOLDERS = [f"tcp://h{k}:1" for k in range(100)]


def cuts(rng, count, extent):
    """Return the extents of tiles of any size."""
    marks = np.sort(rng.choice(np.arange(1, extent), count - 1, replace=False))
    return np.diff(marks, prepend=0, append=extent)


def shardings(*counts):
    """Return two ways to cut and hold one tensor."""
    rng = np.random.default_rng(1)
    found = []
    for _ in range(2):
        tiling = tw.Tiling(*[cuts(rng, count, 100 * count) for count in counts])
        found.append(Sharding(tiling, "f4", HOLDERS, rng.integers(0, 100, tiling.grid.size)))
    return found


@pytest.mark.parametrize("counts", [(1000, 1000), (1_000_000,), (100, 100)], ids=str)
def test_plan(benchmark, counts):
    old, new = shardings(*counts)
    plan = benchmark.pedantic(reshard_plan, (old, new), rounds=5, warmup_rounds=1)
    tracemalloc.start()
    reshard_plan(old, new)
    benchmark.extra_info["peak MB"] = round(tracemalloc.get_traced_memory()[1] / 1e6)
    tracemalloc.stop()
    benchmark.extra_info["pieces"] = plan.pieces
    assert plan.total == old.nbytes


def test_plan_of_100_by_100_by_dask(benchmark):
    """Which pieces there are: what Dask knows of them, one tuple each."""
    old, new = shardings(100, 100)
    chunks = [tuple([tuple(np.diff(own).tolist()) for own in each.tiling.marks]) for each in (old, new)]
    pieces = benchmark.pedantic(lambda: len(list(intersect_chunks(*chunks))), rounds=5, warmup_rounds=1)
    assert pieces


def test_a_catalogue_of_a_million_tiles(benchmark):
    text = Catalogue({"x": shardings(1000, 1000)[0]}).to_json()
    benchmark.extra_info["MB"] = round(len(text) / 1e6, 1)
    assert benchmark.pedantic(Catalogue.from_json, (text,), rounds=5)


@pytest.mark.parametrize("count", [1, 2])
def test_64_mib_of_some_holders(benchmark, count):
    x = np.arange(2**23, dtype="f8").reshape(2**10, -1)
    with held(
        {"x": tw.as_tensor(x)},
        lambda _, addresses: Sharding(tw.Tiling([512, 512], [x.shape[1]]), "f8", addresses),
        count,
    ) as (shards, _):
        out = np.empty_like(x)
        benchmark.pedantic(shards["x"].compute, (out,), rounds=5, warmup_rounds=1)
        assert np.array_equal(out, x)
