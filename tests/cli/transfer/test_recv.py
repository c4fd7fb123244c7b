"""The command recv: what one sender sends, whoever he is, and nothing that is no name or no room."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tensorwrapper.errors import FlowAbortedError
from tensorwrapper.transport import KeyPair, Socket, Transfers
from tests.support.commands import run
from tests.support.transport.receiving import receiving


def test_who_sends_from_python_needs_no_names(tmp_path):
    with receiving(tmp_path / "came.tens") as (process, address), Socket("DEALER") as socket:
        socket.connect(address)
        with Transfers(socket) as transfers:
            transfers.send(np.arange(5))
        process.communicate(timeout=60)
        assert process.returncode == ExitCode.OK
    with tw.open(tmp_path / "came.tens") as file:
        assert {name: file[name].tolist() for name in file} == {"tensor_1": [0, 1, 2, 3, 4]}


def test_another_sender_is_told_that_he_is_late_and_groups_become_names(tmp_path):
    with (
        receiving(tmp_path / "came.tens") as (process, address),
        Socket("DEALER") as first,
        Socket("DEALER") as second,
    ):
        first.connect(address)
        second.connect(address)
        with Transfers(first) as sender, Transfers(second) as late:
            sender.send(np.arange(3), key="a/0", name="group/x", follow=1)
            with pytest.raises(FlowAbortedError, match="another sender"):
                late.send(np.arange(3), key="b/0")
            sender.send(np.arange(4), key="a/1", name="y")
        said, _ = process.communicate(timeout=60)
    assert [entry["name"] for entry in json.loads(said)["entries"]] == ["group.x", "y"]


@pytest.mark.parametrize("name", ["x", "..", "a\\b", "line\nbreak"])
def test_what_is_no_name_or_comes_twice_is_refused(tmp_path, name):
    with receiving(tmp_path / "came.tens") as (process, address), Socket("DEALER") as socket:
        socket.connect(address)
        with Transfers(socket) as transfers:
            transfers.send(np.arange(3), key="a/0", name="x", follow=1)
            with pytest.raises(FlowAbortedError):
                transfers.send(np.arange(4), key="a/1", name=name)
        said, complained = process.communicate(timeout=60)
    assert (process.returncode, json.loads(said)["ok"]) == (ExitCode.CANNOT_RUN, False)
    assert "tensorwrapper recv: " in complained
    assert not (tmp_path / "came.tens").exists()


def test_a_sender_who_falls_silent_is_given_up(tmp_path):
    with (
        receiving(tmp_path / "came.tens", "--timeout", "0.5") as (process, address),
        Socket("DEALER") as socket,
    ):
        socket.connect(address)
        with Transfers(socket) as transfers:
            transfers.send(np.arange(3), key="a/0", follow=1)
        _, complained = process.communicate(timeout=60)
    assert process.returncode == ExitCode.CANNOT_RUN
    assert "within 0.5 s" in complained


def test_a_signal_ends_the_waiting(tmp_path):
    with receiving(tmp_path / "came.tens") as (process, _):
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == ExitCode.TERMINATED
    assert not (tmp_path / "came.tens").exists()


def test_what_cannot_be_received_is_said(tmp_path):
    (tmp_path / "there.tens").touch()
    done = run("recv", "tcp://127.0.0.1:*", tmp_path / "there.tens")
    assert (done.returncode, "--force" in done.stderr) == (ExitCode.CANNOT_RUN, True)
    done = run("recv", "tcp://0.0.0.0:*", tmp_path / "new.tens")
    assert (done.returncode, "--anybody" in done.stderr) == (ExitCode.CANNOT_RUN, True)
    keys = KeyPair.make()
    keys.save(tmp_path / "keys")
    (tmp_path / "list").write_text(f"{keys.public} x*", encoding="utf-8")
    words = ("--keys", tmp_path / "keys", "--allow", tmp_path / "list")
    done = run("recv", "tcp://127.0.0.1:*", tmp_path / "new.tens", *words)
    assert (done.returncode, "any name" in done.stderr) == (ExitCode.CANNOT_RUN, True)


def test_both_ends_count_the_same_elements(tmp_path):
    tensors = {"box": np.arange(6.0).reshape(2, 3), "rows": tw.jagged([[1, 2], [3]]), "none": np.empty(0)}
    tw.save(tmp_path / "given.tens", tensors)
    with receiving(tmp_path / "came.tens") as (process, address):
        sent = json.loads(run("send", tmp_path / "given.tens", address, "--json").stdout)
        received = json.loads(process.communicate(timeout=60)[0])
    assert sent["figures"]["bytes of elements"] == received["figures"]["bytes of elements"] >= 48 + 24
    assert [own["name"] for own in sent["entries"]] == [own["name"] for own in received["entries"]]


def test_people_are_told_where_it_waits(tmp_path):
    words = [sys.executable, "-m", "tensorwrapper", "recv", "tcp://127.0.0.1:*", str(tmp_path / "a.tens")]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline().startswith("waiting at tcp://127.0.0.1:")
        process.kill()
