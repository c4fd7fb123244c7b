"""`.ci/long` runs for hours; what it calls is there, and works in short."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / ".ci" / "long"


def test_the_script_of_long_runs_says_what_it_knows():
    done = subprocess.run([str(SCRIPT), "x"], capture_output=True, text=True, timeout=60, check=False)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "properties, fuzz, soaks, benchmarks or all, not x\n"
    text = SCRIPT.read_text(encoding="utf-8")
    for module in re.findall(r"-m (tests[\w.]*)", text):
        assert importlib.util.find_spec(module)
    assert "HYPOTHESIS_PROFILE=nightly" in text
    assert (ROOT / "tests" / "benchmarks").is_dir()


@pytest.mark.slow
@pytest.mark.skipif(not importlib.util.find_spec("pytest_benchmark"), reason="needs the group bench")
def test_benchmarks_run():
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "tests/benchmarks/shape/test_labels_bench.py",
            "--benchmark-disable",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
