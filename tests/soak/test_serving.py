"""The short form of what ``python -m tests.soak --only servers`` does for as long as one likes."""

import sys

import pytest

from tests.soak.serving import ServingSoak

pytestmark = [
    pytest.mark.slow,  # processes that read for a moment
    pytest.mark.skipif(sys.platform != "linux", reason="memory is read in /proc"),
]


def test_what_is_read_of_a_server_that_is_killed_and_changed_is_exact(tmp_path):
    with ServingSoak(tmp_path, 1) as soak:
        soak.round(1, clients=2, seconds=2, kills=1)
    counts = soak.counts
    assert (counts["wrong"], counts["mixed"], counts["kills"], counts["rounds"]) == (0, 0, 1, 1)
    assert counts["reads"] >= 4
