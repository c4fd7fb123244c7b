"""Standard streams as a shell may leave them."""

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tensorwrapper.cli._streams import has_colours


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    # More text than a pipe holds, so that whoever writes it sees a reader go away.
    tw.save(path, {f"tensor {k:04}": np.arange(3) for k in range(3000)})
    return path


def shell(text, *words, **env):
    command = [
        "bash",
        "-c",
        f'tw() {{ {sys.executable} -m tensorwrapper "$@"; }}; {text}',
        "bash",
        *map(str, words),
    ]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, env=os.environ | env
    )


def test_errors_cli_a_reader_that_goes_away(path):
    done = shell('tw inspect "$1" | head -1; echo ${PIPESTATUS[0]}', path)

    assert done.stdout.split()[:3] == ["name", "shape", "dtype"]
    assert done.stdout.split()[-1] == str(int(ExitCode.NO_READER))
    assert done.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("options", ["", "--json"])
def test_errors_cli_a_full_disk_under_stdout(path, options):
    for command in ("inspect", "verify"):
        done = shell(f'tw {command} {options} "$1" > /dev/full', path)

        assert done.returncode == ExitCode.CANNOT_RUN
        assert (
            done.stderr == f"tensorwrapper {command}: the answer cannot be written: No space left on device\n"
        )


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("words", ["--help", "--version", "completion bash"])
def test_errors_cli_answers_that_find_no_room(words):
    done = shell(f"tw {words} > /dev/full")
    assert done.returncode == ExitCode.CANNOT_RUN
    assert done.stderr.endswith("the answer cannot be written: No space left on device\n")
    assert shell(f"tw {words} >&-").returncode == ExitCode.CANNOT_RUN
    done = shell(f"tw {words} | true; exit ${{PIPESTATUS[0]}}")
    assert (done.returncode in (ExitCode.OK, ExitCode.NO_READER), done.stderr) == (True, "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("stderr", ["2> /dev/full", "2>&-"])
def test_errors_cli_complaints_that_find_no_room(tmp_path, stderr):
    assert shell(f"tw nonsense {stderr}").returncode == ExitCode.USAGE
    assert shell(f'tw verify "$1" {stderr}', tmp_path / "no.tens").returncode == ExitCode.CANNOT_RUN


def test_colours_are_for_terminals(monkeypatch):
    pty = pytest.importorskip("pty")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    ours, theirs = pty.openpty()
    with os.fdopen(ours), os.fdopen(theirs, "w") as terminal:
        assert has_colours(terminal)
        for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
            with monkeypatch.context() as changed:
                changed.setenv(name, value)
                assert not has_colours(terminal)
    assert not has_colours(io.StringIO())
    assert not has_colours(None)


def test_errors_cli_closed_streams(path, tmp_path):
    done = shell('tw inspect "$1" >&-', path)
    assert (done.returncode, done.stdout) == (ExitCode.CANNOT_RUN, "")
    assert done.stderr == "tensorwrapper inspect: the answer cannot be written: stdout is closed\n"
    for closed in ("2>&-", "<&-", "<&- 2>&-"):
        done = shell(f'tw inspect "$1" {closed}', path)
        assert (done.returncode, done.stderr) == (ExitCode.OK, "")
        assert "tensors: 3 000" in done.stdout
    done = shell('tw inspect "$1/nowhere.tens" 2>&-', tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (ExitCode.CANNOT_RUN, "", "")
    # What is meant for stderr does not get into the file that would have had its number.
    done = shell('tw --verbose convert "$1" "$2" 2>&- <&-', path, tmp_path / "out.tens")
    assert done.returncode == ExitCode.OK
    assert tw.store.verify(tmp_path / "out.tens").ok
    done = shell("tw demo 2>&-")
    assert (done.returncode, done.stderr) == (ExitCode.OK, "")
    assert "0 failed" in done.stdout


def test_errors_cli_letters_that_stdout_does_not_have(tmp_path):
    tw.save(tmp_path / "run.tens", {"Größe": [1]})
    done = shell('tw inspect "$1"', tmp_path / "run.tens", PYTHONIOENCODING="ascii")

    assert done.returncode == ExitCode.OK, done.stderr
    assert "Gr\\xf6\\xdfe" in done.stdout
