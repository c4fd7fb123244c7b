"""The short form of what ``python -m tests.soak`` does for as long as one likes."""

import sys

import pytest

from tests.soak.transfers import Soak

pytestmark = [
    pytest.mark.slow,  # a process for each trouble
    pytest.mark.skipif(sys.platform == "win32", reason="processes are stopped by signals"),
]


@pytest.mark.parametrize("seed", range(4), ids=["dense", "strided", "jagged", "strings"])
def test_what_is_sent_through_troubles_is_exact(tmp_path, seed):
    soak = Soak(tmp_path, seed)
    soak.round(seed, troubles=2)
    assert soak.counts["transfers"] == 1
    assert sum(soak.counts.values()) >= 1
