"""Sparse tensors of ten million stored elements, beside the NumPy operations that the same work needs."""

import numpy as np
import pytest
import scipy.sparse

import tensorwrapper as tw
from tensorwrapper.buffer import Sparse

EXTENTS = (4000, 5000, 6000)
SIZE = 4000 * 5000 * 6000
RNG = np.random.default_rng(0)
ADDRESSES = np.unique(RNG.integers(0, SIZE, 10_000_000))
VALUES = RNG.random(len(ADDRESSES)) + 1
TENSOR = tw.from_buffer(Sparse(ADDRESSES, VALUES, SIZE), tw.Shape(*EXTENTS))
BATCH = np.unique(RNG.integers(0, SIZE, 1_000_000))
RANDOM = RNG.permutation(BATCH)
ROWS, COLUMNS = 4000, 30_000_000
MATRIX = TENSOR.merge_modes(1, 2)


def positions():
    rest, k = ADDRESSES // 6000, ADDRESSES % 6000
    return rest // 5000, rest % 5000, k


def permute_and_slice():
    return TENSOR.permute((2, 0, 1))[1000:5000].copy()


def permute_and_slice_in_numpy():
    i, j, k = positions()
    keep = (k >= 1000) & (k < 5000)
    places = ((k[keep] - 1000) * 4000 + i[keep]) * 5000 + j[keep]
    order = np.argsort(places)
    return places[order], VALUES[keep][order]


def cut():
    return TENSOR[1000:3000, 1000:4000, 5:].copy()


def cut_in_numpy():
    i, j, k = positions()
    keep = (i >= 1000) & (i < 3000) & (j >= 1000) & (j < 4000) & (k >= 5)
    return ((i[keep] - 1000) * 3000 + j[keep] - 1000) * 5995 + k[keep] - 5, VALUES[keep]


def clear_and_write():
    tensor = TENSOR.copy()
    tensor[1000:2000] = 0
    tensor.buffer.write(BATCH, np.ones(len(BATCH)))


def clear_and_write_in_numpy():
    first, end = np.searchsorted(ADDRESSES, [1000 * 30_000_000, 2000 * 30_000_000])
    kept = np.delete(ADDRESSES, np.s_[first:end]), np.delete(VALUES, np.s_[first:end])
    hit = np.isin(kept[0], BATCH, assume_unique=True)
    places = np.concatenate([kept[0][~hit], BATCH])
    order = np.argsort(places, kind="stable")
    return places[order], np.concatenate([kept[1][~hit], np.ones(len(BATCH))])[order]


def read_in_numpy():
    near = np.minimum(np.searchsorted(ADDRESSES, RANDOM), len(ADDRESSES) - 1)
    return np.where(ADDRESSES[near] == RANDOM, VALUES[near], 0)


def csr_in_numpy():
    return np.searchsorted(ADDRESSES, np.arange(ROWS + 1) * COLUMNS), ADDRESSES % COLUMNS, VALUES


def csr_in_scipy():
    return scipy.sparse.coo_array((VALUES, np.divmod(ADDRESSES, COLUMNS)), (ROWS, COLUMNS)).tocsr()


WORK = {
    "permute and slice": {"tensorwrapper": permute_and_slice, "numpy": permute_and_slice_in_numpy},
    "slice in three modes": {"tensorwrapper": cut, "numpy": cut_in_numpy},
    "clear a box, write 10^6": {"tensorwrapper": clear_and_write, "numpy": clear_and_write_in_numpy},
    "read 10^6 at random": {"tensorwrapper": lambda: TENSOR.buffer.read(RANDOM), "numpy": read_in_numpy},
    "compressed rows": {"tensorwrapper": MATRIX.csr, "numpy": csr_in_numpy, "scipy": csr_in_scipy},
}


@pytest.mark.parametrize(("work", "way"), [(work, way) for work in WORK for way in WORK[work]])
def test_ten_million_stored_elements(benchmark, work, way):
    benchmark.group = f"sparse: {work}"
    benchmark.pedantic(WORK[work][way], rounds=3, warmup_rounds=1)


def test_a_view_of_ten_million_stored_elements(benchmark):
    benchmark.group = "sparse: a view"
    benchmark(lambda: TENSOR.permute((2, 0, 1))[1000:5000])


def test_count_the_stored_elements_of_a_view(benchmark):
    benchmark.group = "sparse: a view"
    view = TENSOR.permute((2, 0, 1))[1000:5000]
    benchmark.pedantic(lambda: view.nnz, rounds=3)


def test_both_ways_agree():
    for work in ("permute and slice", "slice in three modes"):
        ours = WORK[work]["tensorwrapper"]()
        places, values = WORK[work]["numpy"]()
        assert np.array_equal(ours.buffer.addresses, places)
        assert np.array_equal(ours.values(), values)
