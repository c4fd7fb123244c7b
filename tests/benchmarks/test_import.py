"""``import tensorwrapper; tensorwrapper.Shape`` against ``import numpy``: whole interpreters, cold."""

import subprocess
import sys

import pytest

STATEMENTS = {
    "tensorwrapper": "import tensorwrapper; tensorwrapper.Shape",
    "numpy": "import numpy",
    "nothing": "pass",
}


@pytest.mark.parametrize("name", STATEMENTS)
def test_import(benchmark, name):
    command = [sys.executable, "-c", STATEMENTS[name]]
    benchmark.group = "import"
    benchmark.pedantic(subprocess.run, (command,), {"check": True, "timeout": 60}, rounds=20, warmup_rounds=2)
