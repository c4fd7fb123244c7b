"""Clients that ask for much, vanish and come back: others read on, and nothing of them is left."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.remote import ServeLimits

LOAD = Path(__file__).parents[2] / "benchmarks" / "remote" / "load.py"
CLIENTS, SECONDS, CONNECTIONS = 20, 3, 40


@pytest.mark.slow  # the flood takes its time
def test_who_floods_and_vanishes_leaves_others_exact_and_nothing_behind():
    x = np.zeros((3840, 2048))
    x[::7, ::5] = 3
    with (
        tw.serve({"x": x, "y": np.arange(4.0)}, limits=ServeLimits(connections=CONNECTIONS)) as server,
        tw.connect(server.address, timeout=60) as early,
    ):
        words = [sys.executable, str(LOAD), "flood", server.address, *map(str, (CLIENTS, SECONDS, 0))]
        reads = 0
        with subprocess.Popen(words) as flood:
            while flood.poll() is None:
                part = early["x"][128 * (reads % 20) :][:256]
                assert np.array_equal(part.compute(), x[128 * (reads % 20) :][:256])
                with tw.connect(server.address, timeout=60) as late:
                    assert late["y"].tolist() == [0, 1, 2, 3]
                reads += 1
        assert flood.returncode == 0
        assert reads
        deadline = time.monotonic() + 30
        while server.stats()["in_flight"] + server.stats()["bytes_held"] and time.monotonic() < deadline:
            early.health()
        stats = server.stats()
        assert stats["in_flight"] == stats["bytes_held"] == 0
        assert stats["requests"] > CLIENTS
