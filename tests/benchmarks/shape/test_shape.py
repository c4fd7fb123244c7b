"""A small smooth shape: build, slice, compare, hash; the peer is TensorStore's IndexDomain."""

import operator
from functools import partial

import pytest
import tensorstore as ts

from tensorwrapper import Shape

OURS = Shape(4, 5, 6)
SAME = Shape(4, 5, 6)
THEIRS = ts.IndexDomain(shape=[4, 5, 6])
THEIR_SAME = ts.IndexDomain(shape=[4, 5, 6])

KEY = (slice(1, 3), slice(None), slice(2, 5))
# Functions with their arguments, not closures: a call more would weigh as much as what is measured.
CASES = {
    "build": {
        "tensorwrapper": partial(Shape, 4, 5, 6),
        "tensorstore": partial(ts.IndexDomain, shape=[4, 5, 6]),
    },
    "slice": {
        "tensorwrapper": partial(operator.getitem, OURS, KEY),
        # A domain is sliced by a dimension expression, made beforehand: the best case for it.
        "tensorstore": partial(operator.getitem, THEIRS, ts.d[:][KEY]),
    },
    "equality": {
        "tensorwrapper": partial(operator.eq, OURS, SAME),
        "tensorstore": partial(operator.eq, THEIRS, THEIR_SAME),
    },
    "hash": {"tensorwrapper": partial(hash, OURS)},  # TensorStore's domains have none
}


@pytest.mark.parametrize(("group", "name"), [(g, n) for g in CASES for n in CASES[g]])
def test_small_smooth_shape(benchmark, group, name):
    benchmark.group = f"small smooth shape: {group}"
    # Many calls a round: one alone is about as long as reading the clock.
    benchmark.pedantic(CASES[group][name], rounds=200, iterations=1000, warmup_rounds=5)
