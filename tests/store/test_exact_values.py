"""Files of given bytes, and the values that their formats say: HDF5, Zarr, Arrow, safetensors, npy."""

import io
import json
import struct

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tests.support.store.hdf5_types import (
    BFLOAT,
    E4M3,
    E5M2,
    F32,
    T,
    biased,
    integers,
    opaque,
    record,
    words,
    written_bytes,
)

INF = float("inf")
BOOLS = {"FALSE": 0, "TRUE": 1}
HDF5 = {
    "bool of 4 bytes": (words(T.STD_I32LE, **BOOLS), "010000000000000001000000", "?", [True, False, True]),
    "bool of 2, big": (words(T.STD_I16BE, **BOOLS), "000100000001", "?", [True, False, True]),
    "bool, no sign": (words(T.STD_U8LE, **BOOLS), "010001", "?", [True, False, True]),
    "bool": (words(T.STD_I8LE, **BOOLS), "010001", "?", [True, False, True]),
    "other words": (words(T.STD_I16LE, RED=3, BLUE=-1), "0300ffff", "<i2", [3, -1]),
    "bfloat16": (BFLOAT, "403fa0c0807f", "<f4", [0.75, -5.0, INF]),
    "e5m2": (E5M2, "3cc07c", "<f2", [1.0, -2.0, INF]),
    "e4m3": (E4M3, "38c401", "<f2", [1.0, -3.0, 0.001953125]),
    "another bias": (biased(F32, 126), "0000803f000000c0", "<f8", [2.0, -4.0]),
    "12 bits": (integers(T.STD_I16LE, 12), "ff0f0108", "<i2", [-1, -2047]),
    "12 bits, others set": (integers(T.STD_I16LE, 12), "fff701f8", "<i2", [2047, -2047]),
    "12 bits from 4 on": (integers(T.STD_U16LE, 12, 4), "1000f0ff", "<u2", [1, 4095]),
    "24 of 32, big": (integers(T.STD_I32BE, 24), "00ffffff00000005", ">i4", [-1, 5]),
    "40 from 8 on": (integers(T.STD_U64LE, 40, 8), "0001000000000000", "<u8", [1]),
    "2 bytes, big": (T.STD_I16BE, "0102fffe", ">i2", [258, -2]),
    "half, big": (T.IEEE_F16BE, "3c00c000", ">f2", [1.0, -2.0]),
    "bit field": (T.STD_B32BE, "00000100", ">u4", [256]),
    "complex": (record(8, ("r", 0, F32), ("i", 4, F32)), "0000803f00000040", "<c8", [1 + 2j]),
    "with a gap": (record(12, ("r", 0, F32), ("i", 8, F32)), "0000803f0000000000000040", "<c8", [1 + 2j]),
    "i before r": (record(8, ("r", 4, F32), ("i", 0, F32)), "0000803f00000040", "<c8", [2 + 1j]),
    "time": (opaque(b"NUMPY:<M8[s]"), "0100000000000000", "<M8[s]", [np.datetime64(1, "s")]),
    "arrays": (
        T.array_create(T.STD_I16LE, (2, 3)),
        "010002000300040005000600",
        "<i2",
        [[[1, 2, 3], [4, 5, 6]]],
    ),
    "arrays of 12 bits": (T.array_create(integers(T.STD_I16LE, 12), (2,)), "ff0f0100", "<i2", [[-1, 1]]),
    "3 bytes": (integers(T.STD_I64LE, 24, 0, 3), "faffff090000", "<i4", [-6, 9]),
}


def raw_of(_name, _kind):
    return bytes.fromhex(HDF5[_name][1])


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize("is_fetched", [False, True])
def test_elements_of_hdf5_are_what_their_types_say(tmp_path, chunked, is_fetched):
    kinds = {name: own[0] for name, own in HDF5.items()}
    path = written_bytes(tmp_path / "x.h5", kinds, raw_of, chunked=chunked)
    f = tw.open(path.read_bytes() if is_fetched else path)
    assert f.losses == ()
    for name, (_, _, dtype, values) in HDF5.items():
        assert f[name].dtype == np.dtype(dtype), name
        assert f[name].tolist() == np.array(values, dtype).tolist(), name


def test_members_of_other_names_are_records(tmp_path):
    kind = record(8, ("real", 0, F32), ("imag", 4, F32))
    data = bytes.fromhex("0000803f00000040")
    f = tw.open(written_bytes(tmp_path / "x.h5", {"x": kind}, lambda *_: data))
    assert (f["x.real"].tolist(), f["x.imag"].tolist()) == ([1.0], [2.0])


def test_times_of_hdf5_are_told(tmp_path):
    f = tw.open(written_bytes(tmp_path / "x.h5", {"x": T.UNIX_D32LE, "y": T.STD_I8LE}, lambda *_: bytes(4)))
    assert (list(f), [(own.name, own.code) for own in f.losses]) == (["y"], [("x", "type")])


def test_a_committed_type_of_hdf5_is_neither_a_tensor_nor_a_loss(tmp_path):
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["kind"] = np.dtype("f8")
        file.create_dataset("x", data=[1.5], dtype=file["kind"])
    f = tw.open(tmp_path / "x.h5")
    assert (list(f), f.losses, f["x"].tolist()) == (["x"], (), [1.5])


def test_parts_of_columns_are_read_by_their_places(tmp_path):
    views = pa.ListViewArray.from_arrays(
        pa.array([3, 0, 1], pa.int32()), pa.array([2, 0, 2], pa.int32()), pa.array(range(5), pa.int32())
    )
    table = pa.table(
        {
            "views": views,
            "pair": [{"x": 1, "y": [1]}, {"x": None, "y": []}, {"x": 3, "y": [2, 3]}],
            "day": pa.array([86_400_000] * 3, pa.date64()),
        }
    )
    pa.feather.write_feather(table, tmp_path / "x.feather", "uncompressed")
    f = tw.open(tmp_path / "x.feather")
    assert f["views"].tolist() == [[3, 4], [], [1, 2]]
    assert (f["pair.y"].tolist(), f["pair.x"].tolist()) == ([[1], [], [2, 3]], [1, None, 3])
    assert f["day"].dtype == np.dtype("M8[ms]")
    assert np.asarray(f["day"])[0] == np.datetime64("1970-01-02", "ms")


@pytest.mark.parametrize(
    "odd",
    [
        pa.array([1], pa.time32("s")),
        pa.array([None], pa.decimal128(9, 2)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
        pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())),
        pa.array(["a"]).dictionary_encode(),
        pa.array([1], pa.timestamp("s", "UTC")),
    ],
    ids=lambda own: str(own.type),
)
def test_types_of_arrow_without_a_tensor_are_told(tmp_path, odd):
    pa.feather.write_feather(pa.table({"x": odd, "y": [1]}), tmp_path / "x.feather")
    f = tw.open(tmp_path / "x.feather")
    assert f["y"].tolist() == [1]
    assert [(own.name, own.code) for own in f.losses] == [("x", "type")]


@pytest.mark.parametrize("separator", [".", "/"])
def test_zarr_2_fills_what_was_not_written(tmp_path, separator):
    found = zarr.create_array(
        tmp_path / "x.zarr",
        shape=(3, 2),
        chunks=(1, 2),
        dtype=">i2",
        order="F",
        fill_value=9,
        zarr_format=2,
        chunk_key_encoding={"name": "v2", "separator": separator},
    )
    found[:2] = [[0, 1], [2, 3]]
    tensor = tw.open(tmp_path / "x.zarr")["array"]
    assert (tensor.dtype, tensor.tolist()) == (np.dtype(">i2"), [[0, 1], [2, 3], [9, 9]])


@pytest.mark.parametrize("value", [float("nan"), [0, -INF]])
def test_attributes_of_zarr_may_be_no_json(tmp_path, value):
    zarr.create_array(tmp_path / "x.zarr", data=np.array([1.0, 2.0]), attributes={"nodata": value})
    f = tw.open(tmp_path / "x.zarr")
    assert (f["array"].tolist(), f.losses) == ([1.0, 2.0], ())


def test_a_dimension_may_depend_on_two(tmp_path):
    group = zarr.create_group(tmp_path / "x.zarr")
    shape = [2, {"variable": [0]}, {"variable": [1]}, {"variable": [1, 2]}]
    group.attrs["ragged"] = {"shape": shape}
    for name, own in {
        "values": range(6),
        "sizes_1": [1, 2],
        "sizes_2": [2, 0, 1],
        "sizes_3": [1, 2, 3],
    }.items():
        group.create_array(name, data=np.array(own))
    f = tw.open(tmp_path / "x.zarr")
    assert (list(f), f.losses) == (["array"], ())
    assert f["array"].tolist() == [[[[0], [1, 2]]], [[], [[3, 4, 5]]]]


def test_arrays_of_numpy_are_read_by_their_headers():
    def saved(array):
        raw = io.BytesIO()
        np.save(raw, array)
        return tw.open(raw.getvalue())

    array = np.asfortranarray(np.arange(4, dtype=">c16").reshape(2, 2))
    assert saved(array)["array"].tolist() == [[0j, 1 + 0j], [2 + 0j, 3 + 0j]]
    assert saved(np.array([(1, 2.5)], [("a", "<i2"), ("b", ">f4")]))["array.b"].tolist() == [2.5]


def safetensors(**given):
    """Return a file of arrays: of each its type, extents and bytes."""
    place, head, data = 0, {}, b""
    for name, (dtype, shape, raw) in given.items():
        head[name] = {"dtype": dtype, "shape": shape, "data_offsets": [place, place + len(raw)]}
        place, data = place + len(raw), data + raw
    said = json.dumps(head).encode()
    return struct.pack("<Q", len(said)) + said + data


@pytest.mark.parametrize("is_fetched", [False, True])
def test_small_floats_of_safetensors(tmp_path, is_fetched):
    path = tmp_path / "x.safetensors"
    path.write_bytes(safetensors(b=("BF16", [2], bytes.fromhex("803f00c0")), e=("F8_E8M0", [2], b"\x7f\x80")))
    f = tw.open(path.read_bytes() if is_fetched else path)
    assert np.asarray(f["b"][:]).astype("f4").tolist() == [1.0, -2.0]
    assert np.asarray(f["e"][:]).astype("f4").tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["F4", "F6_E2M3"])
def test_floats_of_less_than_a_byte_are_told(dtype):
    f = tw.open(safetensors(x=(dtype, [4], bytes(2 if dtype == "F4" else 3)), y=("U8", [1], b"\x07")))
    assert f["y"].tolist() == [7]
    assert [(own.name, own.code) for own in f.losses] == [("x", "type")]


def _hdf5(path, chunks=None):
    with h5py.File(path, "w") as file:
        file.create_dataset("x", data=[True, False], chunks=chunks)


def _npz(path):
    np.savez(path, x=[True, False])


def _npy(path):
    np.save(path, [True, False])


BOOL_FILES = {
    "x.h5": _hdf5,
    "chunks.h5": lambda path: _hdf5(path, (2,)),
    "x.npz": _npz,
    "x.npy": _npy,
    "x.safetensors": lambda path: path.write_bytes(safetensors(x=("BOOL", [2], b"\1\0"))),
}


@pytest.mark.parametrize("is_fetched", [False, True])
@pytest.mark.parametrize("name", BOOL_FILES)
def test_a_bool_of_byte_2_is_refused(tmp_path, name, is_fetched):
    path = tmp_path / name
    BOOL_FILES[name](path)
    raw = path.read_bytes()
    with h5py.File(path) if name.endswith("h5") else io.BytesIO() as file:
        if name.endswith("h5"):
            own = file["x"].id
            place = own.get_offset() if file["x"].chunks is None else own.get_chunk_info(0).byte_offset
        else:
            place = raw.rindex(b"\1\0", 0, raw.find(b"PK\1\2") if name == "x.npz" else len(raw))
    path.write_bytes(raw[:place] + b"\2" + raw[place + 1 :])
    f = tw.open(path.read_bytes() if is_fetched else path)
    with pytest.raises(DataFileError, match="neither 0 nor 1"):
        f[next(iter(f))][:].tolist()
