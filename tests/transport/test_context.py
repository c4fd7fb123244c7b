"""What this build of ZeroMQ can do: kinds of sockets, and those that would end the process."""

import subprocess
import sys

import pytest
import zmq

from tensorwrapper.errors import (
    UnsupportedSocketError,
)
from tensorwrapper.transport import Socket

KINDS = ["PUSH", "PULL", "PUB", "SUB", "REQ", "REP", "PAIR", "DEALER", "ROUTER"]


without_drafts = pytest.mark.skipif(zmq.DRAFT_API, reason="this ZeroMQ has its draft API")


@without_drafts
@pytest.mark.parametrize("kind", ["CLIENT", "SERVER"])
def test_draft_sockets_are_refused(kind):
    with pytest.raises(UnsupportedSocketError, match="DEALER and ROUTER"):
        Socket(kind)


@pytest.mark.parametrize("kind", ["XPUB", "XSUB", "STREAM", "RADIO", "SCATTER", "push", "", None, 8])
def test_there_are_no_other_kinds(kind):
    with pytest.raises(UnsupportedSocketError, match="unknown kind of socket") as caught:
        Socket(kind)
    assert all(known in str(caught.value) for known in KINDS)
    assert "CLIENT" not in str(caught.value)


SURVIVE = """
from tensorwrapper.errors import UnsupportedSocketError
from tensorwrapper.transport import Socket
for kind in ("CLIENT", "SERVER", "GATHER", "DISH"):
    try:
        Socket(kind)
    except UnsupportedSocketError:
        print(kind, "refused")
with Socket("PULL") as sink, Socket("PUSH") as source:
    source.connect(sink.bind("tcp://127.0.0.1:*"))
print("alive")
"""


@without_drafts
def test_the_process_survives_draft_sockets():
    done = subprocess.run(
        [sys.executable, "-c", SURVIVE], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    refused = [f"{kind} refused" for kind in ("CLIENT", "SERVER", "GATHER", "DISH")]
    assert done.stdout.splitlines() == [*refused, "alive"]
