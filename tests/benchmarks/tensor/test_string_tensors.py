"""Tensors of a million strings of 0 to 39 bytes: views, copies, lists, assignments; peers: pyarrow, NumPy."""

import tracemalloc

import numpy as np
import pyarrow as pa
import pytest

import tensorwrapper as tw
from tensorwrapper.buffer import count_copies

N = 1_000_000
ITEMS = ["x" * n for n in np.random.default_rng(7).integers(0, 40, N).tolist()]
ARROW = pa.array(ITEMS, pa.large_string())
TENSOR = tw.strings(ARROW, shape=(1000, 1000))
NUMPY = np.array(ITEMS, dtype="T").reshape(1000, 1000)


def test_from_arrow_copies_nothing_and_takes_no_memory():
    tracemalloc.start()
    with count_copies() as count:
        tensor = tw.strings(ARROW, shape=(1000, 1000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert tensor.size == N
    assert count.nbytes == 0
    assert peak < ARROW.nbytes // 10


def test_from_arrow(benchmark):
    benchmark.group = "10^6 strings from Arrow, a tensor"

    assert benchmark(tw.strings, ARROW, shape=(1000, 1000)).size == N


@pytest.mark.parametrize("way", ["ours", "NumPy"])
def test_from_nested_lists(benchmark, way):
    rows = [ITEMS[k : k + 1000] for k in range(0, N, 1000)]
    benchmark.group = "10^6 strings from nested lists, a tensor"
    make = tw.strings if way == "ours" else lambda lists: np.array(lists, dtype="T")

    assert benchmark(make, rows).size == N


@pytest.mark.parametrize("way", ["ours", "NumPy"])
def test_transpose_and_copy(benchmark, way):
    benchmark.group = "10^6 strings, transposed and copied"
    copy = (lambda: TENSOR.permute((1, 0)).copy()) if way == "ours" else NUMPY.T.copy

    assert benchmark(copy).size == N


@pytest.mark.parametrize("way", ["ours", "pyarrow", "NumPy"])
def test_to_lists(benchmark, way):
    benchmark.group = "10^6 strings to lists, a tensor"
    read = {"ours": TENSOR.tolist, "pyarrow": ARROW.to_pylist, "NumPy": NUMPY.tolist}[way]

    assert len(benchmark(read)) in (1000, N)


@pytest.mark.parametrize("way", ["ours", "NumPy"])
def test_assign_half(benchmark, way):
    benchmark.group = "every other one of 10^6 strings assigned"
    target = TENSOR.copy() if way == "ours" else NUMPY.copy()
    value = TENSOR[1::2] if way == "ours" else NUMPY[1::2]

    def assign():
        target[::2] = value

    benchmark(assign)
    assert target[0].tolist() == value[0].tolist()


def test_assign_one(benchmark):
    benchmark.group = "one of 10^6 strings assigned"
    target = TENSOR.copy()

    benchmark(target.__setitem__, (5, 5), "new")
    assert target[5, 5].item() == "new"


@pytest.mark.parametrize("way", ["ours", "NumPy"])
def test_search(benchmark, way):
    benchmark.group = "a string that none of 10^6 is"
    look = (lambda: "y" * 20 in TENSOR) if way == "ours" else (lambda: bool((NUMPY == "y" * 20).any()))

    assert not benchmark(look)


def test_repr_of_ten_million(benchmark):
    strings = tw.buffer.StringData.from_offsets(np.arange(10**7 + 1), b"x" * 10**7, "utf8")
    tensor = tw.strings(strings, shape=(10, 1000, 1000))
    benchmark.group = "repr of 10^7 strings"

    assert "'x'" in benchmark(repr, tensor)


def test_lists_of_numbers_from_arrow(benchmark):
    array = pa.array(np.arange(10.0**6))
    rows = pa.LargeListArray.from_arrays(pa.array(np.arange(0, 10**6 + 1, 10)), array)
    benchmark.group = "10^5 lists of numbers from Arrow"

    assert benchmark(tw.as_tensor, rows).size == N
