"""The command serve: a process that others select from, until a signal ends it."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tensorwrapper.errors import TransportError
from tensorwrapper.transport import CurveClient, KeyPair
from tests.support.commands import run
from tests.support.serving import serving


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "runs"
    place.mkdir()
    tw.save(place / "a.tens", {"x": np.arange(12).reshape(3, 4)})
    tw.save(place / "b.tens", {"x": np.zeros(2), "rows": tw.jagged([[1, 2], [3]])})
    np.save(tmp_path / "c.npy", np.arange(3))
    return tmp_path


def end(process, number=signal.SIGTERM):
    process.send_signal(number)
    said, complained = process.communicate(timeout=60)
    return process.returncode, said, complained


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
def test_files_and_folders_are_served_until_a_signal_ends_it(folder, number):
    with serving(folder / "runs", folder / "c.npy") as (process, ready):
        assert ready["tensors"] == ["a/x", "b/rows", "b/x", "c/array"]
        with tw.connect(ready["address"]) as remote:
            assert remote["a/x"][1:, ::3].compute().tolist() == [[4, 7], [8, 11]]
            assert remote["b/rows"][0].compute().tolist() == [1, 2]
        code, said, complained = end(process, number)
    report = json.loads(said)
    assert (code, complained) == (ExitCode.OK, "")
    assert (report["ok"], report["figures"]["refusals"]) == (True, 0)
    assert report["figures"]["requests"] == report["figures"]["answers"] > 4


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")
def test_who_was_started_in_the_background_goes_on_ignoring_sigint(folder):
    words = [sys.executable, "-m", "tensorwrapper", "serve", str(folder / "c.npy"), "--json"]
    shell = ["bash", "-c", "trap '' INT; exec \"$@\"", "bash", *words]
    with subprocess.Popen(shell, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        address = json.loads(process.stdout.readline())["address"]
        process.send_signal(signal.SIGINT)
        with tw.connect(address, timeout=30) as remote:
            assert remote["array"].tolist() == [0, 1, 2]
        code, _, complained = end(process)
    assert (code, complained) == (ExitCode.OK, "")


def test_it_serves_on_when_nobody_reads_what_it_says(folder):
    read, write = os.pipe()
    os.close(read)
    address = f"ipc://{folder}/meeting"
    words = [sys.executable, "-m", "tensorwrapper", "serve", str(folder / "c.npy"), "--address", address]
    with subprocess.Popen(words, stdout=write, stderr=subprocess.PIPE, text=True) as process:
        os.close(write)
        with tw.connect(address, timeout=30) as remote:
            assert remote["array"].tolist() == [0, 1, 2]
        assert end(process)[::2] == (ExitCode.OK, "")


def test_who_is_listed_reads_what_is_his(folder):
    ours, alice, bob, eve = (KeyPair.make() for _ in range(4))
    ours.save(folder / "server.key")
    bob.save(folder / "bob.key")
    listed = f"# the lab\n{alice.public}\n\n{bob.public} a/* c*\n"
    (folder / "allow").write_text(listed, encoding="utf-8")
    keys = ("--keys", folder / "server.key", "--allow", folder / "allow")
    with serving(folder / "runs", *keys) as (_, ready):
        assert ready["public key"] == ours.public
        with tw.connect(ready["address"], security=CurveClient(alice, ours.public)) as remote:
            assert list(remote) == ["a/x", "b/rows", "b/x"]
        his = ("--keys", folder / "bob.key", "--server-key", ours.public)
        assert "a/x" in run("inspect", ready["address"], *his).stdout
        done = run("get", ready["address"], *his, "b/x", "0")
        assert (done.returncode, "no tensor 'b/x'" in done.stderr) == (ExitCode.CANNOT_RUN, True)
        with pytest.raises(TransportError):
            tw.connect(ready["address"], security=CurveClient(eve, ours.public))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--address", "tcp://0.0.0.0:*"], "--anybody"),
        (["--address", "tcp://nowhere:5"], "nowhere"),
        (["--keys", "server.key"], "--allow"),
        (["--threads", "0"], "threads must be at least 1"),
    ],
)
def test_what_cannot_be_served_is_said(folder, words, why):
    done = run("serve", folder / "c.npy", *words)
    assert done.returncode == ExitCode.CANNOT_RUN
    assert why in done.stderr


@pytest.mark.parametrize("text", ["short", "x" * 2_000_000])
def test_a_list_that_is_none_is_refused(folder, text):
    KeyPair.make().save(folder / "server.key")
    (folder / "allow").write_text(text, encoding="utf-8")
    done = run("serve", folder / "c.npy", "--keys", folder / "server.key", "--allow", folder / "allow")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert "allow" in done.stderr
    assert run("serve", folder / "nowhere.tens").returncode == ExitCode.CANNOT_RUN


def test_what_is_written_is_kept_in_another_file_and_never_in_the_first(folder):
    new = folder / "new.tens"
    with serving(folder / "runs", "--writable", "--save", new) as (process, ready):
        with tw.connect(ready["address"]) as remote:
            remote["a/x"][1, ::2] = 7
            remote["b/rows"][0, 1] = 9
        code, _, complained = end(process)
    assert (code, complained) == (ExitCode.OK, "")
    with tw.open(folder / "runs" / "a.tens") as file:
        assert file["x"].tolist() == np.arange(12).reshape(3, 4).tolist()
    with tw.open(new) as file:
        assert file["a.x"].tolist() == [[0, 1, 2, 3], [7, 5, 7, 7], [8, 9, 10, 11]]
        assert file["b.rows"].tolist() == [[1, 9], [3]]


def test_where_what_is_written_goes_is_known_before_anything_is_served(folder):
    place = folder / "runs" / "a.tens"
    for words, complaint in [
        (["--save", str(folder / "new.tens")], "--writable"),
        (["--writable", "--save", str(place)], "--force"),
        (["--writable", "--save", str(folder / "nowhere" / "new.tens")], "there is no folder"),
    ]:
        assert run("serve", str(place), *words).returncode != 0
        assert complaint in run("serve", str(place), *words).stderr


def test_two_tensors_that_would_be_saved_under_one_name_are_refused_before_they_are_served(folder):
    """One of them was lost when what clients had written was saved."""
    tw.save(folder / "p.tens", {"q.x": [1]})
    tw.save(folder / "p.q.tens", {"x": [2]})
    done = run("serve", folder / "p.tens", folder / "p.q.tens", "--writable", "--save", folder / "new.tens")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert "'p.q.x'" in done.stderr
    assert not (folder / "new.tens").exists()
