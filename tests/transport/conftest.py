"""Pairs of sockets that are connected, by every road."""

import itertools

import pytest

from tensorwrapper.transport import Socket

_NUMBERS = itertools.count()


def address_for(road, folder):
    """Return an address to listen at that nobody else has."""
    if road == "tcp":
        return "tcp://127.0.0.1:*"
    return f"ipc://{folder}/s{next(_NUMBERS)}" if road == "ipc" else f"inproc://pair-{next(_NUMBERS)}"


@pytest.fixture
def pair(tmp_path):
    """Make two connected sockets, closed at the end: the first kind listens, the second connects."""
    opened = []

    def make(listening, connecting, road="tcp", **options):
        left, right = Socket(listening, **options), Socket(connecting, **options)
        opened.extend((left, right))
        right.connect(left.bind(address_for(road, tmp_path)))
        return left, right

    yield make
    for socket in opened:
        socket.close()


@pytest.fixture
def listening(tmp_path):
    """A socket that listens, for transfers, and its address."""
    with Socket("ROUTER") as socket:
        yield socket, socket.bind(f"ipc://{tmp_path}/s")
