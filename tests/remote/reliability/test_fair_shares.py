"""Who takes nothing of what he asked for holds up nobody who does."""

import contextlib
import gc
import sys
import weakref

import numpy as np
import pytest

import tensorwrapper as tw
from tensorwrapper.errors import PeerUnreachableError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.protocol import _events as ev
from tensorwrapper.remote.protocol._requests import send_request
from tensorwrapper.selection import Outer
from tensorwrapper.transport import Socket
from tests.support.strangers.raw_peers import RawPeer

X = np.arange(2**20, dtype=float).reshape(1024, 1024)
LIMITS = ServeLimits(answer_bytes=2**20, client_bytes=2**21, server_bytes=2**22)
ASKED = [ev.AskRead("x", "", None, (Outer([range(128 * k, 128 * k + 128), range(1024)]),)) for k in range(4)]


@pytest.mark.skipif(sys.platform != "linux", reason="others do not tell who takes bytes: it takes longer")
def test_clients_that_read_nothing_hold_up_no_large_reads():
    """A hundred of them held all memory for three seconds, sixteen after sixteen: 20 s for everybody else."""
    with (
        tw.serve({"x": X}, limits=LIMITS, threads=2) as server,
        contextlib.ExitStack() as stack,
        tw.connect(server.address, timeout=60) as early,
    ):
        there = early["x"]
        assert np.array_equal(there[:512, ::2].compute().to_numpy(), X[:512, ::2])
        for _ in range(8):
            peer = stack.enter_context(RawPeer(server.address))
            for number, request in enumerate(ASKED):
                peer.send(send_request(number, request))
        while server.stats()["in_flight"] < 20:
            assert server.stats()["bytes_held"] <= 2**22
        # Whoever has taken something before does not wait for them: half of the memory is for him.
        assert np.array_equal(there[:, ::2].compute().to_numpy(), X[:, ::2])
        # Who is new waits until some of them are cut off.
        with tw.connect(server.address, timeout=60) as late:
            assert np.array_equal(late["x"][:, 1::2].compute().to_numpy(), X[:, 1::2])
        stats = server.stats()
        assert stats["bytes_held"] <= 2**22
        assert stats["clients_cut"] > 0


def test_frames_to_a_peer_that_has_gone_are_not_kept():
    """The error was a ring with its traceback: 80 MiB stayed until Python looked for rings."""
    gc.collect()
    gc.disable()
    try:
        with Socket("ROUTER") as router:
            router.bind("tcp://127.0.0.1:*")
            large = np.zeros(2**20)
            kept = weakref.ref(large)
            with pytest.raises(PeerUnreachableError):
                router.send([b"head", b"coordinates", memoryview(large)], peer=b"nobody")
            del large
            assert kept() is None
    finally:
        gc.enable()
