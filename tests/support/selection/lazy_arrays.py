"""Lazy arrays of other libraries, and one that counts what is asked of it."""

import dask.array as da
import h5py
import numpy as np
import tensorstore as ts
import xarray
import zarr

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
