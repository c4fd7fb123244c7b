"""Set algebra on small boxes, beside TensorStore's index domains; and a box without a thousand others."""

from functools import partial

import pytest
import tensorstore as ts

from tensorwrapper import Shape

LEFT, RIGHT = Shape(4, 5, 6, origin=(1, 0, 2)), Shape(3, 3, 9)
THEIR_LEFT = ts.IndexDomain(inclusive_min=[1, 0, 2], shape=[4, 5, 6])
THEIR_RIGHT = ts.IndexDomain(shape=[3, 3, 9])
NAMED = LEFT.named("i", "j", "k")

CASES = {
    "intersect": {
        "tensorwrapper": partial(LEFT.intersect, RIGHT),
        "tensorstore": partial(THEIR_LEFT.intersect, THEIR_RIGHT),
    },
    "hull": {
        "tensorwrapper": partial(LEFT.hull, RIGHT),
        "tensorstore": partial(THEIR_LEFT.hull, THEIR_RIGHT),
    },
    # Nobody else has these.
    "difference": {"tensorwrapper": partial(LEFT.difference, RIGHT)},
    "encloses": {"tensorwrapper": partial(LEFT.encloses, RIGHT)},
    "permute by name": {"tensorwrapper": partial(NAMED.permute, ("k", "i", "j"))},
}


@pytest.mark.parametrize(("group", "name"), [(g, n) for g in CASES for n in CASES[g]])
def test_small_boxes(benchmark, group, name):
    benchmark.group = f"set algebra: {group}"
    # Many calls a round: one alone is about as long as reading the clock.
    benchmark.pedantic(CASES[group][name], rounds=200, iterations=1000, warmup_rounds=5)


HOLES = [
    Shape(1, 1, 1, origin=(3 * i, 3 * j, 3 * k)) for i in range(10) for j in range(10) for k in range(10)
]


def test_a_box_without_a_thousand_others(benchmark):
    benchmark.group = "set algebra: a thousand boxes"
    parts = benchmark.pedantic(Shape(30, 30, 30).difference, HOLES, rounds=5, warmup_rounds=1)
    assert sum(part.size for part in parts) == 26000
