"""A server and its client on two hosts, whose link is cut and mended, slow and left within a read."""

import subprocess

import pytest

from tests.support import networks
from tests.support.networks import ended

pytestmark = pytest.mark.slow  # a cut must last until it is noticed

COUNT = 2**20

SERVER = f"""
    import sys, time
    import numpy as np
    import tensorwrapper as tw

    with tw.serve({{"x": np.arange({COUNT}), "y": np.arange({COUNT}) % 3}}, sys.argv[1]):
        print("ready", flush=True)
        time.sleep(300)
"""
READER = f"""
    import sys
    import numpy as np
    import tensorwrapper as tw

    with tw.connect(sys.argv[1], timeout=40, compress=False) as remote:
        there, half = remote["x"], {COUNT} // 8
        out = np.empty({COUNT}, np.int64)
        there[:half].compute(out[:half])
        print("moving", flush=True)
        there[half:].compute(out[half:])
        print(np.array_equal(out, np.arange({COUNT})))
"""
CANCELLER = """
    import sys, threading, time
    import numpy as np
    import tensorwrapper as tw
    from tensorwrapper.errors import ComputationCancelledError

    with tw.connect(sys.argv[1], timeout=40, compress=False) as remote:
        there = remote["x"]
        there[:40_000].compute()  # how slow the link is
        cancel = threading.Event()
        timer = threading.Timer(0.5, cancel.set)
        timer.start()
        try:
            there.compute(cancel=cancel)
        except ComputationCancelledError:
            before = remote.counters.bytes_received
            print(there[5].compute().item(), flush=True)
            # What was on its way comes before it.
            print(remote.counters.bytes_received - before)
        timer.join()
"""
PACKER = """
    import sys
    import numpy as np
    import tensorwrapper as tw

    with tw.connect(sys.argv[1], timeout=40) as remote:
        there = remote["y"]
        found = np.asarray(there.compute())
        print(np.array_equal(found, np.arange(len(found)) % 3))
        print(remote.counters.bytes_received)
"""

hosts, started = networks.hosts, networks.started


def test_a_read_goes_on_when_the_link_is_mended(hosts, started):
    hosts.slow("50mbit")
    _, reader = started(SERVER, READER, 5712)
    assert reader.stdout.readline() == "moving\n"
    hosts.cut(silently=True)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            # Longer than it takes to be noticed.
            reader.wait(4.0)
    finally:
        hosts.mend(silently=True)
    assert ended(reader) == ["True"]


def test_what_is_cancelled_over_a_slow_link_leaves_little_behind(hosts, started):
    hosts.slow("10mbit")
    value, came = ended(started(SERVER, CANCELLER, 5714)[1])
    assert value == "5"
    assert int(came) < 2**18


def test_numbers_come_packed_over_a_slow_link(hosts, started):
    hosts.slow("20mbit")
    right, came = ended(started(SERVER, PACKER, 5715)[1])
    assert right == "True"
    assert int(came) < 8 * COUNT / 2
