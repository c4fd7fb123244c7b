"""``import tensorwrapper; tensorwrapper.Shape`` against ``import numpy``: whole interpreters, cold."""

import compileall
import subprocess
import sys
from pathlib import Path

import pytest

import tensorwrapper

STATEMENTS = {
    "tensorwrapper": "import tensorwrapper; tensorwrapper.Shape",
    "numpy": "import numpy",
    "nothing": "pass",
}


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    # As an installed package is; an interpreter that writes no bytecode would compile ours in every run.
    compileall.compile_dir(Path(tensorwrapper.__file__).parent, quiet=1)


@pytest.mark.parametrize("name", STATEMENTS)
def test_import(benchmark, name):
    command = [sys.executable, "-c", STATEMENTS[name]]
    benchmark.group = "import"
    # Without a timeout: waiting with one asks every 50 ms, which is half of what is measured.
    benchmark.pedantic(subprocess.run, (command,), {"check": True}, rounds=20, warmup_rounds=2)
