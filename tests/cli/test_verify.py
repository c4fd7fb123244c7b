"""The command verify: sound files, and damaged ones."""

import json

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


def test_verify_of_a_sound_file(path):
    done = run("verify", path)

    assert done.returncode == ExitCode.OK, done.stderr
    assert "no problems" in done.stdout
    assert "records: 4" in done.stdout


def test_verify_of_a_damaged_file(path):
    raw = bytearray(path.read_bytes())
    raw[-100] ^= 1
    path.write_bytes(raw)
    done = run("verify", path)
    report = json.loads(run("verify", "--json", path).stdout)

    assert done.returncode == ExitCode.CHECK_FAILED
    assert "checksum that does not fit" in done.stdout
    assert report["ok"] is False
    assert "checksum" in report["entries"][0]["problem"]
