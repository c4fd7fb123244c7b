"""What is read of a file that another program changes after it was opened: the table of the guide."""

import os
import pickle
import shutil

import h5py
import numpy as np
import pyarrow as pa
import pytest
import safetensors.numpy as st
import zarr
from pyarrow import feather, parquet

import tensorwrapper as tw
from tensorwrapper import selection as sel
from tensorwrapper.errors import DataFileError, TensorWrapperError, VersionChangedError

OLD = np.arange(64.0).reshape(16, 4)
NEW = OLD + 1000


def write_hdf5(path, array, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=array, **options)


def write_zarr(path, array, version):
    shutil.rmtree(path, ignore_errors=True)
    group = zarr.open_group(path, mode="w", zarr_format=version)
    group.create_array("x", shape=array.shape, chunks=(4, 4), dtype=array.dtype)[...] = array


def column(array):
    return pa.table({"x": array[:, 0]})


# The name of a file, what writes it, and whether an open one is the file itself, or what is at its path.
FORMATS = {
    "tens": ("a.tens", lambda path, array: tw.save(path, {"x": array}), "file"),
    "npy": ("a.npy", np.save, "file"),
    "npz": ("a.npz", lambda path, array: np.savez(path, x=array), "file"),
    "npz, compressed": ("a.npz", lambda path, array: np.savez_compressed(path, x=array), "file"),
    "safetensors": ("a.safetensors", lambda path, array: st.save_file({"x": array}, path), "file"),
    "HDF5": ("a.h5", write_hdf5, "file"),
    "HDF5 in chunks": ("a.h5", lambda path, array: write_hdf5(path, array, chunks=(4, 4)), "chunks"),
    "feather": (
        "a.feather",
        lambda path, array: feather.write_feather(column(array), path, compression="uncompressed"),
        "file",
    ),
    "feather, compressed": (
        "a.feather",
        lambda path, array: feather.write_feather(column(array), path, compression="zstd"),
        "file",
    ),
    "parquet": (
        "a.parquet",
        lambda path, array: parquet.write_table(column(array), path, row_group_size=4),
        "path",
    ),
    "zarr 2": ("a.zarr", lambda path, array: write_zarr(path, array, 2), "path"),
    "zarr 3": ("a.zarr", lambda path, array: write_zarr(path, array, 3), "path"),
}


def replaced(path, write):
    other = path.with_name("other" + path.name)
    write(other, NEW)
    if path.is_dir():
        shutil.rmtree(path)
    else:
        # As a copy may have: the size and the time alone do not tell them apart.
        os.utime(other, ns=(other.stat().st_atime_ns, path.stat().st_mtime_ns + 10**9))
    other.replace(path)


def moved(path, write):
    path.rename(path.with_name("old" + path.name))
    write(path, NEW)


def left(path, write):
    """Enter another folder, where another file has the relative path."""
    other = path.parent / "other"
    other.mkdir()
    write(other / path.name, NEW)
    os.chdir(other)


def removed(path, write):
    del write
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink()


def kept(found):
    """Return a function that gives what was found, as it is."""
    return lambda: found


def pickled(found):
    """Return a function that reads what was found from its pickle."""
    raw = pickle.dumps(found)
    return lambda: pickle.loads(raw)


HOLDERS = {
    "a tensor": kept,
    "a slice": lambda found: kept(sel.as_view(found)[2:14]),
    "a join": lambda found: kept(sel.concat([found, found])[2:14]),
    "a Dask array": lambda found: sel.as_view(found)[2:14].to_dask,
    "a pickle": pickled,
    "a pickled slice": lambda found: pickled(sel.as_view(found)[2:14]),
}


def elements(found):
    return np.asarray(found.compute() if hasattr(found, "compute") else found)


@pytest.mark.parametrize("seen", [False, True], ids=["not read before", "read before"])
@pytest.mark.parametrize("change", [replaced, moved, removed, left])
@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_changed_file_gives_its_elements_or_an_error(tmp_path, monkeypatch, kind, holder, change, seen):
    monkeypatch.chdir(tmp_path)
    name, write, reads = FORMATS[kind]
    path = tmp_path / name
    write(path, OLD)
    with tw.open(name) as file:
        found = file[next(iter(file))]
        held, wanted = HOLDERS[holder](found), elements(HOLDERS[holder](found)())
        if not seen:
            held = HOLDERS[holder](file[next(iter(file))])
        change(path, write)
        if change is left or reads == "file" or (reads == "chunks" and "pickle" not in holder):
            assert elements(held()).tolist() == wanted.tolist()
            return
        with pytest.raises((VersionChangedError, DataFileError)) as refused:
            elements(held())
        assert refused.type is VersionChangedError or change is removed


@pytest.mark.parametrize("change", [replaced, moved, removed, left])
@pytest.mark.parametrize("kind", FORMATS)
def test_a_server_gives_the_elements_of_its_file_or_an_error(tmp_path, monkeypatch, kind, change):
    monkeypatch.chdir(tmp_path)
    name, write, reads = FORMATS[kind]
    write(tmp_path / name, OLD)
    with tw.open(name) as file:
        found = file[next(iter(file))]
        wanted = elements(found).tolist()
        with tw.serve({"x": found}) as server, tw.connect(server.address) as client:
            remote = client["x"]
            change(tmp_path / name, write)
            if change is left or reads != "path":
                assert elements(remote[1:]).tolist() == wanted[1:]
                return
            with pytest.raises(TensorWrapperError):
                elements(remote[1:])
