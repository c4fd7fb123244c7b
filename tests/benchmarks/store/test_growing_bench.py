"""Tensors that grow by many small extensions, beside an HDF5 dataset that is resized for each."""

import os

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.store import compact

N = int(os.environ.get("TENSORWRAPPER_BENCH_EXTENSIONS", "100000"))
ROWS = np.arange(8.0).reshape(2, 4)
HITS = tw.jagged([[1, 2, 3], [4]])


def extend(path, n, rows=ROWS):
    with tw.open(path, "a") as f:
        for _ in range(n):
            f.extend("x", rows)


def resize(path, n):
    with h5py.File(path, "w") as f:
        x = f.create_dataset("x", (0, 4), "f8", maxshape=(None, 4), chunks=(1024, 4))
        for _ in range(n):
            x.resize(len(x) + 2, axis=0)
            x[-2:] = ROWS


@pytest.mark.parametrize("kind", ["tens", "tens, jagged", "h5py"])
def test_extend_many_times(benchmark, tmp_path, kind):
    work = {"tens": extend, "tens, jagged": lambda path, n: extend(path, n, HITS), "h5py": resize}[kind]
    benchmark.group = f"{N} extensions"
    rounds = iter(range(100))
    benchmark.pedantic(lambda: work(tmp_path / f"{next(rounds)}", N), rounds=1)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    path = tmp_path_factory.mktemp("grown") / "x.tens"
    extend(path, N)
    return path


@pytest.fixture(scope="module")
def grown_rows(tmp_path_factory):
    path = tmp_path_factory.mktemp("grown") / "rows.tens"
    extend(path, N, HITS)
    return path


def test_a_slice_of_rows_that_grew(benchmark, grown_rows):
    benchmark.group = f"open, and read 2 rows of {N} extensions of rows"

    def read():
        with tw.open(grown_rows) as f:
            return f["x"][N : N + 2].tolist()

    assert benchmark.pedantic(read, rounds=3) == [[1, 2, 3], [4]]


@pytest.mark.parametrize("kind", ["tens", "h5py"])
def test_a_slice_of_what_grew(benchmark, grown, kind):
    benchmark.group = f"open, and read 4 rows of {N} extensions"
    if kind == "h5py":
        path = grown.with_name("x.h5")
        resize(path, N)

        def read():
            with h5py.File(path) as f:
                return f["x"][N : N + 4]
    else:

        def read():
            with tw.open(grown) as f:
                return np.asarray(f["x"][N : N + 4])

    assert np.array_equal(benchmark.pedantic(read, rounds=3), np.concatenate([ROWS, ROWS]))


@pytest.mark.parametrize("kind", ["box", "rows"])
def test_all_of_what_grew(benchmark, grown, grown_rows, kind):
    benchmark.group = f"all rows of {N} extensions"

    def read():
        with tw.open(grown if kind == "box" else grown_rows) as f:
            return f["x"].compute().size

    assert benchmark.pedantic(read, rounds=1) == (8 if kind == "box" else 4) * N


@pytest.mark.parametrize("kind", ["box", "rows"])
def test_compact_and_read(benchmark, grown, grown_rows, kind):
    benchmark.group = f"compact {N} extensions"
    assert benchmark.pedantic(lambda: compact(grown if kind == "box" else grown_rows), rounds=1).kept == 1
