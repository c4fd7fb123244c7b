"""Points of an array that is read in slices."""

import dask.array as da
import h5py
import numpy as np
import pytest
import tensorstore as ts
import xarray
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorwrapper import selection as sel

EXTENTS = (23, 17, 11)
VALUES = np.arange(23 * 17 * 11, dtype="i4").reshape(EXTENTS)


class Counting:
    """An array that knows slices, and counts the elements that it is asked for."""

    def __init__(self, values: np.ndarray, chunks: tuple[int, ...] | None = None) -> None:
        self.values = values
        self.shape = values.shape
        self.dtype = values.dtype
        self.chunks = chunks
        self.elements = 0
        self.keys: list[tuple[slice, ...]] = []

    def __getitem__(self, key: tuple[slice, ...]) -> np.ndarray:
        assert all(isinstance(own, slice) and (own.step is None or own.step > 0) for own in key)
        found = self.values[key]
        self.elements += found.size
        self.keys.append(key)
        return found


def hdf5(folder, chunks):
    file = h5py.File(folder / "a.h5", "w")
    return file.create_dataset("x", data=VALUES, chunks=chunks)


def zarr3(folder, chunks):
    array = zarr.create_array(folder / "a.zarr", shape=EXTENTS, chunks=chunks or EXTENTS, dtype="i4")
    array[...] = VALUES
    return array


def dask_array(_folder, chunks):
    return da.from_array(VALUES, chunks=chunks or -1)


def tensor_store(folder, chunks):
    spec = {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": str(folder / "b.zarr")},
        "metadata": {
            "shape": EXTENTS,
            "data_type": "int32",
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks or EXTENTS}},
        },
    }
    store = ts.open(spec, create=True).result()
    store[...] = VALUES
    return store


def data_array(_folder, _chunks):
    return xarray.DataArray(VALUES)


def slices_only(_folder, chunks):
    return Counting(VALUES, chunks)


MAKERS = [hdf5, zarr3, dask_array, tensor_store, data_array, slices_only]


@pytest.fixture(
    scope="module",
    params=[(make, chunks) for make in MAKERS for chunks in (None, (5, 4, 11))],
    ids=[f"{make.__name__}-{how}" for make in MAKERS for how in ("whole", "chunks")],
)
def array(request, tmp_path_factory):
    make, chunks = request.param
    return make(tmp_path_factory.mktemp("arrays"), chunks)


@given(st.lists(st.tuples(*[st.integers(0, n - 1) for n in EXTENTS]), min_size=2, max_size=40))
@settings(max_examples=10, deadline=None)
def test_points_of_any_array_are_what_numpy_selects(array, points):
    key = tuple(np.array(points).T)
    view = sel.as_view(array)
    assert view.vindex[key].compute().tolist() == VALUES[key].tolist()
    (group,) = view.route_many(points)
    assert group.read().tolist() == VALUES[key].tolist()


def test_points_within_a_chunk_are_one_read():
    array = Counting(VALUES, chunks=(10, 17, 11))
    rng = np.random.default_rng(1)
    key = tuple([rng.integers(0, n, 300) for n in EXTENTS])
    assert sel.as_view(array).vindex[key].compute().tolist() == VALUES[key].tolist()
    assert len(array.keys) == 3
