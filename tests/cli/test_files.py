"""The commands about files: called from here, and once as a user runs them."""

import subprocess
import sys

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.cli import ExitCode
from tests.support.commands import run


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "run.tens"
    tensors = {"a": np.arange(6, dtype="f4").reshape(2, 3), "rows": tw.jagged([[1, 2, 3], [4], [5, 6]])}
    tw.save(path, tensors, metadata={"run": 3})
    return path


def test_a_program_of_its_own_says_the_same(path):
    command = [sys.executable, "-m", "tensorwrapper", "inspect", str(path)]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120, encoding="utf-8")

    assert done.stdout == run("inspect", path).stdout


@pytest.mark.parametrize("command", [("inspect",), ("verify",), ("convert", "out.npz")])
def test_a_file_that_is_none_is_said(command, tmp_path):
    (tmp_path / "text.tens").write_text("1 2 3")
    for name, said in (("text.tens", "is not a .tens file"), ("nowhere.tens", "nowhere.tens")):
        words = [tmp_path / word for word in command[1:]]
        done = run(command[0], tmp_path / name, *words)

        assert done.returncode == ExitCode.CANNOT_RUN
        assert said in done.stderr
        assert "Traceback" not in done.stderr


def test_a_command_needs_its_files():
    for arguments in (["inspect"], ["convert", "a.npz"], ["verify"]):
        assert run(*arguments).returncode == ExitCode.USAGE
