"""The second process: it is met, given up, and always ended."""

import os
import re
import subprocess
import sys

import pytest

from tensorwrapper.cli import ExitCode
from tests.support.commands import run


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does, in an interpreter of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tensorwrapper", *arguments],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_second_process_that_dies_is_said(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # which the second process gets
    # A module that ends the second process, and only it, as soon as it starts.
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nif '_far_side' in ' '.join(sys.orig_argv): sys.exit('no memory left')\n",
        encoding="utf-8",
    )
    done = run("demo", "--timeout", "20")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "died with exit code" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_process_that_dies_at_work_is_said(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # which the second process gets
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, threading, os\n"
        "if '_far_side' in ' '.join(sys.orig_argv):\n"
        "    import tensorwrapper.cli.demo._demo_work as work\n"
        "    work.select_tiles = lambda *a: os._exit(7)\n",
        encoding="utf-8",
    )
    done = run("demo", "--timeout", "20")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "died with exit code 7" in done.stderr


def test_a_second_process_that_hangs_is_given_up(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)  # which the second process gets
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\nif '_far_side' in ' '.join(sys.orig_argv): time.sleep(100)\n", encoding="utf-8"
    )
    done = run("demo", "--timeout", "1")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "did not answer within 1.0 s" in done.stderr


def test_the_second_process_may_be_met_at_a_path(tmp_path):
    done = run("demo", "--address", f"ipc://{tmp_path}/meeting")

    assert done.returncode == ExitCode.OK, done.stderr


def test_no_process_is_left_behind():
    done = program("--verbose", "demo")
    (started,) = re.findall(r"process (\d+) listens to tcp://", done.stderr)

    assert done.returncode == ExitCode.OK
    with pytest.raises(ProcessLookupError):
        os.kill(int(started), 0)
