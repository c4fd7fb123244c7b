"""The connection to a client, as the system sees it."""

import os
import socket
import sys

import pytest

from tensorwrapper.remote.server._client_sockets import Line


@pytest.fixture
def pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        ours = socket.create_connection(listener.getsockname())
        theirs, _ = listener.accept()
    with ours, theirs:
        yield ours, theirs


def test_it_tells_what_was_taken_and_ends_the_connection(pair):
    ours, theirs = pair
    line = Line.of(ours.fileno())
    before = line.taken()
    ours.sendall(b"1" * 1000)
    assert theirs.recv(1000, socket.MSG_WAITALL) == b"1" * 1000
    if sys.platform == "linux":
        assert line.taken() >= before + 1000
    assert line.cut()
    assert theirs.recv(1) == b""


def test_another_one_under_its_number_is_left_alone(pair):
    ours, theirs = pair
    line = Line.of(ours.fileno())
    with socket.socket() as other:
        number = os.dup(ours.fileno())
        os.dup2(other.fileno(), ours.fileno())
        assert line.taken() is None
        assert not line.cut()
        theirs.sendall(b"2")
        with socket.socket(fileno=number) as kept:
            assert kept.recv(1) == b"2"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_of_a_path_it_tells_whether_what_waits_changes():
    left, right = socket.socketpair()
    with left, right:
        line = Line.of(left.fileno())
        left.sendall(b"1" * 5000)
        first = line.taken()
        assert line.taken() == first
        assert right.recv(5000, socket.MSG_WAITALL)
        assert line.taken() > first


def test_what_is_no_connection_has_none():
    assert Line.of(None) is None
    assert Line.of(2**20) is None
    with open(os.devnull) as file:  # noqa: PTH123 - its descriptor
        assert Line.of(file.fileno()) is None
    left, right = socket.socketpair()
    line = Line.of(left.fileno())
    left.close()
    assert line.taken() is None
    assert not line.cut()
    right.close()


@pytest.mark.skipif(sys.platform != "linux", reason="others tell it when something is sent")
def test_it_tells_that_the_other_side_has_closed(pair):
    ours, theirs = pair
    line = Line.of(ours.fileno())
    theirs.sendall(b"1")
    assert not line.is_gone
    theirs.close()
    # What it has sent before is there still.
    assert line.is_gone
    assert ours.recv(2) == b"1"


def test_a_connection_whose_number_is_nobodys_or_another_ones_is_gone(pair):
    ours, theirs = pair
    line = Line.of(ours.fileno())
    with socket.socket() as other:
        os.dup2(other.fileno(), ours.fileno())
        assert line.is_gone
    number = ours.detach()
    os.close(number)
    assert line.is_gone
    theirs.close()
