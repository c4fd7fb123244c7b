"""Zarr stores in zip archives are those in folders, with zarr as the writer and as the judge."""

import pickle
import zipfile

import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError
from tensorwrapper.wire import Limits
from tests.support.store.served_files import served

X = np.arange(35, dtype="i4").reshape(5, 7)


def filled(store, version):
    group = zarr.create_group(store, zarr_format=version, attributes={"by": "them"})
    group.create_array("a/x", data=X, chunks=(2, 3))
    group.create_array("a/some", shape=(4,), chunks=(2,), dtype="f8", fill_value=1.5)
    group["a/some"][:2] = [7, 8]
    group.create_array("text", data=np.array(["ab", ""], np.dtypes.StringDType()))
    if version == 3:
        group.create_array("shards", data=X, chunks=(1, 1), shards=(5, 7))


def zipped(folder, version, packing=zipfile.ZIP_STORED):
    path = folder / "a.dat"
    with zarr.storage.ZipStore(path, mode="w", compression=packing) as store:
        filled(store, version)
    return path


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("version", [2, 3])
def test_an_archive_is_as_a_folder(tmp_path, version, packing):
    f = tw.open(zipped(tmp_path, version, packing))
    filled(tmp_path / "a.zarr", version)
    g = tw.open(tmp_path / "a.zarr")
    assert list(f) == list(g)
    assert len(f) == version + 1
    assert f.losses == g.losses
    for name in f:
        assert f.describe(name) == g.describe(name)
        assert f[name].tolist() == g[name].tolist()
    assert f["a/x"][1:3, ::2].tolist() == X[1:3, ::2].tolist()
    assert f["a/some"].tolist() == [7, 8, 1.5, 1.5]


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
@pytest.mark.parametrize("version", [2, 3])
def test_an_archive_is_read_by_byte_ranges(tmp_path, version, packing):
    path = zipped(tmp_path, version, packing)
    f = tw.open(path)
    with served(path.read_bytes(), "a.zip") as server:
        for source in (path.read_bytes(), server.url):
            g = tw.open(source)
            assert (list(g), g.losses) == (list(f), f.losses)
            for name in f:
                assert g[name].tolist() == f[name].tolist()


@pytest.mark.parametrize("packing", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_a_chunk_of_an_archive_is_one_request(tmp_path, packing):
    path, array = tmp_path / "a.zip", np.random.default_rng(3).random((400, 400))
    with zarr.storage.ZipStore(path, mode="w", compression=packing) as store:
        zarr.create_array(store, name="x", data=array, chunks=(200, 200), compressors=None)
    with served(path.read_bytes(), "a.zip") as server:
        view = tw.open(server.url)["x"][:100, :100]
        before = server.requests, server.nbytes
        assert view.tolist() == array[:100, :100].tolist()
        assert server.requests - before[0] <= 2
        assert server.nbytes - before[1] < 340_000


def test_our_own_stores_are_read_from_archives(tmp_path):
    rows = tw.jagged([[1.5, 2.5], [], [3.5]])
    grid = tw.as_tensor(X).tiled(tw.Tiling([1, 4], [5, 2]))
    tw.save(tmp_path / "a.zarr", {"rows": rows, "grid": grid}, metadata={"run": 3}, compress="zlib")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for own in (tmp_path / "a.zarr").rglob("*"):
            archive.write(own, own.relative_to(tmp_path))
    f = tw.open(tmp_path / "a.zip")
    assert (f["rows"].tolist(), f["grid"].tolist(), f.metadata) == (rows.tolist(), X.tolist(), {"run": 3})


def test_views_of_an_archive_travel(tmp_path):
    view = tw.open(zipped(tmp_path, 3))["a/x"][1:]
    assert pickle.loads(pickle.dumps(view)).tolist() == X[1:].tolist()


def test_a_damaged_node_hides_no_other(tmp_path):
    path = zipped(tmp_path, 2)
    with zipfile.ZipFile(path, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("text/.zarray", b"{")
    f = tw.open(path)
    assert list(f) == ["a/some", "a/x"]
    assert [(loss.name, loss.code) for loss in f.losses] == [("text", "damage")]


def test_members_that_lie_of_their_sizes_are_refused(tmp_path):
    path = zipped(tmp_path, 3)
    with zarr.storage.ZipStore(path, mode="a") as store:
        zarr.create_array(store, name="big", data=np.random.default_rng(1).random(400))
    f = tw.open(path, limits=Limits(decompressed_bytes=1200))
    with pytest.raises(DataFileError, match="decompressed_bytes"):
        f["big"].tolist()
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(DataFileError):
        tw.open(path)


def test_an_archive_without_a_store_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=[1])
    with pytest.raises(DataFileError, match="the format 'npz' by its content, not 'zarr'"):
        tw.open(tmp_path / "a.npz", kind="zarr")


def test_big_endian_columns_first_and_missing_chunks(tmp_path):
    for separator in (".", "/"):
        path = tmp_path / f"a{len(list(tmp_path.iterdir()))}.zip"
        with zarr.storage.ZipStore(path, mode="w") as store:
            own = zarr.create_array(
                store,
                name="x",
                shape=(3, 2),
                chunks=(1, 2),
                dtype=">i2",
                order="F",
                fill_value=9,
                zarr_format=2,
                chunk_key_encoding={"name": "v2", "separator": separator},
            )
            own[:2] = [[0, 1], [2, 3]]
        found = tw.open(path)["x"]
        assert (found.dtype, found.tolist()) == (np.dtype(">i2"), [[0, 1], [2, 3], [9, 9]])


@pytest.mark.parametrize(
    ("said", "shown"),
    [({"nodata": float("nan")}, "{'nodata': nan}"), ({"r": [0, float("-inf")]}, "{'r': [0, -inf]}")],
)
def test_attributes_without_numbers_do_not_hide_an_array(tmp_path, said, shown):
    with zarr.storage.ZipStore(tmp_path / "a.zip", mode="w") as store:
        own = zarr.create_array(store, name="x", data=np.array([1.0, 2.0]), attributes=said)
        assert str(dict(own.attrs)) == shown
    assert tw.open(tmp_path / "a.zip")["x"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize("version", [2, 3])
def test_a_member_far_larger_than_its_chunk_is_not_unpacked(tmp_path, version):
    path, large = tmp_path / "a.zip", bytes(2**24)
    filled(tmp_path / "a.zarr", version)
    chunk = "a/x/0.0" if version == 2 else "a/x/c/0/0"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for own in (tmp_path / "a.zarr").rglob("*"):
            name = own.relative_to(tmp_path / "a.zarr").as_posix()
            if own.is_file():
                archive.writestr(name, large if name == chunk else own.read_bytes())
    found = tw.open(path)["a/x"]
    for view in (found, pickle.loads(pickle.dumps(found))):
        assert view[2:].tolist() == X[2:].tolist()
        with pytest.raises(DataFileError, match="16777216 bytes, but its array has chunks of 24") as caught:
            view.compute()
        assert str(path) in str(caught.value)
