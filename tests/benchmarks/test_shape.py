"""A small smooth shape: build, slice, compare, hash; the peer is TensorStore's IndexDomain."""

import pytest
import tensorstore as ts

from tensorwrapper import Shape

OURS = Shape(4, 5, 6)
SAME = Shape(4, 5, 6)
THEIRS = ts.IndexDomain(shape=[4, 5, 6])
THEIR_SAME = ts.IndexDomain(shape=[4, 5, 6])

CASES = {
    "build": {
        "tensorwrapper": lambda: Shape(4, 5, 6),
        "tensorstore": lambda: ts.IndexDomain(shape=[4, 5, 6]),
    },
    "slice": {
        "tensorwrapper": lambda: OURS[1:3, :, 2:5],
        # Indexing a domain by intervals goes through a dimension expression.
        "tensorstore": lambda: THEIRS[ts.d[:][1:3, :, 2:5]],
    },
    "equality": {"tensorwrapper": lambda: OURS == SAME, "tensorstore": lambda: THEIRS == THEIR_SAME},
    "hash": {"tensorwrapper": lambda: hash(OURS)},  # TensorStore's domains have none
}


@pytest.mark.parametrize(("group", "name"), [(g, n) for g in CASES for n in CASES[g]])
def test_small_smooth_shape(benchmark, group, name):
    benchmark.group = f"small smooth shape: {group}"
    benchmark(CASES[group][name])
