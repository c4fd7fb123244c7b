"""How many connections there are at most, and who leaves where there are more."""

import contextlib
import socket as sockets
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorwrapper as tw
from tensorwrapper.errors import ConversionError
from tensorwrapper.remote import ServeLimits
from tensorwrapper.remote.server._connection_limit import excess, most_connections

guests = st.lists(st.integers(0, 30), unique=True)


@given(guests, st.sets(st.integers(0, 30)), st.integers(1, 20))
def test_as_many_leave_as_are_too_many_and_known_ones_last(there, known, most):
    found = excess(there, known, most)
    assert len(found) == max(len(there) - most, 0)
    strangers = [own for own in there if own not in known]
    assert found[: len(strangers)] == strangers[: len(found)]
    settled = [own for own in there if own in known]
    late = found[len(strangers) :]
    assert late == settled[len(settled) - len(late) :]


def test_there_are_no_more_than_the_process_may_have():
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    assert most_connections(10) == 10
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))
        assert most_connections(10**6) == 75
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_who_only_connects_is_cut_and_others_are_served():
    """Connections of those who said nothing had no bound but that of the system."""
    x = np.arange(4.0)
    with tw.serve({"x": x}, limits=ServeLimits(connections=8)) as server, contextlib.ExitStack() as stack:
        remote = stack.enter_context(tw.connect(server.address))
        assert np.array_equal(remote["x"].compute(), x)
        host, _, port = server.address.removeprefix("tcp://").rpartition(":")
        for _ in range(40):
            stack.enter_context(contextlib.closing(sockets.create_connection((host, int(port)))))
        deadline = time.monotonic() + 20
        while server.stats()["connections_cut"] < 33 and time.monotonic() < deadline:
            assert np.array_equal(remote["x"].compute(), x)
        assert server.stats()["connections_cut"] >= 33
        with tw.connect(server.address) as late:
            assert np.array_equal(late["x"].compute(), x)


def test_limits_are_an_object_of_limits():
    with pytest.raises(ConversionError, match=r"limits must be .*ServeLimits\(...\), not 3$"):
        tw.serve({"x": np.zeros(3)}, limits=3)
