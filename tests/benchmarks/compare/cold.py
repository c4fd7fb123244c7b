"""Whole interpreters: what an import costs, and the first use of what is imported."""

import compileall
import functools
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import tensorwrapper
from tests.benchmarks.compare.measure import Row, Run

STATEMENTS = {
    "import, and Shape": ("import tensorwrapper; tensorwrapper.Shape", 1.3),
    "import, and Tensor": ("import tensorwrapper; tensorwrapper.Tensor", 1.7),
    "import, and selection.View": ("import tensorwrapper; tensorwrapper.selection.View", 2.0),
    "import, and connect": ("import tensorwrapper; tensorwrapper.connect", 3.0),
}
FIRST = {
    "first slice": "import numpy as n, tensorwrapper as t; t.as_tensor(n.ones((3, 4)))[1:].tolist()",
    "first view": (
        "import numpy, tensorwrapper as t; from tensorwrapper import selection as s; "
        "s.concat([numpy.ones((3, 4))] * 2)[1:].compute()"
    ),
    "first message": (
        "import numpy; from tensorwrapper import wire; wire.decode(wire.encode([numpy.ones(3)])).tensors"
    ),
}


def children() -> float:
    """Return the time of the processor that processes of this one took, which have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _interpreter(statement: str) -> Run:
    return functools.partial(
        subprocess.run, [sys.executable, "-c", statement], check=True, capture_output=True
    )


def imports() -> Iterator[Row]:
    """As an installed package is imported: bytecode is there."""
    compileall.compile_dir(Path(tensorwrapper.__file__).parent, quiet=1)
    peer = {"import numpy": _interpreter("import numpy")}
    for work, (statement, times) in STATEMENTS.items():
        limit = ("NumPy and attrs", _interpreter("import numpy, attrs"))
        yield Row(
            "P23", work, _interpreter(statement), peer, times=times, limit=limit, once=True, clock=children
        )
    for work, statement in FIRST.items():
        yield Row("P23", work, _interpreter(statement), peer, once=True, clock=children)


ROWS = {"P23": imports}
