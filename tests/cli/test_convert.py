"""The command convert: there and back, and never over a file unless told to."""

import json
import sys

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tests.support.commands import run


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tensors = {"a": np.arange(6, dtype="f4").reshape(2, 3), "rows": tw.jagged([[1, 2, 3], [4], [5, 6]])}
    tw.save(path, tensors, metadata={"run": 3})
    return path


def test_convert_goes_there_and_back(tmp_path):
    np.savez(tmp_path / "in.npz", x=np.arange(5))
    done = run("convert", tmp_path / "in.npz", tmp_path / "out.tens")

    assert done.returncode == ExitCode.OK, done.stderr
    assert "tensors: 1" in done.stdout
    report = json.loads(run("convert", "--json", tmp_path / "out.tens", tmp_path / "back.npy").stdout)
    assert report["figures"]["bytes of elements"] == 40
    assert report["entries"] == [{"lost": "the name 'x'", "name": "x", "code": "name"}]
    assert np.load(tmp_path / "back.npy").tolist() == [0, 1, 2, 3, 4]


def test_what_cannot_be_converted_is_said(path, tmp_path):
    done = run("convert", path, tmp_path / "out.npz")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "'rows'" in done.stderr
    assert "--lenient leaves it out" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.npz").exists()
    done = run("convert", "--lenient", path, tmp_path / "out.npz")
    assert done.returncode == ExitCode.OK, done.stderr
    assert "lost: 'rows' is left out" in done.stdout
    assert list(np.load(tmp_path / "out.npz")) == ["a"]


def test_tensors_are_chosen_by_names_and_patterns(path, tmp_path):
    for options, want in (
        (["--only", "a"], ["a"]),
        (["--only", "a", "--only", "r*"], ["a", "rows"]),
        (["--skip", "r*"], ["a"]),
    ):
        done = run("convert", "--force", *options, path, tmp_path / "out.tens")
        assert done.returncode == ExitCode.OK, done.stderr
        with tw.open(tmp_path / "out.tens") as f:
            assert list(f) == want
    done = run("convert", "--only", "z*", path, tmp_path / "other.tens")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert "'z*' matches none of" in done.stderr
    assert not (tmp_path / "other.tens").exists()


def test_s10_convert_overwrites_only_when_forced(path, tmp_path):
    (tmp_path / "out.tens").write_text("precious")
    done = run("convert", path, tmp_path / "out.tens")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "already exists; use --force to replace it" in done.stderr
    assert (tmp_path / "out.tens").read_text() == "precious"
    assert run("convert", "--force", path, tmp_path / "out.tens").returncode == ExitCode.OK
    with tw.open(tmp_path / "out.tens") as f:
        assert list(f) == ["a", "rows"]


@pytest.mark.parametrize(
    ("ending", "library", "extra"),
    [
        (".h5", "h5py", "tensorwrapper[hdf5]"),
        (".parquet", "pyarrow", "tensorwrapper[arrow]"),
        (".feather", "pyarrow", "tensorwrapper[arrow]"),
        (".zarr", "zarr", "tensorwrapper[zarr]"),
    ],
)
def test_what_is_not_installed_is_named_with_what_brings_it(ending, library, extra, tmp_path, monkeypatch):
    """As a plain installation has it; both ways, and where such a file is looked into."""
    tw.save(tmp_path / "box.tens", {"x": np.arange(6.0)})
    tw.save(tmp_path / f"there{ending}", {"x": np.arange(6.0)})
    monkeypatch.setitem(sys.modules, library, None)
    for words in (
        ("convert", tmp_path / "box.tens", tmp_path / f"out{ending}"),
        ("convert", tmp_path / f"there{ending}", tmp_path / "out.tens"),
        ("inspect", tmp_path / f"there{ending}"),
    ):
        done = run(*words)
        assert done.returncode == ExitCode.CANNOT_RUN, (words, done)
        assert f"python -m pip install '{extra}' brings it" in done.stderr
        assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("out*"))
