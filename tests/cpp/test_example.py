"""The program of the guide, compiled as the guide says, and the headers that it shows."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper import Shape, wire

HEADERS = Path(__file__).parents[2] / "docs" / "cpp"
STANDARD = 400
"""Lines of a header, at most."""


def test_the_program_of_the_guide_sums_rows(tmp_path):
    if (compiler := shutil.which("g++")) is None:
        pytest.skip("there is no g++")
    command = [compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", "-I", HEADERS, HEADERS / "example.cpp"]
    made = subprocess.run([*command, "-o", tmp_path / "example"], capture_output=True, text=True, check=False)
    assert (made.returncode, made.stderr) == (0, "")
    table = tw.from_buffer(np.arange(6.0), Shape(2, 3, origin=(-4, 7)))
    frames = [
        wire.encode([tw.jagged([[1.0, 2.0], [], [3.0]])], seqno=1),
        wire.encode([table, np.asfortranarray(np.eye(3))[::-1]], layout="keep", seqno=2),
        wire.encode([np.arange(3)], seqno=3),
    ]
    stream = b"".join(piece for message in frames for piece in wire.stream_pieces(message))
    run = subprocess.run([tmp_path / "example"], input=stream, capture_output=True, check=False)
    # The third has integers, which the program does not ask for.
    assert (run.returncode, run.stderr) == (2, b"elements of another type\n")
    reader = wire.StreamReader()
    reader.feed(run.stdout)
    answers = list(reader.messages())
    assert [(m.seqno, m.tensors[0].tolist(), m.tensor_metadata[0]) for m in answers] == [
        (1, [3.0, 0.0, 3.0], {"rows": 3}),
        (2, [3.0, 12.0, 1.0, 1.0, 1.0], {"rows": 5}),
    ]


def test_headers_are_short():
    found = {path.name: len(path.read_text("utf-8").splitlines()) for path in HEADERS.rglob("*.hpp")}
    assert len(found) == 8
    assert max(found.values()) <= STANDARD
