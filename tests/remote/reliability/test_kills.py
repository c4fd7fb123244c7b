"""Servers that are killed and started again, clients that are killed or frozen."""

import logging
import random
import signal
import threading
import time

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TransportTimeoutError, VersionChangedError
from tests.support.long_runs import IS_LONG
from tests.support.remote_servers import bound, end, resident, running, start

_log = logging.getLogger(__name__)
KILLS = 100 if IS_LONG else 3
FILES = """
    import sys, time
    import tensorwrapper as tw

    with tw.serve(sys.argv[2], sys.argv[1]) as server:
        print(server.address, flush=True)
        sys.stdin.read()
"""
GREEDY = """
    import sys
    from tensorwrapper.remote.protocol._events import AskRead
    from tensorwrapper.remote.protocol._requests import send_request
    from tensorwrapper.selection import Runs
    from tensorwrapper.transport import Socket

    with Socket("DEALER", linger=0) as socket:
        socket.connect(sys.argv[1])
        for number in range(60):
            socket.send(send_request(number, AskRead("box", "", None, (Runs(0, 2**18),))))
        print("asked", flush=True)
        sys.stdin.read()
"""
X = np.arange(2_000_000.0).reshape(2000, 1000)


@pytest.fixture
def path(tmp_path):
    tw.save(tmp_path / "run.tens", {"x": X})
    return tmp_path / "run.tens"


@pytest.mark.slow  # each start of a server is a start of Python
def test_reads_go_on_where_a_killed_server_is_started_again(path):
    rng = random.Random(5)
    process, address = start(FILES, "tcp://127.0.0.1:*", path)
    stop = threading.Event()

    def kill():
        nonlocal process
        for _ in range(KILLS):
            time.sleep(rng.uniform(0.02, 0.8))
            end(process)
            process, _ = start(FILES, address, path)
        stop.set()

    killer = threading.Thread(target=kill)
    killer.start()
    reads = 0
    try:
        with tw.connect(address, timeout=60) as remote:
            there = remote["x"]
            while not stop.is_set() or not reads:
                assert np.array_equal(there.compute(), X)
                reads += 1
    finally:
        killer.join()
        end(process)
    _log.info("%d kills, %d whole reads", KILLS, reads)
    assert reads


@pytest.mark.slow  # two starts of a server
def test_what_was_in_memory_is_another_tensor_after_a_restart():
    process, address = start()
    with tw.connect(address, timeout=60) as remote:
        there = remote["cube"][3]
        end(process)
        process, _ = start(address=address)
        try:
            with pytest.raises(VersionChangedError):
                there.compute()
            assert np.array_equal(remote["cube"][3, 4].compute(), np.arange(100) + 3 * 6000 + 400)
        finally:
            end(process)


@pytest.mark.slow  # a server is started, and then waited for in vain
def test_a_server_that_stays_away_is_an_error_within_the_time_allowed():
    process, address = start()
    with tw.connect(address, timeout=1) as remote:
        there = remote["cube"][3]
        end(process)
        with pytest.raises(TransportTimeoutError):
            there.compute()
    with pytest.raises(TransportTimeoutError):
        tw.connect(address, timeout=1)


@pytest.mark.slow  # processes that are started only to be ended
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_clients_that_end_or_freeze_within_a_read_cost_little_and_hold_up_nobody(how):
    with running() as (server, address), tw.connect(address, timeout=30) as remote:
        there = remote["box"]
        assert there[3, 4].compute().item() == 6004
        before = resident(server)
        lost = [start(GREEDY, address)[0] for _ in range(8 if IS_LONG else 2)]
        try:
            for process in lost:
                process.send_signal(how)
            for k in range(50):
                assert there[k, 4].compute().item() == 2000 * k + 4
            assert resident(server) - before < len(lost) * 16 * 2**20 + 2**25
        finally:
            for process in lost:
                process.send_signal(signal.SIGCONT)
            end(*lost)


def test_a_server_that_drains_answers_what_it_has_and_clients_go_on_at_the_next(path):
    first = tw.serve(path)
    address, found = first.address, []
    begun = threading.Barrier(5)

    def read(k):
        with tw.connect(address, timeout=30) as remote:
            there = remote["x"]
            begun.wait()
            found.extend([np.array_equal(there[k::4].compute(), X[k::4]) for _ in range(10)])

    readers = [threading.Thread(target=read, args=(k,)) for k in range(4)]
    for reader in readers:
        reader.start()
    begun.wait()
    first.close()
    with bound(lambda: tw.serve(path, address)):
        for reader in readers:
            reader.join()
    assert found == [True] * 40
