"""Jagged shapes, small and of millions of rows; peers: NumPy by hand, and Awkward Array where installed."""

import operator
import pickle
from functools import partial

import numpy as np
import pytest

from tensorwrapper import Shape

try:
    import awkward as ak
except ModuleNotFoundError:
    ak = None

SIZES = pytest.mark.parametrize("n", [10**6, 10**7])
SMALL = Shape.jagged([3, 1, 2])
SAME = Shape.jagged([3, 1, 2])
WRITTEN = pickle.dumps(SMALL, 5)

# Functions with their arguments, not closures: a call more would weigh as much as what is measured.
SMALL_CASES = {
    "build": {"tensorwrapper": partial(Shape.jagged, [3, 1, 2])},
    "row": {"tensorwrapper": partial(operator.getitem, SMALL, 2)},
    "index of an ordinal": {"tensorwrapper": partial(SMALL.index, 4)},
    "extent of a row": {"tensorwrapper": partial(SMALL.extent_at, (2,))},
    "equality": {"tensorwrapper": partial(operator.eq, SMALL, SAME)},
    "pickle": {"tensorwrapper": partial(pickle.dumps, SMALL, 5)},
    "unpickle": {"tensorwrapper": partial(pickle.loads, WRITTEN)},
}
if ak is not None:
    # Awkward has no shape without data: its smallest array stands for it.
    ROWS = ak.Array([[1, 2, 3], [4], [5, 6]])
    SMALL_CASES["build"]["awkward"] = partial(ak.unflatten, np.arange(6), [3, 1, 2])
    SMALL_CASES["row"]["awkward"] = partial(operator.getitem, ROWS, 2)
    SMALL_CASES["equality"]["awkward"] = partial(ak.array_equal, ROWS, ak.copy(ROWS))
    SMALL_CASES["pickle"]["awkward"] = partial(pickle.dumps, ROWS, 5)
    SMALL_CASES["unpickle"]["awkward"] = partial(pickle.loads, pickle.dumps(ROWS, 5))


@pytest.mark.parametrize(("group", "name"), [(g, n) for g in SMALL_CASES for n in SMALL_CASES[g]])
def test_small_jagged_shape(benchmark, group, name):
    benchmark.group = f"small jagged shape: {group}"
    ours = name == "tensorwrapper"
    benchmark.pedantic(
        SMALL_CASES[group][name],
        rounds=200 if ours else 50,
        iterations=1000 if ours else 10,
        warmup_rounds=5,
    )


def counts_of(n):
    return np.arange(n) % 7


def offsets_of(n):
    return np.concatenate([[0], np.cumsum(counts_of(n))])


@pytest.fixture(scope="module")
def many():
    """Shapes of a number of rows, made once."""
    made = {}

    def shape(n):
        if n not in made:
            made[n] = Shape.jagged(counts_of(n))
        return made[n]

    return shape


def run(benchmark, function, rounds=10, iterations=1):
    return benchmark.pedantic(function, rounds=rounds, iterations=iterations, warmup_rounds=1)


@SIZES
@pytest.mark.parametrize("way", ["tensorwrapper", "cumsum", "awkward"])
def test_from_counts(benchmark, way, n):
    benchmark.group = f"from {n:.0e} counts"
    counts = counts_of(n)
    ways = {"tensorwrapper": partial(Shape.jagged, counts), "cumsum": partial(np.cumsum, counts)}
    if way == "awkward":
        pytest.importorskip("awkward")
        ways[way] = partial(ak.unflatten, np.zeros(counts.sum(), dtype=np.int8), counts)
    run(benchmark, ways[way])


@SIZES
@pytest.mark.parametrize("way", ["as they are", "checked", "checked and copied", "awkward"])
def test_from_offsets(benchmark, way, n):
    benchmark.group = f"from {n:.0e} offsets"
    offsets = offsets_of(n)
    ways = {
        "as they are": partial(Shape.from_offsets, offsets, validate=False, copy=False),
        "checked": partial(Shape.from_offsets, offsets, copy=False),
        "checked and copied": partial(Shape.from_offsets, offsets),
    }
    if way == "awkward":
        pytest.importorskip("awkward")
        content = ak.contents.NumpyArray(np.zeros(offsets[-1], dtype=np.int8))
        index = ak.index.Index64(offsets)
        ways[way] = lambda: ak.Array(ak.contents.ListOffsetArray(index, content))
    cheap = way in {"as they are", "awkward"}
    run(benchmark, ways[way], rounds=50 if cheap else 10, iterations=20 if cheap else 1)


@SIZES
@pytest.mark.parametrize("way", ["row ids", "bincount and cumsum", "starts and stops"])
def test_from_other_encodings(benchmark, way, n):
    benchmark.group = f"other encodings, {n:.0e}"
    ids, offsets = np.repeat(np.arange(n // 5), 5), offsets_of(n)
    ways = {
        "row ids": lambda: Shape.from_row_ids(ids, n // 5 + 1),
        "bincount and cumsum": lambda: np.cumsum(np.bincount(ids, minlength=n // 5 + 1)),
        "starts and stops": lambda: Shape.from_starts_stops(offsets[:-1], offsets[1:]),
    }
    run(benchmark, ways[way])


@SIZES
@pytest.mark.parametrize("way", ["tensorwrapper", "diff", "awkward"])
def test_lengths(benchmark, many, way, n):
    benchmark.group = f"lengths of {n:.0e} rows"
    shape, offsets = many(n), offsets_of(n)
    ways = {"tensorwrapper": partial(shape.lengths, 1), "diff": partial(np.diff, offsets)}
    if way == "awkward":
        pytest.importorskip("awkward")
        rows = ak.unflatten(np.zeros(offsets[-1], dtype=np.int8), counts_of(n))
        ways[way] = partial(ak.num, rows)
    run(benchmark, ways[way])


@SIZES
@pytest.mark.parametrize("way", ["tensorwrapper", "awkward"])
def test_outer_slice(benchmark, many, way, n):
    benchmark.group = f"outer slice of {n:.0e} rows"
    key = slice(1000, n - 1000)
    ways = {"tensorwrapper": partial(operator.getitem, many(n), key)}
    if way == "awkward":
        pytest.importorskip("awkward")
        counts = counts_of(n)
        ways[way] = partial(operator.getitem, ak.unflatten(np.zeros(counts.sum(), np.int8), counts), key)
    run(benchmark, ways[way], rounds=50, iterations=20)


@SIZES
@pytest.mark.parametrize("way", ["tensorwrapper", "array_equal"])
def test_equality(benchmark, many, way, n):
    benchmark.group = f"equality of two shapes of {n:.0e} rows"
    shape, other, offsets = many(n), Shape.jagged(counts_of(n)), offsets_of(n)
    ways = {
        "tensorwrapper": partial(operator.eq, shape, other),
        "array_equal": partial(np.array_equal, offsets, offsets.copy()),
    }
    assert run(benchmark, ways[way])


@pytest.mark.parametrize("n", [10**4, 10**7])
@pytest.mark.parametrize("question", [operator.eq, Shape.is_congruent])
def test_refusal_of_another_number_of_rows(benchmark, many, question, n):
    benchmark.group = "refusal"
    assert not run(
        benchmark, partial(question, many(n), many(n)[1:].translate_to((0, 0))), rounds=50, iterations=1000
    )


@pytest.mark.parametrize("way", ["tensorwrapper", "by hand"])
@pytest.mark.parametrize("question", ["contains", "ordinals", "indices_at"])
def test_a_million_lookups(benchmark, many, question, way):
    benchmark.group = f"10^6 random lookups in 10^6 rows: {question}"
    n = 10**6
    shape, splits = many(n), offsets_of(n)
    ordinals = np.random.default_rng(0).integers(0, shape.size, 10**6)
    indices = shape.indices_at(ordinals)

    def contains():
        rows, places = indices[:, 0], indices[:, 1]
        inside = (rows >= 0) & (rows < n)
        rows = np.where(inside, rows, 0)
        return inside & (places >= 0) & (places < splits[rows + 1] - splits[rows])

    def ordinals_():
        if not contains().all():
            raise IndexError
        return splits[indices[:, 0]] + indices[:, 1]

    def indices_at():
        rows = np.searchsorted(splits, ordinals, side="right") - 1
        return np.stack([rows, ordinals - splits[rows]], axis=1)

    by_hand = {"contains": contains, "ordinals": ordinals_, "indices_at": indices_at}[question]
    ours = partial(getattr(shape, question), ordinals if question == "indices_at" else indices)
    assert np.array_equal(ours(), by_hand())
    run(benchmark, ours if way == "tensorwrapper" else by_hand, rounds=5)


def test_a_million_equal_children(benchmark):
    benchmark.group = "10^6 children"
    children = [Shape(2, 3)] * 10**6
    run(benchmark, partial(Shape.jagged, children), rounds=5)


def test_a_million_different_children(benchmark):
    benchmark.group = "10^6 children"
    children = [Shape(k % 5, 3) for k in range(10**6)]
    run(benchmark, partial(Shape.jagged, children), rounds=5)
