"""The command inspect: tensors of a file, for people and for machines."""

import json

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tests.support.commands import run
from tests.support.store.tensor_files import archive_of, npy


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
        "kind": "jagged",
        "rank": 2,
        "shape": "(3, 3|1|2)",
        "extents": None,
        "dtype": "int64",
        "packing": "jagged",
        "elements": 6,
        "bytes": 0,
        "pieces": 1,
        "start": 0,
    }


def test_inspect_shows_one_tensor_and_its_first_values(path):
    done = run("inspect", path, "rows")
    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    assert done.stdout.splitlines()[:4] == ["all values:", "[[1 2 3]", " [4]", " [5 6]]"]
    assert "shape: (3, 3|1|2)" in done.stdout.splitlines()
    assert "extents" not in done.stdout
    tw.save(path, {"x": np.arange(10_000.0).reshape(100, 100)})
    done = run("inspect", path, "x")
    assert done.stdout.startswith("the first 36 of 10000 values:\n[[  0.   1.")
    report = json.loads(run("inspect", "--json", path, "x").stdout)
    assert report["value"][1] == [100.0, 101.0, 102.0, 103.0, 104.0, 105.0]
    assert report["figures"]["extents"] == [100, 100]
    done = run("inspect", path, "y")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert "has no tensor 'y'; inspect lists those it has" in done.stderr


def test_inspect_of_records_lists_their_fields(path):
    with tw.open(path, "a") as f:
        f.append("ev", tw.records({"t": tw.jagged([[1], []]), "run": [7, 8]}))
    report = json.loads(run("inspect", "--json", path, "ev").stdout)
    assert [entry["name"] for entry in report["entries"]] == ["ev.t", "ev.run"]
    assert (report["figures"]["tensors"], report["figures"]["elements"]) == (2, 3)
    done = run("inspect", path, "e")
    assert done.returncode != ExitCode.OK
    assert "no tensor 'e'" in done.stderr


def test_inspect_shows_one_tensor_of_a_growing_file_and_what_is_said_of_it(path):
    with tw.open(path, "w") as f:
        f.append("x", tw.as_tensor([[1, 2]]), metadata={"unit": "ns"})
    with tw.open(path, "a") as f:
        f.extend("x", [[3, 4]])
    report = json.loads(run("inspect", "--json", path, "x").stdout)

    assert report["value"] == [[1, 2], [3, 4]]
    assert report["figures"]["metadata"] == {"unit": "ns"}


def test_inspect_of_a_tensor_file(tmp_path):
    path = tmp_path / "a.tar.gz"
    tw.save(path, {"tensor_7_0": [1.5], "tensor_7_1": tw.no_elements()}, metadata={"tensorset_7": {"run": 3}})
    report = json.loads(run("inspect", "--json", path).stdout)

    assert report["figures"]["metadata"] == {"tensorset_7": {"run": 3}}
    assert [(entry["name"], entry["packing"]) for entry in report["entries"]] == [
        ("tensor_7_0", "dense"),
        ("tensor_7_1", "none"),
    ]


def test_inspect_says_what_cannot_be_read_of_a_tensor_file(tmp_path):
    files = [("tensorset_0_metadata.json", b"{"), ("tensor_0_0_array.npy", npy(np.arange(3)))]
    (tmp_path / "a.tar").write_bytes(archive_of([*files, ("readme.txt", b"x")], ".tar"))
    done = run("inspect", tmp_path / "a.tar")

    assert done.returncode == ExitCode.CHECK_FAILED
    assert "tensor_0_0" in done.stdout
    assert "readme.txt" in done.stdout
    assert "what is said of 'tensorset_0' cannot be read" in done.stdout


def test_inspect_of_a_file_without_tensors(tmp_path):
    tw.save(tmp_path / "none.tens", {})
    report = json.loads(run("inspect", "--json", tmp_path / "none.tens").stdout)

    assert report["entries"] == []
    assert report["figures"]["tensors"] == 0


def test_what_is_no_tensor_is_listed_and_is_no_failure(tmp_path):
    np.savez(tmp_path / "a.npz", x=[1], o=np.array([None]))
    done = run("inspect", tmp_path / "a.npz")
    assert done.returncode == ExitCode.OK, done.stderr
    assert "o: 'o' holds Python objects" in done.stdout
    report = json.loads(run("inspect", "--json", tmp_path / "a.npz").stdout)
    assert report["ok"] is True
    assert list(report["figures"]["not read as tensors"]) == ["o"]


def test_s10_inspect_of_a_torn_file_says_what_is_lost(path):
    raw = path.read_bytes()
    with tw.open(path) as f:
        start = f.describe("rows").start
    path.write_bytes(raw[: start + 300])
    done = run("inspect", path)

    assert done.returncode == ExitCode.CHECK_FAILED
    assert done.stdout.splitlines()[1].split()[0] == "a"
    assert f"the record at {start} (of the tensor 'rows') is truncated" in done.stdout
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


def test_inspect_of_a_server(path):
    with tw.serve(path) as server:
        done = run("inspect", server.address)
        one = run("inspect", server.address, "a")
        none = run("inspect", server.address, "b")
        report = json.loads(run("inspect", "--json", server.address).stdout)

    assert done.stdout.splitlines()[:3] == [
        "name  shape                       dtype    bytes",
        "a     (2, 3)                      float32     24",
        "rows  jagged, rank 2, 6 elements  int64       48",
    ]
    assert report["entries"][0]["extents"] == [2, 3]
    assert report["entries"][1] == {
        "name": "rows",
        "kind": "jagged",
        "rank": 2,
        "shape": "jagged, rank 2, 6 elements",
        "extents": None,
        "dtype": "int64",
        "elements": 6,
        "bytes": 48,
    }
    assert one.stdout.startswith("all values:\n[[0. 1. 2.]\n [3. 4. 5.]]\n")
    assert none.returncode == ExitCode.CANNOT_RUN
    assert "no tensor 'b' is served; use inspect ADDRESS to list the names" in none.stderr


def test_names_of_strangers_move_no_cursor(tmp_path):
    np.savez(tmp_path / "a.npz", **{"a\x1b[31mred": [1.0], "x  (9,)  int8\ny": [2.0]})
    done = run("inspect", tmp_path / "a.npz")
    assert "\x1b" not in done.stdout
    assert "a\\x1b[31mred" in done.stdout
    assert "x  (9,)  int8\\ny" in done.stdout
