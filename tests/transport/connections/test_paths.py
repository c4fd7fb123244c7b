"""The files at which sockets listen by ipc: gone with the socket."""

import os
import sys

import pytest

from tensorwrapper import wire
from tensorwrapper.errors import TransportError
from tensorwrapper.transport import Socket

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no ipc")

FRAMES = wire.encode([[1, 2, 3]])


def test_a_file_of_ipc_is_taken_away_unless_it_is_somebody_elses(tmp_path):
    path = tmp_path / "here"
    with Socket("PULL") as first:
        first.bind(f"ipc://{path}")
        assert path.exists()
    assert not path.exists()
    with Socket("PULL") as first:
        first.bind(f"ipc://{path}")
        with Socket("PULL") as second, Socket("PUSH") as source:
            with pytest.raises(TransportError, match="in use"):
                second.bind(f"ipc://{path}")
            source.connect(f"ipc://{path}")
            source.send(FRAMES)
            assert first.receive().tensors
        with Socket("PULL") as second, Socket("PUSH") as source:
            path.unlink()
            second.bind(f"ipc://{path}")
            first.close()
            assert path.exists()
            source.connect(f"ipc://{path}")
            source.send(FRAMES)
            assert second.receive().tensors
    assert not path.exists()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_child_of_fork_takes_nothing_away(tmp_path):
    path = tmp_path / "here"
    with Socket("PULL") as socket:
        socket.bind(f"ipc://{path}")
        child = os.fork()
        if not child:
            socket.close()
            os._exit(0)
        os.waitpid(child, 0)
        assert path.exists()
    assert not path.exists()


def test_a_file_that_somebody_took_away_is_no_matter(tmp_path):
    path = tmp_path / "here"
    with Socket("PULL") as socket:
        socket.bind(f"ipc://{path}")
        path.unlink()


def test_a_name_that_is_no_file():
    with Socket("PULL") as socket:
        socket.bind(f"ipc://@tensorwrapper-{os.getpid()}")
