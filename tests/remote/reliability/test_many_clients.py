"""Sixty-four clients in processes of their own read all kinds of selections at a time; a minute by night."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.long_runs import IS_LONG
from tests.support.remote_servers import resident, running

_log = logging.getLogger(__name__)
ROOT = Path(__file__).parents[3]
PROCESSES, CLIENTS, SECONDS = 4, 16, 60 if IS_LONG else 2


@pytest.mark.slow  # 64 clients take their time to connect
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read in /proc")
def test_every_answer_is_exact_and_memory_stays_as_it_is():
    with running() as (server, address):
        readers = [
            subprocess.Popen(
                [
                    sys.executable,
                    "-m",
                    "tests.support.remote_servers",
                    *map(str, (address, CLIENTS, SECONDS, 1000 * number)),
                ],
                stdout=subprocess.PIPE,
                text=True,
                cwd=ROOT,
            )
            for number in range(PROCESSES)
        ]
        before = None
        while any(own.poll() is None for own in readers):
            try:
                readers[0].wait(max(SECONDS / 6, 2))
            except subprocess.TimeoutExpired:
                # The first look is when pools are warm.
                before = resident(server) if before is None else before
        found = [tuple(map(int, own.communicate()[0].split())) for own in readers]
        after = resident(server)
    assert [own[0] for own in found] == [CLIENTS] * PROCESSES
    assert sum(own[2] for own in found) == 0
    assert sum(own[1] for own in found) >= 5 * CLIENTS * PROCESSES
    reads = sum(own[1] for own in found)
    _log.info("%d reads; %s bytes grown", reads, before and after - before)
    assert before is None or after - before < 64 * 2**20
