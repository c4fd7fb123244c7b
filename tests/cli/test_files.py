"""The commands about files: called from here, and once as a user runs them."""

import json
import subprocess
import sys

import numpy as np
import pytest
from support.commands import run

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tensors = {"a": np.arange(6, dtype="f4").reshape(2, 3), "rows": tw.jagged([[1, 2, 3], [4], [5, 6]])}
    tw.save(path, tensors, metadata={"run": 3})
    return path


def test_inspect_lists_the_tensors(path):
    done = run("inspect", path)
    lines = [line.split() for line in done.stdout.splitlines()]

    assert done.returncode == ExitCode.OK, done.stderr
    assert lines[0] == ["name", "shape", "dtype", "packing", "bytes"]
    assert lines[1] == ["a", "(2,", "3)", "float32", "dense", "256"]
    assert lines[2][0] == "rows"
    assert ["run:", "3"] in lines
    assert "checks" not in done.stdout


def test_a_program_of_its_own_says_the_same(path):
    command = [sys.executable, "-m", "tensorwrapper", "inspect", str(path)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120, encoding="utf-8")

    assert done.stdout == run("inspect", path).stdout


def test_inspect_for_machines(path):
    report = json.loads(run("inspect", "--json", path).stdout)

    assert report["figures"] == {
        "tensors": 2,
        "elements": 12,
        "bytes": path.stat().st_size,
        "metadata": {"run": 3},
    }
    assert [entry["name"] for entry in report["entries"]] == ["a", "rows"]
    assert report["entries"][1] | {"start": 0, "bytes": 0} == {
        "name": "rows",
        "shape": "(3, 3|1|2)",
        "dtype": "int64",
        "packing": "jagged",
        "elements": 6,
        "bytes": 0,
        "pieces": 1,
        "start": 0,
    }


def test_inspect_of_a_file_without_tensors(tmp_path):
    tw.save(tmp_path / "none.tens", {})
    report = json.loads(run("inspect", "--json", tmp_path / "none.tens").stdout)

    assert report["entries"] == []
    assert report["figures"]["tensors"] == 0


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


def test_verify_of_a_sound_file(path):
    done = run("verify", path)

    assert done.returncode == ExitCode.OK, done.stderr
    assert "no problems" in done.stdout
    assert "records: 4" in done.stdout


def test_verify_of_a_damaged_file(path):
    raw = bytearray(path.read_bytes())
    raw[-100] ^= 1
    path.write_bytes(raw)
    done = run("verify", path)
    report = json.loads(run("verify", "--json", path).stdout)

    assert done.returncode == ExitCode.CHECK_FAILED
    assert "checksum that does not fit" in done.stdout
    assert report["ok"] is False
    assert "checksum" in report["entries"][0]["problem"]


@pytest.mark.parametrize("command", [("inspect",), ("verify",), ("convert", "out.npz")])
def test_a_file_that_is_none_is_said(command, tmp_path):
    (tmp_path / "text.tens").write_text("1 2 3")
    for name, said in (("text.tens", "is no .tens file"), ("nowhere.tens", "No such file")):
        words = [tmp_path / word for word in command[1:]]
        done = run(command[0], tmp_path / name, *words)

        assert done.returncode == ExitCode.CANNOT_RUN
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_command_needs_its_files():
    for arguments in (["inspect"], ["convert", "a.npz"], ["verify"]):
        assert run(*arguments).returncode == ExitCode.USAGE


def test_s10_inspect_of_a_torn_file_says_what_is_lost(path):
    raw = path.read_bytes()
    with tw.open(path) as f:
        start = f.describe("rows").start
    path.write_bytes(raw[: start + 300])
    done = run("inspect", path)

    assert done.returncode == ExitCode.CHECK_FAILED
    assert done.stdout.splitlines()[1].split()[0] == "a"
    assert f"the record at {start} (of the tensor 'rows') is cut off" in done.stdout
    report = json.loads(run("inspect", "--json", path).stdout)
    assert report["ok"] is False
    assert [entry["name"] for entry in report["entries"]] == ["a"]


def test_s10_inspect_lists_the_others_when_one_is_damaged(path):
    with tw.open(path) as f:
        start = f.describe("a").start
    raw = bytearray(path.read_bytes())
    raw[start + 9] ^= 1
    path.write_bytes(raw)
    done = run("inspect", path)

    assert done.returncode == ExitCode.CHECK_FAILED
    assert "the tensor 'a' cannot be read" in done.stdout
    assert "rows" in done.stdout


def test_s10_convert_overwrites_only_when_forced(path, tmp_path):
    (tmp_path / "out.tens").write_text("precious")
    done = run("convert", path, tmp_path / "out.tens")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "is there already; --force replaces it" in done.stderr
    assert (tmp_path / "out.tens").read_text() == "precious"
    assert run("convert", "--force", path, tmp_path / "out.tens").returncode == ExitCode.OK
    with tw.open(tmp_path / "out.tens") as f:
        assert list(f) == ["a", "rows"]
