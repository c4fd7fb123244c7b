"""Files without a path: the kind by the content, and what is not read by ranges is fetched whole."""

import gc
import io
import json
from pathlib import Path
from types import SimpleNamespace

import fsspec
import h5py
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, ReadOnlyError, VersionChangedError
from tensorwrapper.store import recognise
from tests.support.store.kinds_that_open import CASES
from tests.support.store.served_files import served

TABLE = pa.table({"n": [1, 2, 3], "rows": [[1.5], [], [2.5, 3.5]], "word": ["a", "b", None]})


def written(write):
    raw = io.BytesIO()
    write(raw)
    return raw.getvalue()


def write_hdf5(raw):
    with h5py.File(raw, "w") as file:
        file["x"] = np.arange(20)
        file.create_dataset("chunked", data=np.arange(100).reshape(10, 10), chunks=(5, 5))


FILES = {
    "parquet": written(lambda raw: pa.parquet.write_table(TABLE, raw)),
    "arrow": written(lambda raw: pa.feather.write_feather(TABLE, raw)),
    "hdf5": written(write_hdf5),
    "npz": written(lambda raw: np.savez(raw, x=[1, 2])),
}


class Raw(io.RawIOBase):
    """An unbuffered stream, of which a call gives at most 1000 bytes, as pipes and object stores do.

    h5py 3.16 takes what was in memory for bytes that did not come (its issue 2835).
    """

    def __init__(self, data):
        self.data, self.place = data, 0

    def readable(self):
        return True

    def seekable(self):
        return True

    def tell(self):
        return self.place

    def seek(self, offset, whence=io.SEEK_SET):
        self.place = (0, self.place, len(self.data))[whence] + offset
        return self.place

    def readinto(self, out):
        part = self.data[self.place : self.place + min(len(out), 1000)]
        out[: len(part)] = part
        self.place += len(part)
        return len(part)


@pytest.mark.parametrize("kind", FILES)
def test_every_door_has_what_the_path_has(tmp_path, kind):
    path = tmp_path / "x.dat"
    path.write_bytes(FILES[kind])
    expected = {name: tensor.tolist() for name, tensor in tw.open(path).items()}
    with served(FILES[kind], "x.dat") as server, path.open("rb") as opened:
        for source in (server.url, FILES[kind], io.BytesIO(FILES[kind]), opened):
            assert recognise(source).kind == kind
            file = tw.open(source)
            views = dict(file.items())
            file.close()
            del file
            gc.collect()
            # What is fetched whole is there as long as a view of it.
            assert {name: view.tolist() for name, view in views.items()} == expected


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if not case.options],
    ids=lambda case: f"{case.kind} {case.convention}",
)
def test_every_kind_is_alike_by_every_door(tmp_path, case):
    path = case.write(tmp_path)
    if path.is_dir():
        return
    raw, system = path.read_bytes(), fsspec.filesystem("memory")
    system.pipe_file(f"/doors/{path.name}", raw)

    def said(file):
        return list(file), [(own.name, own.code) for own in file.losses]

    with served(raw, path.name) as server, tw.open(path) as f:
        for source in (server.url, raw, io.BytesIO(raw), Raw(raw), f"memory://doors/{path.name}"):
            g = tw.open(source)
            assert said(g) == said(f)
            for name in f:
                assert values(g[name]) == values(f[name]), name


def values(tensor):
    own = tensor if isinstance(tensor, tw.Tensor) else tensor.compute()
    own = own.to_dense() if own.is_sparse else own
    return own.shape, own.dtype, own.tolist()


def test_large_files_of_other_kinds_are_not_fetched(monkeypatch):
    from tensorwrapper.store.fetched import _open

    monkeypatch.setattr(_open, "_MOST", 100)
    with pytest.raises(DataFileError, match="the format 'kerchunk', which is copied as a whole"):
        tw.open(json.dumps({"version": 1, "refs": {"x": "y" * 100}}).encode())


def test_the_kind_may_be_said_and_is_compared():
    assert tw.open(FILES["npz"], kind="npz")["x"].tolist() == [1, 2]
    with pytest.raises(DataFileError):
        tw.open(FILES["npz"], kind="tens")


@pytest.mark.parametrize("end", [".npz", ".npy", ".safetensors", ".h5", ".parquet", ".feather"])
def test_another_kind_than_the_one_that_is_said_is_named_by_its_content(tmp_path, end):
    path = tmp_path / f"x{end}"
    tw.save(path, {"array": np.arange(3)})
    own = recognise(path).kind
    for source in (path, path.read_bytes()):
        for kind in sorted(
            {"arrow", "hdf5", "kerchunk", "npy", "npz", "parquet", "safetensors", "zarr"} - {own}
        ):
            with pytest.raises(DataFileError, match=f"has the format '{own}' by its content, not '{kind}'"):
                tw.open(source, kind=kind)
        with pytest.raises(DataFileError, match=f"has the format '{own}'"):
            tw.open(source, kind="wirecell")
        assert tw.open(source, kind=own)["array"].tolist() == [0, 1, 2]


def test_what_has_no_path_is_only_read():
    with pytest.raises(ConversionError, match="a path is required to write a file"):
        tw.open(b"", "a")
    with pytest.raises(ReadOnlyError, match="requires mode 'a' or 'w'"):
        tw.open(FILES["npz"], metadata={})
    with pytest.raises(ConversionError, match=r"use tw\.connect"):
        tw.open("tcp://127.0.0.1:5555")
    with pytest.raises(DataFileError, match="an unknown format"):
        tw.open(b"nothing that is known")


def test_schemes_and_folders_that_are_none_are_refused_by_name(tmp_path):
    with pytest.raises(DataFileError, match="fsspec does not support the scheme 'foo'"):
        tw.open("foo://bucket/x")
    (tmp_path / "x.h5").write_bytes(FILES["hdf5"])
    for source in (tmp_path / "x.h5", FILES["hdf5"]):
        with pytest.raises(
            ConversionError, match="follow= must be a folder or an address prefix, not int: 5"
        ):
            tw.open(source, follow=5)


def test_errors_name_the_address_without_what_is_secret():
    with served(b"nothing that is known" * 100, "x.dat") as server:
        given = server.url.replace("http://", "http://me:secret@") + "?token=hidden"
        with pytest.raises(DataFileError) as refused:
            tw.open(given)
    assert "x.dat" in str(refused.value)
    assert not any(word in str(refused.value) for word in ("me:", "secret", "hidden"))


LARGE = np.arange(200_000.0).reshape(2000, 100)
SAVED = ("x.tens", "x.npy", "x.npz", "x.safetensors", "x.h5", "x.parquet", "x.feather")


@pytest.mark.parametrize("name", SAVED)
def test_a_file_that_changes_after_it_was_opened_is_another_version_in_all_kinds(tmp_path, name):
    rows = {"rows": tw.jagged([[1] * 9] * 2000)} if name == SAVED[0] else {}
    tw.save(tmp_path / name, {"array": LARGE} | rows)
    with served((tmp_path / name).read_bytes(), name) as server:
        f = tw.open(server.url)
        server.etag = '"two"'
        for own in f:
            with pytest.raises(VersionChangedError, match=f"{name} .*no longer"):
                f[own][1000:].tolist()


def many_datasets(path):
    """Datasets that are wide apart, and rows of CF whose counts lie in chunks."""
    with h5py.File(path, "w") as f:
        for number in range(4):
            f[f"x{number}"] = np.arange(60_000.0) + number
            f.create_dataset(f"y{number}", data=np.arange(60_000.0), chunks=(7_000,), compression="gzip")
        f["samples"] = np.zeros(120_000)
        f["samples"].make_scale("samples")
        f.create_dataset("size", data=np.full(60_000, 2), chunks=(7_000,)).attrs["sample_dimension"] = (
            "samples"
        )
        f["z"] = np.arange(120_000.0)
        f["z"].dims[0].attach_scale(f["samples"])


def many_columns(path):
    table = pa.table({f"c{number}": np.arange(60_000.0) for number in range(4)})
    pa.feather.write_feather(table, path, compression="lz4")


@pytest.mark.parametrize("write", [many_datasets, many_columns])
@pytest.mark.parametrize("status", [412, 403])
def test_a_server_that_fails_hides_nothing_and_is_no_damage(tmp_path, write, status):
    path = tmp_path / "x.dat"
    write(path)
    right = {name: value[-1:].tolist() for name, value in tw.open(path).items()}
    error = VersionChangedError if status == 412 else DataFileError
    seen = 0
    with served(path.read_bytes(), "x.dat") as server:

        def twist(handler, _start, _stop):
            if not own.answered:
                handler.answer(status, b"")
                return True
            own.answered -= 1
            return False

        own = SimpleNamespace(answered=0)
        server.twist = twist
        for answered in range(1, 9):
            for name in ("z", "y3", "x0") if write is many_datasets else ("c1",):
                own.answered = answered
                f, texts = None, []
                try:
                    f = tw.open(server.url)
                    assert list(f) == list(right)
                    assert not f.losses
                    assert f[name][-1:].tolist() == right[name]
                except error as refused:
                    texts = [str(refused)]
                assert all(server.url in text and "damaged" not in text for text in texts)
                seen += len(texts)
                own.answered = 1000
                # Nothing of it is kept.
                assert f is None or (f.losses == () and f[name][-1:].tolist() == right[name])
    assert seen > 3


def test_the_name_of_an_address_is_the_path():
    with served(FILES["npz"], "model.npz") as server:
        file = tw.open(server.url)
        assert file.path == Path("model.npz")
        assert file.ranges.name == server.url
