"""The command send: files of every kind, to a process that waits, also after a break."""

import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tensorwrapper.transport import KeyPair, Socket, Transfers
from tests.support.commands import run
from tests.support.transport.receiving import receiving


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    jagged = tw.jagged([[5, 1, 7], [], [2, 9]])
    tw.save(path, {"x": np.arange(12.0).reshape(3, 4), "hits": jagged, "words": tw.strings(["a", "bc"])})
    return path


def report_of(process):
    said, complained = process.communicate(timeout=60)
    return process.returncode, json.loads(said), complained


def test_all_tensors_of_a_file_arrive_in_a_file(path, tmp_path):
    with receiving(tmp_path / "came.tens") as (process, address):
        done = run("send", path, address, "--check", "crc32", "--json")
        code, report, complained = report_of(process)
    assert (done.returncode, code) == (ExitCode.OK, ExitCode.OK), complained
    sent = json.loads(done.stdout)
    assert sent["figures"]["tensors"] == report["figures"]["tensors"] == 3
    assert sent["figures"]["bytes sent"] == report["figures"]["bytes received"]
    assert [entry["name"] for entry in report["entries"]] == ["x", "hits", "words"]
    assert done.stderr == ""
    with tw.open(tmp_path / "came.tens") as came, tw.open(path) as file:
        assert all(came[name].array_equal(file[name]) for name in file)


def test_those_that_are_named_go_to_another_kind_of_file(path, tmp_path):
    with receiving(tmp_path / "x.npy") as (process, address):
        done = run("send", path, address, "x")
        code, _, complained = report_of(process)
    assert (done.returncode, code) == (ExitCode.OK, ExitCode.OK), done.stderr + complained
    assert np.array_equal(np.load(tmp_path / "x.npy"), np.arange(12.0).reshape(3, 4))


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["y"], "no tensor 'y'"),
        (["--key", "k" * 101], "--key"),
        (["--server-key", "k" * 40], "--keys"),
        (["--timeout", "0.3"], "nobody"),
    ],
)
def test_what_cannot_be_sent_is_said(path, tmp_path, words, why):
    done = run("send", path, f"ipc://{tmp_path}/nobody", *words)
    assert done.returncode == ExitCode.CANNOT_RUN
    assert why in done.stderr.splitlines()[-1]
    assert run("send", tmp_path / "nowhere.tens", "tcp://127.0.0.1:1").returncode == ExitCode.CANNOT_RUN


def test_an_empty_file_is_not_sent(tmp_path):
    tw.save(tmp_path / "empty.tens", {})
    done = run("send", tmp_path / "empty.tens", "tcp://127.0.0.1:1", "--json")
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (ExitCode.CANNOT_RUN, False)


@pytest.mark.slow  # three interpreters
def test_one_that_was_killed_goes_on_with_its_key(tmp_path):
    count = 4_000_000
    tw.save(tmp_path / "large.tens", {"x": np.arange(count)})
    out = np.full(count, -1)
    with Socket("ROUTER") as socket, Transfers(socket, chunk=4096, timeout=30) as transfers:
        address = socket.bind(f"ipc://{tmp_path}/s")
        words = [sys.executable, "-m", "tensorwrapper", "send", str(tmp_path / "large.tens"), address]

        def start():
            return subprocess.Popen([*words, "--key", "a word"], stderr=subprocess.DEVNULL, stdout=-1)

        with start() as process:
            taken = transfers.accept().into(out)
            until = time.monotonic() + 30
            while taken.left > 0.8 * taken.nbytes:
                transfers.advance(timeout=1)
                assert time.monotonic() < until
            process.send_signal(signal.SIGKILL)
        left = taken.left
        assert 0 < left < taken.nbytes
        with start() as process:
            taken.wait(timeout=30)
            assert process.wait(30) == ExitCode.OK
    assert np.array_equal(out, np.arange(count))


def test_who_has_keys_sends_to_who_lists_them(path, tmp_path):
    ours, theirs, eve = KeyPair.make(), KeyPair.make(), KeyPair.make()
    for name, keys in (("ours", ours), ("theirs", theirs), ("eve", eve)):
        keys.save(tmp_path / name)
    (tmp_path / "list").write_text(theirs.public, encoding="utf-8")
    secure = ("--keys", tmp_path / "ours", "--allow", tmp_path / "list")
    with receiving(tmp_path / "came.tens", *secure) as (process, address):
        done = run("send", path, address, "--keys", tmp_path / "eve", "--server-key", ours.public)
        assert (done.returncode, "key" in done.stderr) == (ExitCode.CANNOT_RUN, True), done.stderr
        done = run("send", path, address, "--keys", tmp_path / "theirs", "--server-key", ours.public)
        code, _, complained = report_of(process)
    assert (done.returncode, code) == (ExitCode.OK, ExitCode.OK), done.stderr + complained
