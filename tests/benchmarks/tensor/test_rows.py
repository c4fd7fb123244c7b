"""Jagged tensors, one row and millions of rows; peers: Awkward Array, NumPy by hand, pickle."""

import operator
import pickle
from functools import partial

import awkward as ak
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import as_tensor, from_buffer, jagged
from tests.support.tensor.detector import THRESHOLD, readout

SIZES = pytest.mark.parametrize("n", [10**6, 10**7])
PEERS = pytest.mark.parametrize("way", ["tensorwrapper", "awkward"])
SMALL = jagged([[1, 2, 3], [4], [5, 6]])
ROWS = SMALL.rows()
LISTS = ak.Array([[1, 2, 3], [4], [5, 6]])
ONE_ROW = {
    "t[2]": partial(operator.getitem, SMALL, 2),
    "t.rows()[2]": partial(operator.getitem, ROWS, 2),
    "awkward": partial(operator.getitem, LISTS, 2),
}


def run(benchmark, function, rounds=5, iterations=1):
    return benchmark.pedantic(function, rounds=rounds, iterations=iterations, warmup_rounds=1)


@pytest.mark.parametrize("way", ONE_ROW)
def test_one_row(benchmark, way):
    benchmark.group = "one row of three"
    ours = way != "awkward"
    run(benchmark, ONE_ROW[way], rounds=200 if ours else 50, iterations=1000 if ours else 10)


@pytest.fixture(scope="module")
def many():
    """Rows of 0 to 6 bytes, ours and Awkward's, made once for each number of them."""
    made = {}

    def rows(n):
        if n not in made:
            made.clear()
            counts = np.arange(n) % 7
            flat = (np.arange(counts.sum()) % 100).astype(np.int8)
            made[n] = as_tensor(flat).unflatten(counts), ak.unflatten(flat, counts), flat, counts
        return made[n]

    return rows


VERBS = {
    "unflatten": (
        lambda _, flat, counts: as_tensor(flat).unflatten(counts),
        lambda _, flat, counts: ak.unflatten(flat, counts),
    ),
    "flatten": (lambda t, *_: t.flatten(), lambda a, *_: ak.flatten(a)),
    "row_lengths": (lambda t, *_: t.row_lengths(), lambda a, *_: ak.num(a)),
    "local_index": (lambda t, *_: t.local_index(), lambda a, *_: ak.local_index(a)),
    "run_lengths": (lambda t, *_: t.run_lengths(), lambda a, *_: ak.run_lengths(a)),
    "pad to 4": (lambda t, *_: t.pad_rows(4), lambda a, *_: ak.pad_none(a, 4)),
    "run of rows": (lambda t, *_: t[1000:-1000], lambda a, *_: a[1000:-1000]),
    "first of each row": (lambda t, *_: t[:, :1], lambda a, *_: a[:, :1]),
    "sum of each row": (lambda t, *_: t.rows().reduce(np.add), lambda a, *_: ak.sum(a, axis=1)),
}


@SIZES
@pytest.mark.parametrize("verb", VERBS)
@PEERS
def test_verbs(benchmark, many, way, verb, n):
    benchmark.group = f"{verb}, {n:.0e} rows"
    t, a, flat, counts = many(n)
    mine, theirs = VERBS[verb]
    run(
        benchmark,
        partial(mine, t, flat, counts) if way == "tensorwrapper" else partial(theirs, a, flat, counts),
    )


@SIZES
@pytest.mark.parametrize("how", ["view", "copy"])
@PEERS
def test_gather_of_rows(benchmark, many, way, how, n):
    benchmark.group = f"gather of {n:.0e} rows, {how}"
    t, a, _, _ = many(n)
    order = np.random.default_rng(0).permutation(n)
    ways = {
        ("tensorwrapper", "view"): lambda: t.oindex[order],
        ("tensorwrapper", "copy"): lambda: t[order],
        ("awkward", "view"): lambda: a[order],
        ("awkward", "copy"): lambda: ak.to_packed(a[order]),
    }
    run(benchmark, ways[way, how])


@pytest.mark.parametrize("key", ["mask", "positions"])
@PEERS
def test_keys_for_each_row(benchmark, many, way, key):
    benchmark.group = f"a million rows by their own {key}"
    t, a, flat, counts = many(10**6)
    if key == "mask":
        chosen, lengths = flat % 3 == 0, counts
    else:
        lengths = np.minimum(counts, 1)
        chosen = np.zeros(lengths.sum(), dtype=np.int64)
    ours, theirs = as_tensor(chosen).unflatten(lengths), ak.unflatten(chosen, lengths)
    run(benchmark, (lambda: t[ours]) if way == "tensorwrapper" else (lambda: a[theirs]))


@pytest.mark.parametrize("way", ["tensorwrapper", "concatenate", "awkward"])
def test_a_hundred_thousand_arrays(benchmark, way):
    benchmark.group = "10^5 small arrays"
    arrays = [np.arange(k % 7, dtype=float) for k in range(10**5)]
    lengths = [len(x) for x in arrays]
    ways = {
        "tensorwrapper": partial(jagged, arrays),
        "concatenate": partial(np.concatenate, arrays),
        "awkward": lambda: ak.unflatten(np.concatenate(arrays), lengths),
    }
    run(benchmark, ways[way], rounds=10)


@pytest.mark.parametrize("way", ["tensorwrapper", "tensorwrapper, in band", "numpy"])
def test_pickle_of_40_megabytes(benchmark, way):
    benchmark.group = "pickle of 40 MB"
    counts = np.arange(10**6) % 9 + 1
    flat = np.ones(counts.sum())
    t = as_tensor(flat).unflatten(counts)

    def out_of_band(value):
        buffers = []
        return pickle.loads(pickle.dumps(value, 5, buffer_callback=buffers.append), buffers=buffers)

    ways = {
        "tensorwrapper": partial(out_of_band, t),
        "tensorwrapper, in band": lambda: pickle.loads(pickle.dumps(t, 5)),
        "numpy": partial(out_of_band, (flat, counts)),
    }
    run(benchmark, ways[way], rounds=20)


@pytest.fixture(scope="module")
def regions():
    """The samples above the threshold, how long each region is, and how many there are in each channel."""
    above = jagged(readout())
    mask = from_buffer(above.elements() > THRESHOLD, above.shape)
    runs = mask.run_lengths()
    firsts = np.repeat(mask[:, :, 0].elements(), runs.row_lengths(2).elements())
    lengths = runs[from_buffer((runs.local_index().elements() % 2 == 0) == firsts, runs.shape)]
    return above[mask].elements().copy(), lengths, np.array([800, 800, 960])


@pytest.mark.parametrize("step", ["structure", "charge"])
@PEERS
def test_regions_of_a_detector(benchmark, regions, way, step):
    benchmark.group = f"three levels of regions: {step}"
    samples, lengths, channels = regions
    flat, of_channel = lengths.elements(), lengths.row_lengths(2).elements()

    def ours():
        return as_tensor(samples).unflatten(flat).unflatten(of_channel).unflatten(channels)

    def theirs():
        return ak.unflatten(ak.unflatten(ak.unflatten(samples, flat), of_channel), channels)

    t, a = ours(), theirs()

    def our_charge():
        return t.rows().reduce(np.add).rows().reduce(np.add).rows().reduce(np.add)

    def their_charge():
        return ak.sum(ak.sum(ak.sum(a, axis=-1), axis=-1), axis=-1)

    assert our_charge().tolist() == their_charge().to_list()
    ways = {
        ("tensorwrapper", "structure"): ours,
        ("awkward", "structure"): theirs,
        ("tensorwrapper", "charge"): our_charge,
        ("awkward", "charge"): their_charge,
    }
    run(benchmark, ways[way, step], rounds=20)


def test_a_plan_of_a_million_cells(benchmark):
    benchmark.group = "alignment"
    sizes = np.arange(10**6) % 4
    shape = tw.Shape.from_cells((10**6,), np.stack([sizes, sizes], axis=1))
    run(benchmark, partial(tw.align, shape, shape, orders=[None, (0, 2, 1)]))
