"""Kinds of file are told by the ends of names, also by two of them."""

from pathlib import Path

import pytest

from tensorwrapper.store.formats._kinds import KINDS as OTHERS
from tensorwrapper.store.wirecell._kinds import KINDS, SETS, end_of, is_foreign, kind_of


@pytest.mark.parametrize("end", KINDS)
@pytest.mark.parametrize("turn", [str.lower, str.upper])
def test_ends_say_the_kind(end, turn):
    path = Path(f"run.3{turn(end)}")
    assert (end_of(path), is_foreign(path)) == (end, True)
    assert kind_of(path) is KINDS[end]


def test_all_others_are_there():
    assert set(KINDS) == {*OTHERS, *SETS}
    assert {end for end in OTHERS if KINDS[end] is not OTHERS[end]} == {".npz", ".h5", ".hdf5"}


@pytest.mark.parametrize("name", ["a.tens", "a.gz", "a.bz2", "tar", "tar.gz", "a.tar.xz", "a.tar.tens"])
def test_other_ends_are_those_of_tens_files(name):
    assert not is_foreign(Path(name))
