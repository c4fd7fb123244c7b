"""The command convert: there and back, and never over a file unless told to."""

import json

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
    assert report["entries"] == [{"lost": "the name 'x'"}]
    assert np.load(tmp_path / "back.npy").tolist() == [0, 1, 2, 3, 4]


def test_what_cannot_be_converted_is_said(path, tmp_path):
    done = run("convert", path, tmp_path / "out.npz")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "'rows'" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.npz").exists()


def test_s10_convert_overwrites_only_when_forced(path, tmp_path):
    (tmp_path / "out.tens").write_text("precious")
    done = run("convert", path, tmp_path / "out.tens")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "is there already; --force replaces it" in done.stderr
    assert (tmp_path / "out.tens").read_text() == "precious"
    assert run("convert", "--force", path, tmp_path / "out.tens").returncode == ExitCode.OK
    with tw.open(tmp_path / "out.tens") as f:
        assert list(f) == ["a", "rows"]
