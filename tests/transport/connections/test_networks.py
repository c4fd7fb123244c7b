"""Two hosts whose link is slow, is cut and is mended; with TENSORWRAPPER_REQUIRE_NETNS=1 none is skipped."""

import subprocess

import pytest

from tests.support import networks
from tests.support.networks import ended

pytestmark = pytest.mark.slow  # a cut must last until it is noticed

COUNT = 2**20

GIVER = f"""
    import sys
    import numpy as np
    from tensorwrapper.transport import Socket, Transfers

    with Socket("DEALER") as socket:
        socket.connect(sys.argv[1])
        with Transfers(socket, timeout=60) as transfers:
            transfers.send(np.arange({COUNT}), check="crc32")
"""
TAKER = f"""
    import sys, time
    import numpy as np
    from tensorwrapper.transport import Socket, Transfers

    def tell(done, total, said=[]):
        if not said and done > total // 10:
            said.append(print("moving"))

    with Socket("ROUTER") as socket:
        socket.bind(sys.argv[1])
        print("ready")
        with Transfers(socket, timeout=60) as transfers:
            transfer = transfers.accept().into()
            found = transfer.wait(progress=tell)
        print(np.array_equal(found.to_numpy(), np.arange({COUNT})))
        time.sleep(0.5)  # the giver reads the last word
"""
ASKER = """
    import sys
    from tensorwrapper.transport import Socket, Transfers

    with Socket("ROUTER") as socket:
        socket.bind(sys.argv[1])
        print("ready")
        with Transfers(socket, timeout=60) as transfers:
            taken = transfers.accept().into()
            while taken.left > 0.9 * taken.nbytes:
                transfers.advance(timeout=1)
            before = socket.counters.bytes_received
            taken.cancel("enough")
            while transfers.advance(timeout=0.5):
                pass
            print(socket.counters.bytes_received - before)
"""

hosts, started = networks.hosts, networks.started


def test_a_tensor_goes_over_a_link_that_becomes_slow(hosts, started):
    hosts.slow("400mbit")
    taker, giver = started(TAKER, GIVER, 5701)
    assert taker.stdout.readline() == "moving\n"
    hosts.slow("100mbit")
    assert ended(taker) == ["True"]
    assert ended(giver) == []


@pytest.mark.parametrize(("silently", "port"), [(False, 5702), (True, 5703)], ids=["loud", "silent"])
def test_a_tensor_goes_on_when_the_link_is_mended(hosts, started, silently, port):
    hosts.slow("100mbit")
    taker, giver = started(TAKER, GIVER, port)
    assert taker.stdout.readline() == "moving\n"
    hosts.cut(silently=silently)
    with pytest.raises(subprocess.TimeoutExpired):
        # Longer than it takes to be noticed.
        taker.wait(3.5)
    hosts.mend(silently=silently)
    assert ended(taker) == ["True"]
    assert ended(giver) == []


def test_what_is_cancelled_over_a_slow_link_ends_within_the_window(hosts, started):
    hosts.slow("10mbit")
    taker, giver = started(ASKER, GIVER, 5704)
    [came] = ended(taker)
    assert int(came) < 2**20
    giver.communicate(timeout=60)
    assert giver.returncode != 0
