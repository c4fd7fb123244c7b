"""A server in a process of its own: selected from, frozen, killed, and started again."""

import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import TransportTimeoutError, VersionChangedError

SERVER = """
    import sys, time
    import numpy as np
    import tensorwrapper as tw

    address, path = sys.argv[1:]
    with tw.serve(path, address) as server:
        print(server.address, flush=True)
        time.sleep(300)
"""
ROWS = tw.from_buffer(np.arange(4950), tw.Shape.jagged(np.arange(100)))


@pytest.fixture
def start(tmp_path):
    tw.save(tmp_path / "run.tens", {"x": np.arange(1e6).reshape(1000, 1000), "rows": ROWS})
    started = []

    def begin(address="tcp://127.0.0.1:*"):
        # A client that looks for its server may hold the port of one that is gone for an instant.
        for _ in range(20):
            process = subprocess.Popen(
                [sys.executable, "-c", textwrap.dedent(SERVER), address, str(tmp_path / "run.tens")],
                stdout=subprocess.PIPE,
                text=True,
            )
            started.append(process)
            if said := process.stdout.readline().strip():
                break
        return process, said

    yield begin
    for process in started:
        process.send_signal(signal.SIGCONT)
        process.kill()
        process.communicate()


def test_another_process_is_selected_from(start):
    _, address = start()
    with tw.connect(address) as remote:
        assert remote["x"][5:7, ::500].compute().tolist() == [[5000.0, 5500.0], [6000.0, 6500.0]]
        assert remote["rows"][3].compute().tolist() == [3, 4, 5]
        before = remote.counters.bytes_received
        plan = remote["x"][10:20].plan()
        assert np.array_equal(remote["x"][10:20].compute(), np.arange(1e4, 2e4).reshape(10, 1000))
        assert (
            plan.bytes_received
            <= remote.counters.bytes_received - before
            <= 1.02 * plan.bytes_received + 4096
        )


def test_a_client_goes_on_when_a_server_that_was_killed_is_there_again(start):
    process, address = start()
    with tw.connect(address, timeout=30) as remote:
        view = remote["x"][3]
        assert view.compute()[1].item() == 3001
        process.kill()
        process.wait(30)
        start(address)
        assert view.compute()[2].item() == 3002
        assert remote["rows"][99][-1:].compute().tolist() == [4949]


def test_another_file_after_a_restart_is_never_mixed_with_the_first(start, tmp_path):
    process, address = start()
    with tw.connect(address, timeout=30) as remote:
        view = remote["x"][3]
        process.kill()
        process.wait(30)
        tw.save(tmp_path / "run.tens", {"x": np.zeros((1000, 1000))})
        start(address)
        with pytest.raises(VersionChangedError):
            view.compute()
        assert remote["x"][3].compute()[1].item() == 0


def test_a_server_that_is_frozen_is_an_error_in_time_and_goes_on_when_it_wakes(start):
    process, address = start()
    with tw.connect(address, timeout=1) as remote:
        view = remote["x"][3]
        process.send_signal(signal.SIGSTOP)
        # Its other threads go on until the one that takes the signal has its turn.
        assert os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1])
        with pytest.raises(TransportTimeoutError):
            view.compute()
        process.send_signal(signal.SIGCONT)
        assert view.compute()[1].item() == 3001
