"""Damaged files of every kind: what they say is read, or an error of ours, in little time and memory."""

import pytest

from tests.support.long_runs import IS_LONG
from tests.support.store.damage import KINDS, Trials, in_children

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),
]
COUNT = 1000 if IS_LONG else 60


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_read_or_refused(kind):
    trials = Trials(kind)
    try:
        for number in range(COUNT):
            trials.attempt(number)
    finally:
        trials.close()


@pytest.mark.skipif(not IS_LONG, reason="HDF5 itself may go on for ever: processes of their own take long")
@pytest.mark.parametrize("kind", [kind for kind, case in KINDS.items() if case.kind == "HDF5"])
def test_damage_anywhere_in_hdf5_is_read_or_refused(kind):
    # What is ended here is HDF5's: it goes around in an object header, or follows a pointer to nothing.
    assert len(in_children(kind, COUNT)) < COUNT / 20
