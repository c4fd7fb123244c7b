"""What nobody uses any more goes back to the system."""

import time
from pathlib import Path

import pytest

from tests.support.remote_servers import resident, running
from tests.support.strangers.raw_peers import RawPeer

SERVER = """
    import sys
    import tensorwrapper as tw

    with tw.serve({"x": [1.0, 2.0]}, sys.argv[1]) as server:
        print(server.address, flush=True)
        sys.stdin.read()
"""
MESSAGES = 2**20
"""Empty frames of a message that never ends: 2 MiB, and 68 MiB where they are gathered."""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read in /proc")
def test_what_an_unfinished_message_took_is_given_back_when_its_sender_has_gone():
    """It stayed with the process: 580 MiB of a message of 19."""
    with running(SERVER) as (process, address):
        before = resident(process)
        with RawPeer(address) as peer:
            peer.socket.sendall(b"\x01\x00" * MESSAGES)
            deadline = time.monotonic() + 20
            while resident(process) < before + 2**25 and time.monotonic() < deadline:
                time.sleep(0.01)
            assert resident(process) >= before + 2**25
        deadline = time.monotonic() + 20
        while resident(process) > before + 2**24 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert resident(process) < before + 2**24
