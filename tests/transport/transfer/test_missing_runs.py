"""Runs that are missing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorwrapper.errors import RemoteProtocolError
from tensorwrapper.transport import TransferReceiver, TransferSender
from tensorwrapper.transport.transfer._missing_runs import Missing
from tests.support.transport.transfers import read, skeleton


def test_holes_are_bounded():
    machine = TransferReceiver(credit=2**16, chunk=64)
    giver = TransferSender(skeleton(np.zeros(2**18, "i1")), 7, "k", credit=2**16, chunk=64)
    machine.receive(read(giver.offer()))
    machine.grant(2**16, 64)
    for number in range(2**16 - 1):
        machine.came(0, 4 * number + 1, 1, 1 << 32 | number)
    with pytest.raises(RemoteProtocolError) as caught:
        machine.came(0, 2**18 - 3, 1, 1 << 32 | 2**16 - 1)
    assert caught.value.reason == "limit"


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(-1, 60)), max_size=40), st.integers(0, 60))
def test_runs_are_those_of_a_set_of_numbers(runs, count):
    missing, model = Missing(count), set(range(count))
    for first, length in runs:
        wanted = set(range(first, first + length))
        fits = length > 0 and wanted <= model
        assert missing.remove(first, length) == fits
        if fits:
            model -= wanted
        assert missing.count == len(model)
        room = missing.room(first)
        assert set(range(first, first + room)) <= model
        assert first + room not in model
    assert {k for first, length in missing.runs() for k in range(first, first + length)} == model
