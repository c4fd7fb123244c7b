"""Zarr stores in folders at addresses: over http, and by file systems of fsspec, with zarr as the writer."""

import functools
import http.server
import shutil
import threading

import fsspec
import numpy as np
import pytest
import zarr

import tensorwrapper as tw
from tensorwrapper.errors import DataFileError, DataFileNotFoundError
from tensorwrapper.store import recognise
from tensorwrapper.wire import Limits
from tests.store.formats.zarr.test_zipped import X, filled
from tests.support.store.served_files import served


def files_in(folder, name="a.zarr"):
    return {f"{name}/{p.relative_to(folder)}": p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def store(folder, version, *, consolidated):
    path = folder / "a.zarr"
    filled(path, version)
    if consolidated:
        zarr.consolidate_metadata(path, zarr_format=version)
    return path


def check_alike(found, expected):
    assert (list(found), found.metadata, found.losses) == (
        list(expected),
        expected.metadata,
        expected.losses,
    )
    for name in expected:
        assert (found[name].shape, found[name].dtype) == (expected[name].shape, expected[name].dtype)
        assert found[name].tolist() == expected[name].tolist()


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("version", [2, 3])
def test_a_store_of_a_server_is_as_its_folder(tmp_path, version):
    path = store(tmp_path, version, consolidated=True)
    with served(files_in(path), "a.zarr") as server:
        assert recognise(server.url) == recognise(path)
        for address in (server.url, f"{server.url}/"):
            check_alike(tw.open(address), tw.open(path))
        f = tw.open(server.url, kind="zarr")
        before = server.requests
        assert f["a/x"][0, :3].tolist() == [0, 1, 2]
        assert server.requests - before == 1


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("consolidated", [True, False])
@pytest.mark.parametrize("version", [2, 3])
def test_a_store_of_a_file_system_is_as_its_folder(tmp_path, version, consolidated):
    path = store(tmp_path, version, consolidated=consolidated)
    system = fsspec.filesystem("memory")
    name = f"far-{version}-{consolidated}"
    try:
        system.put(str(path), f"/{name}/b", recursive=True)
        for address in (f"memory://{name}/b", path.as_uri()):
            assert recognise(address) == recognise(path)
            check_alike(tw.open(address), tw.open(path))
    finally:
        system.rm(f"/{name}", recursive=True)


@pytest.mark.parametrize("version", [2, 3])
def test_a_server_without_consolidated_metadata_has_one_array_by_its_address(tmp_path, version):
    path = store(tmp_path, version, consolidated=False)
    with served(files_in(path), "a.zarr") as server:
        f = tw.open(server.url)
        assert list(f) == []
        assert [own.code for own in f.losses] == ["member"]
        assert "consolidate_metadata" in f.losses[0].help
        assert tw.open(f"{server.url}/a/x")["array"].tolist() == X.tolist()


def test_our_own_stores_are_read_from_a_server(tmp_path):
    rows = tw.jagged([[1.5, 2.5], [], [3.5]])
    grid = tw.as_tensor(X).tiled(tw.Tiling([1, 4], [5, 2]))
    tw.save(tmp_path / "a.zarr", {"rows": rows, "grid": grid}, metadata={"run": 3}, compress="zlib")
    f = tw.open((tmp_path / "a.zarr").as_uri())
    assert (f["rows"].tolist(), f["grid"].tolist(), f.metadata) == (rows.tolist(), X.tolist(), {"run": 3})


def test_shards_are_fetched_in_part(tmp_path):
    array = np.random.default_rng(1).random((512, 512))
    zarr.create_array(tmp_path / "s.zarr", data=array, chunks=(64, 64), shards=(512, 512), compressors=None)
    with served(files_in(tmp_path / "s.zarr", "s.zarr"), "s.zarr") as server:
        view = tw.open(server.url)["array"][:3, :3]
        before = server.nbytes
        assert view.tolist() == array[:3, :3].tolist()
        assert server.nbytes - before < 2**18 + 40_000


def test_chunks_are_fetched_over_connections_that_stay_open(tmp_path):
    zarr.create_array(tmp_path / "c.zarr", data=np.arange(400), chunks=(10,))
    with served(files_in(tmp_path / "c.zarr", "c.zarr"), "c.zarr") as server:
        assert tw.open(server.url)["array"].tolist() == [*range(400)]
        assert server.requests >= 40
        assert server.connections <= 12


def test_a_server_that_fails_is_no_missing_chunk(tmp_path):
    zarr.create_array(tmp_path / "c.zarr", data=np.arange(8), chunks=(4,), fill_value=9)
    with served(files_in(tmp_path / "c.zarr", "c.zarr"), "c.zarr") as server:
        view = tw.open(server.url)["array"]

        def twist(handler, _start, _stop):
            handler.answer(403, b"")
            return True

        server.twist = twist
        with pytest.raises(DataFileError, match="is not for you"):
            view.compute()
    shutil.rmtree(tmp_path / "c.zarr" / "c" / "1", ignore_errors=True)
    (tmp_path / "c.zarr" / "c" / "1").unlink(missing_ok=True)
    with served(files_in(tmp_path / "c.zarr", "c.zarr"), "c.zarr") as server:
        assert tw.open(server.url)["array"].tolist() == [0, 1, 2, 3, 9, 9, 9, 9]


def test_names_that_lead_out_of_a_store_are_told(tmp_path):
    path = store(tmp_path, 2, consolidated=True)
    given = files_in(path)
    given["a.zarr/.zmetadata"] = given["a.zarr/.zmetadata"].replace(b'"a/some/', b'"a/../../')
    with served(given, "a.zarr") as server:
        f = tw.open(server.url)
        assert list(f) == ["a/x", "text"]
        assert {own.code for own in f.losses} == {"name"}


def test_what_is_no_store_is_refused_by_its_address(tmp_path):
    with served({"other": b"x"}, "a.zarr") as server:
        for address in (server.url, server.url.removesuffix(".zarr"), f"{tmp_path.as_uri()}/none.zarr"):
            with pytest.raises(DataFileNotFoundError, match="does not exist"):
                tw.open(address)
    with pytest.raises(DataFileError, match="no known size"):
        tw.open(tmp_path.as_uri())


def test_damaged_nodes_hide_no_others(tmp_path):
    path = store(tmp_path, 3, consolidated=False)
    (path / "a" / "x" / "zarr.json").write_bytes(b"{")
    f = tw.open(path.as_uri())
    assert (list(f), [(own.name, own.code) for own in f.losses]) == (
        ["a/some", "shards", "text"],
        [("a/x", "damage")],
    )
    with pytest.raises(DataFileError, match="more than 2 folders"):
        tw.open(path.as_uri(), limits=Limits(tensors=2))
    (path / "zarr.json").write_bytes(b"{")
    with pytest.raises(DataFileError, match="damaged"):
        tw.open(path.as_uri())


@pytest.mark.filterwarnings("ignore:Consolidated metadata")
@pytest.mark.parametrize("name", ["a.zarr", "run"])
def test_a_server_without_ranges_that_shows_pages_of_folders(tmp_path, name):
    path = store(tmp_path, 3, consolidated=True)
    big = np.random.default_rng(2).random(90_000)
    zarr.open_group(path).create_array("big", data=big, chunks=(45_000,), compressors=None)
    zarr.consolidate_metadata(path, zarr_format=3)
    path.rename(tmp_path / name)

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            """Say nothing."""

    handler = functools.partial(Quiet, directory=tmp_path)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            f = tw.open(f"http://127.0.0.1:{server.server_port}/{name}")
            check_alike(f, tw.open(tmp_path / name))
            assert f["big"].tolist() == big.tolist()
        finally:
            server.shutdown()
            thread.join()
