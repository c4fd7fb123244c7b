"""One file of each kind and convention that opens: made by its owner, with the right values."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse
import zarr

import tensorwrapper as tw
from tests.support.store.groups import write_groups

__all__ = ["CASES", "Case"]

BOX = np.arange(60_000, dtype="f8").reshape(300, 200)
ROWS = [[1.5], [], [2.5, 3.5]]
SPARSE = scipy.sparse.csr_array(np.array([[0.0, 0.0, 5.0], [6.0, 0.0, 0.0], [0.0, 7.0, 0.0]]))


@dataclass(frozen=True)
class Case:
    """A kind of file, a convention in it, how it is written, and what it has."""

    kind: str
    convention: str
    write: Callable[[Path], Path]
    name: str
    values: Any
    written: bool
    """Whether `tw.save` writes such a tensor to that kind of file."""
    options: dict[str, Any]


def _arrays(end: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / f"a{end}"
        tw.save(path, {"x": BOX}) if end != ".npy" else np.save(path, BOX)
        return path

    return write


def _written(name: str, write: Callable[[Path], object]) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        write(folder / name)
        return folder / name

    return make


def _hdf5(fill: Callable[[h5py.File], object]) -> Callable[[Path], Path]:
    def write(path: Path) -> None:
        with h5py.File(path, "w") as file:
            fill(file)

    return _written("a.h5", write)


def _vlen(file: h5py.File) -> None:
    data = file.create_dataset("x", (3,), h5py.vlen_dtype("f8"))
    for k, row in enumerate(ROWS):
        data[k] = row


def _groups(kind: str, groups: dict[str, Any]) -> Callable[[Path], Path]:
    return lambda folder: write_groups(folder, kind, groups)


def _contiguous(file: h5py.File) -> None:
    file["sample"] = np.zeros(3)
    file["sample"].make_scale("sample")
    file["counts"] = np.array([1, 0, 2], "i4")
    file["counts"].attrs["sample_dimension"] = "sample"
    file["z"] = np.array([1.5, 2.5, 3.5])
    file["z"].dims[0].attach_scale(file["sample"])


def _zipped(path: Path) -> None:
    store = zarr.storage.ZipStore(path, mode="w")
    zarr.create_group(store=store).create_array("x", data=BOX, chunks=(100, 200), compressors=None)
    store.close()


def _manifest(path: Path) -> None:
    (path.parent / "numbers.bin").write_bytes(np.arange(4, dtype="<i4").tobytes())
    said = {
        "zarr_format": 2,
        "shape": [4],
        "chunks": [2],
        "dtype": "<i4",
        "order": "C",
        "fill_value": 0,
        "filters": None,
        "compressor": None,
    }
    refs = {".zgroup": {"zarr_format": 2}, "x/.zarray": said}
    refs |= {f"x/{k}": ["numbers.bin", 8 * k, 8] for k in range(2)}
    path.write_text(json.dumps({"version": 1, "refs": refs}))


def _variable(path: Path) -> None:
    data = pa.array([[1, 2, 3, 4, 5, 6], [7]], pa.list_(pa.int64()))
    shape = pa.array([[3, 2], [1, 1]], pa.list_(pa.int32(), 2))
    struct = pa.StructArray.from_arrays([data, shape], ["data", "shape"])
    said = {"ARROW:extension:name": "arrow.variable_shape_tensor", "ARROW:extension:metadata": "{}"}
    field = pa.field("x", struct.type, metadata=said)
    pyarrow.feather.write_feather(pa.Table.from_arrays([struct], schema=pa.schema([field])), path)


def _frames(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, own in [("tensorset_0_metadata.json", b"{}"), ("tensor_0_0_metadata.json", b"{}")]:
            archive.writestr(name, own)
        raw = io.BytesIO()
        np.save(raw, BOX)
        archive.writestr("tensor_0_0_array.npy", raw.getvalue())


CSR = {
    "X": (
        {"encoding-type": "csr_matrix", "encoding-version": "0.1.0", "shape": [3, 3]},
        {"data": SPARSE.data, "indices": SPARSE.indices, "indptr": SPARSE.indptr},
    )
}
FORM = {
    "class": "ListOffsetArray",
    "offsets": "i64",
    "content": {"class": "NumpyArray", "primitive": "float64", "inner_shape": [], "form_key": "node1"},
    "form_key": "node0",
}
AWKWARD = {
    "x": (
        {"encoding-type": "awkward-array", "form": json.dumps(FORM), "length": 3},
        {"node0-offsets": np.array([0, 1, 1, 3]), "node1-data": np.array([1.5, 2.5, 3.5])},
    )
}
FIXED = pa.FixedShapeTensorArray.from_numpy_ndarray(np.arange(8).reshape(2, 2, 2))
LISTS = pa.table({"x": pa.array(ROWS)})
NULLS = pa.table({"x": pa.array([1, None])})

CASES = [
    Case(".tens", "", _arrays(".tens"), "x", BOX.tolist(), True, {}),
    Case("npy", "", _arrays(".npy"), "array", BOX.tolist(), True, {}),
    Case("npz", "", _arrays(".npz"), "x", BOX.tolist(), True, {}),
    Case(
        "npz",
        "sparse matrix of SciPy",
        _written("a.npz", lambda path: scipy.sparse.save_npz(path, SPARSE)),
        "array",
        SPARSE.toarray().tolist(),
        False,
        {},
    ),
    Case("safetensors", "", _arrays(".safetensors"), "x", BOX.tolist(), True, {}),
    Case(
        "HDF5",
        "in one piece",
        _hdf5(lambda file: file.create_dataset("x", data=BOX)),
        "x",
        BOX.tolist(),
        True,
        {},
    ),
    Case(
        "HDF5",
        "in chunks",
        _hdf5(lambda file: file.create_dataset("x", data=BOX, chunks=(100, 200))),
        "x",
        BOX.tolist(),
        True,
        {},
    ),
    Case("HDF5", "sequences (`vlen`)", _hdf5(_vlen), "x", ROWS, True, {}),
    Case(
        "HDF5",
        "AnnData's csr and csc matrices",
        _groups("h5", CSR),
        "X",
        SPARSE.toarray().tolist(),
        False,
        {},
    ),
    Case("HDF5", "form and buffers of Awkward Array", _groups("h5", AWKWARD), "x", ROWS, True, {}),
    Case("HDF5", "contiguous ragged arrays of CF", _hdf5(_contiguous), "z", ROWS, True, {}),
    Case("Zarr", "version 3", _groups("zarr3", {"": ({}, {"x": BOX})}), "x", BOX.tolist(), True, {}),
    Case("Zarr", "version 2", _groups("zarr2", {"": ({}, {"x": BOX})}), "x", BOX.tolist(), True, {}),
    Case("Zarr", "in a zip archive", _written("a.zip", _zipped), "x", BOX.tolist(), True, {}),
    Case(
        "Zarr",
        "AnnData's csr and csc matrices",
        _groups("zarr3", CSR),
        "X",
        SPARSE.toarray().tolist(),
        False,
        {},
    ),
    Case("Zarr", "form and buffers of Awkward Array", _groups("zarr2", AWKWARD), "x", ROWS, True, {}),
    Case(
        "kerchunk",
        "version 1, with `follow=`",
        _written("a.json", _manifest),
        "x",
        [0, 1, 2, 3],
        False,
        {"follow": True},
    ),
    Case(
        "Parquet",
        "numbers",
        _written(
            "a.parquet",
            lambda path: pyarrow.parquet.write_table(
                pa.table({"x": BOX.reshape(-1)}), path, row_group_size=10_000
            ),
        ),
        "x",
        BOX.reshape(-1).tolist(),
        True,
        {},
    ),
    Case(
        "Parquet",
        "lists",
        _written("a.parquet", lambda path: pyarrow.parquet.write_table(LISTS, path)),
        "x",
        ROWS,
        True,
        {},
    ),
    Case(
        "Parquet",
        "nulls",
        _written("a.parquet", lambda path: pyarrow.parquet.write_table(NULLS, path)),
        "x",
        [1, None],
        True,
        {},
    ),
    Case(
        "Feather, Arrow",
        "lists",
        _written("a.feather", lambda path: pyarrow.feather.write_feather(LISTS, path, "uncompressed")),
        "x",
        ROWS,
        True,
        {},
    ),
    Case(
        "Feather, Arrow",
        "fixed_shape_tensor",
        _written(
            "a.feather",
            lambda path: pyarrow.feather.write_feather(pa.table({"x": FIXED}), path, "uncompressed"),
        ),
        "x",
        np.arange(8).reshape(2, 2, 2).tolist(),
        True,
        {},
    ),
    Case(
        "Feather, Arrow",
        "variable_shape_tensor",
        _written("a.feather", _variable),
        "x",
        [[[1, 2], [3, 4], [5, 6]], [[7]]],
        False,
        {},
    ),
    Case(
        "zip, tar",
        "Wire-Cell's tensor sets",
        _written("a.zip", _frames),
        "tensor_0_0",
        BOX.tolist(),
        True,
        {},
    ),
]
