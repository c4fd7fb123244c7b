"""Standard streams as a shell may leave them."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode


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
            done.stderr
            == f"tensorwrapper {command}: the report cannot be written: [Errno 28] No space left on device\n"
        )


def test_errors_cli_closed_streams(path, tmp_path):
    done = shell('tw inspect "$1" >&-', path)
    assert (done.returncode, done.stdout) == (ExitCode.CANNOT_RUN, "")
    assert done.stderr == "tensorwrapper inspect: the report cannot be written: stdout is closed\n"
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
