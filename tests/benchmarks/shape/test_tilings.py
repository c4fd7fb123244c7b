"""Partitions and tilings: making, looking up, comparing, refining, retiling; each beside a named peer.

The peers are what a user would write otherwise: `bisect` on a list, NumPy's `searchsorted`, `array_equal`,
`union1d`, `concatenate`, and the plan of Dask's rechunk.
"""

from bisect import bisect_right
from functools import partial

import numpy as np
import pytest
from dask.array.rechunk import intersect_chunks

from tensorwrapper.shape import Tiling

RNG = np.random.default_rng(7)


def sizes_of(n):
    return RNG.integers(1, 20, n)


def cuts_of(extent, n):
    """The marks of `n` tiles that nobody else has cut."""
    inner = RNG.choice(np.arange(1, extent), n - 1, replace=False)
    return np.concatenate(([0], np.sort(inner), [extent]))


def run(benchmark, group, way):
    benchmark.group = group
    benchmark(way)


MILLION = sizes_of(10**6)
MAKE = {"tensorwrapper": partial(Tiling, MILLION), "numpy cumsum": partial(np.cumsum, MILLION)}


@pytest.mark.parametrize("name", MAKE)
def test_partition_from_a_million_sizes(benchmark, name):
    run(benchmark, "partition from 10^6 sizes", MAKE[name])


def each(function, values):
    """Return a function of no arguments that calls `function` with each value."""

    def call():
        for value in values:
            function(value)

    return call


@pytest.mark.parametrize("count", [48, 10**4, 10**6])
@pytest.mark.parametrize("name", ["tensorwrapper", "bisect on a list", "loop alone"])
def test_a_thousand_scalar_lookups(benchmark, count, name):
    """One thousand lookups one by one: the time in ms is the time of one in us."""
    tiling = Tiling(sizes_of(count))
    numbers = RNG.integers(0, tiling.elements.size, 1000).tolist()
    ways = {
        "tensorwrapper": each(tiling.tile_of, [(i,) for i in numbers]),
        "bisect on a list": each(partial(bisect_right, tiling.marks[0].tolist()), numbers),
        "loop alone": each(partial(max, 1), numbers),
    }
    run(benchmark, f"1000 scalar lookups, {count} tiles", ways[name])


@pytest.mark.parametrize(("lookups", "tiles"), [(10**5, 10**4), (10**3, 10**6)])
@pytest.mark.parametrize("name", ["tensorwrapper", "numpy searchsorted"])
def test_many_lookups_at_once(benchmark, lookups, tiles, name):
    tiling = Tiling(sizes_of(tiles))
    elements = RNG.integers(0, tiling.elements.size, (lookups, 1))
    ways = {
        "tensorwrapper": partial(tiling.tiles_of, elements),
        "numpy searchsorted": partial(np.searchsorted, tiling.marks[0], elements, side="right"),
    }
    run(benchmark, f"{lookups} lookups at once, {tiles} tiles", ways[name])


def pair_of_millions():
    """Two equal tilings that have never met, and their marks."""
    first = Tiling(MILLION)
    return (first, Tiling.from_marks(first.marks[0].copy())), {}


FIRST = {
    "tensorwrapper, equality": lambda a, b: a == b,
    "numpy array_equal": lambda a, b: np.array_equal(a.marks[0], b.marks[0]),
    "tensorwrapper, hash": lambda a, _: hash(a),
    "hash of a tuple": lambda _, b: hash(b.chunks),
}


@pytest.mark.parametrize("name", FIRST)
def test_first_comparison_of_a_million_tiles(benchmark, name):
    benchmark.group = "10^6 tiles, for the first time"
    benchmark.pedantic(FIRST[name], setup=pair_of_millions, rounds=20)


@pytest.mark.parametrize("name", ["equality", "hash"])
def test_comparison_again(benchmark, name):
    (a, b), _ = pair_of_millions()
    # What is remembered is what is measured.
    assert hash(a) == hash(b)
    assert a == b
    ways = {"equality": lambda: a == b, "hash": partial(hash, a)}
    benchmark.group = "10^6 tiles, once more"
    benchmark.pedantic(ways[name], rounds=100, iterations=1000)


@pytest.mark.parametrize("count", [10**4, 10**5, 10**6])
@pytest.mark.parametrize("name", ["tensorwrapper", "tensorwrapper, empty tiles", "numpy union1d"])
def test_common_refinement(benchmark, count, name):
    first = Tiling(sizes_of(count))
    extent = first.elements.size
    second = Tiling.from_marks(cuts_of(extent, count))
    doubled = Tiling.from_marks(np.repeat(second.marks[0], 2))
    ways = {
        "tensorwrapper": partial(first.intersect, second),
        "tensorwrapper, empty tiles": partial(first.intersect, doubled),
        "numpy union1d": partial(np.union1d, first.marks[0], second.marks[0]),
    }
    run(benchmark, f"common refinement of {count} tiles", ways[name])


@pytest.mark.parametrize("count", [100, 316])
@pytest.mark.parametrize("name", ["plan and cost", "all pieces", "dask, plan alone"])
def test_retile(benchmark, count, name):
    old = Tiling(sizes_of(count), sizes_of(count))
    new = Tiling.from_marks(*[cuts_of(n, count) for n in old.elements.extents])
    ways = {
        "plan and cost": lambda: old.retile_plan(new).cost(itemsize=8),
        "all pieces": lambda: old.retile_plan(new).pieces(),
        # Its plan is a product that is made one new block at a time; here it is made, and dropped.
        "dask, plan alone": lambda: sum(1 for _ in intersect_chunks(old.chunks, new.chunks)),
    }
    run(benchmark, f"retile {count} x {count} blocks", ways[name])


SQUARE = Tiling(sizes_of(316), sizes_of(316))


def outer_in_numpy():
    volumes = np.multiply.outer(*SQUARE.sizes)
    return volumes, np.cumsum(volumes).reshape(volumes.shape) - volumes


VOLUMES = {
    "tensorwrapper": lambda: (SQUARE.volumes(), SQUARE.offsets()),
    "numpy outer and cumsum": outer_in_numpy,
}


@pytest.mark.parametrize("name", VOLUMES)
def test_volumes_and_offsets(benchmark, name):
    run(benchmark, "volumes and offsets of 316 x 316 tiles", VOLUMES[name])


@pytest.mark.parametrize("name", ["tensorwrapper", "numpy concatenate"])
def test_concat_of_two_million_tiles(benchmark, name):
    a, b = Tiling(MILLION), Tiling(MILLION)
    (first,), (second,) = a.marks, b.marks
    ways = {
        "tensorwrapper": partial(a.concat, b),
        "numpy concatenate": lambda: np.concatenate((first, second[1:] + first[-1])),
    }
    run(benchmark, "concat of 2 x 10^6 tiles", ways[name])


@pytest.mark.parametrize(
    ("rows", "columns", "most"),
    [(61, 30, 1), (61, 30, 1000), (1000, 1000, 1), (1000, 1000, 1000), (1000, 1000, 10**6)],
)
def test_runs_of_tiles_by_volume(benchmark, rows, columns, most):
    tiling = Tiling(sizes_of(rows), sizes_of(columns))
    run(
        benchmark,
        f"runs of {rows * columns} tiles",
        partial(tiling.partition_by_volume, most),
    )
