"""Files and folders are served; a file that changes is not mixed with what it was."""

import h5py
import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError, DataFileError, VersionChangedError


@pytest.fixture
def folder(tmp_path):
    for name in ("one", "two"):
        tw.save(tmp_path / f"{name}.tens", {"x": np.arange(4.0), "rows": tw.jagged([[1], [2, 3]])})
    return tmp_path


def test_a_file_is_served_by_the_names_that_it_has(folder):
    with tw.serve(folder / "one.tens") as server, tw.connect(server.address) as remote:
        assert sorted(remote) == ["rows", "x"]
        assert remote["rows"][1].compute().tolist() == [2, 3]


def test_of_several_files_each_has_its_name_before(folder):
    # A tensor of one row has the length of one file.
    tw.save(folder / "one.tens", {"x": np.zeros((1, 2)), "rows": tw.jagged([[1]])})
    for given in (folder, [folder / "one.tens", str(folder / "two.tens")]):
        for writable in (False, True):
            with tw.serve(given, writable=writable) as server:
                assert server.names == ["one/rows", "one/x", "two/rows", "two/x"]


def test_what_is_no_file_is_refused(tmp_path):
    with pytest.raises(DataFileError):
        tw.serve(tmp_path / "missing.tens")
    with pytest.raises(DataFileError):
        tw.serve(tmp_path)
    with pytest.raises(ConversionError):
        tw.serve(7)


def test_a_file_that_is_written_anew_is_changed(folder):
    path = folder / "one.tens"
    with tw.serve(path) as server, tw.connect(server.address) as remote:
        x = remote["x"]
        assert x.compute().tolist() == [0, 1, 2, 3]
        tw.save(path, {"x": np.arange(9.0)})
        with pytest.raises(VersionChangedError):
            x.compute()


def test_the_version_of_a_file_is_the_same_at_the_next_start(folder):
    versions = []
    for _ in range(2):
        with tw.serve(folder / "one.tens") as server, tw.connect(server.address) as remote:
            versions.append(remote["x"].version)
    assert versions[0] == versions[1]


def test_what_cannot_be_served_of_a_file_hides_nothing(tmp_path):
    tw.save(tmp_path / "b.tens", {"raw": tw.strings([b"a"]), "x": np.arange(3.0)})
    tw.save(tmp_path / "g.tens", {"x": [1]})
    with h5py.File(tmp_path / "e.h5", "w") as file:
        file["ok"], file["odd\n"], file["z" * 1100] = [1, 2], 3, [1]
    for writable in (False, True):
        with tw.serve(tmp_path / "b.tens", writable=writable) as server:
            assert server.names == ["x"]
            assert [(lost.name, lost.code) for lost in server.losses] == [("raw", "kind")]
        with tw.serve(tmp_path / "e.h5", writable=writable) as server:
            assert server.names == ["ok"]
            assert {lost.code for lost in server.losses} == {"name"}
    (tmp_path / "bad.tens").write_bytes(b"nothing")
    with tw.serve(tmp_path) as server:
        assert server.names == ["b/x", "g/x"]
        assert {lost.name for lost in server.losses} == {"b/raw", "bad.tens"}
    for named in (tmp_path / "bad.tens", [tmp_path / "bad.tens", tmp_path / "g.tens"]):
        with pytest.raises(DataFileError):
            tw.serve(named)
    tw.save(tmp_path / "only.tens", {"raw": tw.strings([b"a"])})
    with pytest.raises(ConversionError, match="raw"):
        tw.serve(tmp_path / "only.tens")
