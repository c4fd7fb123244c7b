"""Laws of all files of strangers: raw bytes are the library's elements, and one part never hides another."""

import io
import json
import tarfile

import h5py
import ml_dtypes
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import safetensors.numpy
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tests.support.store.hdf5_types import E4M3, T, words, written_bytes

ORDERS = st.sampled_from(["<", ">"])
KINDS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16"]
TIMES = ["M8[s]", "M8[ns]", "m8[us]"]
NUMBERS = nps.boolean_dtypes() | st.builds(
    lambda kind, order: np.dtype(f"{order}{kind}"), st.sampled_from(KINDS + TIMES), ORDERS
)


@st.composite
def arrays(draw):
    """Arrays of any numbers, of any bytes, in both orders of modes."""
    dtype = draw(NUMBERS)
    shape = draw(nps.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
    raw = draw(st.binary(min_size=8, max_size=8))
    count = int(np.prod(shape)) * dtype.itemsize
    data = np.frombuffer((raw * (count // 8 + 1))[:count], np.uint8)
    found = (data & 1 if dtype.kind == "b" else data).copy().view(dtype).reshape(shape)
    return np.asfortranarray(found) if draw(st.booleans()) else found


def save_tar(path, array):
    out = io.BytesIO()
    np.save(out, array)
    with tarfile.open(path, "w") as archive:
        for name, data in (("tensorset_0_metadata.json", b"{}"), ("tensor_0_0_array.npy", out.getvalue())):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


WAYS = {
    "npy": ("array", np.save, np.load),
    "npz": ("x", lambda p, a: np.savez(p, x=a), lambda p: np.load(p)["x"]),
    "deflated.npz": ("x", lambda p, a: np.savez_compressed(p, x=a), lambda p: np.load(p)["x"]),
    "tar": ("tensor_0_0", save_tar, None),
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=25)
@given(array=arrays())
def test_arrays_of_numpy_are_what_numpy_reads(tmp_path_factory, way, array):
    name, write, read = WAYS[way]
    path = tmp_path_factory.mktemp("way") / f"a.{way}"
    write(path, array)
    want = array if read is None else read(path)
    found = np.asarray(tw.open(path)[name])
    assert (found.dtype, found.shape, found.tobytes()) == (want.dtype, want.shape, want.tobytes())


@pytest.mark.parametrize("regular", [True, False])
@settings(max_examples=25)
@given(array=arrays().filter(lambda own: own.ndim and own.size and own.dtype.kind not in "mM"))
def test_chunks_of_zarr_are_what_zarr_reads(tmp_path_factory, regular, array):
    path = tmp_path_factory.mktemp("chunks") / "a.zarr"
    chunks = tuple(max(n - 1, 1) for n in array.shape)
    array = array.astype(array.dtype.newbyteorder("<"))
    made = zarr.create_array(str(path), data=array, chunks=chunks)
    if not regular:
        node = json.loads((path / "zarr.json").read_text())
        grid = [[c] * (n // c) + [n % c] * bool(n % c) for c, n in zip(chunks, array.shape, strict=True)]
        node["chunk_grid"] = {
            "name": "rectilinear",
            "configuration": {"kind": "inline", "chunk_shapes": grid},
        }
        want = made[...]
        # The last chunk of a regular grid is a whole one: here only grids that fit are the same files.
        if any(n % c for c, n in zip(chunks, array.shape, strict=True)):
            return
        (path / "zarr.json").write_text(json.dumps(node))
    else:
        want = made[...]
    found = np.asarray(tw.open(path)["array"])
    assert (found.dtype, found.tobytes()) == (np.asarray(want).dtype, np.asarray(want).tobytes())


SAFE = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "bfloat16"]


@pytest.mark.parametrize("name", SAFE)
def test_safetensors_are_what_safetensors_reads(tmp_path, name):
    dtype = np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)
    raw = np.arange(12 * dtype.itemsize, dtype=np.uint8) % (2 if name == "?" else 251)
    array = raw.view(dtype).reshape(3, 4)
    safetensors.numpy.save_file({"x": array, "e": array[:0]}, tmp_path / "a.safetensors")
    want = safetensors.numpy.load_file(tmp_path / "a.safetensors")
    f = tw.open(tmp_path / "a.safetensors")
    for key, own in want.items():
        found = np.asarray(f[key])
        assert (found.dtype, found.shape, found.tobytes()) == (own.dtype, own.shape, own.tobytes())


@pytest.mark.parametrize(
    ("name", "dtype"),
    [
        ("F8_E8M0", "float8_e8m0fnu"),
        ("F8_E4M3FNUZ", "float8_e4m3fnuz"),
        ("F8_E5M2FNUZ", "float8_e5m2fnuz"),
        ("F8_E4M3", "float8_e4m3fn"),
        ("F8_E5M2", "float8_e5m2"),
    ],
)
def test_floats_of_eight_bits_are_named_both_ways(tmp_path, name, dtype):
    array = np.arange(256, dtype=np.uint8).view(getattr(ml_dtypes, dtype))
    tw.save(tmp_path / "a.safetensors", {"x": array})
    raw = (tmp_path / "a.safetensors").read_bytes()
    assert f'"dtype":"{name}"'.encode() in raw
    found = np.asarray(tw.open(tmp_path / "a.safetensors")["x"])
    assert (found.dtype, found.tobytes()) == (array.dtype, array.tobytes())


TYPES = [pa.bool_(), pa.int8(), pa.uint16(), pa.int64(), pa.float16(), pa.float32(), pa.float64()]
TYPES += [pa.timestamp("s"), pa.timestamp("ns"), pa.duration("us"), pa.date32(), pa.date64()]


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("codec", [None, "zstd"])
def test_columns_are_what_arrow_reads(tmp_path, kind, codec):
    numbers = pa.array([0, 1, 0, 1, 1, 0, 1], pa.int64())
    if pa.types.is_date64(kind):
        values = pa.array([86_400_000 * n for n in range(7)], pa.int64()).cast(kind)
    elif pa.types.is_temporal(kind) and not pa.types.is_date32(kind):
        values = numbers.cast(kind)
    else:
        values = numbers.cast(pa.int32()).cast(kind) if pa.types.is_date32(kind) else numbers.cast(kind)
    lists = pa.ListArray.from_arrays(pa.array([0, 2, 2, 7], pa.int32()), values)
    table = pa.table({"flat": values[2:5], "rows": lists})
    with pa.ipc.new_file(
        str(tmp_path / "a.feather"), table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)
    ) as f:
        f.write_table(table, max_chunksize=2)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=2)
    for path, again in (
        (tmp_path / "a.feather", pa.ipc.open_file(str(tmp_path / "a.feather")).read_all()),
        (tmp_path / "a.parquet", pq.read_table(tmp_path / "a.parquet")),
    ):
        f = tw.open(path)
        for name in ("flat", "rows"):
            want = tw.as_tensor(again[name].combine_chunks())
            assert (f[name].shape, f[name].dtype) == (want.shape, want.dtype)
            assert f[name].tolist() == want.tolist()


def hdf5(folder, with_odd):
    kinds = {"a": T.STD_I32LE, "z": words(T.STD_I8LE, FALSE=0, TRUE=1)}
    kinds |= {"odd": T.UNIX_D32LE} if with_odd else {}
    return written_bytes(folder / "a.h5", kinds, lambda _, kind: bytes(2 * kind.get_size()))


def archive(folder, with_odd):
    odd = {"odd": np.array([None])} if with_odd else {}
    np.savez(folder / "a.npz", a=[1], **odd, z=["text", "b"])
    return folder / "a.npz"


def safe(folder, with_odd):
    header = {"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    header |= {"odd": {"dtype": "F4", "shape": [4], "data_offsets": [4, 6]}} if with_odd else {}
    text = json.dumps(header).encode()
    path = folder / "a.safetensors"
    path.write_bytes(len(text).to_bytes(8, "little") + text + bytes(6 if with_odd else 4))
    return path


def store(folder, with_odd):
    group = zarr.create_group(str(folder / "a.zarr"))
    group.create_array("a", data=np.arange(3))
    if with_odd:
        group.create_array("odd", data=np.arange(3))
        node = json.loads((folder / "a.zarr" / "odd" / "zarr.json").read_text())
        (folder / "a.zarr" / "odd" / "zarr.json").write_text(json.dumps(node | {"data_type": "bfloat16"}))
    return folder / "a.zarr"


def table(end):
    def write(folder, with_odd):
        odd = {"odd": pa.array([1, 2], pa.decimal128(5))} if with_odd else {}
        if with_odd and end == "feather":
            odd = {"odd": pa.array([None, None], pa.month_day_nano_interval())}
        made = pa.table({"a": [1, 2], **odd, "z": [[1], []]})
        path = folder / f"a.{end}"
        if end == "parquet":
            pq.write_table(made, path)
        else:
            with pa.ipc.new_file(str(path), made.schema) as f:
                f.write_table(made)
        return path

    return write


def sets(folder, with_odd):
    path = folder / "a.tar"
    with tarfile.open(path, "w") as found:
        for number, array in enumerate([np.arange(3), np.array(["c"])][: 2 if with_odd else 1]):
            out = io.BytesIO()
            np.save(out, array)
            for name, data in (
                (f"tensor_0_{number}_metadata.json", b"{}"),
                (f"tensor_0_{number}_array.npy", out.getvalue()),
            ):
                info = tarfile.TarInfo(name)
                info.size = len(data)
                found.addfile(info, io.BytesIO(data))
    return path


FILES = {
    "hdf5": (hdf5, "odd", "type"),
    "npz": (archive, "odd", "objects"),
    "safetensors": (safe, "odd", "type"),
    "zarr": (store, "odd", "type"),
    "parquet": (table("parquet"), "odd", "type"),
    "feather": (table("feather"), "odd", "type"),
    "wirecell": (sets, "tensor_0_1", "type"),
}


@pytest.mark.parametrize("kind", FILES)
def test_one_part_that_nobody_reads_changes_no_other_and_is_told(tmp_path, kind):
    write, odd, code = FILES[kind]
    (tmp_path / "with").mkdir()
    (tmp_path / "without").mkdir()
    without, path = write(tmp_path / "without", False), write(tmp_path / "with", True)
    f, g = tw.open(path), tw.open(without)
    assert list(f) == list(g)
    assert {name: f[name].tolist() for name in f} == {name: g[name].tolist() for name in g}
    assert g.losses == ()
    (told,) = f.losses
    assert (told.name, told.code) == (odd, code)
    assert odd in told
    done = tw.store.convert(path, tmp_path / "out.tens")
    assert done.names == tuple(f)
    assert done.lost == f.losses
    assert [loss.code for loss in done.lost] == [code]


def test_a_column_with_null_rows_is_left_out_of_every_kind(tmp_path):
    pq.write_table(pa.table({"x": [1, 2], "r": [[1], None]}), tmp_path / "a.parquet")
    for end in ("tens", "npz", "safetensors", "h5", "zarr", "parquet", "feather", "tar"):
        done = tw.store.convert(tmp_path / "a.parquet", tmp_path / f"b.{end}")
        # Tensors of a tensor file have numbers for names.
        want = [("r", "null"), *([("x", "name")] * (end == "tar"))]
        assert sorted([(loss.name, loss.code) for loss in done.lost]) == want, end
        with tw.open(tmp_path / f"b.{end}") as f:
            assert [f[name].tolist() for name in f] == [[1, 2]]
    with pytest.raises(DataFileError, match="null_rows"):
        tw.open(tmp_path / "a.parquet")["r"]


@pytest.mark.parametrize("end", ["tens", "npz", "safetensors", "h5", "zarr", "feather", "tar"])
def test_what_cannot_be_written_is_an_error_or_left_out(tmp_path, end):
    np.savez(tmp_path / "a.npz", a=np.arange(4.0), long=np.ones(4, np.longdouble), z=np.arange(4))
    if end in ("npz", "h5", "zarr", "tar"):
        tw.save(tmp_path / "odd.tens", {"a": [1.0], "long": tw.sparse([[1]], [2.0], (4,)), "z": [2]})
        source = tmp_path / "odd.tens"
    else:
        source = tmp_path / "a.npz"
    target = tmp_path / f"out.{end}"
    with pytest.raises(tw.errors.TensorWrapperError, match=r"long|sparse"):
        tw.store.convert(source, target)
    assert not target.exists()
    done = tw.store.convert(source, target, strict=False)
    renamed = [("a", "name"), ("z", "name")] * (end == "tar")
    assert [(loss.name, loss.code) for loss in done.lost] == [("long", "kind"), *renamed]
    with tw.open(target) as f:
        assert len(f) == len(done.names) == 2


def test_some_of_a_file_is_converted_by_names_and_patterns(tmp_path):
    np.savez(tmp_path / "a.npz", w1=[1], w2=[2], b=[3], o=np.array([None]))
    for only, skip, want in (
        (None, (), ("w1", "w2", "b")),
        ("w*", (), ("w1", "w2")),
        (["w*", "b"], "w2", ("w1", "b")),
    ):
        done = tw.store.convert(tmp_path / "a.npz", tmp_path / "b.tens", only=only, skip=skip, overwrite=True)
        assert done.names == want
        assert bool(done.lost) == (only is None)
    with pytest.raises(tw.errors.TensorNameError, match="'v"):
        tw.store.convert(tmp_path / "a.npz", tmp_path / "c.tens", only="v*")
    assert not (tmp_path / "c.tens").exists()
    assert tw.store.convert(tmp_path / "b.tens", tmp_path / "d.h5", skip="w1").names == ("b",)


def test_types_of_hdf5_go_into_other_kinds(tmp_path):
    written_bytes(tmp_path / "a.h5", {"x": E4M3}, lambda *_: bytes.fromhex("38c401"))
    tw.store.convert(tmp_path / "a.h5", tmp_path / "b.npz")
    assert np.load(tmp_path / "b.npz")["x"].tolist() == [1.0, -3.0, 0.001953125]
    with h5py.File(tmp_path / "a.h5") as f:
        assert f["x"][:].tolist() == [1.0, -3.0, 0.001953125]


def test_what_arrow_has_and_tensors_have_not_is_told(tmp_path):
    table = pa.table(
        {
            "time": pa.array([1], pa.time32("s")),
            "decimal": pa.array([1], pa.decimal128(5)),
            "interval": pa.array([None], pa.month_day_nano_interval()),
            "map": pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int8())),
            "runs": pa.RunEndEncodedArray.from_arrays([1], [5]),
            "dictionary": pa.array(["a"]).dictionary_encode(),
            "zone": pa.array([1], pa.timestamp("us", "UTC")),
            "day": pa.array([86_400_000], pa.date64()),
            "x": [1],
        }
    )
    with pa.ipc.new_file(str(tmp_path / "a.feather"), table.schema) as f:
        f.write_table(table)
    found = tw.open(tmp_path / "a.feather")
    assert (list(found), found["x"].tolist()) == (["day", "x"], [1])
    assert np.asarray(found["day"]) == np.array(["1970-01-02"], "M8[ms]")
    assert [(loss.name, loss.code) for loss in found.losses] == [
        (name, "type") for name in table.column_names[:-2]
    ]


@pytest.mark.parametrize("end", ["npy", "npz", "deflated.npz", "tar", "safetensors"])
def test_a_byte_that_is_neither_0_nor_1_is_no_truth_value(tmp_path, end):
    array = np.array([0, 1, 2], np.uint8)
    path = tmp_path / f"a.{end}"
    if end == "safetensors":
        header = json.dumps({"x": {"dtype": "BOOL", "shape": [3], "data_offsets": [0, 3]}}).encode()
        path.write_bytes(len(header).to_bytes(8, "little") + header + array.tobytes())
        name = "x"
    else:
        name, write, _ = WAYS[end]
        write(path, array.view(bool))
    with pytest.raises(DataFileError, match=rf"a\.{end}.*'{name}.* neither 0 nor 1"):
        np.asarray(tw.open(path)[name])
    with pytest.raises(DataFileError, match="neither 0 nor 1"):
        tw.store.convert(path, tmp_path / "b.tens")
    assert not (tmp_path / "b.tens").exists()
    assert tw.store.convert(path, tmp_path / "b.tens", strict=False).names == ()
