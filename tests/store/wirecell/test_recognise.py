"""A file is what it holds, whatever it is called."""

import bz2
import gzip
import importlib.util
import io
import lzma
import os
import pickle
import shutil
import tarfile
import zipfile

import h5py
import numpy as np
import pyarrow as pa
import pytest
import scipy.sparse
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, DataFileNotFoundError
from tensorwrapper.store import Recognised, recognise
from tensorwrapper.store.wirecell._recognise import KIND_OF_END

TENSORS = {"tensor_0_0": np.arange(6.0).reshape(2, 3)}
KINDS = {
    ".tens": Recognised("tens", "magic"),
    ".h5": Recognised("hdf5", "magic"),
    ".parquet": Recognised("parquet", "magic"),
    ".feather": Recognised("arrow", "magic"),
    ".npy": Recognised("npy", "magic"),
    ".npz": Recognised("wirecell", "structure", "zip"),
    ".zip": Recognised("wirecell", "structure", "zip"),
    ".tar": Recognised("wirecell", "magic", "tar"),
    ".tar.gz": Recognised("wirecell", "magic", "tar, gzip"),
    ".tar.bz2": Recognised("wirecell", "magic", "tar, bzip2"),
    ".safetensors": Recognised("safetensors", "structure"),
    ".zarr": Recognised("zarr", "structure", "version 3"),
}


def copied(path, target):
    (shutil.copytree if path.is_dir() else shutil.copy)(path, target)
    return target


def content(path):
    with tw.open(path) as f:
        return {name: f[name].tolist() for name in f}


@pytest.mark.parametrize("end", KINDS)
@pytest.mark.parametrize("other", ["x", "x.dat", "x.h5", "x.tens", "x.tar.gz", "x.npz"])
def test_a_copy_under_any_name_is_the_same_and_opens(tmp_path, end, other):
    path = tmp_path / f"a{end}"
    tw.save(path, TENSORS)
    assert recognise(path) == KINDS[end]
    copy = copied(path, tmp_path / other)
    assert recognise(copy) == KINDS[end]
    assert content(copy) == content(path)


@pytest.mark.parametrize("end", ["nc", "h5ad", "hdf", "he5", "mat", ""])
@pytest.mark.parametrize("block", [0, 512, 2048, 2**20])
def test_hdf5_begins_where_it_begins(tmp_path, end, block):
    path = tmp_path / f"a.{end}"
    with h5py.File(path, "w", userblock_size=block) as f:
        f["x"] = [1, 2]
    found = recognise(path)
    assert (found.kind, found.by) == ("hdf5", "magic")
    assert (f"{block} bytes" in found.note) == bool(block)
    assert tw.open(path)["x"].tolist() == [1, 2]


def test_archives_are_told_apart_by_their_members(tmp_path):
    np.savez(tmp_path / "plain.zip", x=[1])
    shutil.move(tmp_path / "plain.zip.npz", tmp_path / "plain.zip")
    assert recognise(tmp_path / "plain.zip") == Recognised("npz", "structure")
    assert tw.open(tmp_path / "plain.zip")["x"].tolist() == [1]
    scipy.sparse.save_npz(tmp_path / "sparse.npz", scipy.sparse.csr_array(np.eye(2)))
    assert recognise(tmp_path / "sparse.npz").note == "a sparse matrix of SciPy"
    store = zarr.storage.ZipStore(tmp_path / "z.zip", mode="w")
    zarr.create_array(store, shape=(2,), dtype="i4")
    store.close()
    assert recognise(tmp_path / "z.zip") == Recognised("zarr", "structure", "in a zip archive")
    assert tw.open(tmp_path / "z.zip")["array"].tolist() == [0, 0]
    with zipfile.ZipFile(tmp_path / "z.zip") as archive:
        archive.extractall(tmp_path / "z")
    assert list(tw.open(tmp_path / "z")) == ["array"]


def test_streams_of_arrow_open(tmp_path):
    table = pa.table({"x": [[1, 2], [], [3]], "y": [1.5, 2.5, 3.5]})
    for codec in (None, "zstd"):
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with (
            pa.OSFile(str(tmp_path / "a"), "wb") as sink,
            pa.ipc.new_stream(sink, table.schema, options=options) as stream,
        ):
            stream.write_table(table, max_chunksize=2)
        assert recognise(tmp_path / "a") == Recognised("arrow", "structure", "stream")
        assert content(tmp_path / "a") == {"x": [[1, 2], [], [3]], "y": [1.5, 2.5, 3.5]}


def _zip_of(members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


REFUSED = {
    "pickle": pickle.dumps({"x": 1}),
    "netCDF": b"CDF\x01" + bytes(28),
    "HDF4": b"\x0e\x03\x13\x01" + bytes(60),
    "MATLAB": b"MATLAB 5.0 MAT-file".ljust(128),
    "ORC": b"ORC" + bytes(20),
    "Avro": b"Obj\x01" + bytes(20),
    "version 1": b"FEA1" + bytes(20),
    "encrypted": b"PARE" + bytes(20) + b"PARE",
    "gzip": gzip.compress(b"hello"),
    "bzip2": bz2.compress(b"hello"),
    "xz": lzma.compress(b"hello"),
    "zstd": b"\x28\xb5\x2f\xfd" + bytes(20),
    "lz4": b"\x04\x22\x4d\x18" + bytes(20),
    "PyTorch": _zip_of({"archive/data.pkl": b"", "archive/data/0": bytes(8)}),
    "an unknown format": b"hello",
}


@pytest.mark.parametrize("word", REFUSED)
def test_what_others_read_is_refused_by_its_name(tmp_path, word):
    path = tmp_path / "a.bin"
    path.write_bytes(REFUSED[word])
    for call in (recognise, tw.open, lambda own: tw.store.convert(own, tmp_path / "b.tens")):
        with pytest.raises(DataFileError, match=word) as caught:
            call(path)
        assert "damaged" not in str(caught.value)


def test_manifests_of_kerchunk_are_told_apart(tmp_path):
    (tmp_path / "a.json").write_text('{"version": 1, "refs": {".zgroup": {"zarr_format": 2}}}')
    assert recognise(tmp_path / "a.json") == Recognised("kerchunk", "structure")
    assert list(tw.open(tmp_path / "a.json")) == []


def test_the_name_decides_where_nothing_else_does(tmp_path):
    for end, kind in KIND_OF_END.items():
        path = tmp_path / f"a{end}"
        path.write_bytes(b"")
        if end != ".zarr":
            assert recognise(path) == Recognised(kind, "name"), end
    (tmp_path / "empty.zarr").mkdir()
    assert recognise(tmp_path / "empty.zarr") == Recognised("zarr", "name")


def test_nothing_and_folders_of_other_things_are_none(tmp_path):
    with pytest.raises(DataFileNotFoundError):
        recognise(tmp_path / "nowhere.h5")
    with pytest.raises(DataFileError, match="is a folder, not a regular file"):
        recognise(tmp_path)
    with pytest.raises(OSError, match="is a folder"):
        recognise(tmp_path)


def test_little_of_a_file_is_read(tmp_path, monkeypatch):
    path = tmp_path / "a.bin"
    with path.open("wb") as f:
        f.truncate(2**30)
    read = []
    real = os.pread

    def counted(file, size, place):
        found = real(file, size, place)
        read.append(len(found))
        return found

    monkeypatch.setattr(os, "pread", counted)
    with pytest.raises(DataFileError):
        recognise(path)
    assert 4096 <= sum(read) <= 4096 + 64 + 8 * 12


@pytest.mark.parametrize("end", ["npy", "npz", "safetensors", "tar", "tar.gz", "zip"])
def test_a_file_is_opened_once_to_recognise_and_to_read_it(tmp_path, monkeypatch, end):
    path = tmp_path / f"x.{end}"
    names = ["array"] if end == "npy" else ["tensor_0_0", "tensor_0_1"]
    tw.save(path, {name: tw.as_tensor([1.0, 2.0]) for name in names})
    opened = []
    real = os.open
    monkeypatch.setattr(os, "open", lambda place, *given: opened.append(str(place)) or real(place, *given))

    read = {name: tensor.tolist() for name, tensor in tw.open(path).items()}

    assert sorted(read) == names
    assert all(found == [1.0, 2.0] for found in read.values())
    assert opened.count(str(path)) == 1


def test_kind_overrides_and_what_is_of_another_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=[1])
    assert tw.open(tmp_path / "a.npz", kind="npz")["x"].tolist() == [1]
    for kind in ("tens", "hdf5", "parquet", "arrow", "npy", "safetensors", "zarr"):
        with pytest.raises(DataFileError):
            tw.open(tmp_path / "a.npz", kind=kind)
    with pytest.raises(DataFileError, match="no member of a set, and has the format 'npz'"):
        tw.open(tmp_path / "a.npz", kind="wirecell")
    assert list(tw.open(tmp_path / "a.npz")) == ["x"]
    with pytest.raises(ConversionError, match="kind must be one of"):
        tw.open(tmp_path / "a.npz", kind="csv")
    with pytest.raises(ConversionError, match="can only be read"):
        tw.open(tmp_path / "b", "a", kind="hdf5")
    raw = (tmp_path / "a.npz").read_bytes()
    with tarfile.open(tmp_path / "t.tar", "w") as archive:
        info = tarfile.TarInfo("frame_0_0.npy")
        info.size = len(raw)
        archive.addfile(info, io.BytesIO(raw))
    f = tw.open(tmp_path / "t.tar")
    assert [(loss.name, loss.code) for loss in f.losses] == [("frame_0_0.npy", "member")]
    assert tw.open(tmp_path / "t.tar", kind="wirecell").losses == f.losses
    # An array of a set without what is said of it, and one that is told, are members of one.
    for array in (np.arange(2), np.array([None])):
        np.savez(tmp_path / "b.npz", tensor_0_0_array=array)
        assert len(tw.open(tmp_path / "b.npz", kind="wirecell")) == (array.dtype != object)


@pytest.mark.skipif(importlib.util.find_spec("s3fs") is not None, reason="what S3 needs is installed")
def test_an_address_names_the_package_that_it_needs():
    with pytest.raises(ModuleNotFoundError, match="needs a package beside fsspec"):
        tw.open("s3://bucket/a.h5")


def test_files_at_addresses_open_and_servers_are_connected_to(tmp_path):
    import fsspec

    tw.save(tmp_path / "a.tens", {"x": [1, 2]})
    with fsspec.open("memory://a.tens", "wb") as f:
        f.write((tmp_path / "a.tens").read_bytes())
    assert tw.open("memory://a.tens")["x"].tolist() == [1, 2]
    with tw.serve({"x": [1, 2]}) as server:
        with pytest.raises(ConversionError, match=r"tw\.connect"):
            tw.open(server.address)
        with tw.connect(server.address) as remote:
            assert remote["x"][...].tolist() == [1, 2]


@pytest.mark.parametrize("given", [io.BytesIO(b"x"), b"x", bytearray(b"x")])
def test_what_is_of_no_kind_says_so_wherever_it_is(given):
    with pytest.raises(DataFileError, match="an unknown format: it begins with b'x'"):
        recognise(given)


@pytest.mark.parametrize(
    "begin", [b"", b"\x1f\x8b\x08", b"PK\x03\x04", b"BZh9", b"PAR1", b"ARROW1", b"ORC", b"\x80\x04", b"CDF"]
)
def test_a_user_block_may_begin_as_any_file_does(tmp_path, begin):
    with h5py.File(tmp_path / "a.h5", "w", userblock_size=512) as f:
        f["x"] = [1, 2]
    raw = begin + (tmp_path / "a.h5").read_bytes()[len(begin) :]
    for end in (".dat", ".h5", ".npz", ".tar"):
        path = tmp_path / f"b{end}"
        path.write_bytes(raw)
        assert recognise(path).kind == "hdf5"
        assert tw.open(path)["x"].tolist() == [1, 2]
        assert tw.store.convert(path, tmp_path / "c.tens", overwrite=True).names == ("x",)
        for kind in ("npz", "wirecell", "tens", "npy", "parquet", "arrow", "safetensors"):
            with pytest.raises(DataFileError):
                tw.open(path, kind=kind)


def test_a_file_of_zeros_is_of_no_kind(tmp_path):
    (tmp_path / "a").write_bytes(bytes(4096))
    for kind in sorted({*KIND_OF_END.values()}):
        with pytest.raises(DataFileError):
            tw.open(tmp_path / "a", kind=kind)


@pytest.mark.parametrize("length", [640, 896, 1152, 1408])
def test_a_header_may_have_the_length_that_begins_a_pickle(tmp_path, length):
    """The first bytes of a safetensors file are this number, and those of a pickle of version 2 to 5."""
    from safetensors.numpy import save_file

    path, x = tmp_path / "model.safetensors", np.arange(3.0)
    for padding in range(length - 200, length):
        save_file({"x": x}, path, metadata={"text": " " * padding})
        if int.from_bytes(path.read_bytes()[:8], "little") == length:
            break
    assert path.read_bytes()[:1] == b"\x80"
    assert recognise(path) == Recognised("safetensors", "structure")
    with tw.open(path) as file:
        assert file["x"].tolist() == x.tolist()
