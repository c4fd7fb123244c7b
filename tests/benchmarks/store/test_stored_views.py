"""Stored views of 10 000 members: opened, with one row read, and read as a whole."""

import numpy as np
import pytest

import tensorwrapper as tw

N = 10_000


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    folder = tmp_path_factory.mktemp("views")
    tw.save(folder / "a.tens", {f"m{k}": np.full((4, 3), k, "f8") for k in range(N)})
    with tw.open(folder / "a.tens") as f:
        tw.save(folder / "v.tens", {"v": tw.concat([f[name] for name in f])}, keep_views=True)
    return folder / "v.tens"


def opened(path):
    with tw.open(path) as f:
        return f["v"]


def row(path):
    return opened(path)[17_777].tolist()


def test_10_000_members_opened(benchmark, path):
    assert benchmark(opened, path).shape.extents == (4 * N, 3)


def test_10_000_members_opened_and_one_row_read(benchmark, path):
    assert benchmark(row, path) == [4444.0] * 3


def test_10_000_members_read(benchmark, path):
    view = opened(path)
    found = benchmark.pedantic(lambda: np.asarray(view.compute()), rounds=3)
    assert np.array_equal(found[::4, 0], np.arange(N))


def test_10_000_members_saved(benchmark, path):
    with tw.open(path.parent / "a.tens") as f:
        view = tw.concat([f[name] for name in f])
    target = path.parent / "w.tens"
    benchmark.pedantic(lambda: tw.save(target, {"v": view}, keep_views=True), rounds=3)
    assert target.stat().st_size < 40 * N
