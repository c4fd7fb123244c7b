"""Lazy views of files of other libraries, beside what these do themselves."""

import dask.array as da
import h5py
import numpy as np
import pytest
import zarr

import tensorwrapper as tw

N = 10_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    array = np.arange(N * 16, dtype="f8").reshape(N, 16)
    group = zarr.create_group(str(folder / "a.zarr"))
    group.create_array("x", data=array, chunks=(1, 16))
    with h5py.File(folder / "a.h5", "w") as f:
        f.create_dataset("x", data=array, chunks=(1, 16))
    return folder


def ours(path):
    view = tw.open(path)["x"]
    return view[10:-10:3, ::2].plan()


def dasks(path):
    return da.from_zarr(str(path / "x"))[10:-10:3, ::2].__dask_graph__()


@pytest.mark.parametrize("name", ["a.zarr", "a.h5"])
def test_a_lazy_view_of_10_000_chunks(benchmark, folder, name):
    benchmark.group = f"a lazy view of {N} chunks and its plan"
    benchmark.extra_info["library"] = "tensorwrapper"
    assert benchmark(ours, folder / name).bytes_read == 3327 * 8 * 8


def test_a_lazy_view_of_10_000_chunks_by_dask(benchmark, folder):
    benchmark.group = f"a lazy view of {N} chunks and its plan"
    assert len(benchmark(dasks, folder / "a.zarr"))


def test_10_000_chunks_of_a_rectilinear_grid(benchmark, folder):
    sizes = [1 + k % 3 for k in range(100)]
    total = sum(sizes)
    array = np.zeros((total, total))
    path = folder / "b.zarr"
    if not path.exists():
        tw.save(path, {"x": tw.as_tensor(array).tiled(tw.Tiling(sizes, sizes))})
    benchmark.group = f"a lazy view of {N} chunks and its plan"
    assert benchmark(ours, path).bytes_read
