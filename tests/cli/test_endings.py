"""How commands end when the shell is unkind: streams closed or full, no descriptors, signals."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tw.save(path, {f"tensor {k:04}": np.arange(3) for k in range(900)})
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
        assert "tensors: 900" in done.stdout
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


@pytest.mark.parametrize("limit", [8, 16, 24])
def test_errors_cli_few_descriptors(path, limit):
    done = shell(f'ulimit -n {limit}; tw inspect "$1"', path)
    assert done.returncode == ExitCode.OK, done.stderr
    done = shell(f"ulimit -n {limit}; tw demo --timeout 20")
    last = done.stderr.splitlines()[-1]
    if done.returncode != ExitCode.OK:
        assert done.returncode == ExitCode.CANNOT_RUN
        assert last.startswith("tensorwrapper demo: ")
        assert "Traceback" not in done.stderr


def children(process):
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == process and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


def is_running(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs to see processes")
@pytest.mark.parametrize(
    "number", [signal.SIGTERM, signal.SIGKILL, signal.SIGINT], ids=lambda number: number.name
)
def test_errors_cli_a_demo_that_is_ended_ends_its_second_process(number):
    demo = subprocess.Popen(
        [sys.executable, "-m", "tensorwrapper", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with demo:
        until, found = time.monotonic() + 60, []
        while not found and demo.poll() is None and time.monotonic() < until:
            found = children(demo.pid)
        assert found
        demo.send_signal(number)
        started = time.monotonic()
        _, said = demo.communicate(timeout=60)
        while any(is_running(process) for process in found) and time.monotonic() < started + 30:
            time.sleep(0.02)
        assert time.monotonic() - started < 5
    assert "Traceback" not in said
    code = {signal.SIGTERM: ExitCode.TERMINATED, signal.SIGINT: ExitCode.INTERRUPTED}
    assert demo.returncode == code.get(number, -number)


def test_errors_cli_a_conversion_that_is_ended_leaves_nothing(tmp_path):
    path = tmp_path / "large.tens"
    tw.save(path, {"x": np.zeros(2**26)})
    process = subprocess.Popen(
        [sys.executable, "-m", "tensorwrapper", "convert", str(path), str(tmp_path / "out.npz")],
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        until = time.monotonic() + 60
        while not list(tmp_path.glob(".out*")) and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate(timeout=60)
    if process.returncode:
        assert (process.returncode, said) == (ExitCode.TERMINATED, "terminated\n")
        assert not (tmp_path / "out.npz").exists()
    assert not list(tmp_path.glob(".out*"))
