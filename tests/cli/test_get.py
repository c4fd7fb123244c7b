"""The command get: what is selected elsewhere, printed or written, and nothing more read."""

import json
import subprocess
import sys

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tests.support.commands import run


@pytest.fixture(scope="module")
def server():
    odd = np.array([1.5, np.nan, np.inf])
    tensors = {
        "x": np.arange(1_000_000.0).reshape(1000, 1000),
        "hits": tw.jagged([[5, 1, 7], [], [2, 9]]),
        "words": tw.strings(["a", "bc"]),
        "odd": odd,
        "odd/complex": np.array([1.5j]),
        "times": np.array(["2026-01-02"], "M8[D]"),
        "flags": np.array([True, False]),
        "nulls": tw.strings(["None", None]),
        "one null": tw.nullable(np.array(3), np.array(False)),
        "no times": np.array(["NaT", "2026-01-02"], "M8[D]"),
    }
    with tw.serve(tensors) as server:
        yield server


def get(server, *words):
    done = run("get", server.address, "--json", *words)
    return json.loads(done.stdout)


def test_another_process_prints_what_it_selects(server):
    words = [sys.executable, "-m", "tensorwrapper", "get", server.address, "x", "5:7, ::500"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == ExitCode.OK, done.stderr
    assert done.stdout.startswith("[[5000. 5500.]\n [6000. 6500.]]\n")
    assert "bytes of elements to be received: 32\n" in done.stdout
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (["hits", "-1"], [2, 9]),
        (["hits", "-1:, :1"], [[2]]),
        (["hits", "::-2, :1"], [[2], [5]]),
        (["x", "3, 7:9, +2"], [[3007.0, 3007.0], [3008.0, 3008.0]]),
        (["words", "..."], ["a", "bc"]),
        (["odd", "..."], [1.5, "nan", "inf"]),
        (["odd/complex", "0"], [0.0, 1.5]),
        (["times", "..."], ["2026-01-02"]),
        (["flags", "..."], [True, False]),
        (["x", "3, 7"], 3007.0),
        (["nulls", "..."], ["None", None]),
        (["one null", "..."], None),
        (["no times", "..."], [None, "2026-01-02"]),
    ],
)
def test_elements_for_machines(server, words, value):
    found = get(server, *words)
    assert found["value"] == value
    assert found["figures"]["bytes received"] < 2000


def test_what_would_travel_is_said_and_nothing_travels(server):
    before = server.stats()["bytes_sent"]
    figures = get(server, "x", "...", "--plan")["figures"]
    assert figures["bytes of elements to be received"] == figures["bytes of the whole"] == 8_000_000
    assert server.stats()["bytes_sent"] - before < 2000


def test_a_selection_is_written_to_a_file_of_any_kind(server, tmp_path):
    done = run("get", server.address, "x", "990:", "--out", tmp_path / "x.npy")
    assert done.returncode == ExitCode.OK, done.stderr
    assert np.array_equal(np.load(tmp_path / "x.npy"), np.arange(990_000.0, 1e6).reshape(10, 1000))
    words = ("get", server.address, "hits", "1:", "--out", tmp_path / "hits.tens")
    assert run(*words).returncode == ExitCode.OK
    with tw.open(tmp_path / "hits.tens") as file:
        assert file["hits"].tolist() == [[], [2, 9]]
    again = run(*words)
    assert (again.returncode, "--force" in again.stderr) == (ExitCode.CANNOT_RUN, True)
    assert run(*words, "--force").returncode == ExitCode.OK


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["x", "..."], "--out FILE"),
        (["y", "0"], "'y'"),
        (["x", "1000"], "1000"),
        (["x", "__import__('os')"], "__import__"),
        (["x", "0", "--server-key", "k" * 40], "--keys"),
    ],
)
def test_what_cannot_be_read_is_said(server, words, why):
    done = run("get", server.address, *words)
    assert done.returncode == ExitCode.CANNOT_RUN
    assert why in done.stderr.splitlines()[-1]


def test_nobody_there_is_said(tmp_path):
    done = run("get", f"ipc://{tmp_path}/nobody", "x", "0", "--timeout", "0.3", "--json")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert json.loads(done.stdout)["ok"] is False


def test_all_of_a_tensor_is_read_where_no_selector_is_given(server):
    whole = [[5, 1, 7], [], [2, 9]]
    assert get(server, "hits")["value"] == get(server, "hits", "...")["value"] == whole
    # Also after an option, where argparse takes what may be missing for missing.
    assert get(server, "hits", "--timeout", "30", "-1:")["value"] == whole[-1:]
    assert get(server, "--timeout", "30", "hits")["value"] == whole
